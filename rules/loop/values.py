"""What expressions stand for, beyond their own function: what a parameter gets, and what is the same at each step."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.project import Project

_CONSTANTS = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.ones", "tensorflow.zeros"})
_ARRAYS = frozenset(f"numpy.{name}" for name in ("array", "asarray", "ones", "zeros", "arange", "linspace"))
_DEEP = 8


def given_to(project: Project, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr]]:
    """What all calls of its function give to a parameter, with their files; none if one of them is not seen."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    arg = bindings[0].node if len(bindings) == 1 else None
    function = module.parent(module.parent(arg) or module.tree) if isinstance(arg, ast.arg) else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or not isinstance(arg, ast.arg):
        return []
    outer = module.parent(function)
    args = function.args
    names = [each.arg for each in (*args.posonlyargs, *args.args)]
    if isinstance(outer, ast.ClassDef) or arg.arg not in [*names, *(each.arg for each in args.kwonlyargs)]:
        return []
    defaults = dict(zip(names[len(names) - len(args.defaults) :], args.defaults))
    defaults.update({a.arg: value for a, value in zip(args.kwonlyargs, args.kw_defaults) if value is not None})
    found = []
    for where, reference in project.readers.of(module, module.scope(outer or module.tree), function.name):
        call = where.parent(reference)
        if not isinstance(call, ast.Call) or call.func is not reference or any(k.arg is None for k in call.keywords):
            return []
        if any(isinstance(each, ast.Starred) for each in call.args):
            return []
        given = {**dict(zip(names, call.args)), **{k.arg: k.value for k in call.keywords if k.arg is not None}}
        if arg.arg in given:
            found.append((where, given[arg.arg]))
        elif arg.arg in defaults:
            found.append((module, defaults[arg.arg]))
        else:
            return []
    return found


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
