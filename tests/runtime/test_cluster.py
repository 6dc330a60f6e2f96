"""`current_task` says of TF_CONFIG what `tf.estimator.RunConfig` does."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.cluster.tasks import ClusterError, ClusterTask, cluster_task, current_task, use_cluster

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


RESOLVERS = tf.distribute.cluster_resolver
TWO = {"chief": ["a:1"], "worker": ["b:1"]}


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("TF_CONFIG", "{}")
    return monkeypatch


def test_a_resolver_says_what_tf_config_would(no_cluster: pytest.MonkeyPatch) -> None:
    use_cluster(RESOLVERS.SimpleClusterResolver(tf.train.ClusterSpec(TWO), task_type="worker", task_id=0))
    assert current_task() == cluster_task() == ClusterTask(TWO, "worker", 0)
    use_cluster(RESOLVERS.TFConfigClusterResolver())  # says what is known already
    assert current_task() == ClusterTask(TWO, "worker", 0)


@pytest.mark.parametrize(("rank", "task"), [(0, "chief"), (1, "ps"), (2, "worker"), (3, "worker")])
def test_slurm(rank: int, task: str, no_cluster: pytest.MonkeyPatch) -> None:
    settings = {"PROCID": rank, "STEP_NUM_TASKS": 4, "STEP_TASKS_PER_NODE": "2(x2)", "STEP_NODELIST": "n[1-2]"}
    for name, value in settings.items():
        no_cluster.setenv(f"SLURM_{name}", str(value))
    jobs = {"chief": 1, "ps": 1, "worker": 2}
    resolver = RESOLVERS.SlurmClusterResolver(jobs, gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False)
    use_cluster(resolver)
    cluster = {"chief": ["n1:8888"], "ps": ["n1:8889"], "worker": ["n2:8888", "n2:8889"]}
    assert cluster_task() == ClusterTask(cluster, task, max(0, rank - 2))


def test_a_resolver_that_knows_no_other_process_changes_nothing(no_cluster: pytest.MonkeyPatch) -> None:
    use_cluster(RESOLVERS.TFConfigClusterResolver())
    assert current_task() == ClusterTask({})


def test_a_resolver_that_does_not_know_its_task_is_refused(no_cluster: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match="does not say which task"):
        use_cluster(RESOLVERS.SimpleClusterResolver(tf.train.ClusterSpec(TWO)))
