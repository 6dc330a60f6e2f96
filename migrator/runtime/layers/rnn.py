"""``dynamic_rnn`` and its kin around the cells of `rnn_cells`, where the state is read as TensorFlow 1 gives it, or is given."""

from __future__ import annotations

import collections
from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn_cells import CellWrapper, LSTMCell, OwnCell
from migrator.runtime.layers.rnn_layer import RNN

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ("c", "h"))
"""State of an LSTM: the memory and the output, each ``[batch, units]``."""


def zero_state(cell: Any, batch_size: Any, dtype: Any = tf.float32) -> Any:
    """The state of a cell before the first step, in the structure of TensorFlow 1."""
    return state_of(cell, tf.nest.map_structure(lambda size: tf.zeros([batch_size, size], dtype), cell.state_size))


def state_of(cell: Any, state: Any) -> Any:
    """A state in the structure of TensorFlow 1, from that of Keras: the tuple of those of its cells for a stack."""
    if isinstance(cell, CellWrapper):
        return state_of(cell.cell, state)
    if isinstance(cell, OwnCell):
        return tf.nest.pack_sequence_as(cell.state_size, tf.nest.flatten(state))
    if isinstance(cell, tf.keras.layers.StackedRNNCells):
        return tuple(state_of(one, part) for one, part in zip(cell.cells, state))
    return LSTMStateTuple(*state) if isinstance(cell, LSTMCell) else tf.nest.flatten(state)[0]


def parts_of(cell: Any, state: Any) -> Any:
    """A state in the structure of Keras, from that of TensorFlow 1."""
    if isinstance(cell, CellWrapper):
        return parts_of(cell.cell, state)
    if isinstance(cell, tf.keras.layers.StackedRNNCells):
        return [parts_of(one, part) for one, part in zip(cell.cells, state)]
    return tf.nest.flatten(state) if isinstance(cell, (LSTMCell, OwnCell)) else state


def start_kernels(cell: Any, initializer: Any) -> None:
    """Gives an initializer, if any, to the kernels of a cell, or of those in it, that have none."""
    if initializer is None:
        return
    for one in getattr(cell, "cells", [getattr(cell, "cell", None)]):
        if one is not None:
            start_kernels(one, initializer)
    cell.initializer = getattr(cell, "initializer", None) or initializer


def swap_time(values: Any) -> Any:
    """``[batch, time, depth]`` from ``[time, batch, depth]``, and the other way round."""
    return tf.transpose(values, [1, 0, 2])


class DynamicRNN(tf.keras.layers.Layer):
    """``tf.compat.v1.nn.dynamic_rnn``: gives ``(outputs, state)``. Behind the end of a sequence the outputs are zero, and the
    state stands still. With ``time_major``, the first axis of inputs and outputs is time, else the second one. `initializer` is
    that of kernels whose cell has none."""

    unrolls = False

    def __init__(self, cell: Any, time_major: bool = False, name: str | None = None, initializer: Any = None) -> None:
        super().__init__(name=name)
        self.cell, self.time_major = cell, time_major
        start_kernels(cell, initializer)
        self.rnn = RNN(cell, return_sequences=True, return_state=True, unroll=self.unrolls)

    def call(self, inputs: Any, sequence_length: Any = None, initial_state: Any = None) -> Any:
        """``sequence_length`` are integers ``[batch]``, or None; ``initial_state`` is None for zeros."""
        inputs = swap_time(inputs) if self.time_major else inputs
        mask = None if sequence_length is None else tf.sequence_mask(sequence_length, tf.shape(inputs)[1])
        start = None if initial_state is None else parts_of(self.cell, initial_state)
        start = [start] if tf.is_tensor(start) else start
        outputs, *state = self.rnn(inputs, initial_state=start, mask=mask)
        outputs = swap_time(outputs) if self.time_major else tf.identity(outputs)  # else losses would have the mask
        return outputs, state_of(self.cell, state)


class StaticRNN(DynamicRNN):
    """``tf.compat.v1.nn.static_rnn``: takes and gives a list with one tensor ``[batch, depth]`` per step."""

    unrolls = True

    def call(self, inputs: Any, sequence_length: Any = None, initial_state: Any = None) -> Any:
        outputs, state = super().call(tf.stack(inputs, axis=1), sequence_length, initial_state)
        return tf.unstack(outputs, num=len(inputs), axis=1), state


class BidirectionalRNN(tf.keras.layers.Layer):
    """``tf.compat.v1.nn.bidirectional_dynamic_rnn``: gives the pair of outputs and the pair of states, forward first. With
    ``time_major``, the first axis of inputs and outputs is time. `initializer` is that of kernels whose cell has none."""

    def __init__(
        self, cell_fw: Any, cell_bw: Any, time_major: bool = False, name: str | None = None, initializer: Any = None
    ) -> None:
        super().__init__(name=name)
        self.forward = DynamicRNN(cell_fw, time_major, "fw", initializer)
        self.backward = DynamicRNN(cell_bw, time_major, "bw", initializer)
        self.time_axis = 0 if time_major else 1

    def call(
        self, inputs: Any, sequence_length: Any = None, initial_state_fw: Any = None, initial_state_bw: Any = None
    ) -> Any:
        def reverse(values: Any) -> Any:
            if sequence_length is None:
                return tf.reverse(values, axis=[self.time_axis])
            return tf.reverse_sequence(values, sequence_length, seq_axis=self.time_axis, batch_axis=1 - self.time_axis)

        forward, state_fw = self.forward(inputs, sequence_length, initial_state_fw)
        backward, state_bw = self.backward(reverse(inputs), sequence_length, initial_state_bw)
        return (forward, reverse(backward)), (state_fw, state_bw)
