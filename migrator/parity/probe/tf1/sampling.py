"""Candidates of `tf.nn.sampled_softmax_loss` and `tf.nn.nce_loss`, drawn once from their distribution.

A sampler gives, besides the candidates, how often it would have drawn each class. Formula of the expected counts:
tensorflow/core/kernels/range_sampler.cc, `ExpectedCountHelper`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np

_SEED = 20162
_CHUNK = 4096


def draw(probabilities: np.ndarray[Any, Any], number: int, unique: bool) -> tuple[np.ndarray[Any, Any], int]:
    """Candidates (int64, of length `number`), and how many had to be drawn. Raises ValueError for too few classes."""
    if unique and np.count_nonzero(probabilities) < number:
        raise ValueError(f"{number} different candidates of {np.count_nonzero(probabilities)} classes")
    random, edges = np.random.RandomState(_SEED), np.cumsum(probabilities / probabilities.sum())
    edges[-1] = 1.0
    if not unique:
        return np.searchsorted(edges, random.random_sample(number), side="right"), number
    found: dict[int, None] = {}
    tries = 0
    while len(found) < number:
        drawn = np.searchsorted(edges, random.random_sample(_CHUNK), side="right")
        for candidate in drawn.tolist():
            tries += 1
            found[candidate] = None
            if len(found) == number:
                break
    return np.array([*found], np.int64), tries


def sample(classes: Any, number: int, unique: bool, probabilities: np.ndarray[Any, Any]) -> Any:
    """Candidates, and the counts that are expected of the true `classes` (int64 [batch, true]) and of them."""
    import tensorflow as tf

    candidates, tries = draw(probabilities, number, unique)
    share = probabilities / probabilities.sum()
    counts = share * number if tries == number else -np.expm1(tries * np.log1p(-share))
    table = tf.constant(counts, tf.float32)
    return tf.constant(candidates), tf.gather(table, classes), tf.constant(counts[candidates], tf.float32)


def log_uniform(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, *rest: Any, **named: Any
) -> Any:
    """For classes in the order of their frequency."""
    numbers = np.arange(range_max, dtype=np.float64)
    return sample(
        true_classes, num_sampled, unique, np.log((numbers + 2.0) / (numbers + 1.0)) / np.log(range_max + 1.0)
    )


def uniform(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, *rest: Any, **named: Any
) -> Any:
    """For classes that are all as frequent."""
    return sample(true_classes, num_sampled, unique, np.full(range_max, 1.0 / range_max))


def fixed_unigram(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: Any = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    **named: Any,
) -> Any:
    """For classes of given frequencies; the last field of a line of the file is the one of a class."""
    weights = [0.0] * num_reserved_ids
    if vocab_file:
        with open(vocab_file, encoding="utf-8", newline="") as lines:
            unigrams = [float(row[-1]) for row in csv.reader(lines) if row]
    weights += [float(value) ** distortion for value in unigrams]
    kept = [weight if index % num_shards == shard else 0.0 for index, weight in enumerate(weights)]
    return sample(true_classes, num_sampled, unique, np.array(kept))


SAMPLERS = {
    "log_uniform_candidate_sampler": log_uniform,
    "uniform_candidate_sampler": uniform,
    "fixed_unigram_candidate_sampler": fixed_unigram,
}
