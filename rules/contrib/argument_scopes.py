"""`arg_scope` of slim around layers that stand in it: what it says is said to each of them, so that native migrates them.

Functions that are called in a scope and make layers are written in its place before (see `is_told`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.roots import calls_below
from migrator.normalise.values.callers import calls_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, statements, with_arguments

from ..symbols.tensorflow_names import CONTRIB_LAYERS

if TYPE_CHECKING:
    import libcst as cst

SCOPES = frozenset(
    f"{package}arg_scope"
    for package in (*CONTRIB_LAYERS, "tensorflow.contrib.framework.")
    if package != CONTRIB_LAYERS[0]
)
_NAMES = {"convolution2d": "conv2d"}
# Functions by other functions: what a scope tells the one, the other is told as well.
_SAME = {"linear": "fully_connected", "relu": "fully_connected"}
_NORMALIZATIONS = frozenset({"batch_norm", "layer_norm"})
_PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Subscript,
)  # fmt: skip


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that tell each layer in a scope what the scope says; none if that is not certain, or for other calls.

    ```python
    from tensorflow.contrib import slim


    def network(net):
        with slim.arg_scope([slim.conv2d], padding="SAME"):
            net = slim.conv2d(net, 4, 3)
        return net
    ```
    becomes
    ```python
    from tensorflow.contrib import slim


    def network(net):
        net = slim.conv2d(net, 4, 3, padding="SAME")
        return net
    ```
    """
    item = module.parent(call)
    scope = module.parent(item) if isinstance(item, ast.withitem) else None
    if module.resolve(call.func) not in SCOPES or not isinstance(scope, ast.With) or not isinstance(item, ast.withitem):
        return []
    functions = call.args[0] if len(call.args) == 1 else None
    if not isinstance(functions, (ast.List, ast.Tuple)) or item.optional_vars is not None or len(scope.items) > 1:
        return []
    told = {_layer(module, function) for function in functions.elts}
    if _NORMALIZATIONS & told and _gives_normalizers(module, scope):
        return _swapped(module, scope, told)  # what calls them is no layer of its own yet
    if None in told or not _may_be_repeated(module, call, scope):
        return []
    layers = _layers_told(drafts.project, module, scope, {name for name in told if name is not None})
    if layers is None:
        return []
    told_now = [Replace(layer, _told(module, layer, call.keywords)) for layer in layers]
    return Change.of(module, Replace(scope, [*map(module.cst.statement, scope.body)]), *told_now)


def _swapped(module: Module, scope: ast.With, told: set[str | None]) -> list[Change]:
    """The edits that put a scope of normalizations around one of the layers that call them, which tells nothing of the same."""
    outer = module.parent(scope)
    call = outer.items[0].context_expr if isinstance(outer, ast.With) and len(outer.items) == 1 else None
    if not isinstance(outer, ast.With) or outer.body != [scope] or outer.items[0].optional_vars is not None:
        return []
    if not isinstance(call, ast.Call) or module.resolve(call.func) not in SCOPES or len(call.args) != 1:
        return []
    functions = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    others = {_layer(module, function) for function in functions}
    if not others or None in others or others & (_NORMALIZATIONS | told):
        return []
    file = module.cst
    inner, around = file.expression(scope.items[0].context_expr), file.expression(call)
    body = [*map(file.statement, scope.body)]
    template = "with {inner}:\n    with {around}:\n        {body}"
    return Change.of(module, Replace(outer, statements(template, inner=inner, around=around, body=body)))


def is_told(project: Project, definition: Definition) -> bool:
    """Whether a function is called in a scope, which tells the layers that it makes."""
    for module, call in calls_of(project, definition)[0]:
        for scope in module.ancestors(call):
            heads = [item.context_expr for item in scope.items] if isinstance(scope, ast.With) else []
            if any(isinstance(head, ast.Call) and module.resolve(head.func) in SCOPES for head in heads):
                return all(call not in walk(head) for head in heads)
    return False


