"""Attributes that a method sets: variables of it, where it sets them before it reads them."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate

PROGRAM = """
import numpy as np
import tensorflow as tf


class Net(object):
{above}    def __init__(self, loss_type, rate):
        self.loss_type = loss_type
        self.rate = rate
{begun}
    def model_fn(self, features, labels, mode):
        self.weights = self._initialize_weights()
        net = tf.matmul(features["x"], self.weights["w_0"])
        for i in range(1, 3):
            net = tf.matmul(tf.nn.relu(net), self.weights["w_%d" % i])
        self.out = tf.matmul(net, self.weights["out"])
{body}
        for i in range(3):
            self.loss += 0.1 * tf.nn.l2_loss(self.weights["w_%d" % i])
        train_op = tf.train.AdamOptimizer(self.rate).minimize(self.loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=self.out, loss=self.loss, train_op=train_op)

    def _initialize_weights(self):
        weights = dict()
        weights["w_0"] = tf.Variable(np.random.normal(size=(4, 8)), dtype=np.float32)
        for i in range(1, 3):
            weights["w_%d" % i] = tf.Variable(np.random.normal(size=(8, 8)), dtype=np.float32)
        weights["out"] = tf.get_variable("out", [8, 1])
        return weights


net = Net("log", 0.1)
estimator = tf.estimator.Estimator(net.model_fn)
"""

CHAIN = """
        if self.loss_type == "log":
            self.loss = tf.reduce_mean(tf.log(1 + tf.exp(-labels * self.out)))
        elif self.loss_type == "mse":
            self.loss = tf.reduce_mean(tf.square(labels - self.out))
"""
BY_MODE = """
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=self.out)
        if mode == tf.estimator.ModeKeys.TRAIN:
            self.loss = tf.reduce_mean(tf.square(labels - self.out))
"""
READ_FIRST = """
        self.out = self.out + self.shift
        self.shift = 1.0
        self.loss = tf.reduce_mean(tf.square(labels - self.out))
"""


def program(body: str, above: str = "", begun: str = "") -> str:
    return PROGRAM.format(body=body, above=above, begun=begun)


def test_weights_in_a_dict_are_held_by_the_model() -> None:
    text = joined(migrate(program(CHAIN)))
    assert 'self.weights_ = {"w_0": weight_from_value(self, np.random.normal(size=(4, 8))' in text
    assert 'loss += 0.1 * tf.nn.l2_loss(self.weights_["w_%d" % i])' in text


def test_an_attribute_is_set_by_one_of_several_arms_that_never_change() -> None:
    text = migrate(program(CHAIN))
    assert 'if self.loss_type == "log":\n            loss = ' in text
    assert 'elif self.loss_type == "mse":\n            loss = ' in text


@pytest.mark.parametrize(
    ("body", "above", "begun"),
    [
        (BY_MODE, "", ""),
        (READ_FIRST, "", ""),
        (CHAIN, "    loss = 0.0\n", ""),
        (CHAIN, "", "        self.loss = None\n"),
    ],
    ids=["by mode", "read first", "begun by the class", "begun by __init__"],
)
def test_an_attribute_that_may_hold_something_of_before_stays(body: str, above: str, begun: str) -> None:
    assert "may be read before it is set" in manual_reason(program(body, above, begun))


def test_a_dict_that_another_name_stands_for_is_kept_by_the_model() -> None:
    text = migrate(
        program(CHAIN)
        .replace("self.weights = self._initialize_weights()", "made = self._initialize_weights()\n        held = made")
        .replace("self.weights[", "held[")
    )
    assert "held = self." in text
    assert 'l2_loss(held["w_%d" % i])' in text
