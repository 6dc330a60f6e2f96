"""Cells and loops of `tf.contrib.rnn` for graphs, against what they are put together of; TensorFlow 1.15 agrees to 5e-7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.graph_contrib.v1_contrib_rnn import lstm_block_cell, stack_bidirectional_dynamic_rnn

v1 = tf.compat.v1
INPUTS = np.random.RandomState(0).randn(3, 5, 4).astype(np.float32)
LENGTHS = [5, 2, 3]


def values(network: Callable[[Any], Any]) -> dict[str, Any]:
    """Outputs, states, and gradients by the name of the variable, from one set of weights."""
    with tf.Graph().as_default(), v1.Session() as session:
        found = tf.nest.flatten(network(tf.constant(INPUTS)))
        variables = sorted(v1.trainable_variables(), key=lambda variable: variable.name)
        gradients = v1.gradients(tf.reduce_sum(tf.square(found[0])), variables)
        session.run(v1.global_variables_initializer())
        random = np.random.RandomState(1)
        for variable in variables:
            variable.load(random.normal(0, 0.4, variable.shape), session)
        return {
            "outputs": session.run(found),
            **dict(zip([v.name for v in variables], session.run(gradients))),
        }


def by_hand(inputs: Any) -> Any:
    with v1.variable_scope("stack"):
        cell = v1.nn.rnn_cell.LSTMCell
        states = []
        for number, peepholes in enumerate((False, True)):
            with v1.variable_scope(f"cell_{number}"):
                pair = [cell(3, use_peepholes=peepholes, forget_bias=bias, name="lstm_cell") for bias in (1.0, 0.5)]
                outputs, both = v1.nn.bidirectional_dynamic_rnn(*pair, inputs, LENGTHS, dtype=tf.float32)
                inputs = tf.concat(outputs, 2)
                states.append(both)
        return inputs, tuple(state[0] for state in states), tuple(state[1] for state in states)


def stacked(inputs: Any) -> Any:
    forward, backward = ([lstm_block_cell(3, bias), lstm_block_cell(3, bias, use_peephole=True)] for bias in (1.0, 0.5))
    return stack_bidirectional_dynamic_rnn(
        forward, backward, inputs, dtype=tf.float32, sequence_length=LENGTHS, scope="stack"
    )


def test_layers_on_top_of_each_other() -> None:
    old, new = values(by_hand), values(stacked)
    assert old.keys() == new.keys() and any("w_f_diag" in name for name in new)
    for name in old:
        for one, other in zip(tf.nest.flatten(old[name]), tf.nest.flatten(new[name])):
            np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6)


def test_time_first() -> None:
    def over_time(inputs: Any) -> Any:
        cells = [lstm_block_cell(2)], [lstm_block_cell(2)]
        inputs = tf.transpose(inputs, [1, 0, 2])
        outputs, *_ = stack_bidirectional_dynamic_rnn(*cells, inputs, dtype=tf.float32, time_major=True)
        return tf.transpose(outputs, [1, 0, 2])

    def as_usual(inputs: Any) -> Any:
        cells = [lstm_block_cell(2)], [lstm_block_cell(2)]
        return stack_bidirectional_dynamic_rnn(*cells, inputs, dtype=tf.float32)[0]

    np.testing.assert_allclose(values(over_time)["outputs"][0], values(as_usual)["outputs"][0], rtol=1e-6)


def test_refused() -> None:
    with pytest.raises(ValueError, match="as many cells"):
        stack_bidirectional_dynamic_rnn([lstm_block_cell(2)], [], tf.constant(INPUTS))
    with pytest.raises(ValueError, match="cell_clip"):
        lstm_block_cell(2, cell_clip=1.0)
    lstm_block_cell(2, cell_clip=-1)
