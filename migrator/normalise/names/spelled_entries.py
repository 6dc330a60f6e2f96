"""Ways of setting several entries of params at once, or under a condition, as statements that set one entry each."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

from migrator.normalise.draft.draft import Change
from migrator.normalise.objects.reserved import PARAMS
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr, statements

if TYPE_CHECKING:
    import libcst as cst


def spelled_out(definition: Definition) -> list[Change]:
    """The changes that make ``params.update(units=3)`` and ``if "units" not in params:`` statements that set one entry each."""
    module, function = definition.module, definition.node
    for node in walk(function):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update":
            pairs = _pairs(call) if is_name(call.func.value, PARAMS) else []
            if pairs and module.indent(node) is not None:
                made = [
                    statements(f"{PARAMS}[{{key}}] = {{value}}", key=written(k), value=module.cst.expression(v))
                    for k, v in pairs
                ]
                return Change.of(module, Replace(node, [each for one in made for each in one]))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and not node.orelse:
            default = _default(node)
            if default is not None and module.indent(node) is not None:
                key = module.cst.expression(node.test.left)
                value = module.cst.expression(default)
                return Change.of(
                    module, Replace(node, statements(f"{PARAMS}.setdefault({{key}}, {{value}})", key=key, value=value))
                )
    return []


def popped(module: Module, function: ast.AST) -> list[Change]:
    """The change of ``params.pop("units")`` where nothing else asks for the entry, or gets the params as a whole."""
    uses = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == PARAMS]
    parents = [module.parent(node) for node in uses]
    keys: list[str | None] = []
    calls: dict[str, ast.Call] = {}
    for parent in parents:
        call = module.parent(parent) if isinstance(parent, ast.Attribute) else None
        key = parent.slice if isinstance(parent, ast.Subscript) else None
        if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent and call.args:
            key = call.args[0]
            if (
                parent.attr == "pop"
                and not call.keywords
                and isinstance(module.parent(call), (ast.Assign, ast.Call, ast.keyword))
            ):
                calls[text_key(key) or ""] = call
        keys.append(text_key(key) if key is not None else None)
    for name, call in calls.items():
        if name and None not in keys and keys.count(name) == 1:
            asked, *default = map(module.cst.expression, call.args)
            if default:
                new = expr(f"{PARAMS}.get({{asked}}, {{default}})", asked=asked, default=default[0])
            else:
                new = expr(f"{PARAMS}[{{asked}}]", asked=asked)
            return Change.of(module, Replace(call, new))
    return []


def _pairs(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """The keys and values of an update that says them all."""
    pairs: list[tuple[str | None, ast.expr]] = []
    for argument in call.args:
        if not isinstance(argument, ast.Dict):
            return []
        pairs += [
            (text_key(key) if key is not None else None, value) for key, value in zip(argument.keys, argument.values)
        ]
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords]
    known = [(key, value) for key, value in pairs if key is not None]
    reads = any(is_name(node, PARAMS) for _, value in known for node in walk(value))
    return known if len(known) == len(pairs) and not reads else []


def _default(node: ast.If) -> ast.expr | None:
    """What an ``if "units" not in params:`` sets the entry to, where that may be computed in any case."""
    test, body = node.test, node.body[0]
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn) or len(node.body) != 1:
        return None
    if not is_name(test.comparators[0], PARAMS) or not isinstance(body, ast.Assign) or len(body.targets) != 1:
        return None
    target, key = body.targets[0], text_key(test.left)
    same = isinstance(target, ast.Subscript) and is_name(target.value, PARAMS) and text_key(target.slice) == key
    constant = all(
        isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop)) for part in walk(body.value)
    )
    return body.value if key is not None and same and constant else None


def written(key: str) -> cst.BaseExpression:
    """A key as it stands in code."""
    return expr(json.dumps(key))


def text_key(node: ast.expr) -> str | None:
    """The key that a constant is."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
