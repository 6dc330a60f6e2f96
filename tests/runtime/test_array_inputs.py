"""Batches of `numpy_input_fn` and `pandas_input_fn` are those of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.training.array_inputs import numpy_input_fn, pandas_input_fn

v1 = tf.compat.v1
X = {"a": np.arange(5.0), "b": np.array([["x"], ["y"], ["z"], ["u"], ["v"]], object)}
Y = np.arange(5, dtype="int32")
old_only = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


def old_batches(input_fn: Any, limit: int) -> list[Any]:
    """Batches of the function of TensorFlow 1, at most `limit`."""
    found: list[Any] = []
    with tf.Graph().as_default():
        batch = input_fn()
        with v1.train.SingularMonitoredSession() as session:
            while len(found) < limit and not session.should_stop():
                found.append(session.run(batch))
    return found


def new_batches(input_fn: Any, limit: int) -> list[Any]:
    return list(input_fn().take(limit).as_numpy_iterator())


def same(old: list[Any], new: list[Any]) -> None:
    assert len(old) == len(new)
    for one, other in zip(old, new):
        tf.nest.assert_same_structure(one, other)
        for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other)):
            assert a.dtype == b.dtype and a.tolist() == b.tolist()


@old_only
@pytest.mark.parametrize("y", [None, Y, {"p": Y, "q": Y * 2}])
@pytest.mark.parametrize(("batch_size", "num_epochs"), [(2, 1), (3, 2), (4, None), (10, 1)])
def test_numpy(y: Any, batch_size: int, num_epochs: int | None) -> None:
    arguments: dict[str, Any] = {"batch_size": batch_size, "num_epochs": num_epochs, "shuffle": False}
    old = old_batches(v1.estimator.inputs.numpy_input_fn(X, y, **arguments), 6)
    same(old, new_batches(numpy_input_fn(X, y, **arguments), 6))


@old_only
def test_one_array() -> None:
    old = old_batches(v1.estimator.inputs.numpy_input_fn(X["a"], Y, 2, shuffle=False), 6)
    same(old, new_batches(numpy_input_fn(X["a"], Y, 2, shuffle=False), 6))


@old_only
def test_each_thread_reads_all_epochs() -> None:
    arguments: dict[str, Any] = {"batch_size": 5, "num_epochs": 2, "shuffle": True, "num_threads": 2}
    old = old_batches(v1.estimator.inputs.numpy_input_fn(X["a"], **arguments), 10)
    new = new_batches(numpy_input_fn(X["a"], **arguments), 10)
    assert sorted(np.concatenate(old)) == sorted(np.concatenate(new)) == sorted([0.0, 1.0, 2.0, 3.0, 4.0] * 4)


def test_shuffles_anew() -> None:
    numbers = np.arange(100)
    input_fn = numpy_input_fn(numbers, batch_size=100, shuffle=True)
    first, second = new_batches(input_fn, 1)[0], new_batches(input_fn, 1)[0]
    assert sorted(first) == sorted(second) == numbers.tolist()
    assert first.tolist() != numbers.tolist() and first.tolist() != second.tolist()


def test_shuffle_has_to_be_given() -> None:
    with pytest.raises(ValueError, match="shuffle must be given"):
        numpy_input_fn(X)


def test_lengths_have_to_agree() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        numpy_input_fn(X, Y[:3], shuffle=False)()


@old_only
@pytest.mark.parametrize("frame_of_labels", [False, True])
def test_pandas(frame_of_labels: bool) -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"a": X["a"], "b": list("xyzuv")})
    y = pandas.DataFrame({"p": Y, "a": Y * 2}) if frame_of_labels else pandas.Series(Y)
    old = old_batches(v1.estimator.inputs.pandas_input_fn(x, y, 2, shuffle=False), 6)
    same(old, new_batches(pandas_input_fn(x, y, 2, shuffle=False), 6))
    with pytest.raises(ValueError, match="'a' is a column of x"):
        pandas_input_fn(x, y, target_column="a", shuffle=False)
    with pytest.raises(ValueError, match="indexes of x and y differ"):
        pandas_input_fn(x, y[1:], shuffle=False)
