"""Cells of a notebook that stay, and others that are programs of their own: these move, as if the former were not there.

A cell goes on its own where nothing else reads what it binds, and where what it reads of the others stays as it was.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from migrator.discover import cells
from migrator.discover.notebooks import Notebook
from migrator.discover.sources import SourceFile, decode
from migrator.resolve.parsing import syntax_tree
from migrator.vocabulary.diagnostics import Diagnostic, Location, Outcome, ProgramUnit, Severity
from migrator.vocabulary.problems import APART

_MOST = 3
"""How often cells are set aside before a notebook is left as it is."""

Migrate = Callable[[Sequence[SourceFile]], list[Outcome]]


@dataclass(frozen=True)
class _Cell:
    """What the code of one cell reads before it binds it, and what it binds."""

    reads: frozenset[str]
    binds: frozenset[str]


def without_cells_that_stay(files: Sequence[SourceFile], outcomes: list[Outcome], migrate: Migrate) -> list[Outcome]:
    """`outcomes`, or those of `files` without some cells of a notebook, if programs move then that stay with them."""
    for number, file in enumerate(files):
        if isinstance(file, Notebook) and file.conversion is None:
            outcomes = _attempts([*files[:number], *files[number + 1 :]], file, outcomes, migrate)
    return outcomes


def _attempts(others: list[SourceFile], notebook: Notebook, outcomes: list[Outcome], migrate: Migrate) -> list[Outcome]:
    first = last = next(outcome for outcome in outcomes if outcome.path == notebook.path)
    texts = dict(cells.split(notebook.text))
    try:
        code = {number: _summary(syntax_tree(text)) for number, text in texts.items()}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return outcomes
    aside: set[int] = set()
    for _ in range(_MOST):
        if first.status != "unchanged" or all(unit.tier != "manual" for unit in last.units):
            break
        more = {number for unit in last.units if unit.tier == "manual" for number in _obstacles(unit)} - aside
        aside = _with_readers(aside | more, code)
        if not more or aside >= set(code):
            return outcomes
        found = migrate([*others, notebook.without(aside)])
        last = next(outcome for outcome in found if outcome.path == notebook.path)
        moved = any(unit.tier != "manual" for unit in last.units)
        if moved and last.status == "changed" and _keeps(last, code, aside):
            return [_joined(first, last, aside) if outcome is last else outcome for outcome in found]
    return outcomes


def _obstacles(unit: ProgramUnit) -> Iterator[int]:
    """The cells in which that stands which keeps a program from moving."""
    path = unit.location.path
    for reason in unit.reasons:
        named = re.findall(rf"{re.escape(path)}:cell (\d+):", reason)
        yield from map(int, named or [unit.location.cell])


def _with_readers(aside: Collection[int], code: Mapping[int, _Cell]) -> set[int]:
    """Cells, and all that read what these bind, as far as no other cell has bound it anew by then."""
    found = set(aside)
    for number in code:
        if number not in found and any(_binder(name, number, code) in found for name in code[number].reads):
            found.add(number)
    return found


def _binder(name: str, reader: int, code: Mapping[int, _Cell]) -> int | None:
    """The last cell above another that binds a name."""
    return next((number for number in reversed([*code]) if number < reader and name in code[number].binds), None)


def _keeps(outcome: Outcome, code: Mapping[int, _Cell], aside: Collection[int]) -> bool:
    """Whether all that cells set aside read of the others, and what that needs, is bound as before."""
    before, after = (_bound(decode(outcome.path, raw), aside) for raw in (outcome.before, outcome.after))
    read = {(name, number) for number in aside for name in code[number].reads}
    waiting = [name for name, number in read if name in before and _binder(name, number, code) not in aside]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        if [ast.dump(statement) for statement in before[name]] != [ast.dump(each) for each in after.get(name, ())]:
            return False
        more = {needed for statement in before[name] for needed in _reads(statement) if needed in before} - seen
        seen |= more
        waiting += more
    return True


def _bound(notebook: SourceFile, aside: Collection[int]) -> dict[str, list[ast.stmt]]:
    """The statements that bind each name, in cells that are not set aside."""
    found: dict[str, list[ast.stmt]] = {}
    for number, text in cells.split(notebook.text):
        for statement in syntax_tree(text).body if number not in aside else ():
            for name in _binds(statement):
                found.setdefault(name, []).append(statement)
    return found


def _joined(first: Outcome, moved: Outcome, aside: Collection[int]) -> Outcome:
    """What became of a notebook of which some cells stayed, with what was said of these."""
    known = set(moved.remaining)
    said = tuple(item for item in first.remaining if item.location.cell in aside and item not in known)
    units = tuple(unit for unit in first.units if unit.location.cell in aside)
    numbers = ", ".join(map(str, sorted(aside)))
    which = f"cell {numbers} stays as it is" if len(aside) == 1 else f"cells {numbers} stay as they are"
    note = Diagnostic(
        APART,
        f"{which}: the programs of the other cells need nothing of it",
        Location(first.path, 1, 1, min(aside)),
        severity=Severity.INFO,
    )
    remaining = (*moved.remaining, note, *said)
    return replace(moved, remaining=remaining, units=(*moved.units, *units), cells_aside=tuple(sorted(aside)))


# -- names of a cell --------------------------------------------------------------------------------------------------


def _summary(tree: ast.Module) -> _Cell:
    reads: set[str] = set()
    binds: set[str] = set()
    for statement in tree.body:
        reads |= set(_reads(statement)) - binds
        binds |= set(_binds(statement))
    return _Cell(frozenset(reads), frozenset(binds))


def _reads(node: ast.AST) -> Iterable[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store))


def _binds(statement: ast.stmt) -> Iterator[str]:
    """Names of the module that a statement binds."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            yield from (name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
