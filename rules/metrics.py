"""`tf.metrics.*` of an evaluation spec, as Keras metrics under the same keys."""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Metric, MetricRule, Value, Writing, bind, is_none

_TAIL = "metrics_collections updates_collections name"
_PAIR = f"labels predictions weights {_TAIL}"


def _metric(short: str, signature: str, keras: str, constructor: str, update: str) -> MetricRule:
    """`constructor` and `update` list arguments of the TF1 function, as ``new=old`` or ``old`` (positional)."""

    def rule(call: ast.Call, writing: Writing) -> Metric:
        given = bind(call, signature, f"tf.metrics.{short}")
        name = keras if not keras.startswith("+") else writing.need(keras[1:])
        text = name if keras.startswith("+") else f"{writing.tf}.keras.metrics.{name}"
        return Metric(text, _pick(given, constructor), _pick(given, update))

    return rule


def _pick(given: dict[str, ast.expr], wanted: str) -> tuple[tuple[str | None, Value], ...]:
    found: list[tuple[str | None, Value]] = []
    for item in wanted.split():
        new, _, old = item.rpartition("=")
        if old.startswith("'"):
            found.append((new, old[1:]))
        elif old in given and not is_none(given[old]):
            found.append((new or None, given[old]))
    return tuple(found)


def auc(call: ast.Call, writing: Writing) -> Metric:
    """Area under the curve; Keras interpolates the PR curve otherwise than TF1 by default."""
    signature = f"labels predictions weights num_thresholds metrics_collections updates_collections curve name summation_method thresholds"
    given = bind(call, signature, "tf.metrics.auc")
    for name in ("summation_method", "thresholds"):
        if name in given:
            raise Unsupported(f"tf.metrics.auc with {name} is not migrated yet", given[name])
    curve = given.get("curve")
    if curve is not None and not (isinstance(curve, ast.Constant) and curve.value == "ROC"):
        raise Unsupported("tf.metrics.auc of another curve than ROC is not migrated yet", curve)
    return Metric(
        f"{writing.tf}.keras.metrics.AUC", _pick(given, "num_thresholds=num_thresholds"), _pick(given, _UPDATE)
    )


_UPDATE = "labels predictions sample_weight=weights"

METRICS: dict[str, MetricRule] = {
    "tensorflow.metrics.accuracy": _metric("accuracy", _PAIR, "Accuracy", "", _UPDATE),
    "tensorflow.metrics.mean": _metric("mean", f"values weights {_TAIL}", "Mean", "", "values sample_weight=weights"),
    "tensorflow.metrics.mean_squared_error": _metric("mean_squared_error", _PAIR, "MeanSquaredError", "", _UPDATE),
    "tensorflow.metrics.root_mean_squared_error": _metric(
        "root_mean_squared_error", _PAIR, "RootMeanSquaredError", "", _UPDATE
    ),
    "tensorflow.metrics.mean_absolute_error": _metric("mean_absolute_error", _PAIR, "MeanAbsoluteError", "", _UPDATE),
    # TF1 takes any prediction but zero for positive.
    "tensorflow.metrics.precision": _metric("precision", _PAIR, "Precision", "thresholds='0.0", _UPDATE),
    "tensorflow.metrics.recall": _metric("recall", _PAIR, "Recall", "thresholds='0.0", _UPDATE),
    "tensorflow.metrics.auc": auc,
}
