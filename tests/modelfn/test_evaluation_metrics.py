"""`eval_metric_ops`: the same keys, each fed with the same values."""

from __future__ import annotations

import re
import textwrap

import pytest
from modelfn.programs import LOSS, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

DENSE = 'predictions = tf.layers.dense(features["x"], 3)'
SPEC = (
    "return tf.estimator.EstimatorSpec("
    "mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)"
)


def program(metrics: str, body: str = DENSE) -> str:
    """A model_fn whose statements `metrics` set `metrics`."""
    return model_fn(body, end=f"{LOSS}\n{metrics}\n{TRAIN_OP}\n{SPEC}")


BODIES = {
    "dict": 'metrics = {"mean": tf.metrics.mean(predictions), "label": tf.metrics.mean(values=labels)}',
    "dict of names": 'm = tf.metrics.mean(predictions)\nmetrics = {"mean": m}',
    "dict(...)": "metrics = dict(mean=tf.metrics.mean(predictions))",
    "step by step": """
metrics = {}
metrics["mean"] = tf.metrics.mean(predictions)
metrics["label"] = tf.metrics.mean(labels)
""",
    "values computed for the metric": """
error = tf.abs(predictions - labels)
metrics = {"error": tf.metrics.mean(error), "square": tf.metrics.mean(tf.square(error))}
""",
    "labels bound anew": 'labels = tf.expand_dims(labels, 1)\nmetrics = {"mean": tf.metrics.mean(tf.squeeze(labels, 1))}',
    "labels bound anew, there and back": """
column = tf.expand_dims(labels, 1)
labels = tf.squeeze(column, 1)
metrics = {"mean": tf.metrics.mean(labels)}
""",
    "value of the loss": 'metrics = {"my_loss": tf.metrics.mean(loss)}',
    "weights": 'metrics = {"mean": tf.metrics.mean(predictions, weights=features["w"])}',
    "weights by position": 'metrics = {"mean": tf.metrics.mean(predictions, features["w"])}',
    "keys that are no names": 'metrics = {"eval/mean error": tf.metrics.mean(predictions), "1st": tf.metrics.mean(labels)}',
    "keys that Keras reserves": 'metrics = {"weights": tf.metrics.mean(predictions), "fit": tf.metrics.mean(labels)}',
    "keys that layers have": 'metrics = {"predictions": tf.metrics.mean(predictions)}',
    "static numbers": 'k = params["k"]\nmetrics = {"mean": tf.metrics.mean(predictions * k)}',
    "update": """
metrics = {"mean": tf.metrics.mean(predictions)}
metrics.update({"label": tf.metrics.mean(labels)}, error=tf.metrics.mean(predictions - labels))
""",
    "dict of a dict": """
base = {"mean": tf.metrics.mean(predictions), "label": tf.metrics.mean(predictions)}
metrics = dict(base, label=tf.metrics.mean(labels))
""",
    "unpacked dict": """
base = {"mean": tf.metrics.mean(predictions)}
metrics = {**base, "label": tf.metrics.mean(labels)}
""",
    "dict of pairs": 'metrics = dict([("mean", tf.metrics.mean(predictions)), ("label", tf.metrics.mean(labels))])',
    "annotated": 'metrics: dict = {}\nmetrics["mean"] = tf.metrics.mean(predictions)',
    "set twice": 'metrics = {"mean": tf.metrics.mean(labels)}\nmetrics["mean"] = tf.metrics.mean(predictions)',
    "in a scope": """
with tf.variable_scope("metrics"):
    metrics = {"mean": tf.metrics.mean(predictions)}
    with tf.name_scope("more"):
        metrics["label"] = tf.metrics.mean(labels)
""",
    "evaluation only": """
metrics = None
if mode == tf.estimator.ModeKeys.EVAL:
    probabilities = tf.nn.softmax(predictions)
    metrics = {"mean": tf.metrics.mean(probabilities)}
""",
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_same_metrics(name: str) -> None:
    assert_same(program(BODIES[name]), k=2.0)


def test_metrics_of_one_call_share_the_work() -> None:
    text = migrate(program(BODIES["values computed for the metric"]))
    assert method(text, "compute_metrics").count("error = tf.abs(y_pred - y)") == 1
    assert "error" not in method(text, "call") + method(text, "compute_loss")


@pytest.mark.parametrize(
    ("call", "constructor"),
    [
        ("tf.metrics.auc(labels, predictions, num_thresholds=50)", "num_thresholds=50"),
    ],
)
def test_arguments_of_the_constructor(call: str, constructor: str) -> None:
    text = migrate(program(f'metrics = {{"m": {call}}}'))
    assert constructor in method(text, "__init__") and 'name="m"' in method(text, "__init__")
    assert "self.m.update_state(y, y_pred)" in method(text, "compute_metrics")


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_any_number_but_zero_counts_as_positive(name: str) -> None:
    text = migrate(program(f'metrics = {{"m": tf.metrics.{name}(labels, predictions)}}'))
    assert "self.m.update_state(tf.cast(y, tf.bool), tf.cast(y_pred, tf.bool))" in method(text, "compute_metrics")


@pytest.mark.parametrize(
    "anew",
    [
        "labels = tf.expand_dims(labels, 1)",
        "labels = tf.reshape(tf.identity(labels), [-1, 1])",
        "column = tf.expand_dims(labels, 1)\nlabels = tf.reshape(column, [-1, 1])",
    ],
)
def test_what_a_metric_compares_may_be_bound_anew(anew: str) -> None:
    text = migrate(program(f'{anew}\nmetrics = {{"m": tf.metrics.accuracy(labels, tf.round(predictions))}}'))
    updated = method(text, "compute_metrics")
    assert "labels = y" in updated or "column = tf.expand_dims(y, 1)" in updated or "(y" in updated
    assert "self.m.update_state(labels, tf.round(y_pred))" in updated


def test_no_metrics_no_method() -> None:
    assert "compute_metrics" not in migrate(program("metrics = None"))


def test_a_summary_of_a_metric_reads_its_result() -> None:
    body = """
mean = tf.metrics.mean(predictions)
metrics = {"mean": mean}
tf.summary.scalar("mean", mean[1])
"""
    text = migrate(program(body))
    assert "self.mean.result()" in text and "mean[1]" not in text


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ('metrics = {"m": tf.metrics.unheard_of(labels, predictions, 3)}  # HERE', "metric `m`"),
        ('metrics = {"m": my_metric(labels, predictions)}  # HERE', "metric `m`"),
        ('metrics = {params["key"]: tf.metrics.mean(predictions)}  # HERE', "key of a metric is not a literal"),
        ("metrics = make_metrics(labels, predictions)", "metrics are not written as a dict"),
        ('metrics = {"m": tf.metrics.mean(predictions)}\nmetrics.update(MORE)', "metrics are not written as a dict"),
        ('metrics = {**MORE, "m": tf.metrics.mean(predictions)}', "metrics are not written as a dict"),
    ],
)
def test_left_alone(metrics: str, reason: str) -> None:
    assert reason in manual_reason(program(metrics))


