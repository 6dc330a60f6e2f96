"""Objects whose methods return them: ``net = Net(options).build(features)``."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

NET = """
class Net:
    def __init__(self, units):
        self.units = units

    def build(self, x):
        self.hidden = tf.layers.dense(x, self.units, name="hidden")
        self.output = tf.layers.dense(self.hidden, 3, name="output")
        return self
"""
BODY = 'net = Net(params["units"]).build(features["x"])\npredictions = net.output'
BODIES = {
    "assigned": BODY,
    "by keyword": BODY.replace('features["x"]', 'x=features["x"]'),
    "of an attribute": 'net = Net(4).build(features["x"])\nhidden = net.hidden\npredictions = net.output + hidden[:, :3]',
    "under a scope": f"with tf.variable_scope('tower'):\n    {BODY.splitlines()[0]}\npredictions = net.output",
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_same_network(name: str) -> None:
    assert_same(model_fn(BODIES[name], before=NET), units=4)


def test_the_class_is_the_model() -> None:
    text = migrate(model_fn(BODY, before=NET))
    assert ".build(" not in text and "self.hidden(" in method(text, "call") and "tf.compat.v1" not in text


OTHERS = {
    "another object": "return self if x is not None else None",
    "in one way": "if self.units > 3:\n            return self\n        return Net(4)",
}


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_methods_that_do_not_return_their_object_stay(name: str) -> None:
    assert manual_reason(model_fn(BODY, before=NET.replace("return self", OTHERS[name])))


def test_what_reads_the_name_itself_stays() -> None:
    body = 'net = features["x"]\nnet = Net(4).build(net)\npredictions = net.output'
    assert manual_reason(model_fn(body, before=NET))
