"""Specs with an argument that an EstimatorSpec does not have: the official guide to several workers predicts with one."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate, model_fn, run

BODY = """
predictions = tf.layers.dense(features['x'], 1)
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(labels=labels, predictions={'y': predictions})
"""


def said(program: str) -> list[str]:
    return [d.message for d in run(program)[PATH].remaining if "no argument" in d.message]


def test_the_mode_goes_and_a_message_says_so() -> None:
    text = migrate(model_fn(BODY))
    assert "def call(self, features)" in text and "raise" not in text
    (message,) = said(model_fn(BODY))
    assert "`labels`" in message and "TypeError" in message


def test_nothing_is_said_of_a_spec_with_fields_of_its_own() -> None:
    assert not said(model_fn(BODY.replace("labels=labels", "mode=mode")))


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace("labels=labels", "**options"),
        BODY + "return tf.estimator.EstimatorSpec(mode, labels=labels)",
        BODY.replace("if mode == tf.estimator.ModeKeys.PREDICT:\n    return", "spec =") + "return spec",
    ],
)
def test_what_is_no_single_mode_is_refused(body: str) -> None:
    assert "argument" in manual_reason(model_fn(body, end=""))
