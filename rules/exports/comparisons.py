"""How a BestExporter compares two evaluations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

BEST, CURRENT = "best_eval_result", "current_eval_result"
"""What TensorFlow calls the arguments, which it gives by name."""


def compares(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether an expression is seen to be a function of two evaluations that does not ask for their steps."""
    functions = list(_functions(project, module, node))
    return bool(functions) and all(function is not None and _takes_results(function) for function in functions)


def _functions(project: Project, module: Module, node: ast.expr) -> Iterator[ast.FunctionDef | ast.Lambda | None]:
    """The functions that an expression may be; None for what is not seen."""
    if isinstance(node, ast.Lambda):
        yield node
    elif isinstance(node, (ast.Name, ast.Attribute)):
        found = project.definition(module, node)
        statement = module.assignment(node)
        if found is not None and isinstance(found.node, ast.FunctionDef) and not found.node.decorator_list:
            yield found.node
        elif found is None and statement is not None and isinstance(statement.value, (ast.Lambda, ast.Call)):
            yield from _functions(project, module, statement.value)
        else:
            yield None
    elif isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial" and node.args:
        yield from _functions(project, module, node.args[0])
    elif isinstance(node, ast.Call):
        made = project.definition(module, node.func)
        if made is None or not isinstance(made.node, ast.FunctionDef) or made.node.decorator_list:
            yield None
            return
        for each in (each for each in walk(made.node) if isinstance(each, ast.Return)):
            if made.module.nearest(each, (ast.FunctionDef, ast.Lambda)) is made.node:
                within = isinstance(each.value, (ast.Lambda, ast.Name))
                yield from _functions(project, made.module, each.value) if within and each.value else (None,)
    else:
        yield None


def _takes_results(function: ast.FunctionDef | ast.Lambda) -> bool:
    names = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    steps = any(isinstance(n, ast.Constant) and n.value == "global_step" for n in walk(function))
    return not steps and {BEST, CURRENT} <= names


def inlined(
    module: Module, function: ast.Lambda, best: str, logs: str, text: Callable[[ast.expr, Mapping[ast.AST, str]], str]
) -> str | None:
    """What a lambda returns, as an operand of `or` that reads logs of Keras, which `best` and `logs` hold.

    None if it does more with the evaluations than to read their entries.
    """
    if {arg.arg for arg in function.args.args} != {BEST, CURRENT} or function.args.defaults:
        return None
    instead: dict[ast.AST, str] = {}
    for name, held in ((BEST, best), (CURRENT, logs)):
        for load in module.loads_of_parameter(name, function):
            read = module.parent(load)
            key = read.slice if isinstance(read, ast.Subscript) and read.value is load else None
            if read is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return None
            instead[read] = f'{held}["val_{key.value}"]'
    written = text(function.body, instead)
    return f"({written})" if isinstance(function.body, (ast.IfExp, ast.Lambda, ast.NamedExpr)) else written
