"""`repeat` and `stack` of `tf.contrib.layers` and slim: the layers that they apply one after another, written out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.rewrite import Statement, expr, statements, with_arguments

from ..symbols.tensorflow_names import CONTRIB_LAYERS, whole_name

if TYPE_CHECKING:
    import libcst as cst

_REPEAT = frozenset(f"{package}repeat" for package in CONTRIB_LAYERS)
_STACK = frozenset(f"{package}stack" for package in CONTRIB_LAYERS)
_STEMS = {"conv2d": "convolution2d", "convolution2d": "convolution2d", "fully_connected": "fully_connected"}
_OF_REPEAT = ("inputs", "repetitions", "layer")
_OF_STACK = ("inputs", "layer", "stack_args")
_MOST = 20
"""Layers that are written out at most."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements that apply each layer; none for other calls, and where the number of layers is not seen.

    ```python
    import tensorflow as tf
    from tensorflow.contrib import slim


    def network(net):
        net = slim.repeat(net, 2, slim.conv2d, 64, [3, 3], scope="conv1")
        return net
    ```
    becomes
    ```python
    import tensorflow as tf
    from tensorflow.contrib import slim


    def network(net):
        with tf.variable_scope("conv1"):
            net = slim.conv2d(net, 64, [3, 3], scope="conv1_1")
            net = slim.conv2d(net, 64, [3, 3], scope="conv1_2")
        return net
    ```
    """
    name = module.resolve(call.func)
    scope = next((k.value for k in call.keywords if k.arg == "scope"), None)
    tf = whole_name(module)
    hidden = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    if name not in _REPEAT | _STACK or hidden or tf is None:
        return []
    own = _OF_REPEAT if name in _REPEAT else _OF_STACK
    named = {k.arg: k.value for k in call.keywords if k.arg is not None}
    first = [*call.args, *(named[parameter] for parameter in own[len(call.args) :] if parameter in named)]
    if len(first) < len(own):
        return []
    given = {key: module.cst.expression(value) for key, value in named.items() if key not in (*own, "scope")}
    loop: ast.expr | None = None
    if name in _REPEAT:
        inputs, count, layer, *rest = first
        times = count.value if isinstance(count, ast.Constant) and isinstance(count.value, int) else 0
        arguments = [[*map(module.cst.expression, rest)]] * times
    else:
        inputs, layer, several, *rest = first
        elements = several.elts if isinstance(several, (ast.List, ast.Tuple)) and not rest else []
        arguments = [_arguments(module, element) for element in elements]
        if not rest and not isinstance(several, (ast.List, ast.Tuple)):
            loop = several
    stem = _stem(module, layer, scope)
    if stem is None or not isinstance(inputs, (ast.Name, ast.Subscript)):
        return []
    if loop is None and not 0 < len(arguments) <= _MOST:
        return []
    if loop is not None and not (module.resolve(layer) or "").endswith(".fully_connected"):
        return []  # an element may hold several arguments
    default = "Repeat" if name in _REPEAT else "Stack"
    named_scope = scope is not None and not is_none(scope)
    opened = expr(f'{tf}.variable_scope(None, default_name="{default}")')
    if scope is not None and named_scope:
        opened = expr("{tf}.variable_scope({scope})", tf=tf, scope=module.cst.expression(scope))

    def make(target: str) -> list[Statement]:
        found: list[Statement] = []
        source = module.cst.expression(inputs)
        if loop is not None:
            counter, size = module.unused_name("number", call), module.unused_name("units", call)
            made = expr("{layer}({target}, {size})", layer=module.cst.expression(layer), target=target, size=size)
            made = with_arguments(made, add={**given, "scope": expr(f'f"{stem}_{{{{{counter}}}}}"')})
            steps = statements("{target} = {made}", target=target, made=made)
            found = statements(
                "{target} = {source}\nfor {number}, {size} in enumerate({sizes}, 1):\n    {steps}",
                target=target,
                source=source,
                number=counter,
                size=size,
                sizes=module.cst.expression(loop),
                steps=steps,
            )
            return statements("with {opened}:\n    {layers}", opened=opened, layers=found)
        for number, positional in enumerate(arguments, 1):
            made = expr("{layer}({given})", layer=module.cst.expression(layer), given=[source, *positional])
            made = with_arguments(made, add={**given, "scope": expr(f'"{stem}_{number}"')})
            found += statements("{target} = {made}", target=target, made=made)
            source = expr(target)
        return statements("with {opened}:\n    {layers}", opened=opened, layers=found)

    return spelled(module, call, "net", make)


def _arguments(module: Module, element: ast.expr) -> list[cst.BaseExpression]:
    """The arguments of one layer of a stack."""
    several = element.elts if isinstance(element, (ast.List, ast.Tuple)) else [element]
    return [module.cst.expression(node) for node in several]


def _stem(module: Module, layer: ast.expr, scope: ast.expr | None) -> str | None:
    """What the scopes of the layers begin with: the scope around them, or the name of the layer."""
    name = module.resolve(layer) or ""
    short = next((name[len(package) :] for package in CONTRIB_LAYERS if name.startswith(package)), "")
    if short not in _STEMS:
        return None
    if scope is None or is_none(scope):
        return _STEMS[short]
    return scope.value if isinstance(scope, ast.Constant) and isinstance(scope.value, str) else None
