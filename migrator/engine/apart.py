"""Programs that stay beside programs that move: what both import stays as it is for the one, and is copied for the other.

`modeling.py` of a program that stays is left byte for byte; its neighbour that moves imports `modeling_tf2.py`.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from migrator.discover.components import reach
from migrator.resolve.module import Module
from migrator.resolve.module_names import chosen_patterns
from migrator.resolve.project import Project
from migrator.resolve.symbols import dotted, member
from migrator.resolve.syntax import is_main_block
from migrator.rewrite import Change, Rename, Replace, Unprintable
from migrator.vendor.vendoring import is_vendored
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Location, ProgramUnit, Severity
from migrator.vocabulary.problems import APART

_SUFFIX = "_tf2"
_MAX_NAMES = 5
_CALLS = ("import_module", "__import__")


@dataclass(frozen=True)
class Parting:
    """What keeps the programs of one component apart."""

    left: frozenset[str]
    """Files of programs that stay."""
    kept: frozenset[str]
    """These, and all that they import: nothing of it is changed."""
    movers: frozenset[str]
    """Files that move, as far as it depends on them."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Paths of copies that the others import, by those of the originals."""
    edits: tuple[Edit, ...] = ()
    """What makes the others, and the copies, import the copies."""
    tied: bool = False
    """Whether all stayed before they were kept apart."""
    all_stay: bool = False
    """Whether the others stay, too, as what they need cannot be copied."""

    def notes(self) -> Iterator[Diagnostic]:
        """What there is to say of it: a line about what stays, and one about what is copied."""
        if self.all_stay:
            said = f"stays like {os.path.basename(min(self.left))}: what both import cannot be copied under a name with {_SUFFIX}"
            yield _note(min(self.movers), said)
        if self.copies:
            own = [edit.path for edit in self.edits if edit.path not in self.copies.values()]
            yield _note(min(self.left), f"stays with what it imports, so that it runs as before: {_names(self.copies)}")
            if own:
                said = f"imports copies of what a program needs that stays: {_names(self.copies.values())}"
                yield _note(min(own), said)


def revised(
    apart: Parting | None,
    modules: Mapping[str, Module],
    units: Collection[ProgramUnit],
    changed: Collection[str],
    withheld: Collection[str],
) -> Parting | None:
    """How the programs of a component are kept apart, after an attempt to migrate it with `apart`; the same: as in this one.

    Args:
      apart: how they were kept apart.
      modules: all files, as they were before.
      units: what became of the programs.
      changed: the files that the attempt changed, or whose copies.
      withheld: those that it would have changed, but that programs need which stay.
    """
    if apart is None:
        found = parting(modules, units) if units else None
        if found is None or not found.movers or found.kept & set(changed):
            return found
        tied = any(unit.tier == "manual" and not set(unit.files) <= found.kept for unit in units)
        return replace(found, tied=True) if tied else None
    if apart.all_stay or not apart.movers:
        return apart
    project = Project(modules)
    graph = {path: imported_paths(project, module) for path, module in modules.items()}
    failed = all(unit.tier == "manual" for unit in units)
    if failed and apart.tied:
        return None
    if failed or not apart.copies and reach(apart.movers, graph) & apart.kept & set(withheld):
        return replace(apart, kept=frozenset(modules), copies={}, edits=(), all_stay=True)
    needed = {path for path in apart.copies if reach([path], graph) & set(apart.copies) & set(changed)}
    if needed == set(apart.copies):
        return apart
    plain = replace(apart, copies={}, edits=())
    if not needed and not apart.tied:  # nothing that both import changes
        return None
    return with_copies(modules, plain, needed) or plain


def parting(modules: Mapping[str, Module], units: Collection[ProgramUnit]) -> Parting | None:
    """How the programs of `modules`, as they were before, are kept apart; None where all stay, or all move."""
    blocked = {path for unit in units if unit.tier == "manual" for path in unit.blocked if path in modules}
    if not blocked:
        return None
    project = Project(modules)
    graph = {path: imported_paths(project, module) for path, module in modules.items()}
    reached = {path: reach([path], graph) for path in modules}
    staying = reach(blocked, graph)
    programs = {path for unit in units for path in unit.files if path in modules}
    moving = {path for path in programs - staying if not reached[path] & blocked}
    left = {path for path in modules if path in blocked or reached[path] & blocked and not reached[path] & moving}
    kept = reach(left, graph)
    moving -= kept
    beside = {
        path
        for path in kept & {unit.location.path for unit in units}
        if any(map(is_main_block, modules[path].tree.body))
        and not reached[path] & blocked
        and not _has_copy(path, modules)
    }
    if not moving and not beside:  # perhaps they moved before
        was_parted = any(_has_copy(path, modules) for path in kept if _can_be_copied(path))
        return Parting(frozenset(left), frozenset(kept), frozenset()) if was_parted else None
    below = reach(moving, graph) if moving else set()
    movers = frozenset(
        path
        for path, module in modules.items()
        if path not in kept and (module.mentions_tensorflow or path in below or reached[path] & moving)
    )
    plain = Parting(frozenset(left), frozenset(kept), movers)
    shared = {path for path in reach({*movers, *beside}, graph) & kept if not is_vendored(modules[path].text)}
    return with_copies(modules, plain, shared) or plain


