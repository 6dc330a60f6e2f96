"""The distribution strategy of this process, by TF_CONFIG."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

import tensorflow as tf


class ClusterError(NotImplementedError):
    """TF_CONFIG describes a cluster that this program cannot train on."""


@dataclasses.dataclass(frozen=True)
class ClusterTask:
    """One process of a cluster: host addresses by job name, and which of them this process is."""

    cluster: dict[str, list[str]]
    type: str = "worker"
    index: int = 0

    @property
    def is_chief(self) -> bool:
        """Whether this process saves checkpoints: the chief, or the first worker where there is no chief."""
        chief = next((job for job in ("chief", "master") if job in self.cluster), "worker")
        return self.type == chief and self.index == 0

    @property
    def num_workers(self) -> int:
        """Workers and chief; 1 without a cluster, 0 for an evaluator."""
        if self.type == "evaluator":
            return 0
        return sum(len(self.cluster.get(job, ())) for job in ("chief", "master", "worker")) or 1

    @property
    def num_parameter_servers(self) -> int:
        return 0 if self.type == "evaluator" else len(self.cluster.get("ps", ()))

    @property
    def rank(self) -> int | None:
        """Number of this process in the cluster: chief, workers, parameter servers. None for an evaluator."""
        if self.type == "evaluator":
            return None
        rank = 0
        for job in ("chief", "master", "worker", "ps"):
            if job == self.type:
                return rank + self.index
            rank += len(self.cluster.get(job, ()))
        return rank + self.index


def current_task() -> ClusterTask:
    """Reads the environment variable TF_CONFIG; without it, this process is the only worker."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    cluster = {job: list(hosts) for job, hosts in (tf_config.get("cluster") or {}).items() if hosts}
    task = tf_config.get("task") or {}
    return ClusterTask(cluster, str(task.get("type") or "worker"), int(task.get("index") or 0))


def make_strategy(
    config: Any = None, variable_partitioner: Any = None, cluster_resolver: Any = None
) -> tf.distribute.Strategy:
    """Returns the strategy to create the model in.

    Args:
      config: A `RunConfig`; its `strategy` is taken if it names one.
      variable_partitioner: How to split variables over parameter servers; without them nothing is split.
      cluster_resolver: A `tf.distribute.cluster_resolver.ClusterResolver` that is asked instead of TF_CONFIG.

    Raises:
      ClusterError: there is more than one process; this version of the program trains in one.
    """
    if config is not None and config.strategy is not None:
        return config.strategy
    del variable_partitioner
    task = current_task()
    cluster = task.cluster if cluster_resolver is None else cluster_resolver.cluster_spec().as_dict()
    processes = sum(len(hosts) for hosts in cluster.values())
    if processes > 1 or task.type == "evaluator":
        raise ClusterError(
            f"A cluster of {processes} processes is described ({', '.join(sorted(cluster))}; this one is "
            f"{task.type} {task.index}), but this program trains in one process. Unset TF_CONFIG to do so."
        )
    return tf.distribute.get_strategy()
