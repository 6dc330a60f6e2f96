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


@pytest.mark.parametrize("option", ["params['deep']", "params['deep'] and params['wide']"])
def test_a_list_that_an_option_asks_for_may_be_absent(option: str) -> None:
    lines = LOOP.format(NORM).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("for "))
    end = next(n for n, line in enumerate(lines[start + 1 :], start + 1) if not line.startswith((" ", "\t")))
    inner = [f"    {line}" for line in lines[start:end]]
    body = "\n".join([*lines[:start], f"if {option}:", *inner, *lines[end:]]) + "\n"
    text = migrate(model_fn(body))
    kept = 'batch_normalization_layers=list(getattr(self, "batch_normalization_layers", ()))'
    assert kept in text


def test_a_list_of_a_loop_that_all_modes_run_is_there() -> None:
    assert "getattr(" not in migrate(model_fn(LOOP.format(NORM)))
