"""Markdown for the description of a pull request: programs, what is left to do, and what changed, by rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from migrator.report.text import HELPERS, summary
from migrator.vocabulary.diagnostics import Diagnostic, Outcome, Severity

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """The text."""
    parts = ["# Migration from Estimators to Keras", "", _plain(summary(outcomes, written)), ""]
    parts += _programs(outcomes)
    left = [item for outcome in outcomes for item in outcome.remaining]
    parts += _findings("Left to do", [item for item in left if item.severity > Severity.INFO])
    parts += _findings("Remarks", [item for item in left if item.severity == Severity.INFO])
    parts += _changes(outcomes)
    return "\n".join(parts).rstrip("\n") + "\n"


def _programs(outcomes: Sequence[Outcome]) -> Iterator[str]:
    units = [unit for outcome in outcomes for unit in outcome.units]
    if not units:
        return
    yield from ("## Programs", "", "| program | where | tier | reason |", "| --- | --- | --- | --- |")
    for unit in units:
        reasons = [*unit.reasons, *([f"{HELPERS}: {unit.helpers}"] if unit.helpers else [])]
        yield f"| {_code(unit.name)} | {_code(str(unit.location))} | {unit.tier} | {_plain('; '.join(reasons))} |"
    yield ""


def _findings(title: str, found: Sequence[Diagnostic]) -> Iterator[str]:
    if not found:
        return
    yield from (f"## {title}", "", "| where | code | what |", "| --- | --- | --- |")
    for item in found:
        code = f"[{item.code}]({item.url})" if item.url else item.code
        unsafe = " (`--unsafe` applies a rewrite)" if item.fix and item.fix.applicability == 1 else ""
        yield f"| {_code(str(item.location))} | {code} | {_plain(item.message)}{unsafe} |"
    yield ""


def _changes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    applied = [item for outcome in outcomes for item in outcome.applied]
    changed = [outcome for outcome in outcomes if outcome.status in ("changed", "created")]
    if changed:
        yield from ("## Changes", "")
        counts = Counter((item.code, item.rule, item.url) for item in applied)
        for (code, rule, url), count in sorted(counts.items()):
            name = f"{code} {_plain(rule)}".strip()
            yield f"- {count} × {f'[{name}]({url})' if url else name}"
        yield from ("", "<details><summary>Files</summary>", "")
        for outcome in changed:
            yield f"- {_code(outcome.path)}{' (new)' if outcome.status == 'created' else ''}"
        yield from ("", "</details>", "")


def _plain(text: str) -> str:
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
