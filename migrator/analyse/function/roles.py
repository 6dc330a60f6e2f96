"""What a call of a helper gives its parameters, and what each of them is to it: a tensor, a plain value, the mode."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.modes import ALL_MODES, mode_of_symbol
from migrator.analyse.statements.names import enumerated, is_count
from migrator.normalise.draft import arguments
from migrator.resolve.project import Definition


def is_flag(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def is_number(node: ast.expr, around: Collection[ast.AST]) -> bool:
    """Whether an expression is seen to be a number; `around` are the nodes in which it stands."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mod):
        return is_number(node.left, around) or is_number(node.right, around)
    if isinstance(node, ast.Name):
        loops = [loop for loop in around if isinstance(loop, ast.For)]
        counters = [loop.target if is_count(loop.iter) else enumerated(loop)[0] for loop in loops]
        return any(isinstance(counter, ast.Name) and counter.id == node.id for counter in counters)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def defaults(definition: Definition) -> dict[str, ast.expr]:
    """The default values of parameters."""
    assert isinstance(definition.node, ast.FunctionDef)
    return arguments.defaults(definition.node)


_FLAGS = frozenset({"training", "is_training", "train"})
"""Names like that of Keras's `training`."""


def fixed_flags(given: Mapping[str, ast.expr]) -> set[str]:
    """Parameters named like Keras's `training` that are given a constant."""
    return {name for name, value in given.items() if name in _FLAGS and is_flag(value)}


def flag_defaults(definition: Definition) -> dict[str, str]:
    """Parameters named like Keras's `training`, true or false by default, with that default."""
    return {
        name: str(default.value)
        for name, default in defaults(definition).items()
        if name in _FLAGS and isinstance(default, ast.Constant) and is_flag(default)
    }


def parameters(definition: Definition) -> list[str]:
    """The names of all parameters, in order."""
    assert isinstance(definition.node, ast.FunctionDef)
    return arguments.parameters(definition.node)


def bound(definition: Definition, call: ast.Call) -> dict[str, ast.expr]:
    assert isinstance(definition.node, ast.FunctionDef)
    args = definition.node.args
    if args.vararg or args.kwarg:
        raise Unsupported("a helper with *args or **kwargs that makes layers is not followed", call)
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise Unsupported("a helper that makes layers is called with * or **", call)
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    if len(call.args) > len(names):
        raise Unsupported("a helper is called with too many arguments", call)
    given = dict(zip(names, call.args))
    for keyword in call.keywords:
        if keyword.arg not in parameters(definition) or keyword.arg in given:
            raise Unsupported("a helper is called with an argument that it does not have", call)
        assert keyword.arg is not None
        given[keyword.arg] = keyword.value
    return given


def role(body: Body, value: ast.expr) -> str:
    """``mode``, ``training``, ``static`` or ``dynamic``: what a parameter is for the helper."""
    if isinstance(value, ast.Name) and value.id == body.mode:
        return "mode"
    if mode_of_symbol(body.module.resolve(value)) is not None:
        raise Unsupported("a helper that makes layers is called with a fixed mode", value)
    if body.modes.mentions(value):
        table = body.modes.table(value)
        if table is not None and frozenset(m for m, on in table.items() if on) == ALL_MODES - {"eval", "infer"}:
            return "training"
    time = body.times.of(value)
    return "static" if time is Time.STATIC else "dynamic"
