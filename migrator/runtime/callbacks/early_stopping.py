"""Stops a training by what its evaluations gave."""

from __future__ import annotations

import os
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.callbacks.callbacks import Timer
from migrator.runtime.training.events import read_scalars
from migrator.runtime.training.messages import log_info


class StopWhen(tf.keras.callbacks.Callback):
    """Stops when `should_stop_fn()`, which is asked at the first step and then by time or steps."""

    def __init__(
        self,
        model: tf.keras.Model,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> None:
        super().__init__()
        if (run_every_secs is None) == (run_every_steps is None):
            raise ValueError("Exactly one of run_every_secs and run_every_steps must be given.")
        self.should_stop, self.timer = should_stop_fn, Timer(run_every_secs, run_every_steps)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        if self.timer.is_due(step):
            self.timer.reset(step)
            if self.should_stop():
                log_info("Requesting early stopping at global step %d", step)
                self.model.stop_training = True


def stop_if_threshold_crossed(
    model: tf.keras.Model,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
    higher_is_better: bool = False,
) -> StopWhen:
    """Stops once an evaluation after `min_steps` steps gave a value better than the threshold."""

    def should_stop() -> bool:
        for step, value in evaluated(model, metric_name, eval_dir):
            if step >= min_steps and (value > threshold if higher_is_better else value < threshold):
                return True
        return False

    return StopWhen(model, should_stop, run_every_secs, run_every_steps)


def stop_if_no_improvement(
    model: tf.keras.Model,
    metric_name: str,
    max_steps: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
    higher_is_better: bool = False,
) -> StopWhen:
    """Stops once a metric has got no better for `max_steps` steps, after `min_steps` steps."""

    def should_stop() -> bool:
        best, best_step = None, 0
        for step, value in evaluated(model, metric_name, eval_dir):
            if step < min_steps:
                continue
            if best is None or (value > best if higher_is_better else value < best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                return True
        return False

    return StopWhen(model, should_stop, run_every_secs, run_every_steps)


def eval_dir(model: tf.keras.Model, name: str | None = None) -> str:
    """The folder that evaluations of that name write to."""
    return os.path.join(model.run_config.model_dir, f"eval_{name}" if name else "eval")


def evaluated(model: tf.keras.Model, metric_name: str, folder: str | None) -> list[tuple[int, float]]:
    """Steps and values of a metric that evaluations have written."""
    folder = folder or eval_dir(model)
    found = read_scalars(os.path.join(folder, "*.tfevents.*"))
    return [(step, scalars[metric_name]) for step, scalars in found.items() if metric_name in scalars]
