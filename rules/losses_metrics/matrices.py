"""Metrics that are no number: those that `fit` logs are shown as numbers."""

from __future__ import annotations

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.metrics import metric_entries

from .metrics import INNER_METRICS

_MATRICES = frozenset({*INNER_METRICS, "tensorflow.metrics.mean_tensor"})


def reports_matrix(plan: Plan) -> bool:
    """Whether an evaluation of a model_fn reports an array, by itself and not for other metrics."""
    try:
        entries, _ = metric_entries(plan)
    except Unsupported:
        return False  # which is said elsewhere
    return any(not entry.hidden and plan.module.resolve(entry.call.func) in _MATRICES for entry in entries)
