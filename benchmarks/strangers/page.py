"""The page about strangers' programs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from .trial import EQUAL, OLD_FAILS, TIERS, Row

_TOLD = ", and says so"
"""Behind what differs or does not run although `migrate` did not promise it."""

_TEXT = """\
# Programs of strangers

<!-- written by `python -m benchmarks.strangers MIRRORS`; not by hand -->
Public Estimator programs as they are, no edit by hand: rebuilt from their repositories, run on data that are made up for them,
migrated by `migrate --apply`, run again, and compared by `migrate parity` on TensorFlow 2.15. The list of programs and how
their data are made is [a manifest](../benchmarks/strangers/programs.toml); none of their code is here. Options of `migrate` that
a program was given stand behind its name.

| | |
| --- | ---: |
| programs whose old side runs | {counted} |
| of repositories | {repositories} |
| migrated | {migrated} |
| to a plain `fit` | {plain} |
| equal | {equal} |
| that ended with exit status 0 and differ or do not run | {broken} |

| repository | program | becomes | compared | what stops the rest |
| --- | --- | --- | --- | --- |
"""
_LEFT_OUT = """
Left out, as their old side does not run on TensorFlow 2.15 and Linux, or does not do there what it says:

| repository | program | why |
| --- | --- | --- |
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _shortened(reasons: Sequence[str]) -> str:
    reasons = [reason.partition(" the error in its log")[0] for reason in reasons]
    most = 160 if len(reasons) > 1 else 340  # one may be two that were joined
    shown = "; ".join(reason if len(reason) <= most else reason[: most - 3] + "..." for reason in reasons[:2])
    return _cell(shown + (f"; {len(reasons) - 2} more" if len(reasons) > 2 else ""))


def text(rows: Sequence[Row]) -> str:
    """The whole page in Markdown."""
    counted = [row for row in rows if row.counts]
    lines = [
        _TEXT.format(
            counted=len(counted),
            repositories=len({row.repository for row in counted}),
            migrated=sum(row.tier != "manual" for row in counted),
            plain=sum(row.tier == TIERS[0] for row in counted),
            equal=sum(row.result == EQUAL for row in counted),
            broken=sum(row.broken for row in counted),
        )
    ]
    for row in counted:
        told = _TOLD if row.exit_status and row.result not in ("", EQUAL) else ""
        cells = [row.repository, row.program, row.tier, row.result + told, _shortened(row.reasons)]
        lines.append(f"| {' | '.join(cells)} |\n")
    left_out = [row for row in rows if not row.counts]
    if left_out:
        lines.append(_LEFT_OUT)
        lines += [f"| {row.repository} | {row.program} | {_shortened(row.reasons[:1])} |\n" for row in left_out]
    return "".join(lines)


def rows_of(text: str, measured: Collection[str]) -> list[Row]:
    """The rows of a page, but for programs that are `measured` anew."""
    found = []
    for line in text.splitlines():
        cells = [_plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) < 3 or "/" not in cells[0] or cells[1].partition(" ")[0] in measured:
            continue
        if len(cells) == 3:
            found.append(Row(cells[0], cells[1], result=OLD_FAILS, reasons=[cells[2]]))
        else:
            repository, program, tier, result, reasons = cells
            status = int(result.endswith(_TOLD))
            row = Row(
                repository, program, tier, result.removesuffix(_TOLD), status, reasons=[reasons] if reasons else []
            )
            found.append(row)
    return found


def _plain(cell: str) -> str:
    return cell.strip().replace("\\|", "|").replace("&lt;", "<")


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the page."""
    path.write_text(text(rows), "utf-8")
