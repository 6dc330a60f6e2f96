"""Which of several assignments a name has its value of at a place."""

from __future__ import annotations

import ast
from typing import Optional

from migrator.resolve.module import Module

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def reaching(module: Module, load: ast.expr) -> Optional[ast.Assign]:
    """The one assignment whose value a name surely has where it is read; None if it may be that of another one.

    Above the place, in its own block and in those around it, the last statement that binds the name has to be the assignment.
    """
    if not isinstance(load, ast.Name):
        return None
    single = module.assignment(load)
    if single is not None:
        return single
    binders = [binding.node for binding in module.bindings(load)]
    made = {module.statement(node): node for node in binders}
    scope = module.scope(load)
    if len(made) < 2 or scope.lookup(load.id) is not scope or not all(map(_binds_alone, made, made.values())):
        return None
    below: ast.AST = module.statement(load)
    while True:
        block = block_of(module, below)  # type: ignore[arg-type]
        for above in reversed(block[: block.index(below)]):
            if above in made:
                return above  # type: ignore[return-value]
            if any(module.is_inside(node, above) for node in binders):
                return None
        outer = module.parent(below)
        if not isinstance(outer, ast.stmt) or isinstance(outer, _FUNCTIONS):
            return None
        looped = isinstance(outer, _LOOPS) or not isinstance(outer, (ast.If, ast.With))  # handlers, say
        if looped and any(module.is_inside(node, outer) for node in binders):
            return None
        below = outer


def block_of(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """The statements among which one stands."""
    return next((list[ast.AST](b) for b in blocks(module.parent(statement)) if statement in b), [statement])


def blocks(node: ast.AST | None) -> list[list[ast.stmt]]:
    """The lists of statements that a statement, a function or a file has."""
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list)]


def _binds_alone(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a statement assigns to a name, and to nothing else."""
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is node


def read_once(module: Module, load: ast.Name) -> Optional[ast.Assign]:
    """The assignment that a name has its value of, if nothing else reads that value; None: something else may."""
    statement = reaching(module, load)
    others = (each for each in module.loads_of(load.id, module.scope(load).lookup(load.id)) if each is not load)
    return None if any(reaching(module, each) in (statement, None) for each in others) else statement
