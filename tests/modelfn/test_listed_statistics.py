"""Layers in lists whose moving statistics Keras 3 would leave out of checkpoints."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn

LOOP = """
net = features["x"]
for units in params["sizes"]:
    net = tf.layers.dense(net, units)
    {}
predictions = tf.layers.dense(net, 1)
"""
NORM = "net = tf.layers.batch_normalization(net, training=mode == tf.estimator.ModeKeys.TRAIN)"
HELPER = (
    f"\n\ndef block(net, mode, units):\n    net = tf.layers.dense(net, units)\n    {NORM}\n    return tf.nn.relu(net)\n"
)
KEPT = "self.listed_layers = tf.train.Checkpoint({0}=list(self.{0}))\n"


def test_lists_of_them_are_kept_by_an_attribute() -> None:
    init = method(migrate(model_fn(LOOP.format(NORM))), "__init__")
    assert KEPT.format("batch_normalization_layers") in init


def test_lists_of_layers_that_have_them() -> None:
    text = migrate(model_fn(LOOP.format("net = block(net, mode, units)"), before=HELPER))
    assert KEPT.format("blocks") in text


def test_lists_of_layers_that_do_not_train() -> None:
    text = migrate(
        model_fn(LOOP.format("net = tf.layers.dense(net, units, trainable=False, name='frozen_%d' % units)"))
    )
    assert "self.listed_layers = tf.train.Checkpoint(frozen" in text


def test_lists_in_lists() -> None:
    body = "net = features['x']\nfor i in range(2):\n    for j in range(3):\n        " + NORM + "\npredictions = net"
    init = method(migrate(model_fn(body)), "__init__")
    assert "batch_normalization_layers=tf.nest.flatten(self.batch_normalization_layers)" in init


@pytest.mark.parametrize(
    "body", [LOOP.format("net = tf.nn.relu(net)"), f"net = features['x']\n{NORM}\npredictions = net"]
)
def test_others_are_in_checkpoints(body: str) -> None:
    assert "listed_layers" not in migrate(model_fn(body))
