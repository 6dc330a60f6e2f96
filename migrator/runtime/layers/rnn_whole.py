"""Recurrent layers of ``tf.contrib.rnn`` that take a whole sequence at once, time first, with TensorFlow 1's variables."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn import LSTMStateTuple
from migrator.runtime.layers.rnn_kernel import end_sequences, run_lstm


class FusedLSTM(tf.keras.layers.Layer):
    """``LSTMBlockFusedCell`` of TensorFlow 1; gates in the order input, candidate, forget, output.

    Calls with ``inputs [time, batch, depth]`` give the outputs ``[time, batch, num_units]``, which are zero behind the end
    of a sequence, and the state at its end.

    Args:
        num_units: size of the state and of the output.
        forget_bias: added to the forget gate in each step.
        cell_clip: the memory stays between it and its negative; None for no limit.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(name=name)
        self.num_units, self.forget_bias, self.cell_clip = num_units, forget_bias, cell_clip

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1] + self.num_units, 4 * self.num_units),
            initializer="glorot_uniform",
        )
        self.bias = self.add_weight(name="bias", shape=(4 * self.num_units,), initializer="zeros")
        self.built = True

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        """``initial_state`` is None for zeros, of `dtype` or that of the inputs; ``sequence_length`` integers ``[batch]``."""
        start = initial_state or (tf.zeros([tf.shape(inputs)[1], self.num_units], dtype or inputs.dtype),) * 2
        memories, outputs = run_lstm(inputs, start, self.kernel, self.bias, self.forget_bias, self.cell_clip)
        outputs, last = end_sequences(outputs, tuple(start), (memories, outputs), sequence_length)
        return outputs, LSTMStateTuple(*last)


class TimeReversedRNN(tf.keras.layers.Layer):
    """``TimeReversedFusedRNN`` of TensorFlow 1: runs a layer such as `FusedLSTM` from the end to the beginning."""

    def __init__(self, cell: Any) -> None:
        super().__init__(name=cell.name)
        self.cell = cell

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        def reverse(values: Any) -> Any:
            if sequence_length is None:
                return tf.reverse(values, [0])
            return tf.reverse_sequence(values, sequence_length, seq_axis=0, batch_axis=1)

        outputs, state = self.cell(reverse(inputs), initial_state, dtype, sequence_length)
        return reverse(outputs), state
