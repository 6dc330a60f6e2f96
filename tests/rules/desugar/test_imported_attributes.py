"""Attributes that hold what a file imports of `tf.contrib`."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, run

NET = """\
from tensorflow.contrib.layers.python.layers import initializers
import tensorflow as tf


class Net(object):
    def __init__(self, units):
        self.units = units
        self.initializers = initializers

    def build(self, x):
        return tf.layers.dense(x, self.units, kernel_initializer=self.initializers.xavier_initializer())
"""
USE = """\


def model_fn(features, labels, mode):
    logits = Net(2).build(features["x"])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
"""
HEAD = "import tensorflow as tf\nfrom net import Net\n"


def test_in_the_file_of_the_estimator() -> None:
    text = migrate(NET + USE)
    assert "contrib" not in text and "self.initializers" not in text and "GlorotUniform()" in text


def test_in_another_file() -> None:
    outcomes = run({"net.py": NET, "task.py": HEAD + USE})
    texts = "".join(outcome.after.decode() for outcome in outcomes.values())
    assert "initializers" not in texts.replace("keras.initializers", "") and "GlorotUniform()" in texts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.units = units", "self.units = units\n        self.initializers = None"),
        ("def build(self, x):", "def build(self, x, initializers=None):"),
        ("    def build", "    def other(self, net):\n        return net.initializers\n\n    def build"),
        ("    def build", "    def other(self):\n        return getattr(self, 'initializers')\n\n    def build"),
    ],
)
def test_what_may_be_something_else_stays(old: str, new: str) -> None:
    outcomes = run({"program.py": NET.replace(old, new) + USE})
    assert "self.initializers = initializers" in outcomes["program.py"].after.decode()


def test_what_is_not_of_contrib_stays() -> None:
    source = NET.replace("tensorflow.contrib.layers.python.layers", "tensorflow.keras").replace(
        "xavier_", "glorot_normal_"
    )
    source = source.replace("glorot_normal_initializer", "GlorotNormal")
    text = run({"program.py": source + "\n\nprint(Net(3))\n"})["program.py"].after.decode()
    assert "self.initializers = initializers" in text
