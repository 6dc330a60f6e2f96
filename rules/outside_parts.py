"""Parts of a program outside of its model_fns that change with them: functions that make cells, classes of optimizers and of
layers."""

from __future__ import annotations

from typing import Union

from migrator.modelfn.layerclass import LayerClass
from migrator.modelfn.makers import Maker
from migrator.modelfn.optimizerclass import OptimizerClass
from migrator.modelfn.render import Renderer
from migrator.modelfn.translate import Translations
from migrator.project import Definition, Project

from .cell_makers import rewrite_maker
from .driver import Driver
from .layer_classes import rewrite_layer_class
from .optimizer_classes import rewrite_optimizer


def rewrite_part(
    part: Union[Maker, OptimizerClass, LayerClass],
    project: Project,
    bodies: list[Definition],
    translations: Translations,
    driver: Driver,
    renderer: Renderer,
) -> None:
    """Rewrite a part that only `bodies` use. Raises Unsupported."""
    if isinstance(part, Maker):
        rewrite_maker(part, project, bodies, driver, renderer)
    elif isinstance(part, LayerClass):
        rewrite_layer_class(part, project, bodies, translations, driver, renderer)
    else:
        rewrite_optimizer(part, project, bodies, driver, renderer)
