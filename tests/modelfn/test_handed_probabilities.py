"""Probabilities of dropout in cells that a helper is given as they are in a mode."""

from __future__ import annotations

import pytest
from programs import manual_reason, method, migrate, model_fn

TRAIN = "mode == tf.estimator.ModeKeys.TRAIN"
HELPER = """
def encode(x, lengths, keep):
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), output_keep_prob=keep)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    return tf.nn.dropout(outputs, keep)
"""
OUTER = """
def network(x, lengths, keep_prob):
    x = encode(x, lengths, keep=keep_prob)
    return tf.layers.dense(x, 1)
"""
BODY = f"""
training = {TRAIN}
keep = params["keep"] if training else 1.0
predictions = encode(features["x"], features["z"], keep)
"""


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        BODY.replace("keep)", "keep=keep)"),
        BODY.replace("1.0", "1"),
        f"predictions = encode(features['x'], features['z'], params['keep'] if {TRAIN} else 1.0)",
        BODY + "predictions += encode(features['w'], features['z'], 0.5 if training else 1.0)\n",
    ],
)
def test_the_helper_is_told_the_probability_and_whether_it_trains(body: str) -> None:
    text = migrate(model_fn(body, before=HELPER))
    made, call = method(text, "__init__", "Encode"), method(text, "call", "Encode")
    assert "output_keep_prob=keep)" in made and "def __init__(self, keep):" in made
    assert "keep_now = self.keep if training else 1" in call and "rate=1 - keep_now)" in call
    assert "training=training)" in method(text, "call", "Model")


def test_helpers_hand_both_on() -> None:
    body = BODY.replace("encode(", "network(")
    text = migrate(model_fn(body, before=HELPER + OUTER))
    assert "Encode(keep=keep_prob)" in method(text, "__init__", "Network")
    assert 'Network(params["keep"])' in method(text, "__init__", "Model")


@pytest.mark.parametrize(
    ("helper", "body"),
    [
        (HELPER, BODY.replace("1.0", "0.9")),
        (HELPER, BODY.replace("1.0", "params['other']")),
        (HELPER, BODY + "predictions += encode(features['w'], features['z'], 0.5 if labels is None else 1.0)\n"),
        (HELPER, BODY + "encoders = [encode]\n"),
        (HELPER.replace("cell =", "keep = keep * 1.0\n    cell ="), BODY),
        (HELPER.replace("cell =", "training = 1\n    cell ="), BODY),
    ],
)
def test_other_probabilities_are_left_alone(helper: str, body: str) -> None:
    assert manual_reason(model_fn(body, before=helper))
