"""Classes of hooks that a model_fn defines: they become callbacks at the level of the module, where that is the same."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import migrate, run

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    every = 5

{hook}
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[{made}])


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({{"x": [[1.0], [2.0]] * 8}}, [1, 0] * 8)).repeat().batch(4)


tf.estimator.Estimator(model_fn).train(input_fn, steps=20)
"""
HOOK = """\
class Progress(tf.train.SessionRunHook):
    def begin(self):
        self.step = 0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(loss)

    def after_run(self, run_context, run_values):
        self.step += 1
        if self.step % every == 0:
            print(run_values.results)
"""


def program(hook: str = HOOK, made: str = "Progress()") -> str:
    return PROGRAM.format(hook=textwrap.indent(hook, "    "), made=made)


def test_what_it_reads_from_around_it_is_given_to_its_constructor() -> None:
    text = migrate(program())
    assert "\n\n\nclass Progress(tf.keras.callbacks.Callback):\n    def __init__(self, loss, every):\n" in text
    assert "        self.loss = loss\n        self.every = every\n" in text
    assert "if self.step % self.every == 0:\n            print(logs[self.loss])\n" in text
    assert 'callbacks=[Progress(loss="batch_loss", every=5)]' in text


def test_a_constructor_of_its_own_gets_more_parameters() -> None:
    init = "    def __init__(self, name):\n        super(Progress, self).__init__()\n        self.name = name\n\n"
    text = migrate(program(HOOK.replace(":\n", f":\n{init}", 1), 'Progress("a")'))
    assert "    def __init__(self, name, loss, every):\n" in text and "super(Progress, self).__init__()\n" in text
    assert 'callbacks=[Progress("a", loss="batch_loss", every=5)]' in text


def test_one_that_reads_nothing_from_around_it_moves_as_it_is() -> None:
    hook = """\
class Progress(tf.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        print("a step")
"""
    text = migrate(program(hook))
    assert "\nclass Progress(tf.keras.callbacks.Callback):\n    def on_train_batch_end(" in text


@pytest.mark.parametrize(
    ("hook", "made"),
    [
        (HOOK + "every = 6\n", "Progress()"),  # a closure reads what a name is at last
        (HOOK + "print(Progress)\n", "Progress()"),
        (HOOK + "Progress.every = 2\n", "Progress()"),
        (HOOK, "Progress(*[])"),
        (HOOK.replace("self.step", "self.every"), "Progress()"),  # an attribute of this name
        ("@decorated\n" + HOOK, "Progress()"),
        (HOOK.replace("    def begin", "    last = every\n\n    def begin"), "Progress()"),
        (HOOK.replace("begin(self)", "begin(self, n=every)"), "Progress()"),
        (HOOK.replace("tf.train.SessionRunHook", "Base"), "Progress()"),
        ("if mode:\n" + textwrap.indent(HOOK, "    "), "Progress()"),
    ],
)
def test_others_stay_where_they_are(hook: str, made: str) -> None:
    text = run(program(hook, made))["program.py"].after.decode()
    assert "\nclass Progress" not in text
