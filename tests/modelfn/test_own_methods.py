"""Methods that an object calls of its own, where what calls them becomes a function."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

NET = """
import tensorflow as tf

PARAMS = {"units": 3}


class Net(object):
    def __init__(self, units, is_training):
        self._units = units
        self._is_training = is_training

    def _conv(self, x, scale):
        x = tf.layers.dense(x, self._units)
        return self._relu(x) * scale

    def _relu(self, x):
        return tf.nn.relu(self._twice(x))

    def _twice(self, x):
        return x * 2.0

    def forward(self, x):
        for scale in [1.0, 2.0]:
            x = self._conv(x, scale)
            x = self._conv(x, scale)
        x = tf.layers.dropout(x, 0.3, training=self._is_training)
        return tf.layers.dense(x, 1)
"""
USE = """
net = Net(params["units"], mode == tf.estimator.ModeKeys.TRAIN)
predictions = net.forward(features["x"])
"""


def test_methods_that_make_no_layers_become_functions() -> None:
    text = assert_same(model_fn(USE, before=NET), units=3)
    assert "def _relu(x):\n    return tf.nn.relu(_twice(x))\n" in text
    assert "return _relu(x)" in method(text, "call", "Conv") and "class Net(object)" not in text


def test_a_static_method() -> None:
    net = NET.replace("    def _twice(self, x):", "    @staticmethod\n    def _twice(x):")
    assert_same(model_fn(USE, before=net), units=3)


def test_a_method_that_reads_an_attribute_is_handed_it() -> None:
    net = NET.replace("return x * 2.0", "return x * self._units")
    text = assert_same(model_fn(USE, before=net), units=3)
    assert "def _twice(x, units):" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x * 2.0", "return self._conv(x, 2.0)"),  # each calls the other
        ("return tf.nn.relu(self._twice(x))", "return tf.map_fn(self._twice, x)"),
    ],
)
def test_other_methods_stay(old: str, new: str) -> None:
    assert old in NET
    assert manual_reason(model_fn(USE, before=NET.replace(old, new)))


def test_a_method_that_another_function_calls_as_well() -> None:
    before = NET + "\n\ndef other(x):\n    return Net(3, False)._relu(x)\n"
    assert "_relu" in migrate(model_fn(USE, before=before))
