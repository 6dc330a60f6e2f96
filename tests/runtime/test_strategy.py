"""`make_strategy` trains in one process, and says so where a cluster is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.config import RunConfig
from migrator.runtime.strategy import ClusterError, make_strategy

PAIR = {"chief": ["a:1"], "worker": ["b:1"]}


@pytest.mark.parametrize(
    "tf_config", ["", "{}", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}']
)
def test_one_process(tf_config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config)
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    assert make_strategy(variable_partitioner=partitioner) is tf.distribute.get_strategy()


@pytest.mark.parametrize("task", [{"type": "chief", "index": 0}, {"type": "evaluator", "index": 0}])
def test_cluster(task: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": PAIR, "task": task}))
    with pytest.raises(ClusterError, match="Unset TF_CONFIG"):
        make_strategy()


def test_a_cluster_is_counted_by_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": []}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    with pytest.raises(ClusterError, match="'chief': 1, 'worker': 2"):
        make_strategy()


def test_strategy_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": PAIR}))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert make_strategy(RunConfig(strategy=strategy)) is strategy
