"""The formats of ``--format``, each imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from migrator.diagnostics import Outcome


def render(name: str, outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> bytes:
    """The report in one format, except text, whose lines carry styles. `written`: as in `records`."""
    module = import_module(f"migrator.reporting.{name}_report")
    content: bytes = module.render(outcomes, written).encode("utf-8", "surrogateescape")
    return content
