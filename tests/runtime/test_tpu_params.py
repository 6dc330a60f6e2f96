"""Parameters of programs that ran on TPUs."""

from __future__ import annotations

import pytest

from migrator.runtime.graph_v1.without_tpu import TPUParams


def test_the_batch_size_is_that_of_the_mode() -> None:
    params = TPUParams({"units": 3}, False, train_batch_size=8, predict_batch_size=2)
    assert params["units"] == 3 and params["use_tpu"] is False and "batch_size" not in params
    assert params("train") == {"units": 3, "use_tpu": False, "batch_size": 8}
    assert params("infer")["batch_size"] == 2
    assert "batch_size" not in params("eval")


def test_cores_share_a_batch_out() -> None:
    params = TPUParams({"units": 3}, train_batch_size=8, eval_batch_size=6, num_shards=4)
    assert params("train") == {"units": 3, "use_tpu": True, "batch_size": 2}
    assert params("eval")["batch_size"] == 6  # a core evaluates a batch by itself
    with pytest.raises(ValueError, match="3 cores cannot share out a train_batch_size of 8"):
        TPUParams(train_batch_size=8, num_shards=3)


def test_a_program_that_asks_for_a_tpu() -> None:
    with pytest.raises(NotImplementedError, match="trains without TPUs"):
        TPUParams(use_tpu=True)
