"""Classes of the program that derive from a layer, and are written in terms of TensorFlow 1: they become classes of Keras."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Translations
from migrator.normalise.objects.methods import OwnClass
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.resolve.module import Module
    from migrator.resolve.project import Definition


@dataclass
class LayerClass(OwnClass):
    """A class whose instances a model makes."""

    updates_run: bool
    """Whether the program runs UPDATE_OPS, without which moving statistics stand still."""
    still: bool = False
    """Whether those of Keras layers in it do, as nothing runs the updates of its instances."""


def layer_of(translations: Translations, module: Module, call: ast.AST) -> Layer | None:
    """The layer of TensorFlow 1 that a call in a class makes; None for any other node. Raises Unsupported."""
    name = module.resolve(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or name is None or translations.objects(name):
        return None
    rule = translations.layers.get(name)
    return rule(call, name, module.resolve) if rule is not None else None


def is_cell_class(translations: Translations, definition: Definition) -> bool:
    """Whether a class of the program derives from the base of recurrent cells."""
    node, module = definition.node, definition.module
    return isinstance(node, ast.ClassDef) and any(module.resolve(b) in translations.cell_bases for b in node.bases)


def needs_rewrite(translations: Translations, definition: Definition) -> bool:
    """Whether a class names layers of TensorFlow 1 that are none of Keras, as its base or inside, or writes summaries."""
    module = definition.module
    for node in walk(definition.node):
        name = module.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if name is None:
            continue
        summary = name in translations.summaries and module.dialect(node) != "v2"
        if summary or translations.old_layers(name) or _makes(translations, name):
            return True
    return False


def _makes(translations: Translations, name: str) -> bool:
    return name in translations.layers and not translations.objects(name)


def is_phased(translations: Translations, module: Module, node: ast.AST) -> bool:
    """Whether a class makes layers of TensorFlow 1 that do something else in training."""
    for call in walk(node):
        try:
            layer = layer_of(translations, module, call)
        except Unsupported:
            continue
        if layer is not None and (layer.applied or layer.trains):
            return True
    return False
