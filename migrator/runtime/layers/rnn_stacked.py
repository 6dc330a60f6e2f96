"""Recurrent layers of both directions on top of each other, as `tf.contrib.rnn` had them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.rnn import BidirectionalRNN


class StackedBidirectionalRNN(tf.keras.layers.Layer):
    """``tf.contrib.rnn.stack_bidirectional_dynamic_rnn``: both directions of a layer, side by side, go into the next one. Gives
    the outputs ``[batch, time, units of both]`` of the last layer, and the last states of each direction, a tuple with one of
    each layer. `initializer` is that of kernels whose cell has none."""

    def __init__(
        self,
        cells_fw: Any,
        cells_bw: Any,
        time_major: bool = False,
        name: str | None = None,
        initializer: Any = None,
    ) -> None:
        super().__init__(name=name)
        pairs = enumerate(zip(cells_fw, cells_bw))
        self.stacked = [BidirectionalRNN(*cells, time_major, f"cell_{n}", initializer) for n, cells in pairs]

    def call(
        self, inputs: Any, sequence_length: Any = None, initial_states_fw: Any = None, initial_states_bw: Any = None
    ) -> Any:
        states = []
        for n, layer in enumerate(self.stacked):
            start = [None if each is None else each[n] for each in (initial_states_fw, initial_states_bw)]
            outputs, state = layer(inputs, sequence_length, *start)
            inputs = tf.concat(outputs, axis=-1)
            states.append(state)
        forward, backward = zip(*states)
        return inputs, forward, backward
