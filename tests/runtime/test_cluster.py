"""`current_task` says of TF_CONFIG what `tf.estimator.RunConfig` does."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.cluster import ClusterTask, current_task

PROPERTIES = (
    *("task_type", "task_id", "is_chief", "num_worker_replicas", "num_ps_replicas", "global_id_in_cluster"),
    "cluster_spec",
)
CLUSTER = {"chief": ["a:1"], "ps": ["b:1", "b:2"], "worker": ["c:1", "c:2"]}


@pytest.mark.parametrize(
    "tf_config",
    [
        {},
        *({"cluster": CLUSTER, "task": {"type": job, "index": index}} for job in CLUSTER for index in range(1)),
        {"cluster": CLUSTER, "task": {"type": "worker", "index": "1"}},
        {"cluster": CLUSTER, "task": {"type": "ps", "index": 1}},
        {"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}},
        {"cluster": {"master": ["a:1"], "worker": ["c:1"]}, "task": {"type": "master", "index": 0}},
        {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}},
    ],
)
def test_place_in_the_cluster(tf_config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    current = current_task()
    task = tf_config.get("task", {"type": "worker", "index": 0})
    assert (current.task_type, current.task_id) == (task["type"], int(task["index"]))
    if hasattr(tf, "estimator"):
        old = tf.estimator.RunConfig()
        assert {name: getattr(current, name) for name in PROPERTIES} == {
            name: getattr(old, name) for name in PROPERTIES
        }


def test_empty_jobs_are_no_part_of_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "TF_CONFIG", '{"cluster": {"chief": ["a:1"], "ps": []}, "task": {"type": "chief", "index": "0"}}'
    )
    assert current_task() == ClusterTask({"chief": ["a:1"]}, "chief", 0)


def test_first_worker_is_chief_where_there_is_none() -> None:
    workers = {"worker": ["a:1", "b:1"]}
    assert ClusterTask(workers, "worker", 0).is_chief
    assert not ClusterTask(workers, "worker", 1).is_chief
