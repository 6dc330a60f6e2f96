"""What an `input_fn` may take and return."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.inputs import ModeKeys, as_dataset, call_input_fn, features_only, is_endless


def first(dataset: tf.data.Dataset) -> Any:
    return tf.nest.map_structure(lambda tensor: tensor.numpy().tolist(), next(iter(dataset)))


def with_mode(size: int, mode: str, params: Any = None, other: int = 7) -> Any:
    return tf.constant([size, len(mode), params, other])


class Callable_:
    def __call__(self, config: str) -> Any:
        return tf.constant([config])


@pytest.mark.parametrize(
    ("input_fn", "expected"),
    [
        (lambda: tf.constant([1]), [1]),
        (lambda params: tf.constant([params]), [5]),
        (lambda mode, size=3: tf.constant([mode, str(size)]), [b"train", b"3"]),
        (functools.partial(with_mode, 2), [2, 5, 5, 7]),
        (functools.partial(with_mode, size=2, other=1), [2, 5, 5, 1]),
        (Callable_(), [b"the config"]),
        (lambda input_context: tf.constant([input_context.num_input_pipelines]), [1]),
    ],
)
def test_arguments(input_fn: Any, expected: list[Any]) -> None:
    assert first(call_input_fn(input_fn, ModeKeys.TRAIN, 5, "the config")) == expected


def test_not_callable() -> None:
    with pytest.raises(TypeError, match="function"):
        call_input_fn(tf.data.Dataset.range(2), ModeKeys.TRAIN, None, None)  # type: ignore[arg-type]


def test_datasets_stay_as_they_are() -> None:
    new, old = tf.data.Dataset.range(3), tf.compat.v1.data.Dataset.range(3)
    assert as_dataset(new) is new
    assert as_dataset(old) is old


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (([1], [2]), ([1], [2])),
        (({"a": [1]}, None), {"a": [1]}),
        ([[1], [2]], ([1], [2])),
        (([1],), [1]),
        ({"a": [1]}, {"a": [1]}),
    ],
)
def test_tensors_repeat(data: Any, expected: Any) -> None:
    dataset = as_dataset(tf.nest.map_structure(lambda x: None if x is None else tf.constant(x), data))
    assert is_endless(dataset)
    assert first(dataset.skip(3)) == expected


def test_tuples_of_other_lengths() -> None:
    with pytest.raises(ValueError, match="tuple of 3"):
        as_dataset((1, 2, 3))


def test_labels_are_dropped() -> None:
    assert first(features_only(as_dataset(({"a": tf.constant([1])}, tf.constant([2]))))) == {"a": [1]}
    assert first(features_only(as_dataset({"a": tf.constant([1])}))) == {"a": [1]}
    assert not is_endless(features_only(tf.data.Dataset.range(2)))