def test_value_and_update_are_the_metric() -> None:
    text = migrate(program('mean, mean_op = tf.metrics.mean(labels)\nmetrics = {"m": (mean, mean_op)}'))
    assert 'tf.keras.metrics.Mean(name="m")' in text and "mean_op" not in text
    assert ".update_state(y)" in method(text, "compute_metrics")


def test_keys_that_the_module_names() -> None:
    text = migrate('MEAN = "eval/mean"\n' + program("metrics = {MEAN: tf.metrics.mean(predictions)}"))
    assert 'name="eval/mean"' in text


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        (
            'metrics = {"a": tf.metrics.mean(predictions)}\nif params["k"]:\n    metrics["a"] = tf.metrics.mean(labels)',
            "a condition decides which metric has this key",
        ),
        (
            'metrics = {"b": tf.metrics.mean(predictions)}\nif params["k"]:\n    metrics = {"a": tf.metrics.mean(labels)}',
            "the metrics are not written as a dict",
        ),
        (
            'metrics = {}\nif params["k"]:\n    if params["l"]:\n        metrics["a"] = tf.metrics.mean(labels)',
            "the metrics are not written as a dict",
        ),
        ('metrics = {}\nmetrics.setdefault("a", tf.metrics.mean(labels))', "the metrics are not written as a dict"),
        ('metrics = dict(zip(["a"], [tf.metrics.mean(labels)]))', "the metrics are not written as a dict"),
        ('metrics = {params["k"]: tf.metrics.mean(labels)}', "the key of a metric is not a literal"),
        (
            'm, op = tf.metrics.mean(labels)\nmetrics = {"m": (op, m)}',
            "the update of the metric `m` does not run those of its parts",
        ),
        (
            'm, op = tf.metrics.mean(labels)\nn, other = tf.metrics.mean(predictions)\nmetrics = {"m": (m, other)}',
            "the update of the metric `m` does not run those of its parts",
        ),
    ],
)
def test_metrics_that_stay(metrics: str, reason: str) -> None:
    assert reason in manual_reason(program(metrics))


