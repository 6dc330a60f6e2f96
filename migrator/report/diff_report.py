"""A patch, to be applied with ``git apply`` from the folder where `migrate` was run."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.report.diffs import exact_diff
from migrator.vocabulary.diagnostics import Outcome


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """The patch; bytes that are not UTF-8 as surrogate escapes."""
    return "".join(line for outcome in outcomes for line in exact_diff(outcome))
