"""What `predict` yields, as it is recorded."""

from __future__ import annotations

import numpy as np

from migrator.parity.probe.containers import stacked


def test_rows_become_arrays() -> None:
    rows = [{"class": 1, "p": np.array([0.1, 0.9])}, {"class": 0, "p": np.array([0.7, 0.3])}]
    assert {key: value.tolist() for key, value in stacked(rows, True).items()} == {
        "class": [1, 0],
        "p": [[0.1, 0.9], [0.7, 0.3]],
    }
    assert stacked([3.0, 4.0], True)["output"].tolist() == [3.0, 4.0]


def test_keys_of_several_heads_are_joined() -> None:
    rows = [{("win", "classes"): 1, ("goals", "predictions"): 2.5}]
    assert {key: value.tolist() for key, value in stacked(rows, True).items()} == {
        "win/classes": [1],
        "goals/predictions": [2.5],
    }
