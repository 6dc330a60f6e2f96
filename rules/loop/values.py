"""What expressions stand for, beyond their own function: what a parameter gets, and what is the same at each step."""

from __future__ import annotations

import ast

from migrator.normalise.values.callers import given_by_callers
from migrator.normalise.values.possible_values import possible_values
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vocabulary.unsupported import Unsupported

_CONSTANTS = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.ones", "tensorflow.zeros"})
_ARRAYS = frozenset(f"numpy.{name}" for name in ("array", "asarray", "ones", "zeros", "arange", "linspace"))
_DEEP = 8


def given_to(project: Project, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
    """What all calls of its function give to a parameter, with their files; none if one of them is not seen."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    if len(bindings) != 1 or not isinstance(bindings[0].node, ast.arg):
        return []
    try:
        return given_by_callers(project, module, bindings[0].node)
    except Unsupported:
        return []


def values_of(project: Project, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
    """The expressions that another one may stand for, with their files; none if one is not seen.

    What a program keeps in a dict is seen only if nothing else than what looks it up reads the dict.
    """
    found = possible_values(project, module, node, whole=True)
    kept = any(isinstance(read, (ast.Subscript, ast.Call)) for read in found.read)
    lost = found.stuck is not None or (kept and found.strangers(project, found.read))
    return [] if lost else found.values


def entry_of(project: Project, module: Module, node: ast.Subscript) -> tuple[Module, ast.expr] | None:
    """What stands under a key of a dict that is written out, and that nothing does anything with but to look up entries."""
    found = possible_values(project, module, node.value, whole=True)
    shown = found.values[0][1] if found.stuck is None and len(found.values) == 1 else None
    if not isinstance(shown, ast.Dict) or not isinstance(node.slice, ast.Constant) or not found.holders:
        return None
    for where, read in found.strangers(project, ()):
        entry = where.parent(read)
        if not isinstance(entry, ast.Subscript) or entry.value is not read or not isinstance(entry.ctx, ast.Load):
            return None
    keys = [key.value for key in shown.keys if isinstance(key, ast.Constant)]
    if len(keys) < len(shown.keys) or keys.count(node.slice.value) != 1:
        return None
    return found.values[0][0], shown.values[keys.index(node.slice.value)]


def unpacking(module: Module, node: ast.expr) -> ast.Assign | None:
    """The statement ``name, other = …`` that a name gets its value from, if that is the only one."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    target = module.parent(bindings[0].node) if len(bindings) == 1 and bindings[0].node is not None else None
    statement = module.parent(target) if isinstance(target, ast.Tuple) else None
    return statement if isinstance(statement, ast.Assign) and statement.targets == [target] else None


def are_tensors(module: Module, node: ast.expr | None, depth: int = 0) -> bool:
    """Whether an expression is seen to be such a value, or a dict of such."""
    if node is None or depth > _DEEP:
        return False
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(are_tensors(module, part, depth + 1) for part in node.elts)
    if isinstance(node, ast.Dict):
        return None not in node.keys and all(are_tensors(module, part, depth + 1) for part in node.values)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, str, bytes))
    if isinstance(node, ast.UnaryOp):
        return are_tensors(module, node.operand, depth + 1)
    if isinstance(node, ast.Call):
        name = module.resolve(node.func)
        return name in _ARRAYS or (name in _CONSTANTS and bool(node.args))
    statement = module.assignment(node)
    if statement is None or not isinstance(node, ast.Name) or not are_tensors(module, statement.value, depth + 1):
        return False
    above = [module.parent(load) for load in module.loads_of(node.id, module.scope(node).lookup(node.id))]
    return not any(isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Store) for outer in above)


def may_be_fraction(project: Project, module: Module, node: ast.expr | int | None, depth: int = 0) -> bool:
    """Whether a number is seen to be the result of a true division."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) or any(
            may_be_fraction(project, module, part, depth) for part in (node.left, node.right)
        )
    if not isinstance(node, ast.Name) or depth > _DEEP:
        return False
    statement = module.assignment(node)
    given = given_to(project, module, node) if statement is None else [(module, statement.value)]
    return any(may_be_fraction(project, where, value, depth + 1) for where, value in given)
