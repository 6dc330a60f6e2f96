"""Annotations for GitHub Actions: one workflow command for each finding.

Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from migrator.vocabulary.diagnostics import Diagnostic, Outcome, Severity

_COMMANDS = {Severity.INFO: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """Lines for standard output of a job. Changes that were not written are warnings, as they are left to do."""
    lines: list[str] = []
    for outcome in outcomes:
        if written is None:
            lines += _commands(outcome.applied, "migrate --apply changes this: ")
        lines += _commands(outcome.remaining, "")
    return "".join(lines)


def _commands(found: Sequence[Diagnostic], prefix: str) -> Iterator[str]:
    for item in found:
        location = item.location
        cell = f"cell {location.cell}, line {location.line}: " if location.cell else ""
        line, column = (1, 1) if location.cell else (location.line, location.column)
        title = f"migrate ({item.code})"
        values = {"title": title, "file": location.path, "line": str(line), "col": str(column)}
        properties = ",".join(f"{name}={_property(value)}" for name, value in values.items())
        yield f"::{_COMMANDS[item.severity]} {properties}::{_data(prefix + cell + item.message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
