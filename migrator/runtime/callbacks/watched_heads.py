"""What callbacks may read of a canned model by the names that its tensors had in an Estimator."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.callbacks.callbacks import watch
from migrator.runtime.canned.heads import total_weight


def watch_head(model: Any) -> Any:
    """Lets callbacks read tensors of the head of a `CannedModel`, under the last parts of their old names; returns it.

    With losses that are summed, ``Sum`` is the loss and ``truediv`` its mean by the weights of the examples, both scalars.
    ``probabilities`` and ``logistic`` are predictions of classifiers, float32 ``[batch, classes]`` and ``[batch, 1]``.
    """
    compute_loss = model.compute_loss

    def compute_watched_loss(x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> tf.Tensor:
        loss = compute_loss(x, y, y_pred, sample_weight)
        if model.head.loss_reduction == "sum":
            _, losses, weights = model.head.evaluated(x, y, y_pred)
            watch(model, "Sum", loss)
            watch(model, "truediv", loss / total_weight(losses, weights))
        for name in ("probabilities", "logistic"):
            if name in y_pred:
                watch(model, name, y_pred[name])
        return loss

    model.compute_loss = compute_watched_loss
    return model
