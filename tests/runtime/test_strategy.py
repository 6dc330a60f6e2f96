"""`make_strategy` trains in one process, and says so where a cluster is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.strategy import ClusterError, ClusterTask, current_task, make_strategy

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


def test_cluster_of_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(PAIR))
    with pytest.raises(ClusterError, match="2 processes"):
        make_strategy(cluster_resolver=resolver)


def test_empty_jobs_are_no_part_of_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "TF_CONFIG", '{"cluster": {"chief": ["a:1"], "ps": []}, "task": {"type": "chief", "index": "0"}}'
    )
    assert current_task() == ClusterTask({"chief": ["a:1"]}, "chief", 0)


def test_first_worker_is_chief_where_there_is_none() -> None:
    workers = {"worker": ["a:1", "b:1"]}
    assert ClusterTask(workers, "worker", 0).is_chief
    assert not ClusterTask(workers, "worker", 1).is_chief
