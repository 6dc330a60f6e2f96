"""Diffs of outcomes: one that `git apply` takes, and one to read, which shows a notebook cell by cell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from migrator.discover.cells import SUFFIX
from migrator.discover.sources import Unusable, decode
from migrator.report.linediff import unified_diff
from migrator.vocabulary.diagnostics import Outcome

NO_NEWLINE = "\\ No newline at end of file\n"

_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def readable_diff(outcome: Outcome) -> Iterator[str]:
    """Unified diff of one file, one for each changed cell of a notebook; nothing for a file that did not change.

    Line ends are those of the file, so that the diff of a module can be applied to it.
    """
    if outcome.status not in ("changed", "created"):
        return
    if not outcome.converted:
        yield from _readable(outcome)
        return
    yield from _readable(replace(outcome, after=outcome.converted), ("Python 2", "Python 3"))
    yield from _readable(replace(outcome, before=outcome.converted), ("Python 3", "TensorFlow 2"))


def _readable(outcome: Outcome, labels: tuple[str, str] = ("", "")) -> Iterator[str]:
    """The diff; what is to be said of a side stands behind its name, where `patch` looks for a date."""
    if outcome.path.endswith(SUFFIX):
        yield from _cell_diffs(outcome, labels)
        return
    before, after = (_text(outcome.path, raw) for raw in (outcome.before, outcome.after))
    yield from _diff(outcome, before, after, labels)


def exact_diff(outcome: Outcome) -> Iterator[str]:
    """Unified diff of one file as it is stored, in git's form; nothing for a file that did not change."""
    if outcome.status not in ("changed", "created"):
        return
    name = _name(outcome)
    yield f"diff --git {_quoted('a', name)} {_quoted('b', name)}\n"
    if outcome.status == "created":
        yield "new file mode 100644\n"
    # Not decoded by the file's encoding: what a patch holds are bytes.
    before, after = (raw.decode("utf-8", "surrogateescape") for raw in (outcome.before, outcome.after))
    yield from _diff(outcome, before, after)


def _cell_diffs(outcome: Outcome, labels: tuple[str, str]) -> Iterator[str]:
    from migrator.discover.notebooks import code_cells

    name = _name(outcome)
    before, after = (code_cells(outcome.path, raw) for raw in (outcome.before, outcome.after))
    for number, old in before.items():
        if after.get(number) != old:
            lines, new_lines = (_lines(text if text.endswith("\n") else text + "\n") for text in (old, after[number]))
            names = (f"{_quoted(side, name)} cell {number}{_label(said)}" for side, said in zip("ab", labels))
            yield from unified_diff(lines, new_lines, *names)


def _label(said: str) -> str:
    return f"\t{said}" if said else ""


def _diff(outcome: Outcome, before: str, after: str, labels: tuple[str, str] = ("", "")) -> Iterator[str]:
    name = _name(outcome)
    source = "/dev/null" if outcome.status == "created" else _quoted("a", name) + _label(labels[0])
    for line in unified_diff(_lines(before), _lines(after), source, _quoted("b", name) + _label(labels[1])):
        if line.endswith("\n"):
            yield line
        else:
            yield line + "\n"
            yield NO_NEWLINE


def _lines(text: str) -> Sequence[str]:
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _name(outcome: Outcome) -> str:
    return outcome.path.replace(os.sep, "/").lstrip("/")


def _quoted(side: str, name: str) -> str:
    """A name as git writes it in a patch: with quotes and escapes where it could not be read otherwise."""
    text = f"{side}/{name}"
    escaped = _SPECIAL.sub(lambda found: _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}", text)
    return text if escaped == text else f'"{escaped}"'


def _text(path: str, raw: bytes) -> str:
    try:
        source = decode(path, raw)
    except Unusable:
        return raw.decode("utf-8", "replace")
    return source.text if source.mixed else source.text.replace("\n", source.newline)
