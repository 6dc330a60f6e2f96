"""Heads of generalized linear models: their predictions are a function of the logits."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.canned.heads import RegressionHead


class LinkedRegressionHead(RegressionHead):
    """A `RegressionHead` whose predictions are ``inverse_link_fn(logits)``; the loss is still computed from logits."""

    def __init__(
        self,
        inverse_link_fn: Callable[[tf.Tensor], tf.Tensor],
        weight_column: Any = None,
        label_dimension: int = 1,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(weight_column, label_dimension, loss_reduction, loss_fn)
        self.inverse_link_fn = inverse_link_fn

    def predictions(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"predictions": self.inverse_link_fn(logits), "logits": logits}

    def logits(self, outputs: dict[str, tf.Tensor]) -> tf.Tensor:
        return outputs["logits"]


def poisson_regression_head(compute_full_loss: bool = True, **others: Any) -> LinkedRegressionHead:
    """Poisson regression of counts: the logits are the logarithms of the rates.

    Args:
        compute_full_loss: whether the loss holds the constant term ``log(labels!)``, by Stirling's approximation.
        others: see `LinkedRegressionHead`.
    """

    def loss_fn(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss)

    return LinkedRegressionHead(tf.exp, loss_fn=loss_fn, **others)


def logistic_regression_head(**others: Any) -> LinkedRegressionHead:
    """Logistic regression of shares in [0, 1]; arguments as for `LinkedRegressionHead`."""

    def loss_fn(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        in_range = tf.reduce_all((labels >= 0.0) & (labels <= 1.0))
        tf.debugging.Assert(in_range, ["Labels must be in range [0, 1]", labels])
        return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)

    return LinkedRegressionHead(tf.sigmoid, loss_fn=loss_fn, **others)
