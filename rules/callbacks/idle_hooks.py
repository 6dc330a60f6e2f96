"""Hooks that a program makes and gives to nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from ..loop.places import has_its_line
from .keras_callbacks import is_known

IDLE = "nothing is given this hook: it is gone"


@dataclass(frozen=True)
class IdleHook:
    """A hook that nothing reads."""

    module: Module
    statement: ast.Assign
    name: ast.expr
    """The reference to its class."""


def idle_hooks(project: Project, modules: Sequence[Module], inside: Mapping[str, Spans]) -> Iterator[IdleHook]:
    """Those of some files, but for what is `inside` of model_fns, whose statements do nothing else."""
    for module in modules:
        spans = inside.get(module.path, Spans())
        for node, name in module.references():
            call = module.parent(node)
            statement = module.parent(call) if isinstance(call, ast.Call) and call.func is node else None
            if call is None or not isinstance(statement, ast.Assign):
                continue
            if not is_known(name) or spans.hold(module.span(node)):
                continue
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not has_its_line(module, statement):
                continue
            scope = module.scope(target).holder(target.id)
            read = module.loads_of(target.id, scope) or project.readers.elsewhere(module, scope, target.id)
            acts = any(
                isinstance(part, (ast.Call, ast.Await, ast.NamedExpr)) and part is not call for part in walk(call)
            )
            if not read and not acts and isinstance(node, ast.expr):
                yield IdleHook(module, statement, node)
