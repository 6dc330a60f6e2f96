"""Recurrent cells of ``tf.compat.v1.nn.rnn_cell`` for ``tf.keras.layers.RNN``, with TensorFlow 1's variables and equations.

Keras's ``LSTM`` and ``GRU`` order the gates otherwise, keep two kernels where TensorFlow 1 has one over ``[inputs, h]``, and
add the forget bias to the initial bias instead of to the gate. Equations:
``tensorflow/python/keras/layers/legacy_rnn/rnn_cell_impl.py``.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn_kernel import run_cell, run_lstm


def add_kernel(cell: Any, name: str, shape: Any, initializer: Any) -> Any:
    """A weight with values of its own: Glorot's uniform ones by default."""
    if isinstance(initializer, tf.keras.initializers.Initializer):  # one object gives the same values each time
        initializer = type(initializer).from_config(initializer.get_config())
    return cell.add_weight(name=name, shape=shape, initializer=initializer or "glorot_uniform")


class LSTMCell(tf.keras.layers.Layer):
    """LSTM with one kernel over inputs and output, gates in the order input, candidate, forget, output.

    Keras's has two kernels, another order, and its forget bias in the initial bias.
    """

    def __init__(
        self, units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Any = "tanh", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.output_size, self.state_size = units, [units, units]
        self.initializer, self.forget_bias = initializer, forget_bias
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        units = self.output_size
        self.kernel = add_kernel(self, "kernel", [input_shape[-1] + units, 4 * units], self.initializer)
        self.bias = self.add_weight(name="bias", shape=[4 * units], initializer="zeros")

    def call(self, inputs: Any, states: Any) -> Any:
        memory, output = states
        gates = tf.matmul(tf.concat([inputs, output], 1), self.kernel) + self.bias
        entering, candidate, kept, shown = tf.split(gates, 4, axis=1)
        memory = memory * tf.sigmoid(kept + self.forget_bias) + tf.sigmoid(entering) * self.activation(candidate)
        output = self.activation(memory) * tf.sigmoid(shown)
        return output, [memory, output]

    def run(self, inputs: Any, start: Any, training: Any) -> Any:
        """Outputs and states after each step of ``inputs [time, batch, depth]``; None where no kernel has the activation."""
        if self.activation not in (tf.tanh, tf.keras.activations.tanh):
            return None
        memories, outputs = run_lstm(inputs, start, self.kernel, self.bias, self.forget_bias)
        return outputs, [memories, outputs]


class PeepholeLSTMCell(LSTMCell):
    """``LSTMCell`` of TensorFlow 1 with ``use_peepholes``: gates see the memory too, each of its elements by a weight of its own;
    those of the entering and the kept see the one before the step, that of the shown the one after it."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        shape = [self.output_size]
        self.kept_diagonal = add_kernel(self, "w_f_diag", shape, self.initializer)
        self.entering_diagonal = add_kernel(self, "w_i_diag", shape, self.initializer)
        self.shown_diagonal = add_kernel(self, "w_o_diag", shape, self.initializer)

    def call(self, inputs: Any, states: Any) -> Any:
        memory, output = states
        gates = tf.matmul(tf.concat([inputs, output], 1), self.kernel) + self.bias
        entering, candidate, kept, shown = tf.split(gates, 4, axis=1)
        kept = tf.sigmoid(kept + self.forget_bias + self.kept_diagonal * memory)
        entering = tf.sigmoid(entering + self.entering_diagonal * memory)
        memory = kept * memory + entering * self.activation(candidate)
        output = tf.sigmoid(shown + self.shown_diagonal * memory) * self.activation(memory)
        return output, [memory, output]

    def run(self, inputs: Any, start: Any, training: Any) -> Any:
        """None: the loop runs this cell."""
        return None


class GRUCell(tf.keras.layers.Layer):
    """GRU whose reset gate is applied before the matrix product, with a kernel over inputs and state for the gates, and one for
    the candidate. The bias of the gates starts at one."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.output_size = self.state_size = units
        self.activation = tf.keras.activations.get(activation)
        self.initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        units = self.output_size
        depth = input_shape[-1] + units
        bias = self.bias_initializer
        self.gate_kernel = add_kernel(self, "gates_kernel", [depth, 2 * units], self.initializer)
        self.gate_bias = self.add_weight(name="gates_bias", shape=[2 * units], initializer=bias or "ones")
        self.candidate_kernel = add_kernel(self, "candidate_kernel", [depth, units], self.initializer)
        self.candidate_bias = self.add_weight(name="candidate_bias", shape=[units], initializer=bias or "zeros")

    def call(self, inputs: Any, states: Any) -> Any:
        (state,) = tf.nest.flatten(states)
        gates = tf.matmul(tf.concat([inputs, state], 1), self.gate_kernel) + self.gate_bias
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = tf.matmul(tf.concat([inputs, reset * state], 1), self.candidate_kernel) + self.candidate_bias
        output = update * state + (1.0 - update) * self.activation(candidate)
        return output, [output]


class BasicRNNCell(tf.keras.layers.Layer):
    """``activation([inputs, state] @ kernel + bias)``."""

    initializer: Any = None

    def __init__(self, units: int, activation: Any = "tanh", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.output_size = self.state_size = units
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        units = self.output_size
        self.kernel = add_kernel(self, "kernel", [input_shape[-1] + units, units], self.initializer)
        self.bias = self.add_weight(name="bias", shape=[units], initializer="zeros")

    def call(self, inputs: Any, states: Any) -> Any:
        (state,) = tf.nest.flatten(states)
        output = self.activation(tf.matmul(tf.concat([inputs, state], 1), self.kernel) + self.bias)
        return output, [output]


class OwnCell(tf.keras.layers.Layer):
    """Base of the program's own cells, whose `call` takes and gives a state in the structure of their `state_size`.

    Its layers get their weights by a step with zeros, before the first sequence.
    """

    state_size: Any

    def build(self, input_shape: Any) -> None:
        zeros = tf.nest.map_structure(lambda size: tf.zeros([1, size]), self.state_size)
        self.call(tf.zeros([1, input_shape[-1]]), zeros)

    def __call__(self, inputs: Any, states: Any, *args: Any, **kwargs: Any) -> Any:
        state = tf.nest.pack_sequence_as(self.state_size, tf.nest.flatten(states))
        output, state = super().__call__(inputs, state, *args, **kwargs)
        return output, tf.nest.flatten(state) if isinstance(states, list) else state  # Keras has the parts in a list


class CellWrapper(tf.keras.layers.Layer):
    """Runs another cell, of whose weights and state it has no more."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell, self.state_size, self.output_size = cell, cell.state_size, cell.output_size

    def build(self, input_shape: Any) -> None:
        if not self.cell.built:
            with tf.name_scope(self.cell.name):
                self.cell.build(input_shape)
            self.cell.built = True

    def get_initial_state(self, **kwargs: Any) -> Any:
        """The state before the first step."""
        zeros = tf.keras.layers.StackedRNNCells([self.cell]).get_initial_state(**kwargs)
        return zeros[0]


class DropoutWrapper(CellWrapper):
    """Drops elements of what goes into a cell and comes out of it, anew in each step; of the state of an LSTM, the memory is
    kept whole. Nothing is dropped outside of training, but if `only_in_training` is False."""

    def __init__(
        self,
        cell: Any,
        input_keep_prob: float = 1.0,
        output_keep_prob: float = 1.0,
        state_keep_prob: float = 1.0,
        only_in_training: bool = True,
    ) -> None:
        super().__init__(cell)
        self.keep = input_keep_prob, output_keep_prob, state_keep_prob
        self.only_in_training = only_in_training

    def call(self, inputs: Any, states: Any, training: Any = False) -> Any:
        before, after, kept = self.keep if training or not self.only_in_training else (1.0, 1.0, 1.0)
        output, states = self.cell(dropped(inputs, before), states)
        if kept < 1.0:
            *memory, state = states
            states = [*memory, dropped(state, kept)]
        return dropped(output, after), states

    def run(self, inputs: Any, start: Any, training: Any) -> Any:
        """As that of its cell; None where the state is dropped, too."""
        before, after, kept = self.keep if training or not self.only_in_training else (1.0, 1.0, 1.0)
        found = None if kept < 1.0 else run_cell(self.cell, dropped(inputs, before), start, training)
        return None if found is None else (dropped(found[0], after), found[1])


def dropped(values: Any, keep_prob: float) -> Any:
    """`values`, of which each is kept with a probability."""
    return values if keep_prob >= 1.0 else tf.nn.dropout(values, rate=1.0 - keep_prob)


class ResidualWrapper(CellWrapper):
    """Adds the inputs of a cell to its outputs."""

    def call(self, inputs: Any, states: Any) -> Any:
        output, states = self.cell(inputs, states)
        return inputs + output, states

    def run(self, inputs: Any, start: Any, training: Any) -> Any:
        """As that of its cell."""
        found = run_cell(self.cell, inputs, start, training)
        return None if found is None else (inputs + found[0], found[1])
