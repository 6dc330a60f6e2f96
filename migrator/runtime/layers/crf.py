"""Linear-chain conditional random fields, as `tf.contrib.crf` computed them.

Shapes: ``inputs [batch, time, tags]`` are scores of tags, ``tag_indices [batch, time]`` integers, ``sequence_lengths [batch]``
integers, ``transition_params [tags, tags]`` scores of a tag after another one. The forward algorithm and Viterbi's:
Collins, "The Forward-Backward Algorithm".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> tuple[tf.Tensor, Any]:
    """The log-likelihood ``[batch]`` of sequences of tags, and the transitions as they were given."""
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The score ``[batch]`` of sequences of tags, not normalized."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> tf.Tensor:
    """The sum ``[batch]`` of the scores of the tags, without those of transitions."""
    batch, steps, tags = tf.unstack(tf.shape(inputs, out_type=tag_indices.dtype))
    starts = (tf.range(batch)[:, tf.newaxis] * steps + tf.range(steps)) * tags
    scores = tf.gather(tf.reshape(inputs, [-1]), starts + tag_indices)
    return tf.reduce_sum(scores * tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], scores.dtype), axis=1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The sum ``[batch]`` of the scores of the transitions."""
    indices = tag_indices[:, :-1] * transition_params.shape[0] + tag_indices[:, 1:]
    scores = tf.gather(tf.reshape(transition_params, [-1]), indices)
    mask = tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], scores.dtype)
    return tf.reduce_sum(scores * mask[:, 1:], axis=1)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The logarithm ``[batch]`` of the sum over all sequences of tags; zero for empty ones."""

    def step(alphas: tf.Tensor, elements: Any) -> tf.Tensor:
        time, scores = elements
        later = scores + tf.reduce_logsumexp(alphas[:, :, tf.newaxis] + transition_params, axis=1)
        return tf.where((time < sequence_lengths)[:, tf.newaxis], later, alphas)

    times = tf.range(1, tf.shape(inputs)[1])
    by_time = tf.transpose(inputs, [1, 0, 2])
    alphas = tf.foldl(step, (tf.cast(times, sequence_lengths.dtype), by_time[1:]), initializer=by_time[0])
    return tf.where(sequence_lengths <= 0, 0.0, tf.reduce_logsumexp(alphas, axis=1))


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """The best tags ``[batch, time]``, int32 and zero behind the end, and their score ``[batch]``; Viterbi's algorithm."""
    by_time = tf.transpose(potentials, [1, 0, 2])
    times = tf.range(1, tf.shape(potentials)[1], dtype=sequence_length.dtype)

    def forward(state: Any, elements: Any) -> Any:
        _, best = state
        time, scores = elements
        paths = best[:, :, tf.newaxis] + transition_params
        running = (time < sequence_length)[:, tf.newaxis]
        origins = tf.where(running, tf.argmax(paths, axis=1, output_type=tf.int32), 0)
        return origins, tf.where(running, scores + tf.reduce_max(paths, axis=1), best)

    nowhere = tf.zeros_like(by_time[0], tf.int32)
    origins, bests = tf.scan(forward, (times, by_time[1:]), initializer=(nowhere, by_time[0]))
    best = tf.concat([by_time[:1], bests], axis=0)[-1]
    origins = tf.reverse_sequence(origins, tf.maximum(sequence_length - 1, 0), seq_axis=0, batch_axis=1)

    def backward(tag: tf.Tensor, elements: Any) -> tf.Tensor:
        time, origin = elements
        return tf.where(time < sequence_length, tf.gather(origin, tag, batch_dims=1), 0)

    last = tf.argmax(best, axis=1, output_type=tf.int32)
    tags = tf.concat([last[tf.newaxis], tf.scan(backward, (times, origins), initializer=last)], axis=0)
    tags = tf.reverse_sequence(tf.transpose(tags), sequence_length, seq_axis=1)
    return tf.ensure_shape(tags, [potentials.shape[0], potentials.shape[1]]), tf.reduce_max(best, axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], float]:
    """The best tags of one sequence, of ``score [time, tags]``, and their score; NumPy."""
    trellis, origins = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for time in range(1, len(score)):
        paths = trellis[time - 1][:, np.newaxis] + transition_params
        trellis[time] = score[time] + np.max(paths, 0)
        origins[time] = np.argmax(paths, 0)
    tags = [int(np.argmax(trellis[-1]))]
    for origin in origins[:0:-1]:
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], np.max(trellis[-1])
