"""Stops a training whose loss is not a number."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class NanLossError(RuntimeError):
    """Training was stopped because the loss is not a number."""


def loss_metric(model: tf.keras.Model) -> Any:
    """The metric in which the model reports its loss; None if there is none."""
    return next((metric for metric in model.metrics if metric.name == "loss"), None)


def current_loss(model: tf.keras.Model) -> float | None:
    """Mean loss since the metric was last reset; None if the model reports none.

    Raises:
      NanLossError: the loss of one of these steps was NaN, which makes the mean NaN as well.
    """
    metric = loss_metric(model)
    if metric is None:
        return None
    loss = float(metric.result())
    if loss != loss:
        tf.get_logger().error("Model diverged with loss = NaN.")
        raise NanLossError(f"NaN loss at or before step {int(model.optimizer.iterations)}.")
    return loss
