"""`tf.metrics.*` of an evaluation spec, as Keras metrics under the same keys; what is known of each is in metric_facts.py."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Metric, MetricRule, Value, Writing, bind, is_none, operand

from . import metric_facts, metric_values
from .metric_facts import Cast, MetricFact

AUC, KERAS_AUC = "tensorflow.metrics.auc", ".keras.metrics.AUC("
OF_CURVES = (
    "AUC of Keras is 0 where no label is positive, that of TensorFlow 1 up to 1, and labels that are neither 0 nor 1 count "
    "otherwise: `--exact` keeps that of TensorFlow 1"
)
"""What the owner of a program should know of the areas under its curves."""

Given = dict[str, ast.expr]


def _rule(short: str, fact: MetricFact) -> MetricRule:
    """How a call of the function of that name is written."""

    def rule(call: ast.Call, writing: Writing) -> Metric:
        return _written(bind(call, fact.parameters, f"tf.metrics.{short}"), fact, writing)

    return rule


def _written(given: Given, fact: MetricFact, writing: Writing) -> Metric:
    name, tf = fact.keras, writing.tf
    made = writing.need(name[1:]) if name.startswith("+") else f"{tf}.keras.metrics.{name}"
    arguments = _values(given, fact.arguments)
    if fact.dtype and not is_none(given.get("weights")):
        arguments = (*arguments, ("dtype", f"{tf}.{fact.dtype}"))
    return Metric(
        made, arguments, tuple((new, _fed(old, given, fact, writing)) for new, old in _pick(given, fact.update))
    )


def _pick(given: Given, wanted: str) -> list[tuple[str | None, str]]:
    """Which of the wanted arguments are given: the name that they get, and their own."""
    pairs = [item.rpartition("=") for item in wanted.split()]
    return [(new or None, old) for new, _, old in pairs if not is_none(given.get(old))]


def _values(given: Given, wanted: str) -> tuple[tuple[str | None, Value], ...]:
    return tuple((new, given[old]) for new, old in _pick(given, wanted))


def _fed(name: str, given: Given, fact: MetricFact, writing: Writing) -> str:
    """Labels, predictions or weights, as the class has to get them."""
    text = writing.text(given[name])
    if fact.cast is Cast.TO_BOOL and name in ("labels", "predictions"):
        text = _truth(given[name], writing)
    if name != "predictions" or "labels" not in given:
        return text
    if fact.cast is Cast.TO_LABELS:
        text = _like_labels(given, writing)
    weighted = not is_none(given.get("weights"))
    return _shaped_like_labels(text, given, writing) if weighted and not fact.squeezes else text


def _truth(node: ast.expr, writing: Writing) -> str:
    """The text of a value as True or False, which comparisons are already."""
    text = writing.text(node)
    compared = isinstance(node, (ast.Call, ast.Compare)) and metric_values.is_truth(node, writing)
    return text if compared else f"{writing.tf}.cast({text}, {writing.tf}.bool)"


def _like_labels(given: Given, writing: Writing) -> str:
    """The text of the predictions, cast to the type of the labels unless they are seen to be whole numbers anyway."""
    labels, predictions = given["labels"], given["predictions"]
    text = writing.text(predictions)
    if metric_values.is_whole(predictions, writing) or metric_values.is_float(labels, writing):
        return text
    if isinstance(labels, (ast.Constant, ast.List, ast.Tuple)):
        return text
    return f"{writing.tf}.cast({text}, {metric_values.type_of(labels, writing)})"


def _shaped_like_labels(text: str, given: Given, writing: Writing) -> str:
    """The text of predictions in the shape of the labels, unless they are seen to have none of size one at the end."""
    labels = given["labels"]
    if metric_values.is_flat(given["predictions"], writing) or metric_values.is_column(labels, writing):
        return text
    return f"{writing.tf}.reshape({text}, {writing.tf}.shape({writing.text(labels)}))"


def accuracy(call: ast.Call, writing: Writing) -> Metric:
    """The share of equal values; texts, which Keras cannot compare, are compared first."""
    fact = metric_facts.METRICS["accuracy"]
    given = bind(call, fact.parameters, "tf.metrics.accuracy")
    pair = [given[name] for name in ("labels", "predictions") if name in given]
    if len(pair) < 2 or not any(metric_values.may_be_text(node, writing) for node in pair):
        return _written(given, fact, writing)
    labels, tf = writing.text(given["labels"]), writing.tf
    equal = f"{tf}.equal({labels}, {tf}.reshape({_like_labels(given, writing)}, {tf}.shape({labels})))"
    return Metric(f"{tf}.keras.metrics.Mean", (), ((None, equal), *_values(given, metric_facts.WEIGHTS)))


def auc(call: ast.Call, writing: Writing) -> Metric:
    """The area under a curve; Keras interpolates that of precision and recall with care."""
    fact = metric_facts.METRICS["auc"]
    given = bind(call, fact.parameters, "tf.metrics.auc")
    asked = {"curve": ast.Constant("ROC"), "summation_method": ast.Constant("trapezoidal"), **given}
    curve, method = (getattr(asked[name], "value", None) for name in ("curve", "summation_method"))
    if curve == "ROC" and method == "trapezoidal" and not writing.fact("exact"):
        given.pop("curve", None)
        fact = metric_facts.AUC
    elif curve == "PR" and method == "careful_interpolation":
        fact = metric_facts.AUC
    return _written(given, fact, writing)


def _mean_error(short: str) -> MetricRule:
    """The mean over all errors; that of Keras is one over the last axis first, so that a vector would count once."""

    def rule(call: ast.Call, writing: Writing) -> Metric:
        given = bind(call, metric_facts.METRICS["accuracy"].parameters, f"tf.metrics.{short}")
        if not {"labels", "predictions"} <= set(given):
            raise Unsupported(f"tf.metrics.{short} without labels or predictions", call)
        pair, tf = (given["labels"], given["predictions"]), writing.tf
        labels, predictions = (operand(node, writing) for node in pair)
        if not any(
            all(seen(node, writing) for node in pair) for seen in (metric_values.is_flat, metric_values.is_column)
        ):
            predictions = f"{tf}.reshape({writing.text(pair[1])}, {tf}.shape({writing.text(pair[0])}))"
        if short == "mean_absolute_error":
            errors = f"{tf}.abs({labels} - {predictions})"
        else:
            errors = f"{tf}.math.squared_difference({labels}, {predictions})"
        return Metric(f"{tf}.keras.metrics.Mean", (), ((None, errors), *_values(given, metric_facts.WEIGHTS)))

    return rule


def percentage_below(call: ast.Call, writing: Writing) -> Metric:
    """The share of values below a threshold."""
    given = bind(call, f"values threshold weights {metric_facts.TAIL}", "tf.metrics.percentage_below")
    if "values" not in given or "threshold" not in given:
        raise Unsupported("tf.metrics.percentage_below without values or threshold", call)
    test = f"{operand(given['values'], writing)} < {operand(given['threshold'], writing)}"
    value = f"{writing.tf}.cast({test}, {writing.tf}.float32)"
    return Metric(f"{writing.tf}.keras.metrics.Mean", (), ((None, value), *_values(given, metric_facts.WEIGHTS)))


_METRICS: dict[str, MetricRule] = {
    **{short: _rule(short, fact) for short, fact in metric_facts.METRICS.items()},
    "accuracy": accuracy,
    "auc": auc,
    **{short: _mean_error(short) for short in ("mean_absolute_error", "mean_squared_error")},
    "percentage_below": percentage_below,
}
INNER_METRICS: dict[str, MetricRule] = {
    f"tensorflow.python.ops.metrics_impl.{short}": _rule(short, fact)
    for short, fact in metric_facts.INNER_METRICS.items()
}
METRICS: dict[str, MetricRule] = {
    **{f"tensorflow.metrics.{short}": rule for short, rule in _METRICS.items()},
    **{
        f"tensorflow.{package}.metrics.{short}": _rule(short, fact)
        for package in ("contrib", "contrib.slim")
        for short, fact in metric_facts.CONTRIB_METRICS.items()
    },
    **INNER_METRICS,
}


def is_keras_metric(name: str) -> bool:
    """Whether calling `name` makes a metric of Keras."""
    package, _, short = name.rpartition(".")
    return package == "tensorflow.keras.metrics" and short[:1].isupper() and short != "Metric"
