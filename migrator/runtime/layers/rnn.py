"""Recurrent cells of ``tf.compat.v1.nn.rnn_cell``, with TensorFlow 1's variables and equations, in ``tf.keras.layers.RNN``.

Keras's ``LSTM`` and ``GRU`` order the gates otherwise, keep two kernels where TensorFlow 1 has one over ``[inputs, h]``, and
add the forget bias to the initial bias instead of to the gate. Equations:
``tensorflow/python/keras/layers/legacy_rnn/rnn_cell_impl.py``.
"""

from __future__ import annotations

import collections
from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn_kernel import end_sequences, run_lstm

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ("c", "h"))
"""State of an LSTM: the memory and the output, each ``[batch, units]``."""


class RecurrentCell(tf.keras.layers.Layer):
    """Calls with ``inputs [batch, depth]`` and a state give ``(outputs, new state)``. ``state_size`` is a structure of
    sizes, ``output_size`` the last axis of the outputs."""

    state_size: Any
    output_size: int
    built: bool
    default_initializer: Any = "glorot_uniform"
    """Of the kernels of a cell that has no initializer."""

    def zero_state(self, batch_size: Any, dtype: Any = tf.float32) -> Any:
        """The state before the first step."""
        return tf.nest.map_structure(lambda size: tf.zeros([batch_size, size], dtype), self.state_size)

    def build_in_scope(self, depth: int, initializer: Any = None) -> None:
        """Make the variables for inputs of this depth, once, under the name of the cell; `initializer` is the default one."""
        if not self.built:
            self.default_initializer = initializer or self.default_initializer
            with tf.name_scope(self.name):
                self.build((None, depth))
            self.built = True

    def run(self, layer: Any, inputs: Any, sequence_length: Any, state: Any) -> tuple[Any, Any]:
        """The outputs ``[batch, time, units]`` for ``inputs [batch, time, depth]``, and the last state: by Keras's `layer`."""
        mask = None if sequence_length is None else tf.sequence_mask(sequence_length, tf.shape(inputs)[1])
        outputs, *last = layer(inputs, initial_state=None if state is None else tf.nest.flatten(state), mask=mask)
        return outputs, tf.nest.pack_sequence_as(self.state_size, last)

    def add_kernel_and_bias(
        self, depth: int, units: int, initializer: Any, bias_initializer: Any = "zeros", prefix: str = ""
    ) -> tuple[Any, Any]:
        """One kernel over inputs and previous output, and its bias."""
        prefix = prefix.replace("/", "_") if hasattr(tf.keras, "ops") else prefix  # Keras 3 allows no slash
        kernel = self.add_started(prefix + "kernel", (depth + self.output_size, units), initializer)
        return kernel, self.add_weight(name=prefix + "bias", shape=(units,), initializer=bias_initializer)

    def add_started(self, name: str, shape: tuple[int, ...], initializer: Any) -> Any:
        """A variable with values of its own of an initializer, or of the default one."""
        start = initializer or self.default_initializer
        if isinstance(start, tf.keras.initializers.Initializer):  # one object gives the same values each time
            start = type(start).from_config(start.get_config())
        return self.add_weight(name=name, shape=shape, initializer=start)


class OwnCell(RecurrentCell):
    """Base of the program's own cells: its layers get their weights by a step with zeros, before the first sequence."""

    def build(self, input_shape: Any) -> None:
        self.call(tf.zeros([1, input_shape[-1]]), self.zero_state(1))


