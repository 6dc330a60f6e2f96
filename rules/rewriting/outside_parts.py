"""Parts of a program outside of its model_fns that change with them: functions that make cells, classes of optimizers and of
layers."""

from __future__ import annotations

from typing import Union

from migrator.analyse.function.translate import Translations
from migrator.analyse.layers.layerclass import LayerClass
from migrator.analyse.layers.makers import Maker
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.emit.render import Renderer
from migrator.resolve.project import Definition, Project

from ..estimator_calls.driver import Driver
from ..layers.layer_classes import rewrite_layer_class
from ..optimizers.optimizer_classes import rewrite_optimizer
from ..recurrent.cell_makers import rewrite_maker


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
