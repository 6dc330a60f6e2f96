"""Arguments that a call spreads out of a list, and that a function gathers."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, method, migrate, migrate_all, model_fn, run, units

TPU = """
x = features["x"]
predictions = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(labels - predictions))
if mode == tf.estimator.ModeKeys.EVAL:
    example_loss = tf.square(labels - predictions)

    {metrics}

    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics={given})
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
"""
END = "return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
USE = "estimator = tf.contrib.tpu.TPUEstimator(model_fn, params=PARAMS, use_tpu=False, train_batch_size=8)"
GATHERED = '''\
def metric_fn(*args):
        """Says how well it does."""
        losses, answers = args[:2]
        return {"error": tf.metrics.mean(losses), "answer": tf.metrics.mean(values=answers)}

    values = [example_loss, predictions]'''
PLAIN = GATHERED.replace("*args", "losses, answers").replace("losses, answers = args[:2]\n        ", "")


def program(metrics: str, given: str = "(metric_fn, values)") -> str:
    return model_fn(TPU.format(metrics=metrics, given=given), end=END, after=USE)


@pytest.mark.parametrize(
    ("metrics", "given"),
    [
        (GATHERED, "(metric_fn, values)"),
        (GATHERED.replace("[:2]", "[0:]"), "(metric_fn, values)"),
        (GATHERED.replace("losses, answers = args[:2]", "(losses, answers) = args"), "(metric_fn, values)"),
        (GATHERED, "(metric_fn, [example_loss, predictions])"),
        (f"{GATHERED}\n    metrics = (metric_fn, values)", "metrics"),
        (PLAIN, "(metric_fn, values)"),
    ],
)
def test_metrics_of_a_list(metrics: str, given: str) -> None:
    text = migrate(program(metrics, given))
    update = joined(method(text, "compute_metrics"))
    assert "self.error.update_state(" in update and "self.answer.update_state(y_pred" in update
    assert "args" not in text and "values" not in update


@pytest.mark.parametrize(
    "metrics",
    [
        GATHERED.replace("args[:2]", "args[1:3]"),
        GATHERED.replace("args[:2]", "args[::-1]"),
        GATHERED.replace('{"error"', '{"count": tf.metrics.mean(float(len(args))), "error"'),
        GATHERED.replace("*args", "*args, scale=1.0"),
        f"{GATHERED}\n    values.append(labels)",
        f"{GATHERED}\n    predictions = predictions + 1.0",
        GATHERED.replace("[example_loss, predictions]", "[example_loss, predictions] * 1"),
    ],
)
def test_what_may_be_other_arguments_is_left_alone(metrics: str) -> None:
    (unit,) = units(run(program(metrics), "auto"))
    assert unit.tier == "bridge", unit.reason


def test_layers_of_a_list() -> None:
    helper = "def tower(x, units):\n    return tf.layers.dense(x, units)\n"
    body = "x = features['x']\nunits = params['units']\ngiven = [x, units]\npredictions = layers.tower(*given)"
    files = {"layers.py": f"import tensorflow as tf\n\n\n{helper}"}
    after = migrate_all({"program.py": model_fn(body, before="import layers\nimport tensorflow as tf\n"), **files})
    assert "self.tower(x)" in after["program.py"]
