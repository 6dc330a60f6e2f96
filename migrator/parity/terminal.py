"""The report on the terminal; plain text where the output is no terminal."""

from __future__ import annotations

import math
import textwrap
from typing import IO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from migrator.parity.formats import summary
from migrator.parity.judge.report import COULD_NOT_RUN, EQUAL, CaseReport, LossRow, ValueRow

MAX_ROWS = 12
_STYLE = {EQUAL: "bold green", COULD_NOT_RUN: "bold yellow"}


def show(reports: list[CaseReport], file: IO[str] | None = None) -> None:
    """Print every case, then one line on all of them if there are several."""
    console = Console(file=file, highlight=False)
    console.soft_wrap = not console.is_terminal  # a line stays a line for other programs
    for report in reports:
        _show(console, report)
    if len(reports) > 1:
        counts = {verdict: sum(report.verdict == verdict for report in reports) for verdict in _verdicts(reports)}
        console.print(f"{len(reports)} cases: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _verdicts(reports: list[CaseReport]) -> list[str]:
    return list(dict.fromkeys(report.verdict for report in reports))


def _show(console: Console, report: CaseReport) -> None:
    style = _STYLE.get(report.verdict, "bold red")
    head = f"[bold]{escape(report.name)}[/]: [{style}]{report.verdict}[/]"
    if report.diagnosis:
        console.print(f"{head}  {escape(report.diagnosis)}\n  {escape(summary(report))}")
    else:
        console.print(f"{head}  {escape(summary(report))}")
    if report.problem:
        console.print(escape(report.problem))
    for difference in report.differences:
        console.print(f"  [red]-[/] {escape(str(difference))}")
    if report.losses:
        _print(console, _losses(report.losses))
    if report.metrics:
        table = _table("evaluation", "metric", "old", "new", "relative")
        rows, left = _interesting(report.metrics)
        for row in rows:
            table.add_row(str(row.call), row.key, row.old, row.new, _number(row.relative), style=_row(row.equal))
        if left:
            table.add_row("...", _more(left), "", "", "")
        _print(console, table)
    bad = [row for row in report.weights + report.predictions + report.exports if not row.equal]
    if bad:
        table = _table("array that differs", "in the new program", "shape", "max abs", "max rel")
        for array in bad[:MAX_ROWS]:
            shape = "x".join(map(str, array.shape)) or "scalar"
            table.add_row(array.name, array.other_name, shape, _number(array.max_abs), _number(array.max_rel))
        if bad[MAX_ROWS:]:
            table.add_row(f"... {len(bad) - MAX_ROWS} more", "", "", "", "")
        _print(console, table)
    for note in report.notes:
        console.print(f"  note: {escape(note)}")
    sides = ", ".join(
        f"{title}: TensorFlow {side.versions['tensorflow']}, {side.seconds:.1f} s"
        for title, side in (("old", report.old), ("new", report.new))
        if side.versions
    )
    if sides:
        if report.mode == "free":
            console.print(f"  {sides}")
            return
        allowed = f"{report.tolerance.rtol:.0e} relative, {report.tolerance.atol:.0e} absolute"
        console.print(f"  {sides}; allowed: {allowed}; seed {report.seed}")
    if report.old.log or report.new.log:
        console.print("  logs: " + escape(", ".join(side.log for side in (report.old, report.new) if side.log)))


def _losses(rows: list[LossRow]) -> Table:
    table = _table("step", "old loss", "new loss", "relative")
    first = next((index for index, row in enumerate(rows) if not row.equal), None)
    if len(rows) <= MAX_ROWS:
        wanted = set(range(len(rows)))
    else:
        wanted = {0, 1, 2, len(rows) - 2, len(rows) - 1}
        if first is not None:
            wanted |= set(range(max(0, first - 2), min(len(rows), first + 4)))
    last = -1
    for index in sorted(wanted):
        if index != last + 1:
            table.add_row("...", "", "", "")
        row = rows[index]
        table.add_row(str(row.step), f"{row.old:.9g}", f"{row.new:.9g}", _number(row.relative), style=_row(row.equal))
        last = index
    return table


def _interesting(rows: list[ValueRow]) -> tuple[list[ValueRow], list[ValueRow]]:
    """Those that differ first, as many as fit; and the others."""
    if len(rows) > MAX_ROWS:
        rows = sorted(rows, key=lambda row: row.equal)
    return rows[:MAX_ROWS], rows[MAX_ROWS:]


def _more(rows: list[ValueRow]) -> str:
    differ = sum(not row.equal for row in rows)
    return f"{len(rows)} more, {differ or 'all'} {'different' if differ else 'equal'}"


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 or column.startswith(("metric", "in the")) else "right")
    return table


def _print(console: Console, table: Table) -> None:
    """Print a table; on a terminal that is too narrow for it, each row as what its columns are called and hold."""
    natural = _width(console, table)
    if console.is_terminal and natural > console.width:
        table.padding = (0, 1)
        natural = _width(console, table)
    if console.is_terminal and natural > console.width:
        columns = [(column.header, list(column.cells)) for column in table.columns]
        for index, row in enumerate(table.rows):
            cells = [(str(name), str(cells[index])) for name, cells in columns if cells[index]]
            parts = [cell if cell.startswith("...") else f"{name}\xa0{cell}" for name, cell in cells]
            text = textwrap.fill("  ".join(parts).replace(" ", "\xa0").replace("\xa0\xa0", "  "), console.width - 4)
            console.print(textwrap.indent(text.replace("\xa0", " "), "  "), style=row.style or "", markup=False)
        return
    before, console.width = console.width, max(console.width, natural)
    console.print(table)
    console.width = before


def _width(console: Console, table: Table) -> int:
    return table.__rich_measure__(console, console.options.update(max_width=10_000)).maximum


def _row(equal: bool) -> str:
    return "" if equal else "red"


def _number(value: float) -> str:
    return "-" if math.isinf(value) or math.isnan(value) else "0" if value == 0 else f"{value:.1e}"
