"""Recurrent layers of both directions on top of each other, against what TensorFlow 1 makes of the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.graph_contrib.v1_contrib_rnn import stack_bidirectional_dynamic_rnn
from migrator.runtime.layers.rnn_cells import GRUCell
from migrator.runtime.layers.rnn_stacked import StackedBidirectionalRNN

v1 = tf.compat.v1
INPUTS = np.random.RandomState(0).randn(3, 5, 4).astype(np.float32)
LENGTHS = [5, 2, 3]


def in_a_graph(weights: list[Any]) -> list[Any]:
    with tf.Graph().as_default(), v1.Session() as session:
        forward, backward = ([v1.nn.rnn_cell.GRUCell(3) for _ in range(2)] for _ in range(2))
        found = stack_bidirectional_dynamic_rnn(
            forward, backward, tf.constant(INPUTS), sequence_length=LENGTHS, dtype=tf.float32
        )
        for variable, weight in zip(v1.trainable_variables(), weights):
            variable.load(weight, session)
        return session.run(tf.nest.flatten(found))


def test_outputs_and_states() -> None:
    layer = StackedBidirectionalRNN(*([GRUCell(3) for _ in range(2)] for _ in range(2)))
    found = layer(INPUTS, sequence_length=tf.constant(LENGTHS))
    outputs, forward, backward = found
    assert outputs.shape == (3, 5, 6) and len(forward) == len(backward) == 2
    for new, old in zip(tf.nest.flatten(found), in_a_graph(layer.get_weights())):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
