"""Summaries of helpers that are called in several scopes at once."""

from __future__ import annotations

import pytest
from programs import joined, manual_reason, method, migrate, model_fn

HELPER = """

def cross(x, size):
    x = tf.layers.dense(x, size)
    tf.summary.histogram("x", x)
    return x


def stack(x, sizes):
    with tf.variable_scope("outer"):
        for i, size in enumerate(sizes):
            with tf.variable_scope("layer_%d" % i):
                x = cross(x, size)
    return x
"""


def test_the_helper_is_told_the_scopes() -> None:
    text = migrate(model_fn("predictions = stack(features['x'], [3, 1])", before=HELPER))
    assert 'tf.summary.histogram(self.scope + "/x", x)' in joined(method(text, "call", "Cross"))
    made = joined(method(text, "__init__", "Stack"))
    assert 'scope="outer/" + "layer_%d" % i' in made and "name=self" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tf.variable_scope("outer")', "tf.variable_scope(params_name)"),
        ('tf.variable_scope("layer_%d" % i)', 'tf.variable_scope("layer")'),
        ("def cross(x, size):\n", "def cross(x, size):\n    scope = size\n"),
        ("    return x\n\n\ndef stack", "    return x * scope\n\n\ndef stack"),
    ],
)
def test_scopes_that_tell_no_turn_apart(old: str, new: str) -> None:
    assert old in HELPER
    assert manual_reason(model_fn("predictions = stack(features['x'], [3, 1])", before=HELPER.replace(old, new, 1)))
