"""`make_strategy` follows the program, then TF_CONFIG, and refuses clusters that TensorFlow 2 cannot train on."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.cluster import ClusterError, ClusterTask, cluster_task
from migrator.runtime.config import RunConfig
from migrator.runtime.strategy import done_file, make_strategy, multi_worker_strategy

CHIEF, WORKER, PS = {"chief": ["a:1"]}, {"worker": ["b:1"]}, {"ps": ["c:1"]}


def set_config(monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str, index: Any = 0) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": task, "index": index}}))


@pytest.mark.parametrize(
    "tf_config",
    ["", "{}", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}', '{"environment": "cloud"}'],
)
def test_one_process(tf_config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config)
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    assert make_strategy(variable_partitioner=partitioner) is tf.distribute.get_strategy()


@pytest.mark.parametrize("listed", [{}, {"evaluator": ["d:1"]}])
def test_an_evaluator_is_by_itself(listed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER, **PS, **listed}, "evaluator")
    assert make_strategy() is tf.distribute.get_strategy()
    assert multi_worker_strategy() is tf.distribute.get_strategy()


@pytest.mark.parametrize(
    ("cluster", "task", "reason"),
    [
        ({"chief": ["a:1", "b:1"], **WORKER}, "chief", "more than one chief"),
        ({**CHIEF, "master": ["d:1"], **WORKER}, "chief", "more than one chief"),
        ({**CHIEF, **PS}, "chief", "no worker. The chief no longer trains"),
        ({**CHIEF, **PS}, "ps", "no worker"),
        ({**WORKER, **PS}, "worker", "no chief"),
        ({**CHIEF, **WORKER, "tpu_worker": ["d:1"]}, "chief", "tpu_worker"),
        ({**CHIEF, **WORKER}, "ps", "has no ps 0"),
        ({"worker": ["a:1", "b:1"]}, "chief", "has no chief 0"),
    ],
)
def test_refused_clusters(
    cluster: dict[str, list[str]], task: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_config(monkeypatch, cluster, task)
    with pytest.raises(ClusterError, match=reason):
        make_strategy()


def test_index_beyond_the_job_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER}, "worker", 1)
    with pytest.raises(ClusterError, match="has no worker 1"):
        make_strategy()


def test_sparse_cluster_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = {"sparseCluster": {"worker": {"0": "a:1"}, "ps": ["b:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(sparse))
    with pytest.raises(ClusterError, match="enableDynamicWorker"):
        make_strategy()


def test_a_master_is_the_chief(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {"master": ["a:1"], **WORKER, **PS, "evaluator": ["d:1"]}, "master", "0")
    assert cluster_task() == ClusterTask({**CHIEF, **WORKER, **PS}, "chief", 0)


def test_strategy_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    set_config(monkeypatch, {**CHIEF, **WORKER}, "chief")
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert make_strategy(RunConfig(strategy=strategy)) is strategy


def test_each_server_of_each_cluster_has_a_file_of_its_own() -> None:
    one, other = ClusterTask({**CHIEF, **WORKER, **PS}), ClusterTask({**CHIEF, **WORKER, "ps": ["c:2"]})
    files = {done_file(task, job, index) for task in (one, other) for job in ("worker", "ps") for index in (0, 1)}
    assert len(files) == 8
