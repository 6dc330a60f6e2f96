"""`tf.metrics.*` of an evaluation spec, as Keras metrics under the same keys."""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Metric, MetricRule, Value, Writing, bind, is_none, operand

_TAIL = "metrics_collections updates_collections name"
_PAIR = f"labels predictions weights {_TAIL}"
_WEIGHTS = "sample_weight=weights"


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


_COMPARISONS = frozenset(
    f"tensorflow.{package}{name}"
    for package in ("", "math.")
    for name in "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_not".split()
)


def percentage_below(call: ast.Call, writing: Writing) -> Metric:
    """The share of values below a threshold."""
    given = bind(call, f"values threshold weights {_TAIL}", "tf.metrics.percentage_below")
    if "values" not in given or "threshold" not in given:
        raise Unsupported("tf.metrics.percentage_below without values or threshold", call)
    test = f"{operand(given['values'], writing)} < {operand(given['threshold'], writing)}"
    value = f"{writing.tf}.cast({test}, {writing.tf}.float32)"
    return Metric(f"{writing.tf}.keras.metrics.Mean", (), ((None, value), *_pick(given, _WEIGHTS)))


def _truth(node: ast.expr, writing: Writing) -> str:
    """The text of a value as True or False, which comparisons are already."""
    text = writing.text(node)
    compared = isinstance(node, ast.Call) and (writing.resolve(node.func) or "") in _COMPARISONS
    return text if compared else f"{writing.tf}.cast({text}, {writing.tf}.bool)"


def _counted(short: str, keras: str) -> MetricRule:
    """A metric that takes whatever is not zero for positive, as TF1 does; Keras compares with 0.5."""

    def rule(call: ast.Call, writing: Writing) -> Metric:
        given = bind(call, _PAIR, f"tf.metrics.{short}")
        values = [_truth(given[name], writing) for name in ("labels", "predictions")]
        return Metric(
            f"{writing.tf}.keras.metrics.{keras}", (), ((None, values[0]), (None, values[1]), *_pick(given, _WEIGHTS))
        )

    return rule


def auc(call: ast.Call, writing: Writing) -> Metric:
    """Area under a curve; for anything but the plain ROC Keras sums otherwise than TF1."""
    signature = (
        "labels predictions weights num_thresholds metrics_collections updates_collections curve name summation_method "
        "thresholds"
    )
    given = bind(call, signature, "tf.metrics.auc")
    curve = given.get("curve")
    roc = curve is None or (isinstance(curve, ast.Constant) and curve.value == "ROC")
    method = given.get("summation_method")
    plain = method is None or (isinstance(method, ast.Constant) and method.value == "trapezoidal")
    if roc and plain and "thresholds" not in given:
        return Metric(
            f"{writing.tf}.keras.metrics.AUC", _pick(given, "num_thresholds=num_thresholds"), _pick(given, _UPDATE)
        )
    if isinstance(method, ast.Constant) and method.value == "careful_interpolation":
        constructor = "num_thresholds=num_thresholds curve=curve"
        return Metric(f"{writing.tf}.keras.metrics.AUC", _pick(given, constructor), _pick(given, _UPDATE))
    constructor = "num_thresholds=num_thresholds curve=curve summation_method=summation_method thresholds=thresholds"
    return Metric(writing.need("RiemannAUC"), _pick(given, constructor), _pick(given, _UPDATE))


_UPDATE = f"labels predictions {_WEIGHTS}"
_AT = f"labels predictions thresholds weights {_TAIL}"
_AT_K = f"labels predictions k class_id weights {_TAIL}"
_AT_TOP_K = f"labels predictions_idx k class_id weights {_TAIL}"  # k is for the name alone
_UPDATE_TOP = f"labels predictions_idx {_WEIGHTS}"
_CLASSES = f"labels predictions num_classes weights {_TAIL}"
_COUNTS = {
    "precision": "Precision", "recall": "Recall", "true_positives": "TruePositives", "true_negatives": "TrueNegatives",
    "false_positives": "FalsePositives", "false_negatives": "FalseNegatives",
}  # fmt: skip

