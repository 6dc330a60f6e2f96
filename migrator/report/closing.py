"""The report for people: diffs, notes, programs, what is left, numbers, and what to do next, in this order.

What matters most comes last, where a terminal shows it. Findings keep one line each, so that `grep` and editors read them.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from migrator.discover.discovery import dirty_files
from migrator.report import written as written_files
from migrator.report.text import HELPERS, Line, count, diff, finding, is_unsafe, summary
from migrator.vocabulary.diagnostics import Diagnostic, Location, Outcome, Severity

MANY = 10
"""More notes of one code than this are cut to the first few."""
FEW = 3

STDIN = "<stdin>"
"""What standard input is called, unless it gets another name."""


def report(
    outcomes: Sequence[Outcome],
    verbosity: int = 0,
    written: Sequence[str] | None = None,
    committed: bool = False,
    undoable: bool = True,
) -> Iterator[Line]:
    """The whole report: diffs, or the files written, then `closing`. New files are named only, unless `verbosity` is 1.

    Args:
      outcomes: one for each file.
      verbosity: -1 leaves out the diff, 1 lists each change with its rule.
      written: the files written, which are listed instead of the diff unless `verbosity` is 1; None where nothing was
        to be written.
      committed: whether git has what was written.
      undoable: whether --undo can take it back.
    """
    if written is not None and verbosity == 0:
        yield from written_files.lines(outcomes, written)
    elif verbosity >= 0:
        for outcome in outcomes:
            if verbosity == 0 and outcome.status == "created":
                lines = outcome.after.count(b"\n")
                yield Line(f"new file {outcome.path}: {lines} line{'s' * (lines != 1)} (shown with -v)", "bold green")
            else:
                yield from diff(outcome)
    yield from closing(outcomes, verbosity, written, committed, undoable)


def closing(
    outcomes: Sequence[Outcome],
    verbosity: int = 0,
    written: Sequence[str] | None = None,
    committed: bool = False,
    undoable: bool = True,
) -> Iterator[Line]:
    """Sections with something in them, each after an empty line and a heading; then the numbers and the next step."""
    for title, lines in _sections(outcomes, verbosity):
        for number, line in enumerate(lines):
            if number == 0:
                yield from (Line(""), Line(title, "bold"))
            yield line
    yield Line("")
    yield Line(summary(outcomes, written), "bold")
    step = next_step(outcomes, written, committed, undoable)
    if step:
        yield Line(step)


def findings(outcomes: Sequence[Outcome], verbosity: int = 0) -> Iterator[Line]:
    """The lines of all sections without headings, as editors read them."""
    for _, lines in _sections(outcomes, verbosity):
        yield from lines


def _sections(outcomes: Sequence[Outcome], verbosity: int) -> Iterator[tuple[str, Iterable[Line]]]:
    remaining = _sorted(item for outcome in outcomes for item in outcome.remaining)
    left = [item for item in remaining if item.severity != Severity.INFO or is_unsafe(item)]
    notes = [item for item in remaining if item.severity == Severity.INFO and not is_unsafe(item)]
    applied = _sorted(item for outcome in outcomes for item in outcome.applied) if verbosity > 0 else []
    yield "Changes", (finding(item, applied=True) for item in applied)
    yield "Notes", (map(finding, notes) if verbosity > 0 else _cut(notes))
    yield "Programs", units(outcomes, verbosity)
    yield "Left to you", map(finding, left)


def units(outcomes: Iterable[Outcome], verbosity: int = 0) -> Iterator[Line]:
    """One line for each program: its tier, why not a better one, and what asks for helpers; with all reasons where
    `verbosity` is 1."""
    for outcome in outcomes:
        for unit in outcome.units:
            shown = unit.reasons if verbosity > 0 else unit.reasons[:1]
            reason = "; ".join(_short(text, unit.location) for text in shown)
            if len(shown) < len(unit.reasons):
                more = count(len(unit.reasons) - 1, "more reason")
                reason += f"; and {more}, {'below' if unit.tier == 'manual' else 'with -v'}"
            style = "yellow" if unit.tier == "manual" else "green"
            what = f"{unit.tier}: {reason}" if reason else unit.tier
            helpers = f"; {HELPERS}: {_short(unit.helpers, unit.location)}" if unit.helpers else ""
            yield Line(f"{unit.location}: program {unit.name}: {what}{helpers}", style)


def next_step(
    outcomes: Sequence[Outcome],
    written: Sequence[str] | None = None,
    committed: bool = False,
    undoable: bool = True,
) -> str:
    """What a user would do now; nothing where nothing happened."""
    if not outcomes:
        return "No Python file or notebook is there: name others, or look at what `exclude` and .gitignore leave out."
    codes = {item.code for outcome in outcomes for item in outcome.remaining if item.severity != Severity.INFO}
    left = f"`migrate explain {min(codes)}` says what to do about what is left" if codes else ""
    if written:
        steps = [*_written(written, committed, undoable), *_since(outcomes, written, committed), left]
    elif written is None and any(outcome.status in ("changed", "created") for outcome in outcomes):
        piped = any(outcome.path == STDIN for outcome in outcomes)
        steps = [left] if piped else [_proof(outcomes), "--review asks about each change", left]
    else:
        steps = [left]
    text = "; ".join(step for step in steps if step)
    return f"Next: {text}." if text else ""


def _written(paths: Sequence[str], committed: bool, undoable: bool) -> list[str]:
    """How to read what was written, and how to take it back; without git there is one way back only."""
    if not committed and not (dirty_files(paths[:1]) or dirty_files(paths)):  # no repository, or files that it ignores
        only = "`migrate --undo`, from this folder, takes it back: the only way, as git does not have these files"
        return [only] if undoable else []
    read = f"read what changed, with `{'git log -p' if committed else 'git diff'}`"
    return [read, "`migrate --undo`, from this folder, takes it back"] if undoable else [read]


def _since(outcomes: Sequence[Outcome], written: Sequence[str], committed: bool) -> list[str]:
    """How to compare what was written with what git has."""
    name = _start(outcomes)
    if not name or committed or not dirty_files(written):
        return []
    command = f"migrate parity --since HEAD {name}{_option(outcomes)}"
    return [f"`{command}` trains the program as it is committed and as it is now, and compares"]


def _proof(outcomes: Sequence[Outcome]) -> str:
    """How to compare the program with its migrated copy."""
    name = _start(outcomes)
    return (
        f"`migrate parity {name}{_option(outcomes)}` trains a program and its migrated copy, and compares"
        if name
        else ""
    )


def _option(outcomes: Iterable[Outcome]) -> str:
    """What a comparison has to be told about a program of Python 2."""
    return " --from-python2" if any(outcome.converted for outcome in outcomes) else ""


def _start(outcomes: Sequence[Outcome]) -> str:
    """The file that starts a program that is migrated, for a shell; ``FILE`` where there are several, empty where none is."""
    units = [unit for outcome in outcomes for unit in outcome.units if unit.tier != "manual"]
    if not units:
        return ""
    files = {path for unit in units for path in unit.files or (unit.location.path,)}
    mains = [outcome for outcome in outcomes if b"__main__" in outcome.before]
    starts = {main.path for main in mains} & files or {main.path for main in mains if main.status == "changed"} or files
    return shlex.quote(min(starts)) if len(starts) == 1 else "FILE"


def _sorted(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(found, key=lambda item: (item.location, item.code, item.message))


def _cut(notes: Sequence[Diagnostic]) -> Iterator[Line]:
    """The notes, of a code with many only the first."""
    counts = Counter(item.code for item in notes)
    shown: Counter[str] = Counter()
    for item in notes:
        shown[item.code] += 1
        if counts[item.code] <= MANY or shown[item.code] <= FEW:
            yield finding(item)
    for code, number in sorted(counts.items()):
        if number > MANY:
            yield Line(
                f"{number - FEW} more notes of {code}: -v lists them, `migrate explain {code}` explains them", "dim"
            )


def _short(text: str, here: Location) -> str:
    """A reason, without the name of a file that the line begins with anyway."""
    text = text.replace(f" ({here.line_text})", "").replace(f" ({here})", "")
    return re.sub(rf"\({re.escape(here.path)}:(\d+(?::\d+)?)\)", r"(line \1)", text)
