"""Configurations that functions are given, change, and give on to the one that makes the Estimator."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, run, units

PROGRAM = """import tensorflow as tf

FOLDER = "out"


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(labels - predictions))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def inputs():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[2.0]])).batch(1)


def build(config, params):
    return tf.estimator.Estimator(model_fn, config=config, params=params)


def experiment(config, params):
    # Fields of the config may change here
    config = config.replace(keep_checkpoint_max=2)
    estimator = build(config, params)
    estimator.train(inputs, steps=20)


def main(folder, every):
    # Where the config says the model goes
    config = tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=every)
    experiment(config, {})


main("out", 10)
"""


def test_fields_come_through_two_functions() -> None:
    text = migrate(PROGRAM)
    assert "RunConfig" not in text and "tf2_" not in text and "max_to_keep=2" in text
    assert "def experiment(model_dir, save_checkpoints_steps, params):" in text and "Fields of the config" not in text


def test_a_parameter_that_nothing_reads_any_more_goes_with_its_comment() -> None:
    text = migrate(PROGRAM.replace("model_dir=folder, save_checkpoints_steps=every", "model_dir=FOLDER"))
    assert "def experiment(params):" in text and "experiment({})" in text and "Where the config" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keep_checkpoint_max=2", "keep_checkpoint_max=keep()"),
        ("keep_checkpoint_max=2", "**FIELDS"),
        ('main("out", 10)', 'main("out", 10)\nexperiment(tf.estimator.RunConfig("other"), {})'),
        ("    experiment(config, {})", "    experiment(config, {})\n    print(config.keep_checkpoint_max)"),
        ("    estimator.train(", "    print(config)\n    estimator.train("),
    ],
)
def test_what_else_reads_or_changes_it_keeps_it(old: str, new: str) -> None:
    unit = units(run(PROGRAM.replace(old, new)))[0]
    assert unit.tier == "native" and unit.helpers
