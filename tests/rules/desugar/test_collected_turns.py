"""Losses that loops over the variables collect."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, manual_reason, method, migrate, model_fn

LOOP = """
predictions = tf.layers.dense(features["x"], 1)
for v in tf.trainable_variables():
    if "kernel" in v.name:
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, 0.1 * tf.nn.l2_loss(v))
"""
END = f"""
{LOSS}
loss = tf.losses.get_total_loss() + loss
train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
SUM = 'tf.reduce_sum([0.1 * tf.nn.l2_loss(v) for v in self.trainable_variables if "kernel" in v.name])'


def program(body: str = LOOP) -> str:
    return model_fn(body, end=END)


def test_the_loss_has_their_sum() -> None:
    assert SUM in method(migrate(program()), "compute_loss")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, ", "tf.losses.add_loss("),
        ("tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, ", 'tf.add_to_collection("losses", '),
    ],
)
def test_other_ways_of_adding(old: str, new: str) -> None:
    assert SUM in method(migrate(program(LOOP.replace(old, new))), "compute_loss")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if", "    print(v)\n    if"),
        ("l2_loss(v))", "l2_loss(v))\n    else:\n        print(v)"),
        ("REGULARIZATION_LOSSES", "UPDATE_OPS"),
    ],
)
def test_loops_that_do_more_stay(old: str, new: str) -> None:
    assert manual_reason(program(LOOP.replace(old, new)))
