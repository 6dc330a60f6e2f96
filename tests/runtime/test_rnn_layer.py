"""The recurrent layer with a kernel against the loop of Keras around the same cells: outputs, states, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.layers import rnn_layer
from migrator.runtime.layers.rnn_cells import DropoutWrapper, GRUCell, LSTMCell, PeepholeLSTMCell, ResidualWrapper

RANDOM = np.random.RandomState(0)
INPUTS = tf.constant(RANDOM.randn(4, 5, 3).astype("float32"))
MASK = tf.sequence_mask([5, 2, 0, 3], 5)


def stack(*cells: Any) -> Any:
    return tf.keras.layers.StackedRNNCells(list(cells))


CELLS = {
    "LSTM": lambda: LSTMCell(3, forget_bias=0.5),
    "stack": lambda: stack(LSTMCell(4), LSTMCell(3)),
    "wrapped": lambda: stack(DropoutWrapper(LSTMCell(3), 0.5), ResidualWrapper(LSTMCell(3))),
}
LOOPS = {
    "relu": lambda: LSTMCell(3, activation=tf.nn.relu),
    "peepholes": lambda: PeepholeLSTMCell(3),
    "stack with GRU": lambda: stack(LSTMCell(4), GRUCell(3)),
    "states dropped": lambda: DropoutWrapper(LSTMCell(3), state_keep_prob=0.5),
}


def run(layer: Any, weights: Any, mask: Any) -> tuple[list[Any], list[Any]]:
    """What it gives, and the gradients of its weights and inputs."""
    layer(INPUTS, mask=mask)
    layer.set_weights(weights or layer.get_weights())

    @tf.function
    def graph() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(INPUTS)
            found = tf.nest.flatten(layer(INPUTS, mask=mask))
            loss = tf.add_n([tf.reduce_sum(part * part) for part in found])
        return found, tape.gradient(loss, [*layer.trainable_weights, INPUTS])

    return graph()  # type: ignore[no-any-return]


@pytest.mark.parametrize("options", [{}, {"return_sequences": True, "return_state": True}, {"return_state": True}])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
@pytest.mark.parametrize("kind", CELLS)
def test_kernel(kind: str, mask: Any, backwards: bool, options: dict[str, bool]) -> None:
    loop = tf.keras.layers.RNN(
        CELLS[kind](), go_backwards=backwards, zero_output_for_mask="return_sequences" in options, **options
    )
    loop(INPUTS, mask=mask)
    layer = rnn_layer.RNN(CELLS[kind](), go_backwards=backwards, **options)
    (expected, gradients), (found, others) = (run(one, loop.get_weights(), mask) for one in (loop, layer))
    for one, other in zip([*expected, *gradients], [*found, *others]):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    graph = tf.function(lambda: layer(INPUTS, mask=mask)).get_concrete_function().graph
    assert any(op.type == "BlockLSTM" for op in graph.get_operations())


@pytest.mark.parametrize("kind", LOOPS)
def test_cells_without_a_kernel_run_in_a_loop(kind: str) -> None:
    layer = rnn_layer.RNN(LOOPS[kind](), return_sequences=True)
    loop = tf.keras.layers.RNN(LOOPS[kind](), return_sequences=True, zero_output_for_mask=True)
    loop(INPUTS, mask=MASK)
    layer(INPUTS, mask=MASK)
    layer.set_weights(loop.get_weights())
    np.testing.assert_array_equal(layer(INPUTS, mask=MASK), loop(INPUTS, mask=MASK))


def test_dropout_is_that_of_training() -> None:
    layer = rnn_layer.RNN(DropoutWrapper(LSTMCell(3), output_keep_prob=0.5), return_sequences=True)
    assert np.all(layer(INPUTS).numpy() != 0.0)
    share = np.mean(layer(INPUTS, training=True).numpy() == 0.0)
    assert 0.2 < share < 0.8