_METRICS: dict[str, MetricRule] = {
    "accuracy": _metric("accuracy", _PAIR, "Accuracy", "", _UPDATE),
    "mean": _metric("mean", f"values weights {_TAIL}", "Mean", "", "values sample_weight=weights"),
    "root_mean_squared_error": _metric("root_mean_squared_error", _PAIR, "RootMeanSquaredError", "", _UPDATE),
    "mean_squared_error": _metric("mean_squared_error", _PAIR, "+MeanSquaredError", "", _UPDATE),
    "mean_absolute_error": _metric("mean_absolute_error", _PAIR, "+MeanAbsoluteError", "", _UPDATE),
    "mean_relative_error": _metric(
        "mean_relative_error",
        f"labels predictions normalizer weights {_TAIL}",
        "+MeanRelativeError",
        "",
        f"labels predictions normalizer {_WEIGHTS}",
    ),
    "mean_cosine_distance": _metric(
        "mean_cosine_distance", f"labels predictions dim weights {_TAIL}", "+MeanCosineDistance", "dim", _UPDATE
    ),
    "percentage_below": percentage_below,
    "auc": auc,
    "mean_iou": _metric("mean_iou", _CLASSES, "MeanIoU", "num_classes", _UPDATE),
    "mean_per_class_accuracy": _metric(
        "mean_per_class_accuracy", _CLASSES, "+MeanPerClassAccuracy", "num_classes", _UPDATE
    ),
    **{short: _counted(short, keras) for short, keras in _COUNTS.items()},
    **{
        f"{short}_at_thresholds": _metric(f"{short}_at_thresholds", _AT, keras, "thresholds=thresholds", _UPDATE)
        for short, keras in _COUNTS.items()
    },
    "mean_tensor": _metric("mean_tensor", f"values weights {_TAIL}", "MeanTensor", "", "values sample_weight=weights"),
    "precision_at_k": _metric("precision_at_k", _AT_K, "+PrecisionAtK", "k class_id=class_id", _UPDATE),
    "recall_at_k": _metric("recall_at_k", _AT_K, "+RecallAtK", "k class_id=class_id", _UPDATE),
    "sparse_precision_at_k": _metric("sparse_precision_at_k", _AT_K, "+PrecisionAtK", "k class_id=class_id", _UPDATE),
    "precision_at_top_k": _metric("precision_at_top_k", _AT_TOP_K, "+PrecisionAtK", "class_id=class_id", _UPDATE_TOP),
    "recall_at_top_k": _metric("recall_at_top_k", _AT_TOP_K, "+RecallAtK", "class_id=class_id", _UPDATE_TOP),
    **{
        short: _metric(short, f"labels predictions k weights {_TAIL}", "+AveragePrecisionAtK", "k", _UPDATE)
        for short in ("average_precision_at_k", "sparse_average_precision_at_k")
    },
    "sensitivity_at_specificity": _metric(
        "sensitivity_at_specificity",
        f"labels predictions specificity weights num_thresholds {_TAIL}",
        "+SensitivityNearSpecificity",
        "specificity num_thresholds=num_thresholds",
        _UPDATE,
    ),
    "specificity_at_sensitivity": _metric(
        "specificity_at_sensitivity",
        f"labels predictions sensitivity weights num_thresholds {_TAIL}",
        "+SpecificityNearSensitivity",
        "sensitivity num_thresholds=num_thresholds",
        _UPDATE,
    ),
}
# Those of tf.contrib that are none of tf.metrics under another name; for the others see contrib_functions.py.
_CONTRIB: dict[str, MetricRule] = {
    "f1_score": _metric(
        "f1_score",
        f"labels predictions weights num_thresholds {_TAIL}",
        "+BestF1Score",
        "num_thresholds=num_thresholds",
        _UPDATE,
    ),
    "streaming_pearson_correlation": _metric(
        "streaming_pearson_correlation", f"predictions labels weights {_TAIL}", "+PearsonCorrelation", "", _UPDATE
    ),
}
METRICS: dict[str, MetricRule] = {
    **{f"tensorflow.metrics.{short}": rule for short, rule in _METRICS.items()},
    **{
        f"tensorflow.{package}.metrics.{short}": rule
        for package in ("contrib", "contrib.slim")
        for short, rule in _CONTRIB.items()
    },
}


def is_keras_metric(name: str) -> bool:
    """Whether calling `name` makes a metric of Keras."""
    package, _, short = name.rpartition(".")
    return package == "tensorflow.keras.metrics" and short[:1].isupper() and short != "Metric"