class LSTMCell(RecurrentCell):
    """``LSTMCell`` and ``BasicLSTMCell`` of TensorFlow 1; gates in the order input, candidate, forget, output.

    Args:
        num_units: size of the state and of the output.
        initializer: of the kernel; Glorot's uniform one by default.
        forget_bias: added to the forget gate in each step.
        activation: of the candidate and of the output.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = "tanh",
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(name=name)
        self.output_size = num_units
        self.state_size = LSTMStateTuple(num_units, num_units)
        self.initializer = initializer
        self.forget_bias = forget_bias
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        self.kernel, self.bias = self.add_kernel_and_bias(input_shape[-1], 4 * self.output_size, self.initializer)

    def call(self, inputs: Any, state: Any) -> Any:
        memory, output = state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, output], 1), self.kernel), self.bias)
        entering, candidate, kept, shown = tf.split(gates, 4, axis=1)
        memory = memory * tf.sigmoid(kept + self.forget_bias) + tf.sigmoid(entering) * self.activation(candidate)
        output = self.activation(memory) * tf.sigmoid(shown)
        return output, LSTMStateTuple(memory, output)

    def has_kernel(self, dtype: Any) -> bool:
        """Whether one kernel runs a whole sequence of this dtype, several times as fast where cells are small."""
        on_tpu = isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy)
        tanh = self.activation in (tf.keras.activations.tanh, tf.tanh)
        return tanh and dtype in (tf.float16, tf.float32) and not on_tpu

    def run(self, layer: Any, inputs: Any, sequence_length: Any, state: Any) -> tuple[Any, Any]:
        if not self.has_kernel(inputs.dtype):
            return super().run(layer, inputs, sequence_length, state)
        start = self.zero_state(tf.shape(inputs)[0], inputs.dtype) if state is None else LSTMStateTuple(*state)
        steps = run_lstm(swap_time(inputs), start, self.kernel, self.bias, self.forget_bias)
        outputs, last = end_sequences(steps[1], start, LSTMStateTuple(*steps), sequence_length)
        return swap_time(outputs), last


class PeepholeLSTMCell(LSTMCell):
    """``LSTMCell`` of TensorFlow 1 with ``use_peepholes``: gates see the memory too, each of its elements by a weight of its own;
    those of the entering and the kept see the one before the step, that of the shown the one after it."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        shape = (self.output_size,)
        self.kept_diagonal = self.add_started("w_f_diag", shape, self.initializer)
        self.entering_diagonal = self.add_started("w_i_diag", shape, self.initializer)
        self.shown_diagonal = self.add_started("w_o_diag", shape, self.initializer)

    def call(self, inputs: Any, state: Any) -> Any:
        memory, output = state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, output], 1), self.kernel), self.bias)
        entering, candidate, kept, shown = tf.split(gates, 4, axis=1)
        kept = tf.sigmoid(kept + self.forget_bias + self.kept_diagonal * memory)
        entering = tf.sigmoid(entering + self.entering_diagonal * memory)
        memory = kept * memory + entering * self.activation(candidate)
        output = tf.sigmoid(shown + self.shown_diagonal * memory) * self.activation(memory)
        return output, LSTMStateTuple(memory, output)

    def has_kernel(self, dtype: Any) -> bool:
        return False


