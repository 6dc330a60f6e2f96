"""Metrics that are no number: those that `fit` logs are shown as numbers."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.metrics import metric_entries

from .metrics import INNER_METRICS

_MATRICES = frozenset({*INNER_METRICS, "tensorflow.metrics.mean_tensor"})
_AT_THRESHOLDS = "_at_thresholds"


def reports_matrix(plan: Plan) -> bool:
    """Whether an evaluation of a model_fn reports an array, by itself and not for other metrics."""
    try:
        entries, _ = metric_entries(plan)
    except Unsupported:
        return False  # which is said elsewhere
    return any(not entry.hidden and _is_array(plan, entry.call) for entry in entries)


def _is_array(plan: Plan, call: ast.Call) -> bool:
    """Whether a metric is one, as those at several thresholds are."""
    name = plan.module.resolve(call.func) or ""
    if not name.startswith("tensorflow.metrics.") or not name.endswith(_AT_THRESHOLDS):
        return name in _MATRICES
    given = [*call.args[2:3], *(keyword.value for keyword in call.keywords if keyword.arg == "thresholds")]
    return not (len(given) == 1 and isinstance(given[0], (ast.List, ast.Tuple)) and len(given[0].elts) == 1)
