"""``x += …`` of a parameter: a tensor gets another value, a list of the caller's would be changed."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

HELPERS = """
def residual(x):
    return 2.0 * tf.layers.dense(x, 3)


def block(x, more):
    y = tf.nn.relu(tf.layers.dense(x, 3, name="y"))
    x += {}
    return tf.layers.dense(x, 3)
"""


def block(value: str) -> str:
    return model_fn("predictions = block(features['x'], features['w'])", before=HELPERS.format(value))


@pytest.mark.parametrize(
    "value",
    ["tf.layers.dense(x, 3)", "y", "0.5 * y", "residual(x)", "more + tf.nn.relu(more)", "y if heads else tf.abs(y)"],
)
def test_tensors(value: str) -> None:
    assert "    x += " in method(migrate(block(value.replace("heads", "True"))), "call", "Block")


@pytest.mark.parametrize("value", ["more", "[y]", "tf.unstack(y)", "tf.split(y, 3)", "(y,)", "tower(y)"])
def test_what_may_be_a_list_is_left(value: str) -> None:
    source = block(value).replace("def block", "def tower(x):\n    return [tf.nn.relu(x)]\n\n\ndef block")
    assert "`x`, which comes from outside, is changed" in manual_reason(source)
