"""Recurrent layers of `tf.contrib.rnn` that run a whole sequence in one kernel, for graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn_kernel import end_sequences, run_lstm


class LSTMBlockFusedCell:
    """An LSTM over ``inputs [time, batch, depth]``; variables as those of `LSTMCell`, in the scope `name`.

    A call gives the outputs, which are zero behind the end of a sequence, and the state at the end. Called again, it
    shares its variables. Peepholes are not supported.

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
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str | None = "lstm_fused_cell",
    ) -> None:
        if use_peephole:
            raise ValueError("LSTMBlockFusedCell with peepholes is not supported")
        self.num_units, self.forget_bias, self.cell_clip = num_units, forget_bias, cell_clip
        self.reuse, self.name = reuse, name
        self.variables: tuple[Any, Any] | None = None

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        if self.variables is None:
            self.variables = self.new_variables(inputs.shape[2], scope)
        start = initial_state or (tf.zeros([tf.shape(inputs)[1], self.num_units], dtype or inputs.dtype),) * 2
        memories, outputs = run_lstm(inputs, start, *self.variables, self.forget_bias, self.cell_clip)
        outputs, last = end_sequences(outputs, tuple(start), (memories, outputs), sequence_length)
        return outputs, tf.compat.v1.nn.rnn_cell.LSTMStateTuple(*last)

    def new_variables(self, depth: int, scope: Any) -> tuple[Any, Any]:
        """The kernel and the bias, under a name that is free unless `reuse` says otherwise."""
        name, default = (scope or self.name, None) if self.reuse else (scope, self.name)
        with tf.compat.v1.variable_scope(name, default, reuse=self.reuse):
            kernel = tf.compat.v1.get_variable("kernel", [depth + self.num_units, 4 * self.num_units])
            zeros = tf.compat.v1.zeros_initializer()
            return kernel, tf.compat.v1.get_variable("bias", [4 * self.num_units], initializer=zeros)


class TimeReversedFusedRNN:
    """Runs a recurrent layer over ``inputs [time, batch, depth]`` from the end to the beginning."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        def reverse(values: Any) -> Any:
            if sequence_length is None:
                return tf.reverse(values, [0])
            return tf.reverse_sequence(values, sequence_length, seq_axis=0, batch_axis=1)

        outputs, state = self.cell(reverse(inputs), initial_state, dtype, sequence_length, scope)
        return reverse(outputs), state
