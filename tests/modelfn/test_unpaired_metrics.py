"""Tensors among the metrics of a spec."""

from __future__ import annotations

import pytest
from programs import PATH, TRAIN_OP, manual_reason, method, migrate, model_fn, run

DENSE = "predictions = tf.layers.dense(features['x'], 1)"
SPEC = (
    "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=%s)"
)


def program(metrics: str, before: str = "", loss: str = "tf.losses.mean_squared_error(labels, predictions)") -> str:
    given = "metrics" if "metrics =" in before else metrics
    return model_fn(DENSE, end=f"loss = {loss}\n{before}\n{TRAIN_OP}\n{SPEC % given}")


@pytest.mark.parametrize(
    "source",
    [
        program("{'mean': tf.metrics.mean(labels), 'loss': loss}"),
        program("", "metrics = {'mean': tf.metrics.mean(labels), 'loss': loss}"),
        program(
            "{'loss': loss, 'mean': tf.metrics.mean(labels)}", loss="tf.reduce_mean(tf.square(labels - predictions))"
        ),
        program("{'mean': tf.metrics.mean(labels), 'max': tf.reduce_max(labels)}"),
        program("{'mean': tf.metrics.mean(labels), 'twice': loss * 2.0}"),
        program("", "twice = loss + 1.0\nmetrics = {'twice': twice, 'mean': tf.metrics.mean(labels)}"),
    ],
)
def test_a_tensor_is_left_out_with_a_remark(source: str) -> None:
    text = migrate(source)
    assert method(text, "compute_metrics").count("update_state") == 1
    assert "an Estimator refuses to evaluate with this tensor" in str([d.message for d in run(source)[PATH].remaining])


@pytest.mark.parametrize(
    "source",
    [
        program("{'mean': tf.metrics.mean(labels), 'loss': unknown(labels)}"),
        program("{'mean': tf.metrics.mean(labels), 'moments': tf.nn.moments(labels, [0])}"),
        program("{'mean': tf.metrics.mean(labels), 'losses': tf.losses.get_losses()}"),
        program("", "metrics = {'loss': loss}\nkeep(metrics)"),
    ],
)
def test_what_may_be_a_pair_is_not_left_out(source: str) -> None:
    assert manual_reason(source)
