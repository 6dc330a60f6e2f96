"""Migrates many files: finds them, groups them into components, and works on these in processes.

Nothing is written here. The result does not depend on the number of processes or on which of them is faster.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from migrator.discover import installations, sources
from migrator.discover.cells import SUFFIX
from migrator.discover.components import RELEVANT, Component, components, import_graph
from migrator.discover.discovery import discover
from migrator.discover.sources import SourceFile, Unusable
from migrator.engine.engine import migrate_component
from migrator.engine.garbage import rare_garbage_collection
from migrator.engine.pool import Died, TimedOut, TimeLimit, run_tasks, time_limit
from migrator.engine.registry import load
from migrator.vendor import vendoring
from migrator.vendor.outdated import outdated
from migrator.vocabulary.conversions import Beside
from migrator.vocabulary.diagnostics import Diagnostic, Location, Outcome, Severity
from migrator.vocabulary.problems import (
    OUTDATED,
    PYTHON_2,
    REQUIREMENT,
    TOO_LONG,
    WORKER_DIED,
    internal_problem,
    problem,
)
from migrator.vocabulary.settings import Settings
from migrator.vocabulary.suppressions import suppressions

Progress = Callable[[int, int], None]
"""Called with the number of files done and of all files."""

_LEFT_OVER = 600_000
"""How many objects that it did not free make a forked worker give way to a new one: some 100 MiB."""

_OUTDATED = (
    "helpers stay as they are, which this version of migrate writes otherwise, or somebody edited ({}): to have the new ones, "
    "take the migration back and migrate again"
)
_FEW = 3
"""So many names are told."""
_NOT_PYTHON_2 = "not converted: it is Python 3 as it stands, and uses nothing that only Python 2 has"

_SMALL = 100_000
"""Bytes; less is faster done than handed to another process."""


@dataclass(frozen=True)
class Result:
    """What became of a tree."""

    outcomes: tuple[Outcome, ...]
    """One for each file found, sorted by path, then by those to create."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Paths that are written together or not at all."""
    programs: tuple[tuple[str, ...], ...] = ()
    """The same, but for programs that have nothing in common besides a new file, which is in each of them."""
    roots: tuple[str, ...] = ()
    """Real paths of the directories that may be written to."""
    parts: tuple[tuple[Outcome, ...], ...] = ()
    """What is to be written for each of `programs`, without what others add to a file that they share."""

    @property
    def pending(self) -> list[Outcome]:
        """Those of the outcomes that are to be written."""
        paths = {path for group in self.groups for path in group}
        return [outcome for outcome in self.outcomes if outcome.path in paths]

    def without(self, paths: Collection[str]) -> Result:
        """The rest of it, where the programs to which `paths` belong are not to be written, and need no helpers."""
        parts = [part for part in self.parts if not any(outcome.path in paths for outcome in part)]
        finished: dict[str, Outcome] = {}
        groups, programs = _merge(parts, finished)
        shared = {path for path, count in Counter(o.path for part in self.parts for o in part).items() if count > 1}
        outcomes = tuple(finished.get(o.path, o) if o.path in shared else o for o in self.outcomes)
        return replace(self, outcomes=outcomes, groups=groups, programs=programs, parts=tuple(parts))


@dataclass(frozen=True)
class _Task:
    files: tuple[tuple[str, bytes], ...]
    context: tuple[tuple[str, bytes], ...]
    settings: Settings
    python_2: Mapping[str, Beside] = field(default_factory=dict)
    """Files to convert first."""


def run(paths: Iterable[str], settings: Settings, progress: Progress | None = None) -> list[Outcome]:
    """Migrate files and directories, in memory. See `migrate`."""
    return list(migrate(paths, settings, progress).outcomes)


def migrate(paths: Iterable[str], settings: Settings, progress: Progress | None = None) -> Result:
    """Migrate files and directories, in memory.

    Raises RegistryError when the rules cannot be loaded.
    """
    with rare_garbage_collection():
        return _migrate(paths, settings, progress)