def with_copies(modules: Mapping[str, Module], plain: Parting, shared: Collection[str]) -> Parting | None:
    """`plain` with copies of the files `shared`; None where an import cannot be made that of a copy."""
    project = Project(modules)
    copies = {path: _copy(path) for path in shared if _can_be_copied(path)}
    if any(_has_copy(path, modules) for path in copies):
        return None
    if any(imported_paths(project, modules[path]) & set(copies) for path in shared if path not in copies):
        return None  # a package that passes on what is in them
    edits: list[Edit] = []
    for path in sorted({*plain.movers, *copies}):
        found = _redirected(project, modules[path], copies)
        if found is None:
            return None
        edits += [Edit(copies.get(path, path), edit.start, edit.end, edit.text) for edit in found]
    return Parting(plain.left, plain.kept, plain.movers, copies, tuple(sorted(set(edits))))


def _copy(path: str) -> str:
    return f"{os.path.splitext(path)[0]}{_SUFFIX}.py"


def _has_copy(path: str, modules: Mapping[str, Module]) -> bool:
    return _copy(path) in modules or os.path.lexists(_copy(path))


def _can_be_copied(path: str) -> bool:
    return path.endswith(".py") and os.path.basename(path) != "__init__.py"


def imported_paths(project: Project, module: Module) -> set[str]:
    """Paths of the files that a file imports."""
    found = {other.path for _, other in project.imported(module)} | _loaded(project, module)
    dotted_names = (e.alias.name for e in module.imports if isinstance(e.statement, ast.Import) and "." in e.alias.name)
    inner = (project.module_named(name, module) for name in dotted_names)
    return found | {other.path for other in inner if other is not None}


def _loaded(project: Project, module: Module) -> set[str]:
    """Paths of the files that calls in a file import, or may import."""
    found = {other.path for _, other in project.imported(module)} if any(chosen_patterns(module)) else set()
    for call in module.nodes(ast.Call):
        first = call.args[0] if call.args else None
        if (
            (dotted(call.func) or "").endswith(_CALLS)
            and isinstance(first, ast.Constant)
            and isinstance(first.value, str)
        ):
            other = project.module_named(first.value, module)
            found |= {other.path} if other is not None else set()
    return found


def _redirected(project: Project, module: Module, copies: Mapping[str, str]) -> list[Edit] | None:
    """What makes a file import the copies; None where an import is not written down as a statement."""
    if _loaded(project, module) & set(copies):
        return None
    changes: list[Change] = []
    reads: dict[ast.Attribute, Replace] = {}
    for entry in module.imports:
        statement, alias = entry.statement, entry.alias
        if isinstance(statement, ast.ImportFrom):
            base = "." * statement.level + (statement.module or "")
            home = project.module_named(base, module) if base.strip(".") else None
            if home is not None and home.path in copies:
                changes.append(Rename(statement, f"{statement.module}{_SUFFIX}"))
                continue
            inner = project.module_named(member(base, alias.name), module) if alias.name != "*" else None
            if inner is not None and inner.path in copies:
                changes.append(Rename(alias, alias.name + _SUFFIX, bound=alias.asname or alias.name))
            continue
        found = project.module_named(alias.name, module)
        if found is None or found.path not in copies:
            continue
        if alias.asname or "." not in alias.name:
            changes.append(Rename(alias, alias.name + _SUFFIX, bound=alias.asname or alias.name))
            continue
        changes.append(Rename(alias, alias.name + _SUFFIX))
        named = [node for node in module.nodes(ast.Attribute) if dotted(node) == alias.name]
        reads.update({node: Replace(node, alias.name + _SUFFIX) for node in named})
    try:
        return module.cst.apply([*changes, *reads.values()])
    except Unprintable:
        return None


def _names(paths: Iterable[str]) -> str:
    names = [os.path.basename(path) for path in sorted(paths)]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def _note(path: str, message: str) -> Diagnostic:
    return Diagnostic(APART, message, Location(path, 1), severity=Severity.INFO)
