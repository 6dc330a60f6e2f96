"""Heads whose loss is a sum, among them the private ones behind canned Estimators, which sum where they are not told."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

IMPORTS = (
    "from tensorflow.python.estimator.canned import head as head_lib\nfrom tensorflow.python.ops.losses import losses"
)
SUM = "loss_reduction=losses.Reduction.SUM"
EITHER = "_binary_logistic_or_multi_class_head(n_classes={}, weight_column={}, label_vocabulary=None, {})"


def program(head: str, more: str = "") -> str:
    """A model_fn with a private head."""
    body = f"head = head_lib.{head}\nlogits = tf.layers.dense(features['x'], head.logits_dimension)\n"
    optimizer = "optimizer=tf.train.GradientDescentOptimizer(0.1)"
    end = f"return head.create_estimator_spec(features, mode, logits, labels, {optimizer}{more})"
    return model_fn(body, end=end, before=IMPORTS)


@pytest.mark.parametrize(
    ("head", "loss", "width"),
    [
        (EITHER.format(2, None, SUM), "tf.nn.sigmoid_cross_entropy_with_logits(labels=", 1),
        (EITHER.format(3, None, SUM), "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=", 3),
        ("_binary_logistic_head_with_sigmoid_cross_entropy_loss()", "tf.nn.sigmoid_cross_entropy_with_logits(", 1),
        ("_multi_class_head_with_softmax_cross_entropy_loss(4)", "tf.nn.sparse_softmax_cross_entropy_with", 4),
        ("_regression_head(label_dimension=2)", "tf.square(y_pred - targets)", 2),
    ],
)
def test_the_loss_is_a_sum(head: str, loss: str, width: int) -> None:
    text = migrate(program(head))
    compute = joined(method(text, "compute_loss"))
    assert f"loss = tf.reduce_sum({loss}" in compute
    assert 'tf.summary.scalar("average_loss", loss / tf.cast(tf.size(' in compute
    assert f"tf.keras.layers.Dense({width})" in text
    assert "head_lib" not in text and "ops.losses" not in text


def test_the_mean_of_a_private_head() -> None:
    text = migrate(program(EITHER.format(2, None, "loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE")))
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in joined(method(text, "create_model"))
    assert "tf.summary" not in text


def test_what_is_shown_of_a_sum_is_by_weight_and_without_penalties() -> None:
    compute = joined(
        method(migrate(program(EITHER.format(2, "'w'", SUM), ", regularization_losses=[0.5]")), "compute_loss")
    )
    assert "data_loss = tf.reduce_sum(" in compute
    assert 'tf.summary.scalar("average_loss", data_loss / tf.reduce_sum(weights * tf.ones_like(' in compute


@pytest.mark.parametrize(
    "head",
    [
        EITHER.format("N", None, SUM),
        EITHER.format(2, None, "loss_reduction=losses.Reduction.MEAN"),
        "_regression_head(loss_fn=squares)",
        "_regression_head(1, 2, 3, 4, 5, 6, 7)",
    ],
)
def test_left_alone(head: str) -> None:
    assert manual_reason(program(head))