class GRUCell(RecurrentCell):
    """``GRUCell`` of TensorFlow 1: the reset gate is applied before the matrix product; the bias of the gates starts at one.

    Args:
        num_units: size of the state, which is the output.
        activation: of the candidate.
        kernel_initializer: of both kernels; Glorot's uniform one by default.
        bias_initializer: of both biases; ones for the gates and zeros for the candidate by default.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(name=name)
        self.output_size = self.state_size = num_units
        self.activation = tf.keras.activations.get(activation)
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer

    def build(self, input_shape: Any) -> None:
        depth, units, kernel = input_shape[-1], self.output_size, self.kernel_initializer
        self.gate_kernel, self.gate_bias = self.add_kernel_and_bias(
            depth, 2 * units, kernel, self.bias_initializer or "ones", "gates/"
        )
        self.candidate_kernel, self.candidate_bias = self.add_kernel_and_bias(
            depth, units, kernel, self.bias_initializer or "zeros", "candidate/"
        )

    def call(self, inputs: Any, state: Any) -> Any:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self.gate_kernel), self.gate_bias)
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = tf.matmul(tf.concat([inputs, reset * state], 1), self.candidate_kernel)
        candidate = self.activation(tf.nn.bias_add(candidate, self.candidate_bias))
        output = update * state + (1.0 - update) * candidate
        return output, output


class BasicRNNCell(RecurrentCell):
    """``BasicRNNCell`` of TensorFlow 1: ``activation([inputs, state] @ kernel + bias)``.

    Args:
        num_units: size of the state, which is the output.
        activation: of the output.
    """

    def __init__(self, num_units: int, activation: Any = "tanh", name: str = "basic_rnn_cell") -> None:
        super().__init__(name=name)
        self.output_size = self.state_size = num_units
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        self.kernel, self.bias = self.add_kernel_and_bias(input_shape[-1], self.output_size, None)

    def call(self, inputs: Any, state: Any) -> Any:
        sums = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self.kernel), self.bias)
        output = self.activation(sums)
        return output, output


class MultiRNNCell(RecurrentCell):
    """Cells on top of each other; the state is the tuple of theirs."""

    def __init__(self, cells: Any, name: str = "multi_rnn_cell") -> None:
        super().__init__(name=name)
        self.cells = list(cells)
        self.state_size = tuple(cell.state_size for cell in self.cells)
        self.output_size = self.cells[-1].output_size

    def build(self, input_shape: Any) -> None:
        depth = input_shape[-1]
        for number, cell in enumerate(self.cells):
            with tf.name_scope(f"cell_{number}"):
                cell.build_in_scope(depth, self.default_initializer)
            depth = cell.output_size

    def call(self, inputs: Any, state: Any) -> Any:
        states = []
        for cell, one in zip(self.cells, state):
            inputs, new = cell(inputs, one)
            states.append(new)
        return inputs, tuple(states)

    def run(self, layer: Any, inputs: Any, sequence_length: Any, state: Any) -> tuple[Any, Any]:
        if not all(hasattr(cell, "has_kernel") and cell.has_kernel(inputs.dtype) for cell in self.cells):
            return super().run(layer, inputs, sequence_length, state)
        states = []
        for cell, one in zip(self.cells, state or [None] * len(self.cells)):
            inputs, last = cell.run(layer, inputs, sequence_length, one)
            states.append(last)
        return inputs, tuple(states)


class DropoutWrapper(RecurrentCell):
    """``DropoutWrapper`` of TensorFlow 1: drops elements of what goes into a cell and comes out of it, anew in each step.

    Args:
        cell: the cell.
        input_keep_prob: probability to keep an element of the inputs.
        output_keep_prob: of the outputs.
        state_keep_prob: of the new state; of an LSTM, only of its output.
        only_in_training: whether nothing is dropped outside of training.
    """

    def __init__(
        self,
        cell: RecurrentCell,
        input_keep_prob: float = 1.0,
        output_keep_prob: float = 1.0,
        state_keep_prob: float = 1.0,
        only_in_training: bool = True,
    ) -> None:
        super().__init__(name=cell.name)
        self.cell = cell
        self.state_size, self.output_size = cell.state_size, cell.output_size
        self.keep = input_keep_prob, output_keep_prob, state_keep_prob
        self.only_in_training = only_in_training

    def build_in_scope(self, depth: int, initializer: Any = None) -> None:
        self.cell.build_in_scope(depth, initializer)
        self.built = True

    def call(self, inputs: Any, state: Any, training: Any = False) -> Any:
        if self.only_in_training and not training:
            return self.cell(inputs, state)
        before, after, kept = self.keep
        output, new = self.cell(dropped(inputs, before), state)
        return dropped(output, after), dropped_state(new, kept)


def dropped(values: Any, keep_prob: float) -> Any:
    """`values`, of which each is kept with a probability."""
    return values if keep_prob >= 1.0 else tf.nn.dropout(values, rate=1.0 - keep_prob)


def dropped_state(state: Any, keep_prob: float) -> Any:
    """The state of a cell, of which each element is kept with a probability; the memory of an LSTM is kept whole."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(state.c, dropped(state.h, keep_prob))
    if isinstance(state, tuple):
        return tuple(dropped_state(part, keep_prob) for part in state)
    return dropped(state, keep_prob)


