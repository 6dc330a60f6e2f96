"""What a TPUEstimatorSpec is given for the host of a TPU, which goes: the functions that write its summaries, too."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.idle import taken_away
from migrator.resolve.calls import calls_only_tensorflow
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Remove


def left_out(module: Module, given: ast.expr) -> Iterator[Change]:
    """The removal of the statements that give ``host_call`` its value, where nothing but the spec reads that name."""
    scope = module.scope(given).lookup(given.id) if isinstance(given, ast.Name) else None
    if not isinstance(given, ast.Name) or scope is not module.scope(given) or scope is module.analysis.root:
        return
    values = _values(module, given)
    if module.loads_of(given.id, scope) == [given] and all(calls_only_tensorflow(module, value) for value in values):
        yield from Change.of(module, *(Remove(module.statement(value)) for value in values))


def functions(project: Project, module: Module, given: ast.expr) -> Iterator[tuple[str, str]]:
    """The functions of files that a ``host_call`` names: path and name."""
    for value in _values(module, given) or [given]:
        first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else None
        found = project.definition(module, first) if first is not None else None
        if found is not None and found.module.parent(found.node) is found.module.tree:
            yield found.module.path, found.name


def clear(drafts: Drafts, hosts: Collection[tuple[str, str]]) -> None:
    """Take away those functions that nothing calls any more."""
    for path, name in hosts:
        taken_away(drafts, path, name)


def _values(module: Module, given: ast.expr) -> list[ast.expr]:
    """All values of a name; none where something else binds it."""
    nodes = [binding.node for binding in module.bindings(given)] if isinstance(given, ast.Name) else []
    statements = [module.parent(node) for node in nodes if node is not None]
    values = [s.value for s in statements if isinstance(s, ast.Assign) and s.targets[0] in nodes and not s.targets[1:]]
    return values if len(values) == len(nodes) else []
