"""Copies of a configuration, assertions in control dependencies, and helpers that give the loss."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, SPEC, TRAIN_OP, method, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

PARAMS = {"rate": 0.5, "u": 3}
BEFORE = """

import copy
import tensorflow as tf


class Config(object):
    rate = 0.5
    units = 3


CONFIG = Config()
"""
COPY = """
config = copy.deepcopy(CONFIG)
if mode != tf.estimator.ModeKeys.TRAIN:
    config.rate = 1.0
net = tf.layers.dense(features["x"], config.units)
predictions = net * config.rate
"""


def test_a_field_of_a_copy() -> None:
    text = assert_same(model_fn(COPY, before=BEFORE))
    call = method(text, "call")
    assert "rate = CONFIG.rate\n    if not training:\n        rate = 1.0" in call and "deepcopy" not in text
    assert "tf.keras.layers.Dense(CONFIG.units)" in text


def test_a_field_that_is_set_first_needs_no_value() -> None:
    body = (
        "config = copy.copy(CONFIG)\nconfig.scale = 2.0\npredictions = config.scale * tf.layers.dense(features['x'], 1)"
    )
    text = assert_same(model_fn(body, before=BEFORE))
    assert "scale = 2.0" in text and "CONFIG.scale" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("config = copy", "z = 1; config = copy"),
        ("net = ", "show(config)\nnet = "),
        ("config.rate = 1.0", "config.rates.clear()\n    config.rate = 1.0"),
        ("config.rate = 1.0", "config.rates[0] = 1.0"),
        ("predictions = net * config.rate", "predictions = (lambda x: x * config.rate)(net)"),
    ],
)
def test_copies_that_stay(old: str, new: str) -> None:
    outcomes = run(model_fn(COPY.replace(old, new), before=BEFORE))
    assert "copy.deepcopy(CONFIG)" in outcomes["program.py"].after.decode()


NET = 'net = tf.layers.dense(features["x"], 3)'
ASSERTED = f"""
{NET}
check = tf.assert_less_equal(net, 2.0)
with tf.control_dependencies([check]):
    predictions = net * 2.0
"""


def test_assertions_run_where_they_stand() -> None:
    call = method(migrate(model_fn(ASSERTED)), "call")
    assert "    tf.debugging.assert_less_equal(net, 2.0)\n    return net * 2.0" in call


def test_messages_and_assertions_of_several_lines() -> None:
    body = ASSERTED.replace("(net, 2.0)", "(\n    net,\n    2.0, message='large')\nshown = tf.print('net', net)")
    call = method(migrate(model_fn(body.replace("[check]", "[check, shown, tf.Assert(True, [net])]"))), "call")
    assert "    tf.debugging.assert_less_equal(net, 2.0, message='large')\n    tf.print('net', net)\n" in call
    assert "Assert(True, [net])\n    return net * 2.0" in call


def test_what_nothing_waits_for_is_told() -> None:
    body = f"{NET}\ntf.assert_equal(tf.shape(net)[1], 3)\npredictions = net"
    outcome = run(model_fn(body))[PATH]
    assert "    tf.assert_equal(tf.shape(net)[1], 3)\n" in method(outcome.after.decode(), "call")
    assert any("nothing waited for this" in each.message for each in outcome.remaining)


@pytest.mark.parametrize(
    ("old", "new"),
    [("[check]", "[check, save(net)]"), ("[check]", "checks()"), ("tf.assert_less_equal(net, 2.0)", "tf.no_op()")],
)
def test_other_dependencies(old: str, new: str) -> None:
    (unit,) = units(run(model_fn(ASSERTED.replace(old, new))))
    assert unit.tier == "manual"


HELPER = """

def create(x, labels):
    \"\"\"Logits and loss.\"\"\"
    with tf.variable_scope("tower"):
        predictions = tf.layers.dense(x, 1, name="out")
        loss = tf.reduce_mean(tf.square(labels - predictions))
    return predictions, loss
"""
END = f"{TRAIN_OP}\n{SPEC}"


def test_the_loss_of_a_helper_is_no_part_of_the_forward_pass() -> None:
    body = 'predictions, loss = create(features["x"], labels)'
    text = assert_same(model_fn(body, end=END, before=HELPER))
    assert "self.out = tf.keras.layers.Dense" in text and "class Create" not in text
    assert "tf.square(y - y_pred)" in method(text, "compute_loss") and "labels" not in method(text, "call")


def test_a_helper_that_is_called_twice_stays() -> None:
    body = 'net, _ = create(features["x"], features["z"])\npredictions, loss = create(net, features["w"])'
    assert "class Create(" in migrate(model_fn(body, end=END, before=HELPER.replace('"out"', "None")))
