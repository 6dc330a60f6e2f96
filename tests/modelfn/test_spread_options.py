"""Options in dicts that calls spread."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate, model_fn
from modelfn.symbolic import assert_same

HIDDEN = "are hidden behind * or **"


def test_a_dict_for_each_call() -> None:
    body = """
    args = {"inputs": features["x"], "units": 3, "activation": tf.nn.relu}
    net = tf.layers.dense(**args)
    args = {"inputs": net, "units": 1}
    predictions = tf.layers.dense(**args)
    """
    text = joined(assert_same(model_fn(body)))
    assert "Dense(3, activation=tf.nn.relu)" in text and "args" not in text


def test_one_dict_for_several_calls() -> None:
    body = """
    common = dict(activation=tf.nn.relu, kernel_initializer=tf.zeros_initializer(), use_bias=params["bias"])
    net = features["x"]
    for units in (4, 3):
        net = tf.layers.dense(net, units, **common)
    with tf.variable_scope("top"):
        predictions = tf.layers.dense(net, 1, name="logits", **common)
    """
    text = joined(migrate(model_fn(body)))
    assert text.count("kernel_initializer=tf.zeros_initializer()") == 2 and "common" not in text


def test_an_empty_dict() -> None:
    text = migrate(model_fn('more = {}\npredictions = tf.layers.dense(features["x"], 1, **more)'))
    assert "Dense(1)" in text and "more" not in text


def test_helpers_get_options() -> None:
    before = "\n\ndef block(x, units, activation=None):\n    return tf.layers.dense(x, units, activation=activation)\n"
    body = 'options = dict(units=3, activation=tf.nn.relu)\npredictions = block(features["x"], **options)'
    assert "Block(units=3, activation=tf.nn.relu)" in joined(migrate(model_fn(body, before=before)))


FILE = "\n\nUNITS = 3\nBLOCK = dict(units=UNITS, activation=tf.nn.relu)\nprint(BLOCK['units'])\n"
USED = "x = tf.layers.dense(features['x'], **BLOCK)\npredictions = tf.layers.dense(x, name='b', **BLOCK)"


def test_a_dict_of_the_file() -> None:
    text = migrate(model_fn(USED, before=FILE))
    assert text.count("Dense(UNITS, ") == 2 and "BLOCK = dict(" in text and "**BLOCK" not in text


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (FILE + "BLOCK['use_bias'] = False\n", USED),
        (FILE + "show(BLOCK)\n", USED),
        (FILE + "UNITS = 4\n", USED),
        (FILE.replace("UNITS = 3\n", "").replace("UNITS", "load()"), USED),
        (FILE, "UNITS = params['n']\n" + USED),
    ],
)
def test_a_dict_of_the_file_that_may_be_another_one(before: str, body: str) -> None:
    assert HIDDEN in manual_reason(model_fn(body, before=before))


def test_a_tensor_that_is_computed_for_the_call() -> None:
    body = 'args = dict(inputs=tf.nn.relu(features["x"]), units=1)\npredictions = tf.layers.dense(**args)'
    assert_same(model_fn(body))


@pytest.mark.parametrize(
    "body",
    [
        # What the dict was made of has another value by then.
        'n = 3\nargs = dict(units=n)\nn = 4\nx = tf.layers.dense(features["x"], n)\npredictions = tf.layers.dense(x, **args)',
        'n = [3]\nargs = dict(units=n[0])\nn[0] = 4\npredictions = tf.layers.dense(features["x"], **args)',
        'n = 3\nargs = dict(units=n)\npredictions = tf.add_n([tf.layers.dense(features["x"], **args) for n in (1, 2)])',
        # Something else reads or changes the dict.
        'args = dict(units=3)\nargs["use_bias"] = False\npredictions = tf.layers.dense(features["x"], **args)',
        'args = dict(units=3)\nargs.update(params["more"])\npredictions = tf.layers.dense(features["x"], **args)',
        'args = dict(units=3)\nother = args\npredictions = tf.layers.dense(features["x"], **other)',
        # Which dict it is depends on a condition.
        'if params["big"]:\n    args = dict(units=3)\nelse:\n    args = dict(units=4)\n'
        'predictions = tf.layers.dense(features["x"], **args)',
        'args = dict(units=3)\nif params["big"]:\n    args = dict(units=4)\npredictions = tf.layers.dense(features["x"], **args)',
        # Not all keys are known, or are names.
        'args = {**params["more"], "units": 3}\npredictions = tf.layers.dense(features["x"], **args)',
        'args = dict(params["more"], units=3)\npredictions = tf.layers.dense(features["x"], **args)',
        # What makes the values would run twice, or after something else.
        'args = dict(inputs=tf.random.uniform([3, 4]), units=1)\nx = tf.layers.dense(**args)\n'
        "predictions = x + tf.layers.dense(**args)",
        'args = dict(inputs=tf.layers.dense(features["x"], 4), units=1)\nx = tf.layers.dense(features["x"], 1)\n'
        "predictions = x + tf.layers.dense(**args)",
        # The turns of a loop find the dict of the turn before.
        'args = dict(units=3)\nx = features["x"]\nfor n in (4, 5):\n    x = tf.layers.dense(x, **args)\n'
        "    args = dict(units=n)\npredictions = x",
    ],
)  # fmt: skip
def test_left(body: str) -> None:
    assert HIDDEN in manual_reason(model_fn(body))
