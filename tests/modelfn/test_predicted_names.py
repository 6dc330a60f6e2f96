"""Names that stand for something else where predictions are made."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn, run

BODY = """
predictions = tf.layers.dense(features["x"], 1)
if mode == tf.estimator.ModeKeys.PREDICT:
    predictions = tf.clip_by_value(predictions, 0.0, 1.0)
    return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
"""


def test_predictions_are_clipped_where_they_are_made() -> None:
    text = migrate(model_fn(BODY))
    assert "clip_by_value" in method(text, "predict_step") and "clip_by_value" not in method(text, "call")


def test_several_steps_are_made_there() -> None:
    clip = "predictions = tf.clip_by_value(predictions, 0.0, 1.0)\n"
    text = migrate(model_fn(BODY.replace(clip, clip + "    predictions = tf.round(predictions)\n")))
    assert "clip_by_value" in method(text, "predict_step") and "round" in method(text, "predict_step")


@pytest.mark.parametrize("test", ["features is None", "mode != tf.estimator.ModeKeys.TRAIN"])
def test_other_blocks_keep_their_names(test: str) -> None:
    source = model_fn(BODY.replace("mode == tf.estimator.ModeKeys.PREDICT", test))
    assert "predicted_" not in run(source)["program.py"].after.decode()
