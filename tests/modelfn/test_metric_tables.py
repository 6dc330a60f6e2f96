"""Loops over metric functions that are written out."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate, model_fn

BODY = """predictions = tf.layers.dense(features["x"], 1)
classes = tf.cast(predictions > 0.5, tf.float32)
metrics = {}
"""
END = """loss = tf.reduce_mean(tf.square(labels - predictions))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
"""
PAIRS = '[("precision", tf.metrics.precision), ("recall", tf.metrics.recall)]'
FILL = "    metrics[name] = metric(labels, classes)\n"


def program(loop: str) -> str:
    """A program whose model_fn fills a dict of metrics in a loop."""
    return model_fn(BODY + loop, end=END)


@pytest.mark.parametrize(
    "loop",
    [
        f"for name, metric in {PAIRS}:\n{FILL}",
        'for name, metric in {"precision": tf.metrics.precision, "recall": tf.metrics.recall}.items():\n' + FILL,
        f"for name, metric in {PAIRS}:\n    # each\n    value = metric(labels, classes)\n    metrics[name] = value\n",
    ],
)
def test_turn_by_turn(loop: str) -> None:
    text = joined(migrate(program(loop)))
    assert 'tf.keras.metrics.Precision(name="precision")' in text or "precision" in text
    assert "for name" not in text and "metrics.recall" not in text and 'recall"' in text


def test_in_a_function_that_returns_them() -> None:
    loop = f"    for name, metric in {PAIRS}:\n    {FILL}"
    helper = f"def build_metrics(labels, classes):\n    metrics = {{}}\n{loop}    return metrics\n"
    text = migrate(model_fn(BODY + "metrics = build_metrics(labels, classes)\n", end=END, before=helper))
    assert "build_metrics" not in text and "for name" not in text


@pytest.mark.parametrize(
    "loop",
    [
        f"for name, metric in {PAIRS}:\n{FILL}    if name == LAST:\n        break\n",
        f"for name, metric in {PAIRS}:\n{FILL}print(name)\n",
        f"for name, metric in {PAIRS}:\n    HOOKS.append(lambda: metric(labels, classes))\n{FILL}",
        f"for name, metric in {PAIRS}:\n    metrics[f'x/{{name}}'] = metric(labels, classes)\n",
        f"for name, metric in {PAIRS}:\n{FILL}else:\n    print('done')\n",
        f"for name, metric in [*MORE, ('precision', tf.metrics.precision)]:\n{FILL}",
        f"for name, metric in [(NAMES.pop(), tf.metrics.precision)]:\n{FILL}",
    ],
)
def test_left_alone(loop: str) -> None:
    assert manual_reason(program(loop))
