"""`migrator.runtime.layers.crf` against the code of TensorFlow 1.15, and against all sequences counted one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.tf1 import crf as reference
from migrator.runtime.layers import crf

TAGS = 3
LENGTHS = {1: [1, 0, 1, 1], 4: [4, 0, 1, 3]}


def example(steps: int, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """Scores, tags, lengths and transitions."""
    random = np.random.RandomState(steps)
    lengths = np.array(LENGTHS[steps], dtype)
    tags = random.randint(0, TAGS, (4, steps)).astype(dtype)
    scores, transitions = random.normal(size=(4, steps, TAGS)), random.normal(size=(TAGS, TAGS))
    return scores.astype(np.float32), tags, lengths, transitions.astype(np.float32)


def in_graph(function: Any, *arrays: np.ndarray, known: bool = True) -> Any:
    """Values in a graph of TensorFlow 1; without `known`, the number of steps is not in the shapes."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        shapes = [a.shape if known or a.ndim < 2 or a.shape[0] == TAGS else (None, None, *a.shape[2:]) for a in arrays]
        feeds = [tf.compat.v1.placeholder(a.dtype, shape) for a, shape in zip(arrays, shapes)]
        return session.run(function(*feeds), dict(zip(feeds, arrays)))


def close(new: Any, old: Any) -> None:
    for one, other in zip(tf.nest.flatten(new), tf.nest.flatten(old)):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("known", [True, False])
def test_likelihood_and_gradients_are_those_of_contrib(steps: int, dtype: Any, known: bool) -> None:
    def with_gradients(module: Any) -> Any:
        def function(scores: Any, tags: Any, lengths: Any, transitions: Any) -> Any:
            likelihood, same = module.crf_log_likelihood(scores, tags, lengths, transitions)
            return likelihood, tf.gradients(likelihood, [scores, same], unconnected_gradients="zero")

        return function

    arrays = example(steps, dtype)
    close(
        in_graph(with_gradients(crf), *arrays, known=known), in_graph(with_gradients(reference), *arrays, known=known)
    )


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("known", [True, False])
def test_decoding_is_that_of_contrib(steps: int, known: bool) -> None:
    scores, _, lengths, transitions = example(steps, np.int32)
    arrays = scores, transitions, lengths
    close(in_graph(crf.crf_decode, *arrays, known=known), in_graph(reference.crf_decode, *arrays, known=known))


def test_the_norm_counts_all_sequences() -> None:
    scores, _, lengths, transitions = example(4, np.int32)
    expected = []
    for row, length in zip(scores, lengths):
        totals = [
            sum(row[time, tag] for time, tag in enumerate(path))
            + sum(transitions[before, after] for before, after in zip(path, path[1:]))
            for path in itertools.product(range(TAGS), repeat=int(length))
        ]
        expected.append(np.log(np.sum(np.exp(totals))))
    np.testing.assert_allclose(crf.crf_log_norm(scores, tf.constant(lengths), transitions), expected, rtol=1e-5)


def test_decoding_outside_of_tensorflow_agrees() -> None:
    scores, _, lengths, transitions = example(4, np.int32)
    tags, best = crf.crf_decode(tf.constant(scores), tf.constant(transitions), tf.constant(lengths))
    for row, (path, length) in enumerate(zip(tags.numpy(), lengths)):
        if length:
            expected, score = crf.viterbi_decode(scores[row, :length], transitions)
            assert path[:length].tolist() == expected
            np.testing.assert_allclose(best[row], score, rtol=1e-6)
        assert not path[max(length, 1) :].any()


def test_padding_with_tags_that_do_not_exist_counts_nothing() -> None:
    scores, tags, lengths, transitions = (tf.constant(array) for array in example(4, np.int64))
    beyond = tf.sequence_mask(lengths, 4)
    first, _ = crf.crf_log_likelihood(scores, tags, lengths, transitions)
    second, _ = crf.crf_log_likelihood(scores, tf.where(beyond, tags, 0), lengths, transitions)
    np.testing.assert_array_equal(first, second)
