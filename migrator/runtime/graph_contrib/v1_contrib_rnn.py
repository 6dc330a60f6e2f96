"""Recurrent cells and loops of `tf.contrib.rnn` that TensorFlow 2 has no more, for graphs of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def lstm_block_cell(
    num_units: int,
    forget_bias: float = 1.0,
    cell_clip: float | None = None,
    use_peephole: bool = False,
    dtype: Any = None,
    reuse: Any = None,
    name: str = "lstm_cell",
) -> Any:
    """``tf.contrib.rnn.LSTMBlockCell``: an `LSTMCell` with the same variables, whose kernel was one operation there.

    Raises ValueError for a `cell_clip`, through which that operation let gradients pass.
    """
    if cell_clip is not None and cell_clip > 0:
        raise ValueError("LSTMBlockCell with cell_clip is not supported")
    return tf.compat.v1.nn.rnn_cell.LSTMCell(
        num_units,
        use_peepholes=use_peephole,
        forget_bias=forget_bias,
        dtype=dtype,
        reuse=reuse,
        name=name,
    )


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Any:
    """Bidirectional layers on top of each other: each reads both outputs of the one below, joined.

    Args:
      cells_fw: one cell for each layer, forward; `cells_bw` as many backward.
      inputs: ``[batch, time, depth]``, or time first with `time_major`.

    Returns:
      The outputs of the last layer, joined, and a tuple each of the final states forward and backward.

    Raises:
      ValueError: if there are no cells, or not as many backward as forward.
    """
    if not cells_fw or len(cells_fw) != len(cells_bw):
        raise ValueError("there must be as many cells backward as forward, and at least one")
    states_fw, states_bw = [], []
    with tf.compat.v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw)):
            with tf.compat.v1.variable_scope(f"cell_{number}"):
                outputs, states = tf.compat.v1.nn.bidirectional_dynamic_rnn(
                    forward,
                    backward,
                    inputs,
                    sequence_length=sequence_length,
                    initial_state_fw=initial_states_fw[number] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[number] if initial_states_bw else None,
                    dtype=dtype,
                    parallel_iterations=parallel_iterations,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = tf.concat(outputs, 2)
            states_fw.append(states[0])
            states_bw.append(states[1])
    return inputs, tuple(states_fw), tuple(states_bw)