class ResidualWrapper(RecurrentCell):
    """``ResidualWrapper`` of TensorFlow 1: adds the inputs of a cell to its outputs."""

    def __init__(self, cell: RecurrentCell) -> None:
        super().__init__(name=cell.name)
        self.cell = cell
        self.state_size, self.output_size = cell.state_size, cell.output_size

    def build_in_scope(self, depth: int, initializer: Any = None) -> None:
        self.cell.build_in_scope(depth, initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        output, new = self.cell(inputs, state)
        return inputs + output, new


class CellInKeras(tf.keras.layers.Layer):
    """A cell as ``tf.keras.layers.RNN`` calls it: with the parts of its state in a list. It has to be built already."""

    def __init__(self, cell: Any) -> None:
        super().__init__(name=cell.name)
        self.cell, self.state_size, self.output_size = cell, tf.nest.flatten(cell.state_size), cell.output_size

    def call(self, inputs: Any, states: Any) -> Any:
        outputs, state = self.cell(inputs, tf.nest.pack_sequence_as(self.cell.state_size, tf.nest.flatten(states)))
        return outputs, tf.nest.flatten(state)


def swap_time(values: Any) -> Any:
    """``[batch, time, depth]`` from ``[time, batch, depth]``, and the other way round."""
    return tf.transpose(values, [1, 0, 2])


class DynamicRNN(tf.keras.layers.Layer):
    """``tf.compat.v1.nn.dynamic_rnn``: gives ``(outputs, state)``. Behind the end of a sequence the outputs are zero, and the
    state stands still. With ``time_major``, the first axis of inputs and outputs is time, else the second one. `initializer` is
    that of kernels whose cell has none."""

    def __init__(
        self, cell: RecurrentCell, time_major: bool = False, name: str | None = None, initializer: Any = None
    ) -> None:
        super().__init__(name=name)
        self.cell, self.time_major, self.initializer = cell, time_major, initializer
        inner = CellInKeras(cell)
        self.rnn = tf.keras.layers.RNN(inner, return_sequences=True, return_state=True, zero_output_for_mask=True)

    def build(self, input_shape: Any) -> None:
        self.cell.build_in_scope(input_shape[-1], self.initializer)
        self.built = True

    def call(self, inputs: Any, sequence_length: Any = None, initial_state: Any = None) -> Any:
        """``sequence_length`` are integers ``[batch]``, or None; ``initial_state`` is None for zeros."""
        inputs = swap_time(inputs) if self.time_major else inputs
        outputs, state = self.cell.run(self.rnn, inputs, sequence_length, initial_state)
        return (swap_time(outputs) if self.time_major else outputs), state


class StaticRNN(DynamicRNN):
    """``tf.compat.v1.nn.static_rnn``: takes and gives a list with one tensor ``[batch, depth]`` per step."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape[0])

    def call(self, inputs: Any, sequence_length: Any = None, initial_state: Any = None) -> Any:
        outputs, state = super().call(tf.stack(inputs, axis=1), sequence_length, initial_state)
        return tf.unstack(outputs, num=len(inputs), axis=1), state


class BidirectionalRNN(tf.keras.layers.Layer):
    """``tf.compat.v1.nn.bidirectional_dynamic_rnn``: gives the pair of outputs and the pair of states, forward first. With
    ``time_major``, the first axis of inputs and outputs is time. `initializer` is that of kernels whose cell has none."""

    def __init__(
        self,
        cell_fw: RecurrentCell,
        cell_bw: RecurrentCell,
        time_major: bool = False,
        name: str | None = None,
        initializer: Any = None,
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
