"""Inline SVG: both loss curves, and their relative difference per step on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from migrator.parity.judge.report import LossRow

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 220, 64, 10, 10, 24
MAX_POINTS = 720


def loss_chart(rows: Sequence[LossRow]) -> str:
    """Old and new loss over the steps; the first step that differs is marked."""
    shown = _thin(rows)
    values = [value for row in shown for value in (row.old, row.new) if math.isfinite(value)]
    if not values:
        return ""
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = low - margin, high + margin
    x = _horizontal(rows)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    parts = []
    for value in round_numbers(low, high, 6):
        parts.append(
            _line("grid", LEFT, y(value), WIDTH - RIGHT, y(value)) + _label(LEFT - 6, y(value) + 4, f"{value:.6g}")
        )
    for name in ("old", "new"):
        points = " ".join(
            f"{x(row.step):.1f},{y(getattr(row, name)):.1f}" for row in shown if math.isfinite(getattr(row, name))
        )
        parts.append(f'<polyline class="{name}" points="{points}"/>')
    first = next((row for row in rows if not row.equal), None)
    if first is not None:
        parts.append(_line("mark", x(first.step), TOP, x(first.step), HEIGHT - BOTTOM))
        parts.append(_label(x(first.step) + 4, TOP + 10, f"step {first.step}", "start"))
    return _svg(parts, rows, x, "Loss of both programs by step")


def difference_chart(rows: Sequence[LossRow], rtol: float) -> str:
    """One bar per step from 1e-9 up; the dashed line is the tolerance, the other one the drift. Not a number reaches the top."""
    x = _horizontal(rows)
    shown = _thin(rows)
    every = [value for row in shown for value in (row.relative, row.drift) if 0 < value < math.inf]
    tops = [math.ceil(math.log10(value)) for value in every]
    low, high = -9, max([*tops, math.ceil(math.log10(rtol)) + 1, -3])

    def y(exponent: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - exponent) / (high - low)

    parts = []
    for exponent in range(low, high + 1, 2 if high - low > 6 else 1):
        parts.append(_line("grid", LEFT, y(exponent), WIDTH - RIGHT, y(exponent)))
        parts.append(_label(LEFT - 6, y(exponent) + 4, f"1e{exponent}"))
    width = max(1.0, 0.7 * (WIDTH - LEFT - RIGHT) / max(1, len(shown)))
    for row in shown:
        value = (
            float(high)
            if not math.isfinite(row.relative)
            else math.log10(row.relative)
            if row.relative > 0
            else float(low)
        )
        top = y(min(high, max(low, value)))
        off = "" if row.equal else " off"
        title = f"<title>step {row.step}: {row.relative:.2e}</title>"
        left = min(max(x(row.step) - width / 2, LEFT), WIDTH - RIGHT - width)
        size = max(0.0, HEIGHT - BOTTOM - top)
        parts.append(
            f'<rect class="bar{off}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{size:.1f}">{title}</rect>'
        )
    drift = [(row.step, math.log10(row.drift)) for row in rows if 0 < row.drift < math.inf]
    if drift:
        points = " ".join(f"{x(step):.1f},{y(min(high, max(low, value))):.1f}" for step, value in drift)
        parts.append(f'<polyline class="drift" points="{points}"/>')
    limit = y(math.log10(rtol)) if rtol > 0 else y(low)
    parts.append(_line("limit", LEFT, limit, WIDTH - RIGHT, limit))
    return _svg(parts, rows, x, "Relative difference of the loss by step")


def _thin(rows: Sequence[LossRow]) -> list[LossRow]:
    """At most MAX_POINTS rows; of each group the one with the largest difference."""
    size = max(1, math.ceil(len(rows) / MAX_POINTS))
    return [max(rows[at : at + size], key=lambda row: row.relative) for at in range(0, len(rows), size)]


class _Horizontal:
    def __init__(self, first: int, last: int) -> None:
        self.first, self.span = first, max(1, last - first)

    def __call__(self, step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (step - self.first) / self.span


def _horizontal(rows: Sequence[LossRow]) -> _Horizontal:
    return _Horizontal(rows[0].step, rows[-1].step)


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """Numbers from `low` to `high` that are 1, 2 or 5 times a power of ten apart: at most about `most` of them."""
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    gap = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
    return [number * gap for number in range(math.ceil(low / gap), math.floor(high / gap) + 1)]


def _svg(parts: list[str], rows: Sequence[LossRow], x: _Horizontal, title: str) -> str:
    first, last = rows[0].step, rows[-1].step
    near = (last - first) / 12  # no number stands in another one
    between = {
        round(step) for step in round_numbers(first, max(last, first + 6), 6) if first + near < step < last - near
    }
    for step in sorted({first, *between, last}):
        anchor = "end" if step == last and len(rows) > 1 else "start" if step == first else "middle"
        parts.append(_label(x(step), HEIGHT - 6, str(step), anchor))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _label(x: float, y: float, text: str, anchor: str = "end") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
