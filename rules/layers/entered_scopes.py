"""Layers of `tf.contrib.layers` and slim that get the scope which is entered around them."""

from __future__ import annotations

import ast

from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

from ..bridge.graph_names import SCOPE
from ..model_fns.translations import translations
from ..symbols.tensorflow_names import CONTRIB_LAYERS, whole_name

_WITHOUT_VARIABLES = frozenset(
    f"{package}{name}"
    for package in CONTRIB_LAYERS
    for name in ("avg_pool2d", "dropout", "flatten", "max_pool2d", "softmax")
)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that name the scope in the call instead of around it; none for other calls, and where more stands in it.

    ```python
    import tensorflow as tf
    from tensorflow.contrib import slim


    def network(images):
        with tf.variable_scope("conv1") as scope:
            net = slim.conv2d(images, 8, [3, 3], scope=scope)
        return net
    ```
    becomes
    ```python
    import tensorflow as tf
    from tensorflow.contrib import slim


    def network(images):
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            net = slim.conv2d(images, 8, [3, 3], scope="conv1")
        return net
    ```
    """
    name, tf = module.resolve(call.func) or "", whole_name(module)
    scope = next((keyword.value for keyword in call.keywords if keyword.arg == "scope"), None)
    if not name.startswith(tuple(CONTRIB_LAYERS)) or not isinstance(scope, ast.Name) or tf is None:
        return []
    around = module.nearest(call, (ast.With, ast.FunctionDef, ast.For))
    if not isinstance(around, ast.With) or len(around.items) > 1 or not _holds_only(module, around, call):
        return []
    entered, target = around.items[0].context_expr, around.items[0].optional_vars
    if not isinstance(entered, ast.Call) or module.resolve(entered.func) != VARIABLE_SCOPE or len(entered.args) != 1:
        return []
    literal = entered.args[0]
    function = module.nearest(around, ast.FunctionDef)
    if function is None or not isinstance(target, ast.Name) or not isinstance(literal, ast.Constant):
        return []
    uses = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == scope.id]
    stores = [node for node in uses if not isinstance(node.ctx, ast.Load)]
    mine = [node for node in walk(around) if node in uses]
    if (
        target.id != scope.id
        or set(mine) != {target, scope}
        or not set(stores) >= {target}
        or not _are_scopes(module, stores)
    ):
        return []
    current = f"{tf}.{SCOPE.partition('.')[2]}()"
    return Change.of(module, Replace(scope, module.cst.expression(literal)), Replace(literal, expr(current)))


def _holds_only(module: Module, around: ast.With, call: ast.Call) -> bool:
    """Whether nothing else in a scope makes variables, or something with a tag."""
    known = translations().layers
    for node in (node for statement in around.body for node in walk(statement)):
        if isinstance(node, (ast.With, ast.FunctionDef, ast.Lambda)):
            return False
        if isinstance(node, ast.Call) and node is not call:
            name = module.resolve(node.func) or ""
            makes = name in known and name not in _WITHOUT_VARIABLES
            if makes or not name.startswith("tensorflow.") or name.startswith(("tensorflow.summary.", SCOPE)):
                return False
    return True


def _are_scopes(module: Module, names: list[ast.Name]) -> bool:
    """Whether names are only bound by with statements, so that none holds something else between them."""
    return all(isinstance(module.parent(name), ast.withitem) for name in names)
