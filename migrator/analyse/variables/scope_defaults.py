"""What a variable scope says of the variables made in it: their initializer and their regularizer.

The regularizer of a scope is asked for every variable, biases and the variables of normalization among them; what a layer
says of its own variables comes on top of it, what `get_variable` says takes its place.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, is_none
from migrator.analyse.layers.layerclass import is_cell_class
from migrator.analyse.layers.objects import holder
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.variables.scopes import is_false, scope_calls
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

# Variables of a layer by their attribute, and the arguments that say to Keras how they start and what limits them.
_INITIALIZERS = {
    "": "initializer",
    "kernel": "kernel_initializer",
    "depthwise_kernel": "depthwise_initializer",
    "pointwise_kernel": "pointwise_initializer",
}
_REGULARIZERS = {
    "": "regularizer",
    "kernel": "kernel_regularizer",
    "bias": "bias_regularizer",
    "depthwise_kernel": "depthwise_regularizer",
    "pointwise_kernel": "pointwise_regularizer",
    "embeddings": "embeddings_regularizer",
}


def with_defaults(plan: Body, leaf: Leaf, layer: Layer) -> Layer:
    """A layer with what the variable scopes around it say of its variables. Raises Unsupported."""
    return _regularized(_asked(plan, leaf, "regularizer"), _initialized(plan, _asked(plan, leaf, "initializer"), layer))


def _asked(plan: Body, leaf: Leaf, keyword: str) -> ast.expr | None:
    """What the innermost scope says."""
    given = [k.value for call in scope_calls(plan, leaf) for k in call.keywords if k.arg == keyword]
    return next((value for value in reversed(given) if not is_none(value)), None)


def _refuse_inner(layer: Layer, keyword: str, asked: ast.expr) -> None:
    """Raise Unsupported for layers inside which the scope would have to say it."""
    if layer.recurrent or (layer.vendored and not layer.variables):
        raise Unsupported(f"a recurrent layer stands under variable_scope({keyword}=…)", asked)
    if layer.helper is not None:
        raise Unsupported(f"a helper makes layers under variable_scope({keyword}=…)", asked)


def _initialized(plan: Body, asked: ast.expr | None, layer: Layer) -> Layer:
    """A layer with the initializer of the variable scope around it, where it has none of its own."""
    if asked is None or layer.constructor == "weight_from_value":
        return layer
    if layer.recurrent and layer.vendored:  # for all kernels of its cells
        if any(is_cell_class(plan.translations, definition) for definition in plan.sublayers.layer_classes):
            raise Unsupported("a recurrent cell of the program stands under variable_scope(initializer=…)", asked)
        return replace(layer, arguments=(*layer.arguments, ("initializer", asked)))
    _refuse_inner(layer, "initializer", asked)
    if layer.keras:
        return layer  # Keras asks its own initializers
    if ("embeddings", "embeddings") in layer.variables:
        raise Unsupported("an embedding stands under variable_scope(initializer=…)", asked)
    arguments = list(layer.arguments)
    for old, attribute in layer.variables:
        wanted = _INITIALIZERS.get(attribute)
        own = old == "weights"  # contrib has an initializer of its own where the program gives none
        if wanted is not None and not own and all(name != wanted for name, _ in arguments):
            arguments.append((wanted, asked))
    return replace(layer, arguments=tuple(arguments))


def _regularized(asked: ast.expr | None, layer: Layer) -> Layer:
    """A layer whose variables the variable scope around it regularizes."""
    if asked is None or layer.keras or (layer.weight and not layer.variables):  # `tf.Variable` asks no scope
        return layer
    _refuse_inner(layer, "regularizer", asked)
    unbiased = any(name == "use_bias" and is_false(value) for name, value in layer.arguments)
    arguments = list(layer.arguments)
    for _, attribute in layer.variables:
        wanted = _REGULARIZERS.get(attribute)
        if attribute == "bias" and unbiased:
            continue
        if wanted is None or layer.constructor == "weight_from_value":
            raise Unsupported(f"variable_scope(regularizer=…) regularizes `{attribute or layer.scope}` as well", asked)
        if all(name != wanted for name, _ in arguments):
            arguments.append((wanted, asked))
        elif not layer.weight:
            raise Unsupported("a layer and variable_scope(regularizer=…) both regularize a variable", asked)
    return replace(layer, arguments=tuple(arguments))


def check_scopes(plan: Body, sites: list[Site]) -> None:
    """Refuse objects whose first call, which makes their variables, may stand in a scope that says how; and such scopes
    where they are entered again by the name that holds them. Raises Unsupported."""
    for node in walk(plan.function):
        if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name) and _says_how(node.context_expr):
            if plan.module.loads_of_parameter(node.optional_vars.id, plan.function):
                raise Unsupported(
                    "a variable_scope with an initializer or a regularizer has a name", node.optional_vars
                )
    names = {holder(site) for site in sites if not site.layer.keras and not site.layer.weight} - {None}
    cells = [leaf for leaf in plan.flow.leaves if _makes_cells(plan, leaf) and not _only_makes(plan, leaf)]
    names |= {name for leaf in cells for name in leaf.kills}
    for leaf in plan.flow.leaves if names else ():
        for keyword in ("initializer", "regularizer"):
            asked = _asked(plan, leaf, keyword)
            calls = [node.func for node in walk(leaf.node) if isinstance(node, ast.Call)] if asked else []
            if any(isinstance(function, ast.Name) and function.id in names for function in calls):
                raise Unsupported(f"a layer object is called under variable_scope({keyword}=…)", asked)


def _makes_cells(plan: Body, leaf: Leaf) -> bool:
    """Whether a statement makes recurrent cells, or layers that run them."""
    calls = [node for node in walk(leaf.node) if isinstance(node, ast.Call)]
    return any(plan.sublayers.makes_cell(plan.module, call) for call in calls)


def _only_makes(plan: Body, leaf: Leaf) -> bool:
    """Whether a statement defines a function that makes cells, and does nothing with them: a call of it makes no variables."""
    calls = [node for node in walk(leaf.node) if isinstance(node, ast.Call)]
    return isinstance(leaf.node, ast.FunctionDef) and all(plan.sublayers.makes_cell(plan.module, c) for c in calls)


def _says_how(scope: ast.expr) -> bool:
    keywords = scope.keywords if isinstance(scope, ast.Call) else []
    return any(k.arg in ("initializer", "regularizer") and not is_none(k.value) for k in keywords)
