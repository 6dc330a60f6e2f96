"""The vocabulary every part of the tool speaks: plain, picklable data without syntax nodes.

A rule finds a problem and says so in a `Diagnostic`; where it knows a rewrite, the diagnostic carries a `Fix`, whose edits
are byte spans and may lie in several files. A fix is applied whole or not at all.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Applicability(enum.IntEnum):
    """How far a fix may be trusted. Ordered: a larger value is safer."""

    DISPLAY_ONLY = 0
    """Likely incomplete: shown, never applied."""
    UNSAFE = 1
    """Valid code, but what the program computes may change: applied only with ``--unsafe``."""
    SAFE = 2
    """Keeps what the program computes."""


class Severity(enum.IntEnum):
    """What a diagnostic asks of the reader."""

    INFO = 0
    """Worth knowing; nothing is left to do."""
    WARNING = 1
    """Something is left to do or to check by hand."""
    ERROR = 2
    """The file could not be processed; it was left as it was."""


@dataclass(frozen=True)
class Location:
    """A place in a file: `line` and `column` count from 1, columns in characters."""

    path: str
    line: int = 1
    column: int = 1
    cell: int = 0
    """Of a notebook, counted from 1; `line` counts within it. 0 elsewhere."""

    def __lt__(self, other: Location) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, int, int, int]:
        return self.path, self.cell, self.line, self.column

    @property
    def line_text(self) -> str:
        """``path:line``, or ``path:cell 3:line``."""
        return f"{self.path}:cell {self.cell}:{self.line}" if self.cell else f"{self.path}:{self.line}"

    def __str__(self) -> str:
        return f"{self.line_text}:{self.column}"


@dataclass(frozen=True, order=True)
class Edit:
    """Replace bytes ``start:end`` of the UTF-8 text (without byte order mark) of `path` by `text`."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class NewFile:
    """A file that a fix needs beside the program, such as vendored helpers."""

    path: str
    text: str


@dataclass(frozen=True)
class Fix:
    """A rewrite: all its edits and new files together, or none of them."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
    new_files: tuple[NewFile, ...] = ()
    leaves: tuple[Diagnostic, ...] | None = None
    """All that built-in rules for files have to say afterwards, where the fix knows it: saves looking again. It counts only
    where the round had nothing else to say about the file, but what stands in the same place with the same code."""

    @property
    def paths(self) -> frozenset[str]:
        """The existing files that the fix changes."""
        return frozenset(edit.path for edit in self.edits)


@dataclass(frozen=True)
class Diagnostic:
    """One finding of one rule at one place."""

    code: str
    message: str
    location: Location
    fix: Fix | None = None
    severity: Severity = Severity.WARNING
    rule: str = ""
    """Name of the rule, such as ``partitioners``."""
    url: str = ""
    """Guide to read."""

    def __str__(self) -> str:
        return f"{self.location}: {self.code} {self.message}"


@dataclass(frozen=True)
class ProgramUnit:
    """One program in the report: its model_fn, the tier it was migrated to, and why not a better one."""

    name: str
    location: Location
    tier: str
    """``native``, ``bridge`` or ``manual``."""
    reason: str = ""
    files: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Pairs of a TF1 variable name and the attribute path of its Keras variable, such as
    ``("dense/kernel", "dense.kernel")``; ``*`` stands for the running number of a layer made in a loop."""
    others: tuple[str, ...] = ()
    """What else stands in the way, each as `reason` is written."""

    helpers: str = ""
    """What of it asks for helpers around its training, and where; empty if it trains by `fit` alone, or stays."""
    blocked: tuple[str, ...] = ()
    """Paths of the files in which that stands. Files that import none of them may belong to a program that can move."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """All that stands in the way."""
        return (self.reason, *self.others) if self.reason else ()


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    path: str
    status: str
    """``unchanged``, ``changed``, ``created`` or ``failed`` (see `diagnostics`, the file is as it was)."""
    before: bytes = b""
    after: bytes = b""
    applied: tuple[Diagnostic, ...] = ()
    remaining: tuple[Diagnostic, ...] = ()
    units: tuple[ProgramUnit, ...] = ()
    converted: bytes = b""
    """What `before` is as Python 3, where it is Python 2."""

    cells_aside: tuple[int, ...] = ()
    """Cells of a notebook that stay, while programs of the others move."""

    @property
    def start(self) -> bytes:
        """What was migrated: Python 3, if anything is."""
        return self.converted or self.before
