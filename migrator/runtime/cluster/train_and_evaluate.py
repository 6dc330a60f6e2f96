"""`train_and_evaluate` in each process of a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from migrator.runtime.cluster.tasks import cluster_task
from migrator.runtime.training.messages import log_info
from migrator.runtime.training.train_and_evaluate import CheckpointEvaluator, EvalSpec, TrainSpec
from migrator.runtime.training.training import train


def new_checkpoints(
    model: tf.keras.Model, max_steps: int | None, start_delay_secs: float, throttle_secs: float
) -> Iterator[int]:
    """Yields the step of each checkpoint that is the newest in `model_dir`, `throttle_secs` apart, to `max_steps`.

    Without `max_steps` it goes on until the process is ended.
    """
    log_info("Waiting %g secs before the first evaluation.", start_delay_secs)
    time.sleep(start_delay_secs)
    done, last = 0, None
    while max_steps is None or done < max_steps:
        started, path = time.time(), tf.train.latest_checkpoint(model.run_config.model_dir)
        if path not in (None, last):
            last, done = path, int(path.rpartition("-")[2])
            yield done
        if max_steps is None or done < max_steps:
            time.sleep(max(0.1, started + throttle_secs - time.time()))


def train_and_evaluate(
    model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains in one go; evaluates at checkpoints at least `throttle_secs` apart, and at the final one.

    In a cluster, the task `evaluator` evaluates the checkpoints that the others write while they train.

    Returns the metrics of the last evaluation and what each exporter gave for it, or (None, None) without any training.
    """
    evaluator, task = CheckpointEvaluator(model, train_spec, eval_spec), cluster_task()
    if task.task_type == "evaluator":
        for step in new_checkpoints(model, train_spec.max_steps, eval_spec.start_delay_secs, eval_spec.throttle_secs):
            evaluator.saved_step = step
            evaluator.evaluate()
        return evaluator.finish()
    trains_alone = not task.num_ps_replicas and task.num_worker_replicas <= 1
    after_save = evaluator.after_save if trains_alone else None
    train(model, train_spec.input_fn, None, train_spec.max_steps, train_spec.callbacks, after_save)
    return evaluator.finish()
