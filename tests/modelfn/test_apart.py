"""Names that stand for the variables of a loop and for another one below it."""

from __future__ import annotations

import pytest
from modelfn.programs import model_fn, run, units
from modelfn.symbolic import assert_same

LOOP = """
x = features["x"]
for i, units in enumerate(params["units"]):
    with tf.variable_scope("layer_%d" % i):
        W = tf.get_variable("W", [3, units])
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        x = tf.matmul(x, W) + b
"""
OUTPUT = """
with tf.variable_scope("output"):
    W = tf.get_variable("W", [3, 2])
    b = tf.get_variable("b", [2])
    predictions = tf.nn.xw_plus_b(x, W, b) + tf.nn.l2_loss(W)
"""
PARAMS = {"units": [3, 3]}


def test_variables_of_a_loop_and_one_below_it() -> None:
    text = assert_same(model_fn(LOOP + OUTPUT), **PARAMS)
    assert "for W, b in zip(" in text and "xw_plus_b(x, self.w, self.b) + tf.nn.l2_loss(self.w)" in text


@pytest.mark.parametrize(
    "below",
    [
        "W = tf.square(x)\npredictions = W + 1.0",
        "if params['more']:\n    W = tf.square(x)\npredictions = x + W",  # perhaps that of the last turn
        "W = tf.square(x)\nW = W + 1.0\npredictions = W",
        "W = tf.square(x)\nread = lambda: W\npredictions = read()",
    ],
)
def test_names_of_values_stay(below: str) -> None:
    text = assert_same(model_fn(LOOP + below), more=True, **PARAMS)
    assert "W_2" not in text


@pytest.mark.parametrize(
    "below",
    [
        OUTPUT.replace("tf.nn.l2_loss(W)", "(lambda: tf.nn.l2_loss(W))()"),
        OUTPUT + "W = predictions",
        "if params['more']:\n    W = tf.get_variable('V', [3, 3])\npredictions = tf.matmul(x, W)",
    ],
)
def test_what_may_be_either_variable_is_left(below: str) -> None:
    (unit, *_) = units(run(model_fn(LOOP + below), style="auto"))
    assert unit.tier != "native"
