"""Tensors that hooks look up in the graph of their session, and ops that are made for their names."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, run, units

PROGRAM = f'''\
import tensorflow as tf


class Norms(tf.train.SessionRunHook):
    """Shows how large features are."""

    def after_create_session(self, session, coord):
        self.norm = session.graph.get_tensor_by_name("norm_of_features:0")

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.norm)

    def after_run(self, run_context, run_values):
        print(run_values.results)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 3)
    tf.reduce_mean(tf.norm(net, axis=1), name="norm_of_features")
    predictions = tf.layers.dense(net, 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def read():
    return tf.data.Dataset.from_tensor_slices(({{"x": [[1.0]]}}, [[2.0]])).batch(1)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(read, steps=20, hooks=[Norms()])
'''
BEGIN = (
    "    def begin(self):\n        self.count = 0\n\n    def before_run(self, run_context):\n        self.count += 1\n"
)


def test_what_a_hook_looks_up_is_among_the_logs() -> None:
    text = migrate(PROGRAM)
    assert 'print(logs["norm_of_features"])' in text and "get_tensor_by_name" not in text
    assert 'self.step_logs["norm_of_features"] = tf.reduce_mean(tf.norm(net, axis=1))' in text


def test_what_begins_the_training_stays() -> None:
    text = migrate(PROGRAM.replace("    def before_run(self, run_context):\n", BEGIN))
    assert "def on_train_begin(self, logs=None):\n        self.count = 0\n" in text


def test_a_name_that_nobody_asks_for_goes_with_its_op() -> None:
    text = migrate(PROGRAM.replace(", hooks=[Norms()]", ""))
    assert "tf.norm" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("session.graph.get", "session.graph.finalize()\n        self.norm = session.graph.get"),
        ("self.norm = session.graph", "self.session = session\n        self.norm = session.graph"),
        ('"norm_of_features:0")\n', '"norm_of_features:0")\n        print(session)\n'),
        ('get_tensor_by_name("norm_of_features:0")', 'get_operation_by_name("norm_of_features")'),
        ("tf.reduce_mean(tf.norm", "tf.Print(tf.norm(net), [tf.norm"),
    ],
)
def test_others_are_left_as_they_are(old: str, new: str) -> None:
    source = PROGRAM.replace(old, new).replace("[tf.norm(net, axis=1), name", "[tf.norm(net, axis=1)], name")
    assert all(unit.tier == "manual" for unit in units(run(source)))
