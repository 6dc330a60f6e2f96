"""The parity report as one HTML page that needs nothing else: no scripts, no fonts, no images from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from pathlib import Path

from migrator.parity.formats import summary
from migrator.parity.judge.report import ArrayRow, CaseReport, LossRow, SideReport
from migrator.report.html.parity_charts import difference_chart, loss_chart

_PAGE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
"""


def to_html(reports: list[CaseReport]) -> str:
    """The page."""
    counts = {verdict: sum(report.verdict == verdict for report in reports) for verdict in _order(reports)}
    line = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no cases"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>Parity: {escape(line)}</title><style>{style()}{_PAGE}</style></head>"
        '<body class="parity"><main>'
        f'<h1>Parity</h1><p class="soft">{len(reports)} case{"s" * (len(reports) != 1)}: {escape(line)}</p>{cases(reports)}'
        "</main></body></html>\n"
    )


def style() -> str:
    """The style of `cases`, for what is of class ``parity``."""
    return Path(__file__).with_name("parity.css").read_text("utf-8")


def cases(reports: Iterable[CaseReport]) -> str:
    """A section for each case: verdict, loss curves, tables."""
    return "".join(_case(report) for report in reports)


def _order(reports: list[CaseReport]) -> list[str]:
    return list(dict.fromkeys(report.verdict for report in reports))


def _case(report: CaseReport) -> str:
    parts = [
        f'<div class="head"><h2>{escape(report.name)}</h2>'
        f'<span class="verdict {report.verdict.split()[0]}">{report.verdict}</span></div>',
        f'<p class="soft">{escape(summary(report))}; allowed: {report.tolerance.rtol:.0e} relative, '
        f"{report.tolerance.atol:.0e} absolute, {report.tolerance.array_rtol:.0e} relative for arrays; "
        f"mode {escape(report.mode)}, seed {report.seed}</p>",
    ]
    if report.diagnosis:
        parts.append(f"<p><b>{escape(report.diagnosis)}</b></p>")
    if report.differences:
        items = "".join(f"<li>{escape(str(difference))}</li>" for difference in report.differences)
        parts.append(f'<ul class="found">{items}</ul>')
    if report.problem:
        parts.append(f"<pre>{escape(report.problem)}</pre>")
    for model in sorted({row.model for row in report.losses}):
        rows = [row for row in report.losses if row.model == model]
        title = f"Loss of model {model + 1}" if len({row.model for row in report.losses}) > 1 else "Loss"
        parts.append(
            f'<h3>{title}</h3><p class="key"><span><i style="color:var(--old)"></i>old</span>'
            '<span><i style="color:var(--new)"></i>new</span></p>'
            f'<div class="scroll">{loss_chart(rows)}</div><h3>Relative difference of the loss</h3>{_drift_key(rows)}'
            f'<div class="scroll">{difference_chart(rows, report.tolerance.rtol)}</div>'
        )
        table = [
            (row.equal, [str(row.step), f"{row.old:.9g}", f"{row.new:.9g}", _number(row.relative)]) for row in rows
        ]
        parts.append(
            f"<details><summary>{len(rows)} losses</summary>"
            f"{_table(('step', 'old', 'new', 'relative'), table, text=0)}</details>"
        )
    if report.metrics:
        table = [(r.equal, [r.key, str(r.call), r.old, r.new, _number(r.relative)]) for r in report.metrics]
        parts.append("<h3>Evaluation</h3>" + _table(("metric", "call", "old", "new", "relative"), table))
    if report.weights:
        parts.append("<h3>Weights after training</h3>" + _arrays(report.weights, "variable", "new program"))
    if report.predictions:
        parts.append("<h3>Predictions</h3>" + _arrays(report.predictions, "call", "output"))
    if report.exports:
        parts.append("<h3>SavedModels</h3>" + _arrays(report.exports, "signature", "output"))
    if report.notes:
        parts.append("<h3>Notes</h3><ul>" + "".join(f"<li>{escape(note)}</li>" for note in report.notes) + "</ul>")
    parts.append("<h3>Environment</h3>" + _sides(report))
    return f"<section>{''.join(parts)}</section>"


def _drift_key(rows: list[LossRow]) -> str:
    if not any(row.drift for row in rows):
        return ""
    text = "the old program from itself, if the last bit of its weights is changed before each step"
    return f'<p class="key"><span><i style="color:var(--old)"></i>{text}</span></p>'


def _arrays(rows: list[ArrayRow], first: str, second: str) -> str:
    table = [
        (
            row.equal,
            [
                row.name if row.how or first == "variable" else row.where,
                row.other_name,
                "×".join(map(str, row.shape)) or "scalar",
                _number(row.max_abs),
                _number(row.max_rel),
                row.how,
            ],
        )
        for row in rows
    ]
    return _table((first, second, "shape", "max abs", "max rel", "paired by" if first == "variable" else ""), table, 2)


def _table(head: tuple[str, ...], rows: list[tuple[bool, list[str]]], text: int = 1) -> str:
    """`text`: the number of leading columns that are text."""

    def cells(tag: str, values: list[str] | tuple[str, ...]) -> str:
        return "".join(
            f"<{tag}>{_breaking(value)}</{tag}>" if index < text else f"<{tag} class=n>{escape(value)}</{tag}>"
            for index, value in enumerate(values)
        )

    body = "".join(f"<tr{'' if equal else ' class=off'}>{cells('td', values)}</tr>" for equal, values in rows)
    return f'<div class="scroll"><table><tr>{cells("th", head)}</tr>{body}</table></div>'


def _breaking(name: str) -> str:
    """A name that a narrow page may break behind its slashes and underscores."""
    return escape(name).replace("/", "/<wbr/>").replace("_", "_<wbr/>")


def _sides(report: CaseReport) -> str:
    parts = []
    for title, side in (("old", report.old), ("new", report.new)):
        versions = ", ".join(f"{name} {version}" for name, version in side.versions.items())
        parts.append(f"<p><b>{title}</b> {escape(side.program)} <span class=soft>{escape(versions)}")
        parts.append(f"{f', {side.seconds:.1f} s' if side.seconds else ''}</span></p>{_log(side)}")
    return "".join(parts)


def _log(side: SideReport) -> str:
    if not side.log_tail:
        return ""
    where = f" ({escape(side.log)})" if side.log else ""
    text = escape("\n".join(side.log_tail))
    return f"<details><summary>end of the log{where}</summary><pre>{text}</pre></details>"


def _number(value: float) -> str:
    return "–" if not math.isfinite(value) else "0" if value == 0 else f"{value:.1e}"