A, B = 'metrics["a"] = tf.metrics.mean(labels)', 'metrics["b"] = tf.metrics.mean(predictions)'


@pytest.mark.parametrize(
    ("statements", "made", "updated"),
    [
        (
            f'if params["k"]:\n    {A}\n    {B}',
            'if params["k"]:\n    self.a = Mean("a")\n    self.b = Mean("b")\n',
            'if self.params["k"]:\n    self.a.update_state(y)\n    self.b.update_state(y_pred)\n',
        ),
        (
            f'if params["k"] > 2:\n    pass\nelse:\n    {A}',
            'if not (params["k"] > 2):\n    self.a = Mean("a")\n',
            'if not (self.params["k"] > 2):\n    self.a.update_state(y)\n',
        ),
        (
            f'if params["k"]:\n    {A}\nelse:\n    {B.replace("b", "a", 1)}',
            'if params["k"]:\n    self.a = Mean("a")\nelse:\n    self.a = Mean("a")\n',
            'if self.params["k"]:\n    self.a.update_state(y)\nelse:\n    self.a.update_state(y_pred)\n',
        ),
        (
            'deep = params["k"] == 1\nif deep:\n    metrics.update({"a": tf.metrics.mean(labels)})',
            'deep = params["k"] == 1\nself.loss_metric = BatchMean(name="loss")\nif deep:\n    self.a = Mean("a")\n',
            'deep = self.params["k"] == 1\nif deep:\n    self.a.update_state(y)\n',
        ),
        (
            'if params["k"]:\n    twice = 2 * predictions\n    metrics["a"] = tf.metrics.mean(twice)',
            'if params["k"]:\n    self.a = Mean("a")\n',
            'if self.params["k"]:\n    twice = 2 * y_pred\n    self.a.update_state(twice)\n',
        ),
        (
            f'mean = tf.metrics.mean(labels)\nif params["k"]:\n    metrics["a"] = mean\nelse:\n    {B}',
            'if params["k"]:\n    self.a = Mean("a")\nelse:\n    self.b = Mean("b")\n',
            'if self.params["k"]:\n    self.a.update_state(y)\nelse:\n    self.b.update_state(y_pred)\n',
        ),
    ],
)
def test_metrics_under_a_condition_on_the_parameters(statements: str, made: str, updated: str) -> None:
    text = migrate(program(f"metrics = {{}}\n{statements}"))
    init = re.sub(r'tf\.keras\.metrics\.Mean\(name=("\w")\)', r"Mean(\1)", method(text, "__init__"))
    assert made in textwrap.dedent(init.split("\n", 1)[1])
    assert textwrap.dedent(method(text, "compute_metrics").split("\n", 1)[1]).startswith(updated)


def test_what_a_metric_is_made_with_is_known_where_it_is_made() -> None:
    text = migrate(
        program('n = params["k"] + 1\nmetrics = {"a": tf.metrics.mean_iou(labels, tf.argmax(predictions, 1), n)}')
    )
    assert 'n = params["k"] + 1\n' in method(text, "__init__") and "MeanIoU(n, " in method(text, "__init__")
    assert "n = " not in method(text, "compute_metrics")


