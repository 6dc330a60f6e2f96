"""Parts of the report for people: diffs, findings, and a summary line.

Everything is made of styled lines. User code is never read as markup.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TextIO

from migrator.report.diffs import readable_diff
from migrator.vocabulary.diagnostics import Applicability, Diagnostic, Outcome, Severity

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
DIFF = "diff"
HELPERS = "keeps helpers"
"""What is said of a program that does not train by `fit` alone, before the reason."""
_BLOCK = 1000
"""Lines that are written at once."""
_SEVERITIES = {Severity.INFO: "cyan", Severity.WARNING: "yellow", Severity.ERROR: "bold red"}


class Line(NamedTuple):
    """Text without its last line end, and a style of `rich`."""

    text: str
    style: str = ""
    """`DIFF` for the lines of a unified diff, each of which has its own."""
    verbatim: bool = False
    """Code or a table: never wrapped at words."""


def diff(outcome: Outcome) -> Iterator[Line]:
    """Unified diff of one file, or of the cells of a notebook, as one text; nothing for one that did not change."""
    text = "".join(readable_diff(outcome))
    if text:
        yield Line(text[:-1], DIFF, True)


def diff_lines(lines: Iterable[str]) -> Iterator[Line]:
    """The lines of a unified diff with their styles."""
    for line in lines:
        style = _STYLES.get(line[0], "")
        if style and line.startswith(("--- ", "+++ ")):
            style = "bold"
        yield Line(line[:-1], style, True)


def finding(diagnostic: Diagnostic, applied: bool = False) -> Line:
    """What was found and is left, or what was changed, as one line."""
    if applied:
        title = diagnostic.fix.title if diagnostic.fix else diagnostic.message
        return Line(f"{diagnostic.location}: {diagnostic.code} changed: {title}", "green")
    hint = " [--unsafe applies it]" if is_unsafe(diagnostic) else ""
    return Line(f"{diagnostic}{hint}", _SEVERITIES[diagnostic.severity])


def summary(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """One line of numbers."""
    remaining = [diagnostic for outcome in outcomes for diagnostic in outcome.remaining]
    tiers = Counter(unit.tier for outcome in outcomes for unit in outcome.units)
    files = sum(outcome.status != "created" for outcome in outcomes)
    parts = []
    if tiers:
        detail = ", ".join(f"{tiers[tier]} {tier}" for tier in ("native", "bridge", "manual") if tiers[tier])
        migrated = sum(count for tier, count in tiers.items() if tier != "manual")
        parts.append(f"{migrated} of {count(sum(tiers.values()), 'program')} migrated ({detail})")
    changes = sum(len(outcome.applied) for outcome in outcomes)
    parts.append(count(changes, "change"))
    unsafe = sum(is_unsafe(diagnostic) for diagnostic in remaining)
    mine = sum(diagnostic.severity == Severity.WARNING and not is_unsafe(diagnostic) for diagnostic in remaining)
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    errors = sum(diagnostic.severity == Severity.ERROR for diagnostic in remaining)
    if unsafe:
        parts.append(f"{unsafe} unsafe (--unsafe)")
    if mine:
        parts.append(f"{mine} need{'s' if mine == 1 else ''} you")
    if failed:
        parts.append(f"{failed} could not be processed")
    if errors > failed:
        parts.append(count(errors - failed, "error"))
    pending = any(outcome.status in ("changed", "created") for outcome in outcomes)
    if written is not None:
        end = f" {count(len(written), 'file')} written." if written or pending else " Nothing to write."
    else:
        end = " Nothing written; --apply writes." if pending else ""
    return f"{count(files, 'file')}: {', '.join(parts)}.{end}"


def is_unsafe(diagnostic: Diagnostic) -> bool:
    """Whether it has a fix that only ``--unsafe`` applies."""
    return diagnostic.fix is not None and diagnostic.fix.applicability == Applicability.UNSAFE


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_lines(lines: Iterable[Line], stream: TextIO, colour: bool) -> None:
    """Print with colours, or plainly and byte for byte; prose is wrapped at words on terminals."""
    terminal = stream.isatty()
    width = shutil.get_terminal_size().columns if terminal else 0
    if terminal or colour:
        lines = _single(lines)
    if not colour:
        texts = (_wrapped(line, harmless(line.text), width) if terminal else line.text for line in lines)
        while block := list(islice(texts, _BLOCK)):
            stream.write("\n".join(block) + "\n")
        stream.flush()
        return
    from rich.console import Console  # only a terminal pays for it
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(Text(_wrapped(line, harmless(line.text), width), style=line.style))


def _single(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, each diff as the lines that it has."""
    for line in lines:
        if line.style == DIFF:
            yield from diff_lines(f"{text}\n" for text in line.text.split("\n"))
        else:
            yield line


def harmless(text: str) -> str:
    """`text` with the control characters, which must not act on the terminal, written out."""
    return _CONTROL.sub(lambda match: repr(match.group())[1:-1], text.rstrip("\r"))


def _wrapped(line: Line, text: str, width: int) -> str:
    """`text` as it is read best on a terminal; elsewhere, where `width` is 0, a line stays a line for other programs."""
    if line.verbatim or not 0 < width < len(text):
        return text
    return textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
