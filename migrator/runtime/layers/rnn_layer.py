"""``tf.keras.layers.RNN`` with a kernel for whole sequences in place of the loop, where the cells have one."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn_kernel import end_sequences, run_cell


class RNN(tf.keras.layers.RNN):
    """``tf.keras.layers.RNN`` with one kernel in place of the loop over LSTMs, several times faster for small ones.

    A mask says where sequences end, without gaps. Behind that outputs are zero and the state stands still.
    """

    supports_jit = False  # Keras 3 asks: XLA has no such kernel

    def __init__(self, cell: Any, return_sequences: bool = False, **kwargs: Any) -> None:
        super().__init__(cell, return_sequences, zero_output_for_mask=return_sequences, **kwargs)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: Any = False) -> Any:
        """``sequences [batch, time, depth]``, ``mask [batch, time]`` or None."""
        batch, steps = tf.unstack(tf.shape(sequences)[:2])
        lengths = tf.fill([batch], steps) if mask is None else tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)

        def turn(values: Any) -> Any:
            return tf.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1) if self.go_backwards else values

        start = initial_state
        if start is None:
            start = tf.nest.map_structure(lambda size: tf.zeros([batch, size]), self.cell.state_size)
        found = run_cell(self.cell, turn(tf.transpose(sequences, [1, 0, 2])), start, training)
        if found is None:
            return super().call(sequences, initial_state=initial_state, mask=mask, training=training)
        outputs, states = found[0], tf.nest.pack_sequence_as(start, tf.nest.flatten(found[1]))
        first = tf.zeros_like(outputs[0])
        ends = None if mask is None else lengths
        outputs, (last, state) = end_sequences(outputs, (first, start), (outputs, states), ends)
        outputs = tf.reverse(turn(outputs), axis=[0]) if self.go_backwards else outputs
        output = tf.transpose(outputs, [1, 0, 2]) if self.return_sequences else last
        return [output, *state] if self.return_state else output