def test_a_dict_of_the_programs_own_is_none() -> None:
    text = "def dict(**named):\n    return {}\n\n\n" + program("metrics = dict(mean=tf.metrics.mean(predictions))")
    assert "metrics" in manual_reason(text)


TURNS = "(1, 2)"


@pytest.mark.parametrize(
    ("statements", "made", "updated"),
    [
        (
            f'for k in {TURNS}:\n    metrics["top_%d" % k] = tf.metrics.mean(predictions * k)',
            f'self.top_metrics = [tf.keras.metrics.Mean(name="top_%d" % k) for k in {TURNS}]',
            f"for k, top_metric in zip({TURNS}, self.top_metrics):\n        top_metric.update_state(y_pred * k)\n",
        ),
        (
            f'for k in {TURNS}:\n    scaled = predictions * k\n    m = tf.metrics.mean(scaled)\n    metrics["top_%d" % k] = m',
            f'self.top_metrics = [tf.keras.metrics.Mean(name="top_%d" % k) for k in {TURNS}]',
            f"for k, top_metric in zip({TURNS}, self.top_metrics):\n"
            "        scaled = y_pred * k\n        top_metric.update_state(scaled)\n",
        ),
        (
            'for k in params["k"]:\n    metrics["k/%d" % k] = tf.metrics.precision_at_k(labels, predictions, k)',
            'self.k_metrics = [PrecisionAtK(k, name="k/%d" % k) for k in params["k"]]',
            "for k_metric in self.k_metrics:\n        k_metric.update_state(y, y_pred)\n",
        ),
        (
            'for k in ["a"]:\n    metrics[k] = tf.metrics.mean(labels)',
            'self.mean_metrics = [tf.keras.metrics.Mean(name=k) for k in ["a"]]',
            "for mean_metric in self.mean_metrics:\n        mean_metric.update_state(y)\n",
        ),
        (
            'n = [1, 2]\nfor k in n:\n    metrics["m%d" % k] = tf.metrics.mean(predictions)',
            'n = [1, 2]\n        self.loss_metric = BatchMean(name="loss")\n'
            '        self.m_metrics = [tf.keras.metrics.Mean(name="m%d" % k) for k in n]',
            "for m_metric in self.m_metrics:\n        m_metric.update_state(y_pred)\n",
        ),
        (
            'p = "a_"\nfor k in ("b", "c"):\n    metrics[p + k] = tf.metrics.mean(predictions)',
            'self.mean_metrics = [tf.keras.metrics.Mean(name=p + k) for k in ("b", "c")]',
            "for mean_metric in self.mean_metrics:\n        mean_metric.update_state(y_pred)\n",
        ),
        (
            f'metrics.update({{"m_%d" % i: tf.metrics.mean(predictions * i) for i in {TURNS}}})',
            f'self.m_metrics = [tf.keras.metrics.Mean(name="m_%d" % i) for i in {TURNS}]',
            f"for i, m_metric in zip({TURNS}, self.m_metrics):\n        m_metric.update_state(y_pred * i)\n",
        ),
        (
            f'metrics = {{"m" + name: tf.metrics.mean(p) for name, p in zip("ab", {TURNS})}}',
            f'self.m_metrics = [tf.keras.metrics.Mean(name="m" + name) for name, p in zip("ab", {TURNS})]',
            f'for (name, p), m_metric in zip(zip("ab", {TURNS}), self.m_metrics):\n        m_metric.update_state(p)\n',
        ),
    ],
)
def test_loops_of_metrics(statements: str, made: str, updated: str) -> None:
    text = migrate(looped(statements))
    assert f"    {made}\n" in text
    assert f"    {updated}" in method(text, "compute_metrics")


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (f'for k in {TURNS}:\n    metrics["top"] = tf.metrics.mean(predictions * k)', "not made of the loop alone"),
        (
            f'for k in {TURNS}:\n    if params["x"]:\n        metrics["m%d" % k] = tf.metrics.mean(predictions)',
            "not written as a dict",
        ),
        (
            f'for i in {TURNS}:\n    for j in {TURNS}:\n        metrics["m%d" % j] = tf.metrics.mean(predictions)',
            "not written as a dict",
        ),
        (f'for k in {TURNS}:\n    metrics["m%d" % k] = mine(predictions)', "not written as a dict"),
        (f'metrics = {{"m%d" % k: tf.metrics.mean(predictions) for k in {TURNS} if k}}', "not written as a dict"),
        (
            'n = [1]\nfor k in n:\n    metrics["m%d" % k] = tf.metrics.mean(predictions)\nn = [2]',
            "not made of the loop alone",
        ),
        (
            'n = [1] if mode == "eval" else [2]\nfor k in n:\n    metrics["m%d" % k] = tf.metrics.mean(predictions)',
            "not",
        ),
        (
            f'for k in {TURNS}:\n    m = tf.metrics.mean(predictions)\n    tf.summary.scalar("m", m[1])\n'
            '    metrics["m%d" % k] = m',
            "not among eval_metric_ops",
        ),
    ],
)
def test_other_loops_of_metrics_are_left(statements: str, reason: str) -> None:
    assert reason in manual_reason(looped(statements))


