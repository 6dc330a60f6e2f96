"""Model_fns that refuse to train and to evaluate: such programs predict with weights that another one trained."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate

PROGRAM = """
import tensorflow as tf


def model_fn(features, labels, mode):
    if mode == tf.estimator.ModeKeys.TRAIN:
        rate = 0.5
    else:
        rate = 0.0
    hidden = tf.layers.dense(features["x"], 4, activation=tf.nn.relu)
    hidden = tf.layers.dropout(hidden, rate, training=mode == tf.estimator.ModeKeys.TRAIN)
    if {refused}:
        raise ValueError("only predicts: %s" % mode)
    return tf.estimator.EstimatorSpec(mode, predictions={{"y": tf.layers.dense(hidden, 1)}})


def input_fn():
    return tf.data.Dataset.from_tensor_slices({{"x": [[1.0], [2.0]]}}).batch(2)


estimator = tf.estimator.Estimator(model_fn, "model")
{uses}
"""
PREDICTS = "for each in estimator.predict(input_fn):\n    print(each['y'])"
NOT_PREDICTING = "mode != tf.estimator.ModeKeys.PREDICT"


@pytest.mark.parametrize(
    "refused", [NOT_PREDICTING, 'mode in ("train", "eval")', "not mode == tf.estimator.ModeKeys.PREDICT"]
)
def test_a_model_that_only_predicts(refused: str) -> None:
    text = migrate(PROGRAM.format(refused=refused, uses=PREDICTS))
    assert "rate = 0.0" in method(text, "__init__", "Model")
    assert "training=False" in method(text, "call", "Model")
    assert "model.predict(input_fn(), verbose=0)['y']" in text
    assert "raise ValueError" not in text
    assert "compute_loss" not in text


@pytest.mark.parametrize(
    "uses",
    [
        f"estimator.train(input_fn, steps=1)\n{PREDICTS}",
        "print(estimator.evaluate(input_fn))",
        "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn), tf.estimator.EvalSpec(input_fn))",
        "other = estimator\nother.train(input_fn, steps=1)",
    ],
)
def test_one_that_is_asked_for_more_is_left(uses: str) -> None:
    reason = manual_reason(PROGRAM.format(refused=NOT_PREDICTING, uses=uses))
    assert "its model_fn only predicts, but the Estimator may be trained or evaluated here" in reason


def test_a_mode_that_is_refused_beside_others_is_no_reason() -> None:
    """Evaluations without a loss have always ended with an error."""
    source = PROGRAM.format(refused="mode == tf.estimator.ModeKeys.EVAL", uses=PREDICTS)
    assert manual_reason(source)
