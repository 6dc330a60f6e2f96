"""Objects of the program that a model_fn gets among its params: their methods are found by what its Estimators give."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate

NET = """\
import tensorflow as tf


class Net:
    def __init__(self, units=4):
        self.units = units

    def encoded(self, x):
        with tf.variable_scope("encoder", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(x, self.units, name="dense")


def model_fn(features, labels, mode, params):
    {first}
    both = {net}.encoded(features["x"]) + {net}.encoded(features["z"])
    logits = tf.layers.dense(both, 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)


def main():
    {main}


main()
"""
MADE = 'estimator = tf.estimator.Estimator(model_fn, params={"net": Net(8), "rate": 0.1})'
NAMED = (
    'net = Net(8)\n    params = {"net": net, "rate": 0.1}\n    print(params["rate"])\n'
    '    estimator = tf.estimator.Estimator(model_fn, "folder", None, params)'
)
CALLED = "estimator = tf.estimator.Estimator(model_fn, params=dict(net=Net(), rate=0.1))"
TWO = f"{MADE}\n    {CALLED.replace('estimator =', 'other =')}"

OTHERS = """\
class Other:
    def encoded(self, x):
        return x


def make():
    made = Net(8)
    return made


def change(params):
    params["net"] = make()


more = {"net": Net(8)}


"""


def program(main: str = MADE, first: str = 'net = params["net"]', net: str = "net") -> str:
    return NET.format(main=main, first=first, net=net)


@pytest.mark.parametrize("main", [MADE, NAMED, CALLED, TWO])
@pytest.mark.parametrize(("first", "net"), [('net = params["net"]', "net"), ("pass", 'params["net"]')])
def test_a_method_becomes_a_layer(main: str, first: str, net: str) -> None:
    text = migrate(program(main, first, net))
    assert f"self.encoded = Encoded(units={net}.units)" in text
    assert 'self.encoded(features["x"]) + self.encoded(features["z"])' in joined(text)
    assert "def encoded" not in text and "class Net" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # another object takes its place
        ("both =", "change(params)\n    both ="),
        (MADE, f'{NAMED}\n    params["net"] = None'),
        # nobody says which
        ('"net": Net(8)', '"net": make()'),
        (MADE, MADE.replace("params={", "params={**more, ").replace('"net": Net(8), ', "")),
        # a class, not an object
        ("Net(8)", "Net"),
        # one of several classes
        (
            MADE,
            f"{MADE}\n    other = tf.estimator.Estimator(model_fn, params=dict(net=Other(), rate=0.1))",
        ),
        # another method may run
        (
            "def model_fn",
            "class Wide(Net):\n    def encoded(self, x):\n        return x\n\n\ndef model_fn",
        ),
    ],
)
def test_an_object_that_is_not_seen(old: str, new: str) -> None:
    assert manual_reason(program().replace(old, new).replace("def main", f"{OTHERS}def main"))
