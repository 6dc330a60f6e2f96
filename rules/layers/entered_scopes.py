"""Layers of `tf.layers`, `tf.contrib.layers` and slim that get the scope which is entered around them."""

from __future__ import annotations

import ast

from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr

from ..bridge.graph_names import SCOPE
from ..model_fns.translations import translations
from ..symbols.tensorflow_names import CONTRIB_LAYERS, whole_name

_WITHOUT_VARIABLES = frozenset(
    f"{package}{name}"
    for package in CONTRIB_LAYERS
    for name in ("avg_pool2d", "dropout", "flatten", "max_pool2d", "softmax")
) | {f"tensorflow.layers.{name}" for name in ("average_pooling2d", "dropout", "flatten", "max_pooling2d")}
_LAYERS = "tensorflow.layers."


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
    parameter = "scope" if name.startswith(tuple(CONTRIB_LAYERS)) else "name" if name.startswith(_LAYERS) else None
    scope = next((keyword.value for keyword in call.keywords if keyword.arg == parameter), None)
    if parameter is None or not isinstance(scope, ast.Name) or tf is None:
        return []
    around = module.nearest(call, (ast.With, ast.FunctionDef, ast.For))
    if not isinstance(around, ast.With) or len(around.items) > 1 or not _holds_only(module, around, call):
        return []
    entered, target = around.items[0].context_expr, around.items[0].optional_vars
    said = _said(module, entered)
    function = module.nearest(around, ast.FunctionDef)
    if function is None or said is None or not isinstance(target, ast.Name):
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
    names = _names(drafts, module, function, around, said, [n for n in uses if n not in [*stores, *mine]], stores)
    if names is None:
        return []
    current = f"{tf}.{SCOPE.partition('.')[2]}()"
    return Change.of(module, Replace(scope, module.cst.expression(said)), Replace(said, expr(current)), *names)


def _said(module: Module, entered: ast.expr) -> ast.expr | None:
    """The name of the scope that a call enters: a text, or one with numbers in it."""
    if not isinstance(entered, ast.Call) or module.resolve(entered.func) != VARIABLE_SCOPE or len(entered.args) != 1:
        return None
    return entered.args[0] if literal_pattern(entered.args[0]) is not None else None


def _names(
    drafts: Drafts,
    module: Module,
    function: ast.FunctionDef,
    around: ast.With,
    said: ast.expr,
    reads: list[ast.Name],
    stores: list[ast.Name],
) -> list[Replace] | None:
    """The changes that say the name of the scope where it is read behind it; None where more is read, or it is not known."""
    block = block_of(module, around)
    following = block[block.index(around) + 1 :]
    until = next((at for at, each in enumerate(following) if any(store in walk(each) for store in stores)), None)
    mine = [read for each in following[:until] for read in walk(each) if read in reads]
    if until is None and len(mine) < len(reads) and len(stores) == 1:
        return None
    if not mine:
        return []
    outer = [each for each in module.ancestors(around) if isinstance(each, ast.With)]
    above = [_said(module, item.context_expr) for each in reversed(outer) for item in each.items]
    texts = [each.value for each in above if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    called = list(drafts.project.readers.of(module, module.scope(module.parent(function) or function), function.name))
    if len(texts) < len(above) or any(call_of(where, node) is not None for where, node in called):
        return None
    prefix = "".join(f"{text}/" for text in texts)
    full = module.segment(said)
    if prefix:
        full = f"{prefix!r} + {full}" if isinstance(said, ast.Constant) else f"{prefix!r} + ({full})"
    if isinstance(said, ast.Constant):
        full = repr(prefix + str(said.value))
    parents = [module.parent(read) for read in mine]
    if not all(isinstance(parent, ast.Attribute) and parent.attr == "name" for parent in parents):
        return None
    return [Replace(parent, expr(full)) for parent in parents if isinstance(parent, ast.Attribute)]


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
