"""`arg_scope`s that a function returns, for its callers to enter: what all of them say is handed on as data, and entered there.

def arg_scope(decay):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(decay)):
        with slim.arg_scope([slim.conv2d], padding="SAME") as scope:
            return scope
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.statements.names import binds
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, Statement, expr, statements

from .argument_scopes import SCOPES

if TYPE_CHECKING:
    import libcst as cst

MARK = "of_several"
"""The mark: an attribute of `arg_scope` that no slim has."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that let a function return what scopes say, or enter scopes that were returned; none for other calls.

    ```python
    from tensorflow.contrib import slim


    def scope(depth):
        with slim.arg_scope([slim.conv2d], num_outputs=depth):
            with slim.arg_scope([slim.max_pool2d], stride=2) as found:
                return found


    def network(net):
        with slim.arg_scope(scope(8)):
            return slim.conv2d(net, kernel_size=3)
    ```
    becomes
    ```python
    from tensorflow.contrib import slim


    def scope(depth):
        return slim.arg_scope.of_several(([slim.conv2d], {"num_outputs": depth}), ([slim.max_pool2d], {"stride": 2}))


    def network(net):
        arg_scope = scope(8)
        with slim.arg_scope(arg_scope):
            return slim.conv2d(net, kernel_size=3)
    ```
    """
    item = module.parent(call)
    scope = module.parent(item) if isinstance(item, ast.withitem) else None
    if module.resolve(call.func) not in SCOPES or not isinstance(scope, ast.With):
        return []
    several = call.args[0] if len(call.args) == 1 and not call.keywords else None
    held = _held(module, scope, several) if isinstance(several, ast.Name) else None
    if held is not None:
        return _put_in(module, scope, *held)
    made = module.assignment(several) if isinstance(several, ast.Name) else None
    several = made.value if made is not None else several
    if not isinstance(several, ast.Call):
        return []
    found = drafts.project.definition(module, several.func)
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return _entered(module, call, several, scope, made)
    handing = _handing(found.module, found.node) if made is None else []
    if handing or made is not None or not _hands(found.module, found.node):
        return handing
    name = module.unused_name("arg_scope", call)  # a call in the head of a statement cannot be written out
    above = statements("{name} = {several}", name=name, several=module.cst.expression(several))
    return Change.of(module, Insert(above, before=scope), Replace(several, name))


def _held(module: Module, scope: ast.With, several: ast.Name) -> tuple[ast.With, list[ast.Call]] | None:
    """The statement above that enters nested scopes for the name of the last alone, and these scopes."""
    bindings = module.bindings(several)
    item = module.parent(bindings[0].node) if len(bindings) == 1 else None
    inner = module.parent(item) if isinstance(item, ast.withitem) else None
    if not isinstance(inner, ast.With) or len(inner.body) != 1 or not isinstance(inner.body[0], ast.Pass):
        return None
    if module.loads_of(several.id, module.scope(several).holder(several.id)) != [several] or len(scope.items) > 1:
        return None
    outer, nested = inner, [inner]
    while isinstance(parent := module.parent(outer), ast.With) and parent.body == [outer]:
        outer = parent
        nested.insert(0, outer)
    block = block_of(module, scope)
    if outer not in block or scope.items[0].optional_vars is not None:
        return None
    calls = [each.items[0].context_expr for each in nested if len(each.items) == 1]
    found = [each for each in calls if isinstance(each, ast.Call) and module.resolve(each.func) in SCOPES]
    between = [each for each in block[block.index(outer) + 1 : block.index(scope)] if isinstance(each, ast.stmt)]
    read = {node.id for each in found for node in walk(each) if isinstance(node, ast.Name)}
    return (
        (outer, found)
        if len(found) == len(nested) and not read & {name for each in between for name in binds(each)}
        else None
    )


def _put_in(module: Module, scope: ast.With, held: ast.With, calls: list[ast.Call]) -> list[Change]:
    """The edits that enter scopes where the name of the last was."""
    body: list[Statement] = [*map(module.cst.statement, scope.body)]
    for call in reversed(calls):
        body = statements("with {call}:\n    {body}", call=module.cst.expression(call), body=body)
    return Change.of(module, Remove(held), Replace(scope, body))


def _is_read_once(module: Module, made: ast.Assign) -> bool:
    (name,) = made.targets
    return isinstance(name, ast.Name) and len(module.loads_of(name.id, module.scope(name).holder(name.id))) == 1


def _hands(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function returns what several scopes say."""
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    return isinstance(value, ast.Call) and _is_several(module, value)


