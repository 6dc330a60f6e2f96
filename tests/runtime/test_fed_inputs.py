"""FeedFnHook: what is fed to the placeholders of an input_fn becomes a dataset."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, bridged_program, new_program, old_program
from modelfn.programs import migrate, run, units

PROGRAM = """\
import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(5)
X, Y = RANDOM.rand(64, 2).astype("float32"), RANDOM.rand(64, 1).astype("float32")


class Feeder:
    def __init__(self, size, epochs=None):
        self.size, self.epochs, self.at = size, epochs, 0

    def input_fn(self, params):
        self.places = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
        return {"x": self.places[0] * params["scale"]}, self.places[1]

    def feed(self):
        if self.epochs is not None and self.at >= self.epochs * len(X):
            raise StopIteration
        rows = np.arange(self.at, self.at + self.size) % len(X)
        self.at += self.size
        return {self.places[0]: X[rows], self.places[1]: Y[rows]}


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    y = tf.matmul(features["x"], w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=y)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, "FOLDER", params={"scale": 2.0})
feeder, once = Feeder(8), Feeder(16, 1)
stop = tf.train.StopAtStepHook(last_step=9)
estimator.train(feeder.input_fn, hooks=[tf.train.FeedFnHook(feeder.feed), stop])
estimator.train(feeder.input_fn, steps=4, hooks=[tf.train.FeedFnHook(feed_fn=feeder.feed)])
hook = tf.train.FeedFnHook(once.feed)
result = estimator.evaluate(input_fn=once.input_fn, hooks=[hook])
"""


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
@pytest.mark.parametrize("make", [functools.partial(new_program, exact=True), bridged_program])
def test_same_steps_and_evaluation(tmp_path: Path, make: object) -> None:
    old = old_program(PROGRAM.replace("FOLDER", str(tmp_path / "old")), tmp_path)
    assert callable(make)
    new = make(PROGRAM.replace("FOLDER", str(tmp_path / "new")), tmp_path)
    assert (new.feeder.at, new.once.at) == (old.feeder.at, old.once.at) == (104, 64)
    np.testing.assert_allclose(new.result["loss"], old.result["loss"], rtol=1e-6)
    assert_equal_weights(old.estimator, {"w": new.estimator.trainable_variables[0]})


@pytest.mark.parametrize(
    ("hooks", "becomes"),
    [
        ("[tf.train.FeedFnHook(feeder.feed)]", "train(estimator, fed_input(feeder.input_fn, feeder.feed))"),
        (
            "[tf.train.StopAtStepHook(3), tf.train.FeedFnHook(feeder.feed)]",
            "train(estimator, fed_input(feeder.input_fn, feeder.feed), callbacks=[StopAtStep(3)])",
        ),
        (
            "[stop, tf.train.FeedFnHook(feeder.feed), stop]",
            "train(estimator, fed_input(feeder.input_fn, feeder.feed), callbacks=[stop, stop])",
        ),
    ],
)
def test_the_hook_goes(hooks: str, becomes: str) -> None:
    text = PROGRAM[: PROGRAM.index("estimator.train(")] + f"estimator.train(feeder.input_fn, hooks={hooks})\n"
    assert migrate(text).endswith(f"\n{becomes}\n")


@pytest.mark.parametrize(
    "use",
    [
        "hooks = [tf.train.FeedFnHook(feeder.feed)]\nestimator.train(feeder.input_fn, hooks=hooks)",
        "hook = tf.train.FeedFnHook(feeder.feed)\nprint(hook)\nestimator.train(feeder.input_fn, hooks=[hook])",
        "estimator.train(lambda: feeder.input_fn({}), hooks=[tf.train.FeedFnHook(feeder.feed)])",
        "estimator.train(feeder.input_fn, hooks=[tf.train.FeedFnHook(lambda: feeder.feed())])",
        "estimator.train(feeder.input_fn, hooks=[tf.train.FeedFnHook(*FEEDS)])",
    ],
)
def test_other_forms_are_refused(use: str) -> None:
    (unit,) = units(run(PROGRAM[: PROGRAM.index("estimator.train(")] + f"{use}\n", "auto"))
    assert unit.tier == "manual" and "FeedFnHook feeds placeholders" in unit.reason