def _migrate(paths: Iterable[str], settings: Settings, progress: Progress | None) -> Result:
    found = discover(paths, settings.exclude)
    contents: dict[str, bytes] = {}
    finished: dict[str, Outcome] = {item.location.path: _failed(item.location.path, item) for item in found.problems}
    for path in found.files:
        try:
            raw = sources.read_bytes(path)
            if not RELEVANT.search(raw) and (path in found.named or _hides_tensorflow(raw)):
                sources.decode(path, raw)
            contents[path] = raw
        except Unusable as error:
            finished[path] = _failed(path, error.diagnostic)
    graph = import_graph(contents)
    python_2 = _python_2(contents, graph, settings)
    parts = components(contents, graph, python_2)
    tasks = [_task(part, contents, settings, python_2) for part in parts]
    total = len(contents)
    idle = total - sum(len(part.files) for part in parts)
    for path in contents:
        finished.setdefault(path, Outcome(path, "unchanged"))
    contents.clear()
    if tasks:
        load()  # here, so that the workers need not, and so that what is wrong with rules is said once
    results: list[Sequence[Outcome]] = [()] * len(tasks)
    done = idle
    for number, outcomes in _results(tasks, settings):
        results[number] = outcomes
        done += len(parts[number].files)
        if progress is not None:
            progress(done, total)
    groups, programs = _merge(results, finished)
    for path in found.named - set(python_2) if settings.from_python2 else ():
        note = Diagnostic(PYTHON_2, _NOT_PYTHON_2, Location(path), severity=Severity.INFO)
        finished[path] = with_problems(finished[path], [note])
    _note_outdated(finished)
    if any(unit.tier != "manual" for outcome in finished.values() for unit in outcome.units):
        _note_requirements(found.requirements, finished, settings.target)
    ordered = sorted(finished.values(), key=lambda outcome: outcome.path)
    return Result(tuple(ordered), groups, programs, found.roots, tuple(_written_parts(results)))


def _note_outdated(finished: dict[str, Outcome]) -> None:
    """Say which helper files stay as an earlier version of migrate wrote them."""
    for path, outcome in finished.items():
        if os.path.basename(path) not in vendoring.FILE_NAMES or outcome.status != "unchanged":
            continue
        with contextlib.suppress(Unusable):
            text = sources.load(path).text
            names = outdated(path, text)
            if names and not suppressions(text).silence(1, OUTDATED):
                told = ", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "")
                note = Diagnostic(OUTDATED, _OUTDATED.format(told), Location(path), severity=Severity.INFO)
                finished[path] = with_problems(outcome, [note])


def _hides_tensorflow(raw: bytes) -> bool:
    """Whether a file has TensorFlow in it where a search of its bytes does not see it: in UTF-16, say."""
    return b"\0" in raw and RELEVANT.search(raw.replace(b"\0", b"")) is not None


def conversions(paths: Iterable[str]) -> dict[str, bytes]:
    """What files of Python 2 below `paths` are as Python 3; nothing else is done to them."""
    result = migrate(paths, Settings(from_python2=True, select=(PYTHON_2,)))
    return {outcome.path: outcome.converted for outcome in result.outcomes if outcome.converted}


def migrate_text(path: str, raw: bytes, settings: Settings) -> Result:
    """Migrate one file that comes from elsewhere, such as standard input."""
    python_2 = _python_2({path: raw}, {path: set()}, settings)
    outcomes = work(_Task(((path, raw),), (), settings, python_2))
    group = tuple(outcome.path for outcome in outcomes)
    return Result(tuple(outcomes), (group,), (group,), parts=tuple(_written_parts([outcomes])))


