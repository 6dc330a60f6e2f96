"""One question of a review, as styled lines."""

from __future__ import annotations

from collections.abc import Iterator

from migrator.diagnostics import Applicability
from migrator.reporting.text import Line, diff_lines
from migrator.review import Item


def question(item: Item, number: int, total: int) -> Iterator[Line]:
    """The diff, and what the change is for: rule, reason, safety and guide."""
    first = item.first
    yield Line("")
    yield from diff_lines(item.diff)
    yield Line(f"({number + 1} of {total}) {first.location}: {first.code} {first.rule}: {first.message}", "bold")
    if len(item.diagnostics) > 1:
        yield Line(f"with {len(item.diagnostics) - 1} more that go together with it")
    safety = "safe" if all(d.fix and d.fix.applicability == Applicability.SAFE for d in item.diagnostics) else "unsafe"
    yield Line(f"{safety}; {first.url}" if first.url else safety, "green" if safety == "safe" else "yellow")
