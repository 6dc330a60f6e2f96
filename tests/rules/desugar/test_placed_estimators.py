"""Estimators for several devices that functions make, or are given: they are made where they are trained."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def read():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat().batch(4)


def make_config(folder, every):
    return tf.estimator.RunConfig(folder, save_checkpoints_steps=every, train_distribute=%s)


def build(folder, rate):
    config = make_config(folder, 10)
    return tf.estimator.Estimator(model_fn, config=config, params={"rate": rate})


def work(estimator, steps):
    estimator.train(read, steps=steps)


def main():
    estimator = build("model", 0.1)
    work(estimator, 20)


main()
"""
MIRRORED = "tf.distribute.MirroredStrategy()"


def after(source: str) -> str:
    return run({"program.py": source})["program.py"].after.decode()


def test_functions_around_a_strategy() -> None:
    text = after(PROGRAM % MIRRORED)
    assert (
        "    strategy = tf.distribute.MirroredStrategy()\n    with strategy.scope():\n        model = create_model("
        in text
    )
    assert "def build" not in text and "def work" not in text and "    model.fit(\n" in text


def test_functions_stay_on_one_device() -> None:
    text = after(PROGRAM % "None")
    assert "def build(folder, rate):" in text and "def work(estimator, steps):" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    work(estimator, 20)\n", "    work(estimator, 20)\n    work(estimator, 40)\n"),
        ("    work(estimator, 20)\n", "    work(estimator, 20)\n    print(work)\n"),
        ("    estimator.train(", "    if steps:\n        return None\n    estimator.train("),
        ('estimator = build("model", 0.1)', 'estimator = globals()["build"]("model", 0.1)'),
    ],
)
def test_functions_stay_beside_helpers(old: str, new: str) -> None:
    files = run({"program.py": (PROGRAM % MIRRORED).replace(old, new)})
    text = files["program.py"].after.decode()
    assert "def build(folder, rate):" in text and "def work(estimator, steps):" in text
    assert HELPERS in files or "tf2_cluster.py" in files or text == (PROGRAM % MIRRORED).replace(old, new)