def looped(statements: str) -> str:
    """A model_fn whose metrics `statements` add to."""
    end = f"{LOSS}\n{TRAIN_OP}\nmetrics = {{}}\n{statements}\n{SPEC}"
    return model_fn('predictions = tf.layers.dense(features["x"], 3)', end=end, before="from mine import mine\n")


def test_comparisons_are_true_or_false_already() -> None:
    metrics = 'metrics = {"m": tf.metrics.recall(tf.equal(labels, 1), tf.math.greater(predictions, 0.5))}'
    text = method(migrate(program(metrics)), "compute_metrics")
    assert "self.m.update_state(tf.equal(y, 1), tf.math.greater(y_pred, 0.5))" in text


def test_metrics_that_join_the_dict_after_a_loop_over_it() -> None:
    metrics = """
metrics = {"a": tf.metrics.mean(predictions)}
for name, op in metrics.items():
    tf.summary.scalar(name, op[1])
metrics["b"] = tf.metrics.mean(labels)
"""
    text = method(migrate(program(metrics)), "compute_metrics")
    assert 'tf.summary.scalar("a", self.a.result())' in text and "self.b.update_state(y)" in text
    assert text.count("tf.summary.scalar(") == 1


@pytest.mark.parametrize(
    ("arguments", "fed"),
    [
        ("labels, tf.nn.sigmoid(predictions)", "y, tf.cast(tf.nn.sigmoid(y_pred), y.dtype)"),
        ("labels, predictions", "y, tf.cast(y_pred, y.dtype)"),
        ("tf.cast(labels, tf.int32), predictions", "tf.cast(y, tf.int32), tf.cast(y_pred, tf.int32)"),
        ("tf.argmax(labels, 1), predictions", "tf.argmax(y, 1), tf.cast(y_pred, tf.int64)"),
        ("tf.equal(labels, 1), predictions", "tf.equal(y, 1), tf.cast(y_pred, tf.equal(y, 1).dtype)"),
        # Left alone: whole numbers, whatever their type, and labels that are floats.
        ("labels, tf.argmax(-predictions, 1)", "y, tf.argmax(-y_pred, 1)"),
        ("labels, tf.round(predictions)", "y, tf.round(y_pred)"),
        ("labels, tf.cast(predictions > 0.5, tf.float32)", "y, tf.cast(y_pred > 0.5, tf.float32)"),
        ("tf.to_float(labels), predictions", "tf.cast(y, tf.float32), y_pred"),
    ],
)
def test_predictions_are_cast_as_labels_where_that_may_matter(arguments: str, fed: str) -> None:
    text = method(migrate(program(f'metrics = {{"m": tf.metrics.accuracy({arguments})}}')), "compute_metrics")
    assert f"self.m.update_state({fed})" in text
