"""The program of `cluster_program.py` as a task of Slurm: ``RANK TASKS PORT MODEL_DIR train|mirrored STEPS``."""

from __future__ import annotations

import json
import os
import sys

import cluster_program
import tensorflow as tf

from migrator.runtime.cluster.strategy import multi_worker_strategy
from migrator.runtime.cluster.tasks import use_cluster


def main(rank: str, tasks: str, port: str, model_dir: str, what: str, steps: str) -> dict[str, float]:
    """Train, with the cluster that a resolver finds; the metrics of an evaluation."""
    os.environ.pop("TF_CONFIG", None)
    settings = {"PROCID": rank, "STEP_NUM_TASKS": tasks, "STEP_TASKS_PER_NODE": tasks, "STEP_NODELIST": "localhost"}
    os.environ.update({f"SLURM_{name}": value for name, value in settings.items()})
    jobs = {"worker": 2} if what == "mirrored" else {"chief": 1, "ps": 1, "worker": 1}
    given = {"gpus_per_node": int(tasks), "gpus_per_task": 1, "auto_set_gpu": False}
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(jobs, int(port), **given)
    strategy = None
    if what == "mirrored":
        strategy = multi_worker_strategy(cluster_resolver=resolver)
    else:
        use_cluster(resolver)
    return cluster_program.main(model_dir, "train", int(steps), strategy)


if __name__ == "__main__":
    print("RESULT", json.dumps(main(*sys.argv[1:])), flush=True)
