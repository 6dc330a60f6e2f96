"""The kernel that runs an LSTM over a whole sequence, TensorFlow 1's equations and order of gates without a loop, and the cells
that can be run so."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def run_lstm(
    inputs: Any, state: Any, kernel: Any, bias: Any, forget_bias: float, cell_clip: float | None = None
) -> tuple[Any, Any]:
    """The memories and outputs ``[time, batch, units]`` after each step of ``inputs [time, batch, depth]``.

    The kernel is ``[depth + units, 4 * units]``, gates in the order input, candidate, forget, output; ``state`` is the memory
    and the output before the first step. The memory stays between ``cell_clip`` and its negative.
    """
    shapes = {"seq_len_max": tf.shape(inputs, out_type=tf.int64)[0], "cs_prev": state[0], "h_prev": state[1]}
    peepholes = dict.fromkeys(("wci", "wcf", "wco"), tf.zeros([bias.shape[0] // 4], inputs.dtype))
    clip = -1 if cell_clip is None else cell_clip
    weights = {"w": kernel, "b": bias, "forget_bias": forget_bias, "cell_clip": clip, **peepholes}
    steps = tf.raw_ops.BlockLSTM(x=inputs, **shapes, **weights)
    return steps.cs, steps.h


def end_sequences(outputs: Any, start: Any, states: Any, lengths: Any) -> tuple[Any, Any]:
    """Outputs ``[time, batch, units]`` with zeros behind the end of each sequence, and the state at its end: of `states` after
    each step, ``[time, batch, units]``, and `start` before the first one. ``lengths [batch]`` are None for whole sequences."""
    if lengths is None:
        return outputs, tf.nest.map_structure(lambda first, later: tf.concat([[first], later], 0)[-1], start, states)
    steps, batch = tf.unstack(tf.shape(outputs)[:2])
    running = tf.transpose(tf.sequence_mask(lengths, steps))[:, :, tf.newaxis]
    ends = tf.stack([tf.cast(lengths, tf.int32), tf.range(batch)], axis=1)  # index 0 is the state before the first step
    last = tf.nest.map_structure(lambda first, later: tf.gather_nd(tf.concat([[first], later], 0), ends), start, states)
    return tf.where(running, outputs, tf.zeros_like(outputs)), last


def run_cell(cell: Any, inputs: Any, start: Any, training: Any) -> Any:
    """Outputs ``[time, batch, units]`` and the states after each step, by the kernel; None where a cell needs a loop."""
    if not isinstance(cell, tf.keras.layers.StackedRNNCells):
        return cell.run(inputs, start, training) if hasattr(cell, "run") else None
    states = []
    for one, state in zip(cell.cells, start):
        found = run_cell(one, inputs, state, training)
        if found is None:
            return None
        inputs, after = found
        states.append(after)
    return inputs, states
