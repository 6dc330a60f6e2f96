"""Keras models that are put on tensors by `Input(tensor=…)`."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

INPUT = 'inputs = tf.keras.layers.Input(tensor=features["x"], name="inputs")'
BUILD = """
import tensorflow as tf


def build(inputs):
    outputs = tf.keras.layers.Dense(3)(inputs)
    net = tf.keras.models.Model([inputs], outputs)
    net.summary()
    return net
"""


def test_layers_are_applied_to_the_tensors() -> None:
    body = f"{INPUT}\nhidden = tf.keras.layers.Dense(3)(inputs)\nnet = tf.keras.Model(inputs=inputs, outputs=hidden)\n"
    call = method(migrate(model_fn(f"{body}net.summary()\npredictions = net.output")), "call")
    assert 'inputs = features["x"]\n' in call and "hidden = self.dense(inputs)\n" in call


@pytest.mark.parametrize(
    "use", ["predictions = build(inputs).output", "made = build(inputs)\npredictions = made.output"]
)
def test_a_function_that_returns_the_model_returns_its_outputs(use: str) -> None:
    text = migrate(model_fn(f"{INPUT}\n{use}", before=BUILD))
    assert "outputs = self.dense(inputs)\n    return outputs\n" in method(text, "call", "Build")
    assert ".output" not in text
    assert "keras.models.Model(" not in text and "summary" not in text


@pytest.mark.parametrize(
    "use",
    [
        "predictions = net.output\nprint(net.layers)",
        "predictions = net(features['z'])",
        "predictions = net.output\nhidden = net",
        "predictions = net.outputs[0]",
    ],
)
def test_models_that_are_more_than_their_outputs_stay(use: str) -> None:
    body = f"{INPUT}\nhidden = tf.keras.layers.Dense(3)(inputs)\nnet = tf.keras.Model(inputs, hidden)\n{use}"
    assert manual_reason(model_fn(body))


@pytest.mark.parametrize(
    "inputs",
    [
        "inputs = tf.keras.layers.Input(tensor=features['x'], sparse=True)",
        "inputs = tf.keras.layers.Input((3,))",
    ],
)
def test_other_inputs_stay(inputs: str) -> None:
    body = f"{inputs}\nhidden = tf.keras.layers.Dense(3)(inputs)\nnet = tf.keras.Model(inputs, hidden)\npredictions = net.output"
    assert manual_reason(model_fn(body))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return net", "if len(inputs.shape) > 2:\n        return net\n    return net"),
        ("outputs)\n", "outputs)\n    outputs = tf.abs(outputs)\n"),
    ],
)
def test_functions_that_do_more_stay(old: str, new: str) -> None:
    program = model_fn(f"{INPUT}\npredictions = build(inputs).output", before=BUILD.replace(old, new))
    assert manual_reason(program)
