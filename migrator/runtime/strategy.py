"""The distribution strategy of this process."""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf


class ClusterError(NotImplementedError):
    """The program was started on more processes or devices than it can train on."""


def make_strategy(config: Any = None, variable_partitioner: Any = None) -> tf.distribute.Strategy:
    """The strategy to create the model in. A `variable_partitioner` has no effect in one process."""
    if config is not None and config.strategy is not None:
        return config.strategy
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    jobs = {job: len(hosts) for job, hosts in (tf_config.get("cluster") or {}).items() if hosts}
    if sum(jobs.values()) > 1 or (tf_config.get("task") or {}).get("type") == "evaluator":
        raise ClusterError(f"TF_CONFIG asks for processes {jobs}, but this program trains in one. Unset TF_CONFIG.")
    return tf.distribute.get_strategy()