def _is_several(module: Module, call: ast.Call) -> bool:
    return (module.resolve(call.func) or "").endswith(f"arg_scope.{MARK}")


def _handing(module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that let a function return what its scopes say."""
    every, file = _returned(module, function), module.cst
    if not every:
        return []
    holes = {
        f"pair_{n}": expr("({functions}, {told})", functions=file.expression(each.args[0]), told=_told(module, each))
        for n, each in enumerate(every)
    }
    text = f"return {{function}}.{MARK}({', '.join(f'{{{name}}}' for name in holes)})"
    made = statements(text, function=file.expression(every[0].func), **holes)
    return Change.of(module, Replace(function.body[-1], made))


def _returned(module: Module, function: ast.FunctionDef) -> list[ast.Call]:
    """The calls of nested scopes of which a function returns the last."""
    found: list[ast.Call] = []
    node, name = function.body[-1], None
    while isinstance(node, ast.With):
        (item, *more), body = node.items, node.body
        call = item.context_expr
        if more or not isinstance(call, ast.Call) or module.resolve(call.func) not in SCOPES or len(call.args) != 1:
            return []
        if not isinstance(call.args[0], (ast.List, ast.Tuple)) or len(body) != 1:
            return []
        found.append(call)
        node, name = body[0], item.optional_vars
    if not isinstance(node, ast.Return) or not isinstance(node.value, ast.Name) or not isinstance(name, ast.Name):
        return []
    return found if node.value.id == name.id else []


def _told(module: Module, call: ast.Call) -> cst.BaseExpression:
    """What a scope says, as a dict."""
    holes = {f"value_{n}": module.cst.expression(keyword.value) for n, keyword in enumerate(call.keywords)}
    parts = [
        f"**{{value_{n}}}" if keyword.arg is None else f'"{keyword.arg}": {{value_{n}}}'
        for n, keyword in enumerate(call.keywords)
    ]
    return expr("{{" + ", ".join(parts) + "}}", **holes)


def _entered(
    module: Module, call: ast.Call, several: ast.Call, scope: ast.With, made: ast.Assign | None
) -> list[Change]:
    """``with arg_scope(arg_scope.of_several(…)):`` as scopes one in the other."""
    if not _is_several(module, several) or (made is not None and not _is_read_once(module, made)):
        return []
    if len(scope.items) > 1 or scope.items[0].optional_vars is not None:
        return []
    body: list[Statement] = [*map(module.cst.statement, scope.body)]
    for pair in reversed(several.args):
        if not isinstance(pair, ast.Tuple) or not isinstance(pair.elts[1], ast.Dict):
            return []
        told = pair.elts[1]
        holes = {f"value_{n}": module.cst.expression(value) for n, value in enumerate(told.values)}
        parts = [
            f"{key.value!s}={{value_{n}}}" if isinstance(key, ast.Constant) else f"**{{value_{n}}}"
            for n, key in enumerate(told.keys)
        ]
        text = ", ".join(["{functions}", *parts])
        body = statements(
            f"with {{function}}({text}):\n    {{body}}",
            function=module.cst.expression(call.func), functions=module.cst.expression(pair.elts[0]), body=body, **holes,
        )  # fmt: skip
    gone = [Remove(made)] if made is not None else []
    return Change.of(module, *gone, Replace(scope, body))
