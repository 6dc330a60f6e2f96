"""Training with an evaluation after checkpoints."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.cluster import cluster_task
from migrator.runtime.evaluator import new_checkpoints
from migrator.runtime.training import evaluate, train


@dataclasses.dataclass(frozen=True)
class TrainSpec:
    """What to train on and up to which step; see `train`. Without `max_steps` training ends with the data."""

    input_fn: Callable[..., Any]
    max_steps: int | None = None
    callbacks: Sequence[tf.keras.callbacks.Callback] = ()

    def __post_init__(self) -> None:
        if not callable(self.input_fn):
            raise TypeError(f"`input_fn` must be callable, given: {self.input_fn!r}")
        if self.max_steps is not None and self.max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {self.max_steps}")


@dataclasses.dataclass(frozen=True)
class EvalSpec:
    """What to evaluate on, and how often; see `evaluate`."""

    input_fn: Callable[..., Any]
    steps: int | None = 100
    name: str | None = None
    callbacks: Sequence[tf.keras.callbacks.Callback] = ()
    exporters: Any = ()  # export the model after evaluations; one, or several
    start_delay_secs: float = 120  # no effect in one process: an evaluator process waits first
    throttle_secs: float = 600  # least time from one evaluation to the next; the final checkpoint is always evaluated

    def __post_init__(self) -> None:
        if not callable(self.input_fn) or not isinstance(self.name, (str, type(None))):
            raise TypeError(f"`input_fn` must be callable and `name` text, given: {self.input_fn!r}, {self.name!r}")
        if (self.steps is not None and self.steps <= 0) or self.start_delay_secs < 0 or self.throttle_secs < 0:
            raise ValueError(f"Must specify steps > 0 and seconds >= 0, given: {self}")


def train_and_evaluate(
    model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains in one go; evaluates at checkpoints at least `throttle_secs` apart, and at the final one.

    In a cluster, the task `evaluator` evaluates the checkpoints that the others write while they train.

    Returns the metrics of the last evaluation and what each exporter gave for it, or (None, None) without any training.
    """
    if not (model.run_config.save_checkpoints_steps or model.run_config.save_checkpoints_secs):
        raise ValueError("train_and_evaluate evaluates at checkpoints: set save_checkpoints_steps or _secs.")
    metrics: dict[str, Any] = {}
    exports: list[Any] = []
    saved_step, next_time = None, 0.0
    exporters = eval_spec.exporters if isinstance(eval_spec.exporters, (list, tuple)) else [eval_spec.exporters]
    folder = os.path.join(model.run_config.model_dir, "export")

    def after_save(step: int | None, final: bool = False) -> None:
        nonlocal metrics, exports, saved_step, next_time
        saved_step = step
        if final or time.time() >= next_time:
            next_time = time.time() + eval_spec.throttle_secs
            data, steps, name = eval_spec.input_fn, eval_spec.steps, eval_spec.name
            metrics = evaluate(model, data, steps, name, callbacks=eval_spec.callbacks)
            done = train_spec.max_steps is not None and metrics["global_step"] >= train_spec.max_steps
            exports = [e.export(model, os.path.join(folder, e.name), metrics, done) for e in exporters]
        else:
            tf.get_logger().info("Skip the current checkpoint eval due to throttle secs.")

    task = cluster_task()
    if task.task_type == "evaluator":
        for step in new_checkpoints(model, train_spec.max_steps, eval_spec.start_delay_secs, eval_spec.throttle_secs):
            after_save(step, final=True)
        return (metrics, exports) if metrics else (None, None)
    if task.num_ps_replicas or task.num_worker_replicas > 1:  # evaluation is the evaluator's
        train(model, train_spec.input_fn, None, train_spec.max_steps, train_spec.callbacks)
        return None, None
    train(model, train_spec.input_fn, None, train_spec.max_steps, train_spec.callbacks, after_save)
    if metrics.get("global_step") != saved_step:
        after_save(saved_step, final=True)
    return (metrics, exports) if metrics else (None, None)
