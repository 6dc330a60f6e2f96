"""One self-contained HTML page: summary, programs, findings with the text of their rules, and the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from migrator import __version__
from migrator.engine.registry import load
from migrator.parity.judge.report import CaseReport
from migrator.report.diffs import readable_diff
from migrator.report.html import parity_html
from migrator.report.html.html_diff import table
from migrator.report.text import HELPERS, is_unsafe, summary
from migrator.vocabulary.diagnostics import Diagnostic, Outcome, ProgramUnit, Severity
from migrator.vocabulary.problems import MEANINGS

_MANY = 3
"""More programs than this that are no Keras layers for the same reasons are shown as one."""
_LEVELS = {Severity.INFO: "remark", Severity.WARNING: "to do", Severity.ERROR: "error"}


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None, parity: Sequence[CaseReport] = ()) -> str:
    """The page, with the comparisons of `parity`."""
    line = summary(outcomes, written)
    body = "".join(
        part
        for section in (
            _programs([unit for outcome in outcomes for unit in outcome.units]),
            _parity(parity),
            _findings(outcomes),
            _changes(outcomes),
            _rules(outcomes),
        )
        for part in section
    )
    extra = parity_html.style() if parity else ""
    return page(f"migrate: {line}", "Migration to Keras", line, f"{_tools(outcomes)}{body}", extra)


def page(title: str, heading: str, line: str, body: str, extra: str = "") -> str:
    """A page with our style and script; `extra` is style that comes first."""
    here = Path(__file__).parent
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("report.css", "report.js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>\n{extra}{style}</style></head><body><main>"
        f'<h1>{escape(heading)}</h1><p class="soft">{escape(line)}</p>{body}'
        f'<p class="soft">migrate {__version__}</p></main><script>\n{script}</script></body></html>\n'
    )


def _tools(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(_LEVELS[item.severity] for outcome in outcomes for item in outcome.remaining)
    counts["changed"] = sum(len(outcome.applied) for outcome in outcomes)
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{level}"> {level} <b>{counts[level]}</b></label>'
        for level in ("to do", "error", "remark", "changed")
        if counts[level]
    )
    return (
        '<div class="tools"><input type="search" id="search" placeholder="Search (press /)" '
        f'aria-label="Search files, codes and messages"><span id="levels">{boxes}</span></div>'
    )


def _programs(units: Sequence[ProgramUnit]) -> Iterator[str]:
    if not units:
        return
    yield "<h2>Programs</h2>"
    alike: dict[tuple[str, ...], list[ProgramUnit]] = {}
    for unit in units:
        key = (unit.tier, *_reasons(unit)) if unit.reasons and not unit.variables else (str(unit.location),)
        alike.setdefault(key, []).append(unit)
    for group in alike.values():
        yield from [_together(group)] if len(group) > _MANY else map(_program, group)


def _together(units: Sequence[ProgramUnit]) -> str:
    """Programs that stay, or stay graphs, for the same reasons."""
    tier = units[0].tier
    places = "".join(f"<li><code>{escape(unit.name)}</code> {escape(str(unit.location))}</li>" for unit in units)
    return (
        f'<section class="item" data-level="program"><div class="head">{len(units)} programs'
        f'<span class="tier {tier}">{tier}</span></div>{_why(_reasons(units[0]))}'
        f"<details><summary>which</summary><ul>{places}</ul></details></section>"
    )


def _program(unit: ProgramUnit) -> str:
    pairs = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in unit.variables)
    variables = (
        f"<details><summary>{len(unit.variables)} variables</summary><table><tr><th>TensorFlow 1</th><th>Keras</th>"
        f"</tr>{pairs}</table></details>"
        if pairs
        else ""
    )
    return (
        f'<section class="item" data-level="program"><div class="head"><code>{escape(unit.name)}</code>'
        f'<span class="tier {unit.tier}">{unit.tier}</span><span class="soft">{escape(str(unit.location))}</span></div>'
        f"{_why(_reasons(unit))}{variables}</section>"
    )


def _reasons(unit: ProgramUnit) -> tuple[str, ...]:
    """What stands in the way of a program, and what asks for helpers."""
    return (*unit.reasons, *([f"{HELPERS}: {unit.helpers}"] if unit.helpers else ()))


def _why(reasons: Sequence[str]) -> str:
    if len(reasons) < 2:
        return "".join(f"<p>{escape(reason)}</p>" for reason in reasons)
    return f"<ul>{''.join(f'<li>{escape(reason)}</li>' for reason in reasons)}</ul>"


def _parity(reports: Sequence[CaseReport]) -> Iterator[str]:
    if reports:
        yield f'<h2>Trained before and after</h2><div class="parity">{parity_html.cases(reports)}</div>'


def _findings(outcomes: Sequence[Outcome]) -> Iterator[str]:
    rows = [(item, _LEVELS[item.severity]) for outcome in outcomes for item in outcome.remaining]
    rows += [(item, "changed") for outcome in outcomes for item in outcome.applied]
    rows.sort(key=lambda row: (row[0].location, row[0].code))
    if not rows:
        return
    yield '<h2>Findings</h2><ul class="findings">'
    for item, level in rows:
        message = item.fix.title if level == "changed" and item.fix else item.message
        hint = (
            ' <span class="soft">(--unsafe applies a rewrite)</span>' if is_unsafe(item) and level != "changed" else ""
        )
        yield (
            f'<li class="item {level.replace(" ", "-")}" data-level="{level}"><code>{escape(str(item.location))}</code> '
            f'<a href="#{item.code}">{item.code}</a> {escape(message)}{hint}</li>'
        )
    yield "</ul>"


def _changes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    changed = [outcome for outcome in outcomes if outcome.status in ("changed", "created")]
    if not changed:
        return
    yield "<h2>Changes</h2>"
    for outcome in changed:
        new = outcome.status == "created"
        what = f"new, {len(outcome.after.splitlines())} lines" if new else ""
        yield (
            f'<details class="item file" data-level="file"{"" if new else " open"}><summary><code>{escape(outcome.path)}</code> '
            f'<span class="soft">{what}</span></summary>{table(readable_diff(outcome))}</details>'
        )


def _rules(outcomes: Sequence[Outcome]) -> Iterator[str]:
    found: dict[str, Diagnostic] = {}
    for item in _all(outcomes):
        found.setdefault(item.code, item)
    if not found:
        return
    yield "<h2>Rules</h2>"
    for code, item in sorted(found.items()):
        rule = load().find(code)
        title = f"{code} {rule.name}" if rule is not None else code
        text = rule.documentation() if rule is not None else MEANINGS.get(code, item.message)
        guide = f'<p><a href="{escape(item.url)}">Guide</a></p>' if item.url.startswith("https://") else ""
        yield (
            f'<details class="rule" id="{code}"><summary>{escape(title)}</summary><pre>{escape(text)}</pre>{guide}</details>'
        )


def _all(outcomes: Iterable[Outcome]) -> Iterator[Diagnostic]:
    for outcome in outcomes:
        yield from outcome.applied
        yield from outcome.remaining
