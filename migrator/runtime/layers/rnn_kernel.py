"""The kernel that runs an LSTM over a whole sequence: TensorFlow 1's equations and order of gates, without a loop."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def run_lstm(
    inputs: Any, state: Any, kernel: Any, bias: Any, forget_bias: float, cell_clip: float | None = None
) -> tuple[Any, Any]:
    """The memories and outputs ``[time, batch, units]`` after each step of ``inputs [time, batch, depth]``.

    Args:
        state: memory and output before the first step, each ``[batch, units]``.
        kernel: ``[depth + units, 4 * units]``, gates in the order input, candidate, forget, output.
        bias: ``[4 * units]``.
        forget_bias: added to the forget gate in each step.
        cell_clip: the memory stays between it and its negative; None for no limit.
    """
    memory, output = state
    no_peephole = tf.zeros([bias.shape[0] // 4], inputs.dtype)
    steps = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.shape(inputs, out_type=tf.int64)[0],
        x=inputs,
        cs_prev=memory,
        h_prev=output,
        w=kernel,
        wci=no_peephole,
        wcf=no_peephole,
        wco=no_peephole,
        b=bias,
        forget_bias=forget_bias,
        cell_clip=-1 if cell_clip is None else cell_clip,
    )
    return steps.cs, steps.h


def end_sequences(outputs: Any, start: Any, states: Any, lengths: Any) -> tuple[Any, Any]:
    """Outputs ``[time, batch, units]`` with zeros behind the end of each sequence, and the state at its end.

    Args:
        start: structure of the state before the first step, parts ``[batch, units]``.
        states: of the same structure, after each step, parts ``[time, batch, units]``.
        lengths: integers ``[batch]``, or None where every sequence lasts to the last step.
    """
    if lengths is None:
        return outputs, tf.nest.map_structure(lambda first, later: tf.concat([[first], later], 0)[-1], start, states)
    lengths = tf.cast(lengths, tf.int32)
    steps, batch = tf.unstack(tf.shape(outputs)[:2])
    running = tf.transpose(tf.sequence_mask(lengths, steps))[:, :, tf.newaxis]
    ends = tf.stack([lengths, tf.range(batch)], axis=1)  # index 0 is the state before the first step
    last = tf.nest.map_structure(lambda first, later: tf.gather_nd(tf.concat([[first], later], 0), ends), start, states)
    return tf.where(running, outputs, tf.zeros_like(outputs)), last
