"""The place of this process in a cluster, for programs that ask their RunConfig for it."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

import tensorflow as tf


class ClusterError(NotImplementedError):
    """TF_CONFIG describes a cluster that TensorFlow 2 cannot train on; the text says what to change."""


@dataclasses.dataclass(frozen=True)
class ClusterTask:
    """One process of a cluster (host addresses by job); names and values as in the RunConfig of Estimators."""

    cluster: dict[str, list[str]] = dataclasses.field(hash=False)
    task_type: str = "worker"
    task_id: int = 0

    @property
    def is_chief(self) -> bool:
        """Whether this process saves checkpoints: the chief, or the first worker where there is no chief."""
        chief = next((job for job in ("chief", "master") if job in self.cluster), "worker")
        return self.task_type == chief and self.task_id == 0

    @property
    def num_worker_replicas(self) -> int:
        """Workers and chief; 1 without a cluster, 0 for an evaluator, which is no part of the cluster."""
        if self.task_type == "evaluator":
            return 0
        return sum(len(self.cluster.get(job, ())) for job in ("chief", "master", "worker")) or 1

    @property
    def num_ps_replicas(self) -> int:
        """Parameter servers."""
        return 0 if self.task_type == "evaluator" else len(self.cluster.get("ps", ()))

    @property
    def cluster_spec(self) -> tf.train.ClusterSpec:
        """The cluster; empty for a local run and for an evaluator."""
        return tf.train.ClusterSpec({} if self.task_type == "evaluator" else self.cluster)

    @property
    def global_id_in_cluster(self) -> int | None:
        """Number of this process in the cluster: chief, workers, parameter servers. None for an evaluator."""
        if self.task_type == "evaluator":
            return None
        jobs = ("chief", "master", "worker", "ps")
        before = jobs[: jobs.index(self.task_type)]
        return sum(len(self.cluster.get(job, ())) for job in before) + self.task_id


def current_task() -> ClusterTask:
    """Reads the environment variable TF_CONFIG; without it, this process is the only worker."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    cluster = {job: list(hosts) for job, hosts in (tf_config.get("cluster") or {}).items() if hosts}
    task = tf_config.get("task") or {}
    return ClusterTask(cluster, str(task.get("type") or "worker"), int(task.get("index") or 0))


def use_cluster(cluster_resolver: Any) -> None:
    """Writes TF_CONFIG from a `tf.distribute.cluster_resolver`, such as that for Slurm, for all that reads it later.

    Raises ClusterError if the resolver knows other processes, but not which of them this one is.
    """
    cluster = cluster_resolver.cluster_spec().as_dict()  # first: the one for Slurm finds out its task by that
    if not cluster:
        return
    job, index = cluster_resolver.task_type, cluster_resolver.task_id
    if not job or index is None:
        raise ClusterError(
            "The cluster resolver does not say which task this process is: set its task_type and task_id."
        )
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": job, "index": int(index)}})


def cluster_task() -> ClusterTask:
    """What TF_CONFIG says, as TensorFlow 2 understands it: a master is a chief, an evaluator is in no cluster.

    Raises ClusterError for clusters that TensorFlow 2 cannot train on.
    """
    if "sparseCluster" in os.environ.get("TF_CONFIG", ""):
        text = (
            "TF_CONFIG holds a `sparseCluster`, in which a worker does not see the others: switch dynamic workers off."
        )
        raise ClusterError(text + " In a TFJob, that is enableDynamicWorker: false.")
    given = current_task()
    task_type = "chief" if given.task_type == "master" else given.task_type
    cluster = {job: hosts for job, hosts in given.cluster.items() if job not in ("master", "evaluator")}
    if "master" in given.cluster:
        cluster["chief"] = given.cluster["master"] + cluster.get("chief", [])
    problem = ""
    if len(cluster.get("chief", ())) > 1:
        problem = "has more than one chief (or master)"
    elif set(cluster) - {"chief", "worker", "ps"}:
        problem = f"has jobs other than chief, worker, ps and evaluator: {sorted(set(cluster))}"
    elif "ps" in cluster and "chief" not in cluster:
        problem = "has parameter servers, but no chief to coordinate them"
    elif "ps" in cluster and "worker" not in cluster:
        problem = "has no worker. The chief no longer trains itself: give it at least one worker"
    elif cluster and task_type != "evaluator" and given.task_id >= len(cluster.get(task_type, ())):
        problem = f"has no {task_type} {given.task_id}, which this process is to be"
    if problem:
        raise ClusterError(f"The cluster of TF_CONFIG {problem}.")
    return ClusterTask(cluster, task_type, given.task_id)
