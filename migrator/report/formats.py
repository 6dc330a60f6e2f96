"""The formats of ``--format``, each imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from migrator.vocabulary.diagnostics import Outcome

if TYPE_CHECKING:
    from migrator.parity.judge.report import CaseReport


def render(
    name: str, outcomes: Sequence[Outcome], written: Sequence[str] | None = None, parity: Sequence[CaseReport] = ()
) -> bytes:
    """The report in one format, except text, whose lines carry styles. `written`: as in `records`; `parity`: for html."""
    module = import_module(f"migrator.report.{'html.' if name == 'html' else ''}{name}_report")
    more = {"parity": parity} if parity else {}
    content: bytes = module.render(outcomes, written, **more).encode("utf-8", "surrogateescape")
    return content
