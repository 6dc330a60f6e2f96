"""The formats of ``--format``, each imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from migrator.diagnostics import Outcome

if TYPE_CHECKING:
    from migrator.parity.report import CaseReport


def render(
    name: str, outcomes: Sequence[Outcome], written: Sequence[str] | None = None, parity: Sequence[CaseReport] = ()
) -> bytes:
    """The report in one format, except text, whose lines carry styles. `written`: as in `records`; `parity`: for html."""
    module = import_module(f"migrator.reporting.{name}_report")
    more = {"parity": parity} if parity else {}
    content: bytes = module.render(outcomes, written, **more).encode("utf-8", "surrogateescape")
    return content
