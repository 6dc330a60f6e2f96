"""Configurations that an object keeps for an Estimator that another method makes."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, run, units

CLASS = """import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(labels - predictions))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def inputs():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[2.0]])).batch(1)


class Trainer:
    def __init__(self, folder, every=10):
        self.config = tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=every, tf_random_seed=3)
        self.estimator = None

    def build(self):
        self.estimator = tf.estimator.Estimator(model_fn, config=self.config, params={})

    def fit(self):
        self.estimator.train(inputs, steps=20)
        print(self.config.model_dir)


trainer = Trainer("out")
trainer.build()
trainer.fit()
"""
WRITTEN = "        self.model_dir = folder\n        self.save_checkpoints_steps = every\n"


def test_the_object_keeps_the_fields() -> None:
    text = migrate(CLASS)
    assert WRITTEN in text and "config" not in text and "print(self.model_dir)" in text
    assert "% self.save_checkpoints_steps == 0" in text and "set_random_seed(3)" in text


def test_what_it_has_already_is_not_kept_twice() -> None:
    text = migrate(CLASS.replace("        self.config =", "        self.folder = folder\n        self.config ="))
    assert "self.model_dir" not in text and "print(self.folder)" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trainer.fit()", "trainer.fit()\nkeep(trainer.config)"),
        ("        self.estimator = None", "        self.config = load(self.config)\n        self.estimator = None"),
        ("        self.estimator = None", "        self.model_dir = 3\n        self.estimator = None"),
        ("print(self.config.model_dir)", "print(self.config)"),
        ("print(self.config.model_dir)", "print(self.config.is_chief)"),
        ("trainer = Trainer", "class Other(Trainer):\n    pass\n\n\ntrainer = Other"),
    ],
)
def test_what_is_used_otherwise_stays(old: str, new: str) -> None:
    assert old in CLASS
    outcomes = run(CLASS.replace(old, new, 1))
    assert WRITTEN not in outcomes["program.py"].after.decode() and units(outcomes)
    assert not [d for o in outcomes.values() for d in o.remaining if d.code.startswith("E0")]
