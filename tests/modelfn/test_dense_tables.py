"""Optimizers of tables whose gradients are dense, as the loss reads all their rows as well."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import migrate, model_fn

LOOKUP = 'w = tf.get_variable("w", [9, 1])\npredictions = tf.nn.embedding_lookup(w, features["x"])\n'
END = """
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
BASE = "loss = tf.reduce_mean(tf.square(labels - predictions))\n"


def is_lazy(loss: str, body: str = LOOKUP) -> bool:
    """Whether the optimizer of a program leaves rows alone that a batch does not have."""
    text = migrate(model_fn(body + textwrap.dedent(loss), end=END))
    assert (
        text.count("optimizer=LazyMomentum(") + text.count("optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9)") == 1
    )
    return "LazyMomentum" in text


@pytest.mark.parametrize(
    "loss",
    [
        BASE + "loss += 0.1 * tf.nn.l2_loss(w)",
        BASE + "loss = loss + params['l2'] * tf.nn.l2_loss(w)",
        "loss = tf.reduce_mean(tf.square(labels - predictions)) + 0.1 * tf.reduce_sum(tf.square(w))",
        BASE + "penalty = tf.nn.l2_loss(w)\nloss = loss + penalty",
        BASE + "loss += tf.nn.l2_loss(w)\nif params['more']:\n    loss += 1.0",
    ],
)
def test_dense(loss: str) -> None:
    assert not is_lazy(loss)


@pytest.mark.parametrize(
    "loss",
    [
        BASE,
        BASE + "if params['l2']:\n    loss += params['l2'] * tf.nn.l2_loss(w)",
        BASE + "penalty = tf.nn.l2_loss(w) if params['l2'] else 0.0\nloss += penalty",
        BASE + "loss += tf.stop_gradient(tf.nn.l2_loss(w))",
        BASE + "loss += tf.nn.l2_loss(predictions)",
        BASE + "penalty = tf.nn.l2_loss(w)\nloss = loss * 1.0",
        BASE + "loss += tf.nn.l2_loss(w)\nif params['more']:\n    loss = tf.reduce_mean(tf.abs(labels - predictions))",
    ],
)
def test_sparse(loss: str) -> None:
    assert is_lazy(loss)


def test_every_table_counts() -> None:
    other = LOOKUP + 'v = tf.get_variable("v", [9, 1])\npredictions += tf.gather(v, features["x"])\n'
    assert is_lazy(BASE + "loss += tf.nn.l2_loss(w)", other)
    assert not is_lazy(BASE + "loss += tf.nn.l2_loss(w) + tf.nn.l2_loss(v)", other)


def test_a_table_of_a_dict() -> None:
    body = (
        'tables = {}\ntables["w"] = tf.get_variable("w", [9, 1])\npredictions = tf.gather(tables["w"], features["x"])\n'
    )
    assert not is_lazy(BASE + 'loss += tf.nn.l2_loss(tables["w"])', body)
