"""What an `input_fn` may take and return."""

from __future__ import annotations

import functools
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.training.inputs import ModeKeys, read_input

CONFIG = SimpleNamespace(tf_random_seed=None)


def read(input_fn: Any, params: Any = None) -> tf.data.Dataset:
    state = SimpleNamespace(params=params, run=SimpleNamespace(input_context=lambda mode: None))
    model = SimpleNamespace(run_config=CONFIG, run_state=state)
    return read_input(model, input_fn, ModeKeys.TRAIN)


def first(dataset: tf.data.Dataset) -> Any:
    return tf.nest.map_structure(lambda tensor: tensor.numpy().tolist(), next(iter(dataset)))


def with_mode(size: int, mode: str, params: Any = None, other: int = 7) -> Any:
    return tf.constant([size, len(mode), params, other])


class Callable_:
    def __call__(self, config: Any) -> Any:
        return tf.constant([config is CONFIG])


@pytest.mark.parametrize(
    ("input_fn", "expected"),
    [
        (lambda: tf.constant([1]), [1]),
        (lambda params: tf.constant([params]), [5]),
        (lambda mode, size=3: tf.constant([mode, str(size)]), [b"train", b"3"]),
        (functools.partial(with_mode, 2), [2, 5, 5, 7]),
        (functools.partial(with_mode, size=2, other=1), [2, 5, 5, 1]),
        (Callable_(), [True]),
        (lambda input_context: tf.constant([input_context.num_input_pipelines]), [1]),
        (lambda input_context=None: tf.constant([input_context is None]), [True]),
    ],
)
def test_arguments(input_fn: Any, expected: list[Any]) -> None:
    assert first(read(input_fn, 5)) == expected


def test_not_callable() -> None:
    with pytest.raises(TypeError, match="callable"):
        read(tf.data.Dataset.range(2))


def test_datasets_stay_as_they_are() -> None:
    new, old = tf.data.Dataset.range(3), tf.compat.v1.data.Dataset.range(3)
    assert read(lambda: new) is new
    assert read(lambda: old) is old


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
    dataset = read(lambda: tf.nest.map_structure(lambda x: None if x is None else tf.constant(x), data))
    assert dataset.cardinality() == tf.data.INFINITE_CARDINALITY
    assert first(dataset.skip(3)) == expected


def test_tuples_of_other_lengths() -> None:
    with pytest.raises(ValueError, match="given 3 values"):
        read(lambda: (1, 2, 3))


def test_params_that_can_be_called_are_given_as_they_are() -> None:
    given = Callable_()  # as absl's flags can
    assert first(read(lambda params: tf.constant([params is given]), given)) == [True]


@pytest.mark.parametrize("seed", [3, np.int64(3)])
def test_only_tensorflow_is_seeded(seed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def seeded(*given: Any) -> None:
        raise AssertionError("seeded by the helper")

    monkeypatch.setattr(CONFIG, "tf_random_seed", seed)
    for module in (random, np.random):
        monkeypatch.setattr(module, "seed", seeded)
    tf.random.set_seed(3)
    expected = first(tf.data.Dataset.range(1000).shuffle(1000).batch(10))
    assert first(read(lambda: tf.data.Dataset.range(1000).shuffle(1000).batch(10))) == expected
