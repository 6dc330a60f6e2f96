"""The call that another one comes to, once it is known what it calls: a function, a class, a lambda, a partial function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.normalise.draft.arguments import defaults, given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames, add_outer_names
from migrator.normalise.functions.partials import PARTIAL, check_lasting, idle_import
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, code, with_arguments, with_function
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

_ATOMS = (ast.Name, ast.Attribute, ast.Constant)
_SCOPED = (ast.Lambda, ast.comprehension, ast.JoinedStr, ast.NamedExpr)


def called_by(module: Module, value: ast.expr) -> ast.expr | None:
    """The function or class that a value calls when it is called: a name, what a partial function or a lambda calls."""
    if isinstance(value, ast.Lambda):
        value = value.body.func if isinstance(value.body, ast.Call) else value
    elif isinstance(value, ast.Call) and module.resolve(value.func) == PARTIAL and value.args:
        value = value.args[0]
    return value if isinstance(value, (ast.Name, ast.Attribute)) else None


def applied(
    drafts: Drafts, module: Module, call: ast.Call, home: Module, value: ast.expr, names: OuterNames
) -> cst.BaseExpression:
    """What `call` comes to if it calls `value` of the file `home`. Raises Unsupported.

    `names` notes the imports that it takes.
    """
    if isinstance(value, ast.Lambda):
        return substituted(drafts, module, call, home, value, value.body, names)
    old = module.cst.call(call)
    if not isinstance(value, ast.Call):
        return with_function(old, written(drafts, module, call, home, value, names))
    if home.resolve(value.func) != PARTIAL or not value.args:
        raise Unsupported("what is called is computed", value)
    function, *first = value.args
    own = {keyword.arg for keyword in call.keywords}
    if None in own or any(isinstance(each, ast.Starred) for each in (*call.args, *first)):
        raise Unsupported("arguments are hidden behind * or **", call)
    for part in (function, *first, *(keyword.value for keyword in value.keywords)):
        check_lasting(home, part, module, call)
    more: dict[str, cst.BaseExpression] = {}
    for keyword in value.keywords:
        if keyword.arg is None:
            raise Unsupported("arguments are hidden behind * or **", value)
        if keyword.arg not in own:
            more[keyword.arg] = written(drafts, module, call, home, keyword.value, names)
    before = {0: [written(drafts, module, call, home, each, names) for each in first]}
    named = with_function(old, written(drafts, module, call, home, function, names))
    return with_arguments(named, insert=before, add=more)


def written_out(drafts: Drafts, module: Module, call: ast.Call, partial: ast.Call) -> list[Change]:
    """``conv(x, 8)`` becomes ``tf.layers.conv2d(x, 8, padding="same")``. Raises Unsupported."""
    assert isinstance(call.func, ast.Name)
    new = applied(drafts, module, call, module, partial, OuterNames())
    changes: list[rewrite.Change] = [Replace(call, new)]
    scope = module.scope(call.func).lookup(call.func.id)
    if module.loads_of(call.func.id, scope) == [call.func]:
        made = module.statement(partial)
        changes.append(Remove(made, apart=isinstance(module.parent(made), ast.Module)))
        changes += idle_import(module, partial.func)
    return Change.every((module, change) for change in changes)


def written(
    drafts: Drafts, module: Module, at: ast.AST, home: Module, node: ast.expr, names: OuterNames
) -> cst.BaseExpression:
    """An expression of a file as another one has to write it."""
    add_outer_names(drafts, module, at, home, node, names)
    reads = [each for each in walk(node) if isinstance(each, ast.Name) and each.id in names.texts]
    return home.cst.filled(node, {each: code(names.texts[each.id]) for each in reads})


def substituted(
    drafts: Drafts,
    module: Module,
    call: ast.Call,
    home: Module,
    function: ast.Lambda | ast.FunctionDef,
    body: ast.expr,
    names: OuterNames,
    skip: int = 0,
    known: Mapping[ast.AST, cst.BaseExpression] = MappingProxyType({}),
) -> cst.BaseExpression:
    """What a function computes with what the call gives it, where `body` is all of it. Raises Unsupported.

    The call gives nothing for the first `skip` parameters; parts of the body that are `known` are written as they are told.
    """
    arguments, instead = given(function, call, skip), defaults(function)
    inside = {node for part in known for node in walk(part)}
    loads = [node for node in walk(body) if isinstance(node, ast.Name) and node not in inside]
    for name, argument in arguments.items():
        if not isinstance(argument, _ATOMS) and sum(node.id == name for node in loads) > 1:
            raise Unsupported("an argument would be computed more than once", argument)
    if any(isinstance(node, _SCOPED) for node in walk(body)):
        raise Unsupported("a function with names of its own is not followed", function)
    if not all(isinstance(value, ast.Constant) for name, value in instead.items() if name not in arguments):
        raise Unsupported("a default is not a constant", function)
    add_outer_names(drafts, module, call, home, function, names)
    table: dict[ast.AST, cst.BaseExpression] = {**known}
    for node in loads:
        if node.id in parameters(function)[:skip]:
            raise Unsupported("a method reads its object", node)
        if node.id in arguments:
            table[node] = module.cst.expression(arguments[node.id])
        elif node.id in parameters(function):
            table[node] = home.cst.expression(instead[node.id])
        elif node.id in names.texts:
            table[node] = code(names.texts[node.id])
    return home.cst.filled(body, table)
