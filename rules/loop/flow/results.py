"""What a program does with what `train_and_evaluate` returns: the metrics of its last evaluation, and what exporters return."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Project

READ = "what `train_and_evaluate` returns is read"
_OF_EXPORTERS = "what exporters of `train_and_evaluate` return is read"


@dataclass(frozen=True)
class Result:
    """Where it is read, and how; the call stands alone where it is not `read`."""

    target: str = ""
    """The name that is given it, or that of the metrics `alone`; none where it is returned."""
    returned: bool = False
    read: bool = True
    alone: bool = False

    def fitted(self, model: str, fit: str, unused: Callable[[str], str]) -> list[str]:
        """A call of `fit`, and what is kept of it: the metrics of the last evaluation, with its step as an Estimator has it."""
        if not self.read:
            return [fit]
        history, metrics = unused("history"), self._metrics(unused)
        pairs = f'name[4:]: values[-1] for name, values in {history}.items() if name.startswith("val_")'
        step = f'{metrics}["global_step"] = {model}.optimizer.iterations.numpy()'
        return [f"{history} = {fit}.history", f"{metrics} = {{{pairs}}}", step]

    def around(self, lines: list[str], guarded: bool, unused: Callable[[str], str]) -> list[str]:
        """The lines of a training, with those that hand on what is kept; these may be `guarded` by a condition."""
        if not self.read:
            return [*lines, "return"] if self.returned else lines
        metrics = self._metrics(unused)
        first = [f"{metrics} = None"] if guarded else []
        told = [] if self.alone else [f"return {metrics}, []" if self.returned else f"{self.target} = {metrics}, []"]
        return [*first, *lines, *told]

    def _metrics(self, unused: Callable[[str], str]) -> str:
        return self.target if self.alone else unused("metrics")


def result_of(project: Project, module: Module, call: ast.Call, exports: bool) -> Result | str | None:
    """The result of a call, or why it stays; None where a statement is all that there is."""
    statement = module.parent(call)
    if isinstance(statement, ast.Expr):
        return None
    if isinstance(statement, ast.Return):
        unread, last = _is_called_alone(project, module, statement)
        if unread:
            return Result(returned=not last, read=False)
        return _OF_EXPORTERS if exports else Result(returned=True)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Name):
        if not _is_read(project, module, target):
            return Result(read=False)
        return _OF_EXPORTERS if exports else Result(target.id)
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if len(names) != 2 or not all(isinstance(name, ast.Name) for name in names):
        return READ
    metrics, more = names
    assert isinstance(metrics, ast.Name)
    if _is_read(project, module, more):
        return _OF_EXPORTERS if exports else Result(ast.unparse(names[0]) + ", " + ast.unparse(names[1]))
    return Result(metrics.id, read=_is_read(project, module, metrics), alone=True)


def _is_read(project: Project, module: Module, target: ast.expr) -> bool:
    """Whether anything reads a name."""
    assert isinstance(target, ast.Name)
    scope = module.scope(target).lookup(target.id)
    if scope is None or module.loads_of(target.id, scope):
        return True
    return scope is module.analysis.root and project.readers.elsewhere(module, scope, target.id)


def _is_called_alone(project: Project, module: Module, statement: ast.Return) -> tuple[bool, bool]:
    """Whether no call of the function around a `return` reads what it returns; and whether it ends with that."""
    function = module.parent(statement)
    inside = module.nearest(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    if not isinstance(inside, ast.FunctionDef) or not isinstance(module.parent(inside), ast.Module):
        return False, False
    uses = list(project.readers.of(module, module.analysis.root, inside.name))
    calls = [(where, where.parent(node), node) for where, node in uses]
    alone = all(
        isinstance(call, ast.Call) and call.func is node and isinstance(where.parent(call), ast.Expr)
        for where, call, node in calls
    )
    last = function is inside and inside.body[-1] is statement
    return bool(calls) and alone and len(own_returns(inside)) == 1, last
