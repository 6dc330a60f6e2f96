"""How far numbers are apart, and whether that is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from migrator.parity.judge.report import Tolerance


def close(old: float, new: float, tolerance: Tolerance) -> bool:
    """Whether two numbers are equal within `tolerance`; never for NaN; infinities only with equal sign."""
    if math.isnan(old) or math.isnan(new):
        return False
    return old == new or abs(old - new) <= tolerance.atol + tolerance.rtol * abs(old)


def relative(old: float, new: float) -> float:
    """|old - new| / |old|; infinite where that is not a number."""
    if old == new:
        return 0.0
    if math.isnan(old) or math.isnan(new) or old == 0:
        return math.inf
    return abs(old - new) / abs(old)


def array_distance(old: Any, new: Any) -> tuple[float, float]:
    """Largest absolute difference, and that over the largest absolute value of `old`; infinite for NaN or shapes."""
    a, b = np.asarray(old), np.asarray(new)
    if a.dtype == object or b.dtype == object:
        same = a.shape == b.shape and a.tolist() == b.tolist()
        return (0.0, 0.0) if same else (math.inf, math.inf)
    if a.shape != b.shape:
        if a.size != b.size:
            return math.inf, math.inf
        b = b.reshape(a.shape)
    if a.size == 0:
        return 0.0, 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    if np.isnan(a).any() or np.isnan(b).any():
        return math.inf, math.inf
    with np.errstate(invalid="ignore"):
        distance = float(np.max(np.where(a == b, 0.0, np.abs(a - b))))
    scale = float(np.max(np.abs(a)))
    return distance, (0.0 if distance == 0 else distance / scale if scale else math.inf)


def apart_text(name: str, old: Any, new: Any, max_abs: float, max_rel: float) -> str:
    """How two arrays called `name` differ: how many words, labels or ids do, and how far numbers are apart."""
    a, b = np.asarray(old), np.asarray(new)
    if a.shape == b.shape and a.dtype.kind != "f":
        return f"{name}: {int(np.sum(a != b))} of {a.size} differ"
    if math.isfinite(max_abs):
        return f"{name} differs by {max_abs:.2g} (relative {max_rel:.2g})"
    broken = [int(np.sum(~np.isfinite(side))) for side in (a, b)] if a.dtype.kind == b.dtype.kind == "f" else [0, 0]
    text = f"no finite numbers are {broken[0]} of {a.size} in the old program, {broken[1]} of {b.size} in the new one"
    return f"{name} differs: {text}" if any(broken) else f"{name} differs in type or shape"


def arrays_close(max_abs: float, max_rel: float, tolerance: Tolerance) -> bool:
    """Whether the distances of `array_distance` are within `tolerance`."""
    if math.isinf(max_abs):
        return False
    scale = max_abs / max_rel if max_rel and not math.isinf(max_rel) else 0.0
    return max_abs <= tolerance.atol + tolerance.array_rtol * scale
