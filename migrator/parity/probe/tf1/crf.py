"""`tf.contrib.crf` for the old side: linear-chain conditional random fields as recurrent loops, which TensorFlow 1.15 used.

What migrated programs use goes another way, without recurrent cells, so that this is a reference to compare with.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..vendored_source import runtime

v1 = tf.compat.v1
viterbi_decode = runtime("crf").viterbi_decode
RNNCell: Any = v1.nn.rnn_cell.RNNCell
__all__ = [
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


class _Cell(RNNCell):  # type: ignore[misc]
    """A step of the forward algorithm: sums over the tags before, or takes the best one and says which it was."""

    def __init__(self, transition_params: Any, best: bool) -> None:
        super().__init__()
        self._transitions = tf.expand_dims(transition_params, 0)
        self._tags = transition_params.shape[0]
        self._best = best

    @property
    def state_size(self) -> Any:
        return self._tags

    @property
    def output_size(self) -> Any:
        return self._tags

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        paths = tf.expand_dims(state, 2) + self._transitions
        if self._best:
            return tf.cast(tf.argmax(paths, 1), tf.int32), inputs + tf.reduce_max(paths, [1])
        alphas = inputs + tf.reduce_logsumexp(paths, [1])
        return alphas, alphas


class _BackwardCell(RNNCell):  # type: ignore[misc]
    """A step of decoding: the tag before."""

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        state = tf.squeeze(state, axis=[1])
        indices = tf.stack([tf.range(tf.shape(inputs)[0]), state], axis=1)
        tags = tf.expand_dims(tf.gather_nd(inputs, indices), axis=-1)
        return tags, tags


def _less_one(lengths: Any) -> Any:
    return tf.maximum(tf.constant(0, dtype=lengths.dtype), lengths - 1)


def _by_length(inputs: Any, single: Any, several: Any) -> Any:
    """One way for sequences of one step, another one for all others."""
    steps = inputs.shape[1]
    if steps is not None:
        return single() if steps == 1 else several()
    return v1.cond(tf.equal(tf.shape(inputs)[1], 1), single, several)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    batch, steps, tags = tf.shape(inputs)[0], tf.shape(inputs)[1], tf.shape(inputs)[2]
    offsets = tf.expand_dims(tf.range(batch) * steps * tags, 1)
    offsets += tf.expand_dims(tf.range(steps) * tags, 0)
    if tag_indices.dtype == tf.int64:
        offsets = tf.cast(offsets, tf.int64)
    flat = tf.reshape(offsets + tag_indices, [-1])
    scores = tf.reshape(tf.gather(tf.reshape(inputs, [-1]), flat), [batch, steps])
    masks = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=tf.float32)
    return tf.reduce_sum(scores * masks, 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    tags = transition_params.get_shape()[0]
    transitions = tf.shape(tag_indices)[1] - 1
    starts = tf.slice(tag_indices, [0, 0], [-1, transitions])
    ends = tf.slice(tag_indices, [0, 1], [-1, transitions])
    scores = tf.gather(tf.reshape(transition_params, [-1]), starts * tags + ends)
    masks = tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=tf.float32)
    return tf.reduce_sum(scores * tf.slice(masks, [0, 1], [-1, -1]), 1)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    def single() -> Any:
        batch = tf.shape(inputs, out_type=tag_indices.dtype)[0]
        examples = tf.reshape(tf.range(batch, dtype=tag_indices.dtype), [-1, 1])
        scores = tf.gather_nd(tf.squeeze(inputs, [1]), tf.concat([examples, tag_indices], axis=1))
        return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(scores), scores)

    def several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _by_length(inputs, single, several)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def masked(norm: Any) -> Any:
        return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(norm), norm)

    def several() -> Any:
        _, alphas = v1.nn.dynamic_rnn(
            cell=_Cell(transition_params, best=False),
            inputs=tf.slice(inputs, [0, 1, 0], [-1, -1, -1]),
            sequence_length=_less_one(sequence_lengths),
            initial_state=first,
            dtype=tf.float32,
        )
        return masked(tf.reduce_logsumexp(alphas, [1]))

    return _by_length(inputs, lambda: masked(tf.reduce_logsumexp(first, [1])), several)


def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None) -> Any:
    if transition_params is None:
        tags = inputs.shape[2]
        transition_params = v1.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Any:
    def single() -> Any:
        scores = tf.squeeze(potentials, [1])
        return tf.cast(tf.expand_dims(tf.argmax(scores, axis=1), 1), tf.int32), tf.reduce_max(scores, axis=1)

    def several() -> Any:
        less_one = _less_one(sequence_length)
        backpointers, last = v1.nn.dynamic_rnn(
            _Cell(transition_params, best=True),
            inputs=tf.slice(potentials, [0, 1, 0], [-1, -1, -1]),
            sequence_length=less_one,
            initial_state=tf.squeeze(tf.slice(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1]),
            dtype=tf.int32,
        )
        backpointers = tf.reverse_sequence(backpointers, less_one, seq_axis=1)
        start = tf.expand_dims(tf.cast(tf.argmax(last, axis=1), tf.int32), axis=-1)
        tags, _ = v1.nn.dynamic_rnn(
            _BackwardCell(), inputs=backpointers, sequence_length=less_one, initial_state=start, dtype=tf.int32
        )
        tags = tf.concat([start, tf.squeeze(tags, axis=[2])], axis=1)
        return tf.reverse_sequence(tags, sequence_length, seq_axis=1), tf.reduce_max(last, axis=1)

    return _by_length(potentials, single, several)
