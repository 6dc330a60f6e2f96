"""What `predict` yields, as it is recorded."""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

from migrator.parity.probe.recorded import batches
from migrator.parity.probe.recorded.containers import joined, stacked


def test_rows_become_arrays() -> None:
    rows = [{"class": 1, "p": np.array([0.1, 0.9])}, {"class": 0, "p": np.array([0.7, 0.3])}]
    assert {key: value.tolist() for key, value in stacked(rows, True).items()} == {
        "class": [1, 0],
        "p": [[0.1, 0.9], [0.7, 0.3]],
    }
    assert stacked([3.0, 4.0], True)["output"].tolist() == [3.0, 4.0]


def test_batches_of_different_lengths_are_what_their_rows_are() -> None:
    one, two = np.array([[1, 2, 3], [4, 5, 0]]), np.array([[6, 7]])
    assert joined([one, one]).tolist() == [[1, 2, 3], [4, 5, 0]] * 2
    assert joined([one, two]).tolist() == stacked([*one, *two], True)["output"].tolist() == [1, 2, 3, 4, 5, 0, 6, 7]


def test_keys_of_several_heads_are_joined() -> None:
    rows = [{("win", "classes"): 1, ("goals", "predictions"): 2.5}]
    assert {key: value.tolist() for key, value in stacked(rows, True).items()} == {
        "win/classes": [1],
        "goals/predictions": [2.5],
    }


def test_ordered_features_stay_ordered() -> None:
    """Keras compares a batch with the spec of the program's own input, which `make_csv_dataset` gives an OrderedDict."""
    tf = pytest.importorskip("tensorflow")
    reader = SimpleNamespace(array=lambda encoded: np.array(encoded["at"], "float32"))
    spec = OrderedDict(b=tf.TensorSpec([None], tf.float32), a=tf.TensorSpec([None], tf.float32))
    decoder = batches.Conform(reader, print)  # type: ignore[arg-type]
    value = decoder.tree({"dict": {"a": {"at": [1.0]}, "b": {"at": [2.0]}}}, spec)
    assert isinstance(value, OrderedDict) and list(value) == ["b", "a"]
    assert type(decoder.tree({"dict": {"a": {"at": [1.0]}}}, {"a": spec["a"]})) is dict
