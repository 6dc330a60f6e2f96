"""Shapes that a model_fn sets on a tensor."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn


def test_a_shape_of_the_forward_pass() -> None:
    body = """
    net = tf.reshape(features["x"], tf.shape(features["y"]))
    net.set_shape([None, 3])
    predictions = tf.layers.dense(net, 1)
    """
    assert "net = tf.ensure_shape(net, [None, 3])\n" in method(migrate(model_fn(body)), "call")


def test_a_shape_in_a_helper() -> None:
    before = """
    import tensorflow as tf


    def network(x):
        x.set_shape([None, 3])
        return tf.layers.dense(x, 1)
    """
    text = migrate(model_fn('predictions = network(features["x"])', before=before))
    assert "x = tf.ensure_shape(x, [None, 3])\n" in method(text, "call", "Network")


@pytest.mark.parametrize("statement", ['features["x"].set_shape([None, 3])', "net.set_shape([3], None)"])
def test_other_ways_to_set_a_shape_are_left(statement: str) -> None:
    body = f'net = tf.abs(features["x"])\n{statement}\npredictions = tf.layers.dense(net, 1)'
    assert "only has an effect" in manual_reason(model_fn(body))
