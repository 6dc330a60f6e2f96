"""Weights that a train op gives other values after its step, as a critic's are clipped."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, manual_reason, method, migrate, model_fn

STEP = "step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
CLIPPED = "tf.clip_by_value(v, -params['c'], params['c'])"


def program(train: str) -> str:
    """A program whose train op `train` makes."""
    end = f"{LOSS}\nweights = tf.trainable_variables()\n{STEP}\n{textwrap.dedent(train).strip()}\n{SPEC}"
    return model_fn('predictions = tf.layers.dense(features["x"], 3)', end=end)


@pytest.mark.parametrize(
    "train",
    [
        f"with tf.control_dependencies([step]):\n    train_op = tf.group(*[v.assign({CLIPPED}) for v in weights])",
        f"with tf.control_dependencies([step]):\n    train_op = tf.group([tf.assign(v, {CLIPPED}) for v in weights])",
        f"with tf.control_dependencies([step]):\n    clip = [tf.assign(v, {CLIPPED}) for v in weights]\n"
        "    train_op = tf.group(*clip)",
        f"with tf.control_dependencies([step]):\n    clip = [tf.assign(v, {CLIPPED}) for v in weights]\n"
        "train_op = tf.group(step, *clip)",
    ],
)
def test_weights_are_changed_after_the_step(train: str) -> None:
    step = method(migrate(program(train)), "train_step")
    assert "for v in weights:\n        v.assign(tf.clip_by_value(v, -self.params['c'], self.params['c']))" in step
    assert step.index("apply_gradients") < step.index("v.assign")


@pytest.mark.parametrize(
    "train",
    [
        f"clip = [v.assign({CLIPPED}) for v in weights]\ntrain_op = tf.group(step, *clip)",
        "with tf.control_dependencies([step]):\n    train_op = tf.group(*[v.assign(v * loss) for v in weights])",
        f"with tf.control_dependencies([step]):\n    train_op = tf.group(*[v.assign_add({CLIPPED}) for v in weights])",
        f"with tf.control_dependencies([step]):\n    train_op = tf.group(*[v.assign({CLIPPED}) for v in weights if v])",
        f"with tf.control_dependencies([step]):\n    train_op = tf.group(*[v.assign({CLIPPED}) for v in tf.global_variables()])",
        "with tf.control_dependencies([step]):\n    train_op = tf.group(*[weights[0].assign(v) for v in weights])",
    ],
)
def test_other_changes_are_left(train: str) -> None:
    manual_reason(program(train))


def test_steps_after_a_change_are_left() -> None:
    train = f"""
    with tf.control_dependencies([step]):
        clip = [v.assign({CLIPPED}) for v in weights]
    with tf.control_dependencies(clip):
        train_op = tf.train.AdamOptimizer().minimize(loss, var_list=weights)
    """
    manual_reason(program(train))