def _python_2(contents: Mapping[str, bytes], graph: Mapping[str, set[str]], settings: Settings) -> Mapping[str, Beside]:
    """The files to convert first, but for those whose conversion a review declined."""
    if not settings.from_python2:
        return {}
    from migrator.python2.finding import python_2_files

    declined = {place.path for code, place in settings.declined if code == PYTHON_2} | settings.declined_files
    found = python_2_files(contents, graph)
    return {path: beside for path, beside in found.items() if path not in declined}


def _task(part: Component, contents: dict[str, bytes], settings: Settings, python_2: Mapping[str, Beside]) -> _Task:
    return _Task(
        tuple((path, contents[path]) for path in part.files),
        tuple((path, contents[path]) for path in part.context),
        settings,
        {path: python_2[path] for path in part.files if path in python_2},
    )


def _decode(path: str, raw: bytes, task: _Task) -> SourceFile:
    """A file as text, with what converts it. Raises Unusable."""
    source = sources.decode(path, raw)
    if path not in task.python_2:
        return source
    from migrator.python2.converting import converted

    return converted(source, task.python_2[path])


def work(task: _Task) -> list[Outcome]:
    """Decode and migrate one component. Raises nothing."""
    usable: list[SourceFile] = []
    failed: dict[str, Outcome] = {}
    for path, raw in task.files:
        try:
            usable.append(_decode(path, raw, task))
        except Unusable as error:
            failed[path] = _failed(path, error.diagnostic, raw)
    try:
        outcomes = _migrated(usable, task) if usable else []
    except Exception as error:
        outcomes = [_failed(file.path, internal_problem(file.path, "(engine)", error), file.raw) for file in usable]
    return [*failed.values(), *outcomes]


def _migrated(files: Sequence[SourceFile], task: _Task) -> list[Outcome]:
    """One outcome for each file, and for each to create."""

    def migrate_files(sources: Sequence[SourceFile]) -> list[Outcome]:
        return migrate_component(sources, task.settings, context=_decoded(task.context))

    outcomes = migrate_files(files)
    if not any(file.path.endswith(SUFFIX) for file in files):
        return outcomes
    from migrator.engine.cells_apart import without_cells_that_stay  # few trees hold notebooks

    return without_cells_that_stay(files, outcomes, migrate_files)


def _decoded(files: Iterable[tuple[str, bytes]]) -> Iterator[SourceFile]:
    for path, raw in files:
        with contextlib.suppress(Unusable):  # reported where it is worked on
            yield sources.decode(path, raw)


def _results(tasks: list[_Task], settings: Settings) -> Iterable[tuple[int, list[Outcome]]]:
    jobs = min(settings.jobs or _cores(), len(tasks))
    size = sum(len(raw) for task in tasks for _, raw in task.files)
    if size < _SMALL:
        for number, task in enumerate(tasks):
            yield number, _here(task)
        return
    order = sorted(range(len(tasks)), key=lambda number: -sum(len(raw) for _, raw in tasks[number].files))
    for place, result in run_tasks(work, [tasks[number] for number in order], jobs, settings.timeout, tired=_tired):
        number = order[place]
        if isinstance(result, list) and any(outcome.status == "changed" for outcome in result):
            importlib.import_module("libcst")  # here, so that processes that are started from now on need not
        yield number, result if isinstance(result, list) else _alone(tasks[number], result)


def _tired() -> bool:
    """Whether a process holds so much garbage that its end is a cheaper way to be rid of it than collecting it."""
    return gc.get_count()[0] > _LEFT_OVER


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # what a container may use, where the system can tell
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _here(task: _Task) -> list[Outcome]:
    try:
        with time_limit(task.settings.timeout):
            return work(task)
    except TimeLimit:
        return _given_up(task, TimedOut(task.settings.timeout))


def _alone(task: _Task, result: Any) -> list[Outcome]:
    """A component whose worker died or hung: once more file by file, to find which file does it."""
    if len(task.files) == 1 or not isinstance(result, (Died, TimedOut)):
        return _given_up(task, result)
    parts = [replace(task, files=(file,), context=()) for file in task.files]
    outcomes: list[Outcome] = []
    found = dict(run_tasks(work, parts, 1, task.settings.timeout))
    for number, part in enumerate(parts):
        outcomes += found[number] if isinstance(found[number], list) else _given_up(part, found[number])
    return outcomes


