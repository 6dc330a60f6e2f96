"""One question of a review, as styled lines."""

from __future__ import annotations

from collections.abc import Iterator

from migrator.cli.review import Item
from migrator.report.text import Line, count, diff_lines
from migrator.vocabulary.diagnostics import Applicability

_BELOW = 8
"""Lines of a terminal that are left for what stands below the beginning of a long diff."""


def question(item: Item, number: int, total: int, height: int) -> Iterator[Line]:
    """The diff, and what the change is for: rule, reason, safety and guide.

    Of a diff that is longer than two terminals of `height` lines, only the beginning.
    """
    first = item.first
    yield Line("")
    if len(item.diff) <= 2 * height:
        yield from diff_lines(item.diff)
    else:
        shown = max(height - _BELOW, 1)
        yield from diff_lines(item.diff[:shown])
        files = sum(line.startswith("--- ") for line in item.diff)
        rest = f"{len(item.diff) - shown} more lines" + (f", of {count(files, 'file')} in all" if files > 1 else "")
        yield Line(f"... {rest}; v shows the whole change", "bold")
    yield Line(f"({number + 1} of {total}) {first.location}: {first.code} {first.rule}: {first.message}", "bold")
    if len(item.diagnostics) > 1:
        yield Line(f"with {len(item.diagnostics) - 1} more that go together with it")
    safety = "safe" if all(d.fix and d.fix.applicability == Applicability.SAFE for d in item.diagnostics) else "unsafe"
    yield Line(f"{safety}; {first.url}" if first.url else safety, "green" if safety == "safe" else "yellow")
