"""JSON. The fields are described in ``report.schema.json`` beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from migrator.report.records import records
from migrator.vocabulary.diagnostics import Outcome


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """The records of the run."""
    return json.dumps(records(outcomes, written), indent=2) + "\n"