def _gives_normalizers(module: Module, scope: ast.With) -> bool:
    """Whether layers in a scope get a `normalizer_fn`, by themselves or by a scope around it."""
    around = [scope, *(node for node in module.ancestors(scope) if isinstance(node, ast.With))]
    calls = [item.context_expr for node in around for item in node.items if isinstance(item.context_expr, ast.Call)]
    calls += [node for node in walk(scope) if isinstance(node, ast.Call)]
    told = [keyword for call in calls for keyword in call.keywords if keyword.arg in (None, "normalizer_fn")]
    return not all(keyword.arg is not None and is_none(keyword.value) for keyword in told)


def _layer(module: Module, node: ast.AST) -> str | None:
    """The short name of a layer of `tf.contrib.layers`, by which two names of one function are the same."""
    name = module.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    for package in CONTRIB_LAYERS:
        short = (name or "")[len(package) :]
        if name is not None and name.startswith(package) and "." not in short:
            return _NAMES.get(short, short)
    return None


def _may_be_repeated(module: Module, call: ast.Call, scope: ast.With) -> bool:
    """Whether what a scope says may be said anywhere in it: it makes nothing but initializers and the like."""
    stored = {n.id for s in scope.body for n in walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for keyword in call.keywords:
        if keyword.arg is None:
            return False
        for node in walk(keyword.value):
            if isinstance(node, ast.Name) and node.id in stored:
                return False
            made = module.resolve(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and not (made or "").endswith(("initializer", "regularizer")):
                return False
            if isinstance(node, ast.expr) and not isinstance(node, _PLAIN):
                return False
    return True


def _layers_told(project: Project, module: Module, scope: ast.With, told: set[str]) -> list[ast.Call] | None:
    """The calls in a scope that it tells something; None where it may tell others as well."""
    found: list[ast.Call] = []
    for node in (child for statement in scope.body for child in walk(statement)):
        if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        if isinstance(node, ast.Call) and module.resolve(node.func) in SCOPES:
            return None  # the inner one goes first
        short = _layer(module, node)
        call = module.parent(node)
        if short is not None and _SAME.get(short) in told:
            return None
        if short in told:
            if not isinstance(call, ast.Call) or call.func is not node or any(k.arg is None for k in call.keywords):
                return None
            found.append(call)
        elif isinstance(node, ast.Call) and any(
            _makes_layers(project, *other) for other in _behind(project, module, node)
        ):
            return None
    return found


def _behind(project: Project, module: Module, call: ast.Call) -> Iterator[tuple[Module, ast.AST]]:
    """The code of the program that a call runs, or may run: functions by their names, methods by theirs."""
    definition = project.definition(module, call.func)
    if definition is not None:
        yield definition.module, definition.node
    elif isinstance(call.func, ast.Attribute) and module.resolve(call.func) is None:
        for other in project.modules.values():
            for function in other.nodes(ast.FunctionDef):
                if function.name == call.func.attr and isinstance(other.parent(function), ast.ClassDef):
                    yield other, function
    for value in (*call.args, *(k.value for k in call.keywords)):
        handed = project.definition(module, value) if isinstance(value, (ast.Name, ast.Attribute)) else None
        if handed is not None:
            yield handed.module, handed.node


def _makes_layers(project: Project, module: Module, node: ast.AST, depth: int = 8) -> bool:
    """Whether code of the program names a layer that scopes tell something, itself or in what it calls."""
    if any(_layer(module, child) is not None for child in walk(node)) or not depth:
        return True
    others = (other for call in calls_below(module, node) for other in _behind(project, module, call))
    return any(other is not node and _makes_layers(project, at, other, depth - 1) for at, other in others)


def _told(module: Module, call: ast.Call, keywords: list[ast.keyword]) -> cst.Call:
    """A call with what it does not say itself."""
    own = {keyword.arg for keyword in call.keywords}
    more = {k.arg: module.cst.expression(k.value) for k in keywords if k.arg is not None and k.arg not in own}
    return with_arguments(module.cst.call(call), add=more)
