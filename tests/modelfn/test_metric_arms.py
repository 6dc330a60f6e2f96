"""Metrics that each arm of a condition makes."""

from __future__ import annotations

import pytest
from modelfn.programs import TRAIN_OP, joined, method, migrate, model_fn, run, units

ARMS = """
predictions = tf.layers.dense(features["x"], params["units"])
if predictions.shape[1] == 1:
    loss = tf.losses.mean_squared_error(labels, predictions)
    error = tf.metrics.root_mean_squared_error(labels, predictions)
else:
    last = predictions[:, -1:]
    loss = tf.losses.mean_squared_error(labels, last)
    error = tf.metrics.root_mean_squared_error(labels, predictions=last)
"""
END = f"""
{TRAIN_OP}
return tf.estimator.EstimatorSpec(
    mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops={{"error": error}}
)
"""


def program(arms: str) -> str:
    return model_fn(
        arms, end=END, after="estimator = tf.estimator.Estimator(model_fn, params=PARAMS)\nestimator.evaluate(f)"
    )


@pytest.mark.parametrize("keyword", ["", "predictions="])
def test_one_metric_of_what_the_arms_choose(keyword: str) -> None:
    arms = ARMS.replace("predictions=last", f"{keyword}last").replace(
        "(labels, predictions)", f"(labels, {keyword}predictions)"
    )
    text = migrate(program(arms))
    assert text.count("tf.keras.metrics.RootMeanSquaredError(") == 1
    update = joined(method(text, "compute_metrics"))
    assert "error_predictions = y_pred\n" in update and "error_predictions = last\n" in update
    assert "\n    self.error.update_state(y, error_predictions)\n" in update


def test_three_arms() -> None:
    more = """\
elif predictions.shape[1] == 2:
    loss = tf.losses.mean_squared_error(labels, predictions[:, :1])
    error = tf.metrics.root_mean_squared_error(labels, predictions=predictions[:, :1])
else:
"""
    text = migrate(
        program(ARMS.replace("(labels, predictions)", "(labels, predictions=predictions)").replace("else:\n", more))
    )
    assert method(text, "compute_metrics").count("error_predictions = ") == 3


@pytest.mark.parametrize(
    "arms",
    [
        ARMS.replace("root_mean_squared_error(labels, predictions)", "mean_absolute_error(labels, predictions)"),
        ARMS.replace("predictions=last", "last, weights=features['w']"),
        ARMS.replace("predictions=last)", "last)\n    print(error)").replace(
            "(labels, last)", "(labels, predictions=last)"
        ),
        ARMS.replace("else:\n", "elif predictions.shape[1] == 2:\n"),
    ],
)
def test_other_metrics_are_left(arms: str) -> None:
    (unit,) = units(run(program(arms)))
    assert unit.tier == "manual"
