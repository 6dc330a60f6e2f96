"""Weights and layers that `call` makes, because their size is known only when data flow: ``tf.Variable(tf.zeros(x.shape[-1:]))``.

A layer finds such a weight again by its name, so each must have one of its own; a layer inside it by its attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.names import reads, targets
from migrator.analyse.statements.shapes import asks_shapes
from migrator.analyse.statements.walks import Loop
from migrator.analyse.variables.scopes import scope_calls

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site


def late(plan: Body, layer: Layer, loops: Iterable[Loop]) -> Layer:
    """A layer, made by `call` if its size is known only then; in each turn of `loops` another one, by another name."""
    if (layer.weight and layer.vendored) or layer.built:
        return layer
    values = [value for _, value in layer.arguments if not isinstance(value, str)]
    if max((plan.times.of(value) for value in values), default=Time.STATIC) <= Time.MODE:
        return layer
    if not layer.weight:
        told = reads(layer.name) if layer.name is not None else set()
        apart = layer.inputs is not None and layer.maker is None and all(told & targets(loop.target) for loop in loops)
        return replace(layer, late=apart and all(asks_shapes(plan, value) for value in values))
    first = next((value for name, value in layer.arguments if name == "initializer"), None)
    for part in (*first.args, *(k.value for k in first.keywords)) if isinstance(first, ast.Call) else ():
        if not asks_shapes(plan, part):
            raise Unsupported("the first value of a variable is known only when data flow", layer.name or part)
    return replace(
        layer,
        constructor="get_weight",
        arguments=((None, "self"), *layer.arguments),
        inputs=(),
        vendored=True,
        late=True,
    )


def made_when_called(helper: Body) -> bool:
    """Whether a layer of the program's own has no weights until it is called, so that it may be made and left unused."""
    return all(
        made_when_called(site.layer.helper)
        if site.layer.helper is not None
        else site.layer.late or site.layer.built or not site.layer.weight
        for site in helper.sites
    )


def check_names(plan: Body, sites: list[Site]) -> None:
    """Refuse each `tf.Variable` of this kind that has no name of its own: TensorFlow 1 numbers those that share one."""
    seen: set[str] = set()
    for site in sites:
        if (
            not site.layer.late
            or not site.layer.weight
            or plan.module.resolve(site.call.func) not in plan.translations.initialized
        ):
            continue
        if site.layer.name is None:
            raise Unsupported("a variable of a size that data tell has no name", site.call)
        names = [*(value for call in scope_calls(plan, site.leaf) for value in call.args[:1]), site.layer.name]
        text = ast.unparse(ast.Tuple(names, ast.Load()))
        if text in seen or any(not reads(names) & targets(loop.target) for loop in site.loops):
            raise Unsupported("several variables of sizes that data tell have one name", site.call)
        seen.add(text)
