"""The problem that optimizers are compared on: Python 3.7 and TensorFlow 1.15 read this file, too.

The model has one embedding looked up sparsely (with ids that occur twice in a batch and rows that no batch touches),
one that is multiplied by one-hot vectors, and dense layers.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1.train
random = np.random.RandomState(0)

STEPS, BATCH, ROWS = 10, 8, 12
INITIAL = {
    "sparse": random.randn(ROWS, 4).astype("float32") * 0.5,
    "dense": random.randn(ROWS, 4).astype("float32") * 0.5,
    "hidden": random.randn(8, 6).astype("float32") * 0.4,
    "bias": np.zeros(6, "float32"),
    "output": random.randn(6, 3).astype("float32") * 0.4,
}
BATCHES = [
    (random.randint(4 * (step % 2), 4 * (step % 2) + 6, BATCH), random.randint(0, 3, BATCH)) for step in range(STEPS)
]


def compute_loss(weights: dict[str, Any], ids: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    sparse = tf.nn.embedding_lookup(weights["sparse"], ids)
    dense = tf.matmul(tf.one_hot(ids, ROWS), weights["dense"])
    hidden = tf.tanh(tf.matmul(tf.concat([sparse, dense], 1), weights["hidden"]) + weights["bias"])
    logits = tf.matmul(hidden, weights["output"])
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def train_v1(
    create: Callable[[Any, Any], Any], decayed: bool, rate: float, resource: bool = True
) -> tuple[list[float], dict[str, np.ndarray]]:
    """Losses of the steps and the last weights. ``create`` gets the learning rate and the global step."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        weights = {
            name: tf.compat.v1.Variable(value, name=name, use_resource=resource) for name, value in INITIAL.items()
        }
        step = v1.get_or_create_global_step()
        ids, labels = tf.compat.v1.placeholder(tf.int64, [BATCH]), tf.compat.v1.placeholder(tf.int64, [BATCH])
        loss = compute_loss(weights, ids, labels)
        learning_rate = v1.exponential_decay(rate, step, 2, 0.5, staircase=True) if decayed else rate
        train_op = create(learning_rate, step).minimize(loss, step)
        session.run(tf.compat.v1.global_variables_initializer())
        losses = [session.run([loss, train_op], {ids: batch[0], labels: batch[1]})[0] for batch in BATCHES]
        return losses, session.run(weights)
