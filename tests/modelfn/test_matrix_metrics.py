"""Metrics that functions of a program compute of a confusion matrix."""

from __future__ import annotations

import pytest
from programs import LOSS, PATH, TRAIN_OP, joined, manual_reason, method, migrate, model_fn, run, units

SPEC = (
    "return tf.estimator.EstimatorSpec("
    "mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)"
)
DENSE = "predictions = tf.layers.dense(features['x'], 3)\nclasses = tf.argmax(predictions, axis=-1)"
HELPERS = """
import tensorflow as tf
from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix


def share(cm, positive):
    hits = []
    for index in positive:
        hits.append(cm[index, index])
    return tf.add_n(hits) / tf.reduce_sum(cm), len(hits)


def precision(labels, predictions, num_classes, positive, weights=None):
    cm, op = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
    value, _ = share(cm, positive)
    op, _ = share(op, positive)
    return value, op
"""


def program(metrics: str, before: str = HELPERS) -> str:
    return model_fn(DENSE, end=f"{LOSS}\n{metrics}\n{TRAIN_OP}\n{SPEC}", before=before)


def test_what_is_computed_of_a_matrix() -> None:
    text = migrate(program("metrics = {'p': precision(labels, classes, 3, [1, 2])}"))
    assert 'self.cm = ConfusionMatrix(3, name="cm")' in method(text, "__init__")
    assert "self.cm.update_state(y, classes)" in method(text, "compute_metrics")
    results = joined(method(text, "get_metrics_result"))
    assert "cm = self.cm.result()\n" in results and "value, _ = share(cm, " in results
    assert 'results["p"] = value\n    del results["cm"]\n' in results
    assert "def precision" not in text and "metrics_impl" not in text


def test_weights_and_several() -> None:
    text = migrate(
        program(
            "w = tf.sequence_mask(features['n'])\n"
            "metrics = {'p': precision(labels, classes, 3, [1], w), 'q': precision(labels, classes, 3, [2])}"
        )
    )
    assert "self.cm.update_state(y, classes, sample_weight=w)" in text and text.count("ConfusionMatrix(3, name=") == 2


def test_a_training_shows_what_is_computed() -> None:
    text = migrate(program("p = precision(labels, classes, 3, [1])\ntf.summary.scalar('p', p[1])\nmetrics = {'p': p}"))
    metrics = method(text, "compute_metrics")
    assert 'results = self.get_metrics_result()\n    tf.summary.scalar("p", results["p"])\n    return results\n' in (
        metrics.replace("'p'", '"p"')
    )


def test_a_program_with_plain_fit() -> None:
    body = "p = precision(labels, classes, 3, [1])\ntf.summary.scalar('p', p[1])\nmetrics = {'p': p}"
    text = program(body)
    use = (
        "estimator = tf.estimator.Estimator(model_fn, params={}, model_dir='d')\nestimator.train(input_fn, steps=10)\n"
    )
    text = text[: text.index("estimator = ")] + FED + use
    text = migrate(text)
    assert ".fit(" in text and "tf.summary" not in text and "BatchMean" not in text
    assert "num_classes=self.num_classes, weights=weights, dtype=tf.float64" in joined(text)


def test_a_matrix_that_is_reported_itself_is_none_of_the_logs_of_fit() -> None:
    text = program("metrics = {'matrix': _streaming_confusion_matrix(labels, classes, 3)}")
    use = (
        "estimator = tf.estimator.Estimator(model_fn, params={}, model_dir='d')\nestimator.train(input_fn, steps=10)\n"
    )
    outcomes = run(text[: text.index("estimator = ")] + FED + use)
    assert "self.matrix = ConfusionMatrix(3, name=" in outcomes[PATH].after.decode()
    assert "a metric that is an array" in str([unit.helpers for unit in units(outcomes)])


FED = """
def input_fn():
    return tf.data.Dataset.from_tensors(({'x': [[1.0]]}, [[1]])).repeat()


"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    hits = []\n", "    global SEEN\n    hits = []\n"),
        ("    hits = []\n", "    hits = []\n    positive.append(3)\n"),
        ("    hits = []\n", "    hits = []\n    positive[0] = 3\n"),
        ("    hits = []\n", "    hits = []\n    print(cm)\n"),
        ("    hits = []\n", "    hits = [tf.get_variable('v', [])]\n"),
        ("    hits = []\n", "    hits = [tf.metrics.mean(cm)[0]]\n"),
        ("    hits = []\n", "    hits = [share(cm, positive)]\n"),
        ("    hits = []\n", "    hits = [unknown(cm)]\n"),
    ],
)
def test_a_function_that_does_more_than_to_compute(old: str, new: str) -> None:
    source = program("metrics = {'p': precision(labels, classes, 3, [1, 2])}", HELPERS.replace(old, new))
    assert "metric `p` is" in manual_reason(source) or "a layer is applied to the labels" in manual_reason(source)


def test_a_part_that_training_reads_by_its_own_name() -> None:
    body = "p, p_op = tf.metrics.mean(labels)\nboth = (p * 2, tf.group(p_op))\ntwice = p * 2\n"
    source = program(f"{body}tf.summary.scalar('twice', twice)\nmetrics = {{'p': (twice, tf.group(p_op))}}")
    assert "a part of a metric that is computed from others is read in training" in manual_reason(source)


@pytest.mark.parametrize(
    ("thresholds", "refused"),
    [("[0.3, 0.5]", True), ("params['at']", True), ("thresholds=[0.3, 0.5]", True), ("[0.5]", False)],
)
def test_a_metric_at_several_thresholds_is_an_array(thresholds: str, refused: bool) -> None:
    text = program(f"metrics = {{'recall': tf.metrics.recall_at_thresholds(labels, classes, {thresholds})}}")
    reasons = str([unit.helpers for unit in units(run(text))])
    assert ("a metric that is an array" in reasons) is refused
