"""A model_fn that is a method and sets attributes of its object, itself or in methods that it calls: variables of its own."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate

PROGRAM = """
import tensorflow as tf


class Network(object):
    def __init__(self, size):
        self.size = size
        self.table = None

    def embed(self, features):
        self.table = tf.get_variable("table", [self.size, 4])
        self.bias = tf.get_variable("bias", [1])
        return tf.nn.embedding_lookup(self.table, features["ids"])

    def penalty(self):
        return tf.nn.l2_loss(self.table)

    def model_fn(self, features, labels, mode):
        x = self.embed(features)
        predictions = tf.layers.dense(x, 1) + self.bias
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.reduce_mean(tf.square(labels - predictions)) + 0.1 * self.penalty()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


network = Network(10)
estimator = tf.estimator.Estimator(network.model_fn)
"""


def test_variables_that_methods_keep_on_the_object() -> None:
    text = migrate(PROGRAM)
    model = text[text.index("class NetworkModel(") :]
    assert "self.table = tf.keras.layers.Embedding(size, 4, " in method(model, "__init__")
    assert "self.table(" in method(model, "call") and "+ self.bias" in method(model, "call")
    assert "tf.nn.l2_loss(self.table.embeddings)" in method(model, "compute_loss")


def test_a_variable_that_a_method_makes_under_a_condition() -> None:
    old = '        self.bias = tf.get_variable("bias", [1])\n'
    text = migrate(PROGRAM.replace(old, f"        if self.size:\n    {old}"))
    made = '    if size:\n        self.bias = self.add_weight(name="bias", shape=[1])\n'
    assert made in method(text, "__init__", of="NetworkModel")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator = tf", "print(network.table)\nestimator = tf"),
        ('        self.bias = tf.get_variable("bias", [1])\n', ""),
        ("        self.table = None\n", "        self.table = None\n        self.bias = 3.0\n"),
        ("self.bias = tf", "self.bias = self.bias if self.size else tf"),
        ("        x = self.embed(features)\n", "        x = self.embed(features)\n        print(vars(self))\n"),
    ],
)
def test_attributes_that_others_may_see(old: str, new: str) -> None:
    assert old in PROGRAM
    manual_reason(PROGRAM.replace(old, new))
