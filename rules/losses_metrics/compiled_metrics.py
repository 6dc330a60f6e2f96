"""Metrics of labels and logits as `compile` takes them, where Keras computes the same.

Those that Keras averages over the last axis first (binary accuracy, absolute and squared errors) take outputs [n, k] only: of
outputs [n] each batch would count once.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.results.compiled import CompiledMetric, Reading

from .compiled_losses import are_labels, loss_of_elements

_PAIR = "labels predictions weights metrics_collections updates_collections name"
_SIGMOIDS = frozenset({"tensorflow.sigmoid", "tensorflow.nn.sigmoid", "tensorflow.math.sigmoid"})
_SOFTMAXES = frozenset({"tensorflow.nn.softmax", "tensorflow.math.softmax"})
_ARGMAXES = frozenset({"tensorflow.argmax", "tensorflow.math.argmax", "tensorflow.arg_max"})
_CASTS = frozenset({"tensorflow.cast", "tensorflow.to_float", "tensorflow.to_int32", "tensorflow.to_int64"})
_COMPARISONS = {
    "tensorflow.equal": "x y name",
    **{f"tensorflow.{module}.in_top_k": "predictions targets k name" for module in ("nn", "math")},
}
"""What says of examples whether they are right, and how it is called."""
_GREATER = frozenset({"tensorflow.greater", "tensorflow.math.greater"})


def compiled_metric(given: Reading) -> CompiledMetric | None:
    """The metric for `compile` that a call of ``tf.metrics`` stands for."""
    rule = _RULES.get(given.function or "")
    if not isinstance(given.node, ast.Call):
        return None
    if given.function == "tensorflow.metrics.mean":
        return _mean(given, given.node)
    if rule is None:
        return None
    try:
        values = bind(given.node, _PAIR, "the metric")
        if not {"labels", "predictions"} <= set(values) <= {"labels", "predictions", "name"}:
            return None
        return rule(given.part(values["labels"]), given.part(values["predictions"]).behind())
    except Unsupported:
        return None


def _accuracy(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    predicted = _uncast(predicted)
    if predicted.function in _ARGMAXES and isinstance(predicted.node, ast.Call):
        chosen = bind(predicted.node, "input axis name dimension output_type", "argmax")
        axis = chosen.get("axis", chosen.get("dimension"))
        scores = predicted.part(chosen["input"]).behind() if "input" in chosen else predicted
        of_output = scores.is_output or _applied(scores, _SOFTMAXES)
        if axis is None or ast.unparse(axis) not in ("1", "-1") or not of_output:
            return None
        return CompiledMetric("SparseCategoricalAccuracy") if are_labels(labels, whole=True) else None
    if _is_positive(predicted) and labels.output_has_last_axis and are_labels(labels, whole=False):
        return CompiledMetric("BinaryAccuracy", (("threshold", ast.Constant(0.0)),))
    return None


def _mean(given: Reading, call: ast.Call) -> CompiledMetric | None:
    """The mean of the losses of all examples, or of what says whether the best class of each is right, or one of the best."""
    try:
        values = bind(call, "values weights metrics_collections updates_collections name", "the metric")
    except Unsupported:
        return None
    if not {"values"} <= set(values) <= {"values", "name"}:
        return None
    value = given.part(values["values"]).behind()
    right = _right(_uncast(value))
    if right is not None:
        return right
    found = loss_of_elements(value)
    if found is None or (found.short == "BinaryCrossentropy" and not given.output_has_last_axis):
        return None
    return CompiledMetric(found.short, found.arguments)


def _right(value: Reading) -> CompiledMetric | None:
    """The metric of what says of examples whether they are right: ``tf.equal(tf.argmax(logits, 1), labels)``."""
    call = value.node
    if not isinstance(call, ast.Call) or value.function not in _COMPARISONS:
        return None
    given = bind(call, _COMPARISONS[value.function], "the comparison")
    of_classes = value.function == "tensorflow.equal"
    pair = [given.get(name) for name in (("x", "y") if of_classes else ("predictions", "targets"))]
    for one, other in (pair, pair[::-1]):  # of TensorFlow 2 the labels come first
        if one is None or other is None:
            return None
        predicted, labels = value.part(one).behind(), value.part(other)
        if of_classes and (found := _accuracy(_uncast(labels), predicted)) is not None:
            return found
        k = given.get("k")
        number = k.value if isinstance(k, ast.Constant) else None
        if type(number) is int and predicted.is_output and are_labels(_uncast(labels), whole=True):
            return CompiledMetric("SparseTopKCategoricalAccuracy", (("k", ast.Constant(number)),))
    return None


def _precision(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    return _of_positives("Precision", labels, predicted)


def _recall(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    return _of_positives("Recall", labels, predicted)


def _of_positives(short: str, labels: Reading, predicted: Reading) -> CompiledMetric | None:
    same = _is_positive(_uncast(predicted)) and labels.output_has_last_axis and are_labels(labels, whole=False)
    return CompiledMetric(short, (("thresholds", ast.Constant(0.0)),)) if same else None


def _root_mean_squared_error(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    same = predicted.is_output and are_labels(labels, whole=False)
    return CompiledMetric("RootMeanSquaredError") if same else None


def _mean_absolute_error(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    return _of_rows("MeanAbsoluteError", labels, predicted)


def _mean_squared_error(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    return _of_rows("MeanSquaredError", labels, predicted)


def _of_rows(short: str, labels: Reading, predicted: Reading) -> CompiledMetric | None:
    same = predicted.is_output and predicted.output_has_last_axis and are_labels(labels, whole=False)
    return CompiledMetric(short) if same else None


def _auc(labels: Reading, predicted: Reading) -> CompiledMetric | None:
    if predicted.is_exact or not are_labels(labels, whole=False):
        return None
    if predicted.is_output:
        return CompiledMetric("AUC")
    return CompiledMetric("AUC", (("from_logits", ast.Constant(True)),)) if _applied(predicted, _SIGMOIDS) else None


_RULES = {
    "tensorflow.metrics.auc": _auc,
    "tensorflow.metrics.mean_absolute_error": _mean_absolute_error,
    "tensorflow.metrics.mean_squared_error": _mean_squared_error,
    "tensorflow.metrics.accuracy": _accuracy,
    "tensorflow.metrics.precision": _precision,
    "tensorflow.metrics.recall": _recall,
    "tensorflow.metrics.root_mean_squared_error": _root_mean_squared_error,
}


def _applied(value: Reading, functions: frozenset[str]) -> bool:
    """Whether a value is one of these functions of the output, and of nothing else."""
    node = value.node
    if value.function not in functions or not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(k.value for k in node.keywords if k.arg in ("x", "logits"))]
    if len(given) != 1 or any(k.arg not in ("x", "logits", "name") for k in node.keywords):
        return False
    return value.part(given[0]).behind().is_output


def _is_positive(value: Reading) -> bool:
    """Whether a value tells, as a number, if the output is positive: ``tf.round(tf.sigmoid(logits))``."""
    node = value.node
    if value.function in ("tensorflow.round", "tensorflow.math.round") and isinstance(node, ast.Call) and node.args:
        return _applied(value.part(node.args[0]).behind(), _SIGMOIDS)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt):
        left, right = node.left, node.comparators[0]
    elif value.function in _GREATER and isinstance(node, ast.Call) and len(node.args) == 2:
        left, right = node.args
    else:
        return False
    compared = value.part(left).behind()
    if not isinstance(right, ast.Constant):
        return False
    return (right.value == 0.5 and _applied(compared, _SIGMOIDS)) or (right.value == 0 and compared.is_output)


def _uncast(value: Reading) -> Reading:
    """What a value is without its type."""
    while value.function in _CASTS and isinstance(value.node, ast.Call) and value.node.args:
        value = value.part(value.node.args[0]).behind()
    return value