def _given_up(task: _Task, result: Any) -> list[Outcome]:
    outcomes = []
    for path, raw in task.files:
        if isinstance(result, TimedOut):
            limit = f"{task.settings.timeout:g} seconds of CPU time, or ten times as long in all"
            reason = f"took more than {limit} (`timeout` in the settings): left alone"
            outcomes.append(_failed(path, problem(TOO_LONG, path, reason), raw))
        else:
            code = result.code if isinstance(result, Died) else None
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            outcomes.append(
                _failed(path, problem(WORKER_DIED, path, f"the worker process died ({how}): left alone"), raw)
            )
    return outcomes


def _failed(path: str, diagnostic: Diagnostic, raw: bytes = b"") -> Outcome:
    return Outcome(path, "failed", raw, raw, remaining=(diagnostic,))


_Groups = tuple[tuple[str, ...], ...]


def _merge(results: Iterable[Sequence[Outcome]], finished: dict[str, Outcome]) -> tuple[_Groups, _Groups]:
    """Put all outcomes into `finished`. Components that make the same file share it; they form one group.

    Returns:
      The groups, and what each component alone would be.
    """
    groups: list[set[str]] = []
    alone: list[tuple[str, ...]] = []
    for outcomes in results:
        group = {outcome.path for outcome in outcomes if outcome.status in ("changed", "created")}
        alone += [tuple(sorted(group))] if group else []
        for outcome in outcomes:
            shared = finished.get(outcome.path)
            if shared is not None and shared.after and outcome.status in ("changed", "created"):
                text = vendoring.merge(outcome.path, shared.after.decode("utf-8"), outcome.after.decode("utf-8"))
                outcome = replace(outcome, after=text.encode("utf-8"))
            finished[outcome.path] = outcome
        for other in [other for other in groups if other & group]:
            groups.remove(other)
            group |= other
        if group:
            groups.append(group)
    return tuple(tuple(sorted(group)) for group in groups), tuple(alone)


def _written_parts(results: Iterable[Sequence[Outcome]]) -> Iterator[tuple[Outcome, ...]]:
    for outcomes in results:
        part = tuple(outcome for outcome in outcomes if outcome.status in ("changed", "created"))
        if part:
            yield part


def _note_requirements(paths: Iterable[str], finished: dict[str, Outcome], target: str) -> None:
    """Say of files that name packages where they ask for TensorFlow 1, or for one that is not the target."""
    for path in paths:
        with contextlib.suppress(Unusable, UnicodeDecodeError):  # not our business, then
            text = sources.read_bytes(path).decode("utf-8")
            found = list(installations.requirements(text))
            if target != "any":
                from migrator.cli.targets import misfits

                found += misfits(text, target)
            notes = [
                Diagnostic(REQUIREMENT, message, Location(path, line), severity=Severity.INFO)
                for line, message in found
            ]
            if notes:
                finished[path] = with_problems(finished.get(path, Outcome(path, "unchanged")), notes)


def with_problems(outcome: Outcome, problems: Iterable[Diagnostic]) -> Outcome:
    """`outcome` with those of `problems` that are about its file."""
    mine = tuple(problem for problem in problems if problem.location.path == outcome.path)
    return replace(outcome, remaining=(*outcome.remaining, *mine)) if mine else outcome


def exit_code(outcomes: Iterable[Outcome], pending: bool) -> int:
    """0 when nothing is left to do, else 1. `pending`: changes were not written, so they are left to do."""
    for outcome in outcomes:
        if pending and outcome.status in ("changed", "created"):
            return 1
        if any(diagnostic.severity >= Severity.WARNING for diagnostic in outcome.remaining):
            return 1
    return 0
