"""Training with an evaluation after checkpoints."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.training.messages import log_info
from migrator.runtime.training.training import evaluate, train


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


class CheckpointEvaluator:
    """Evaluates and exports a model as an `EvalSpec` says, at checkpoints that are at least `throttle_secs` apart."""

    def __init__(self, model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        if not (model.run_config.save_checkpoints_steps or model.run_config.save_checkpoints_secs):
            raise ValueError("train_and_evaluate evaluates at checkpoints: set save_checkpoints_steps or _secs.")
        self.model, self.max_steps, self.spec = model, train_spec.max_steps, eval_spec
        self.metrics: dict[str, Any] = {}
        self.exports: list[Any] = []
        self.saved_step: int | None = None
        self.next_time = 0.0

    def after_save(self, step: int) -> None:
        self.saved_step = step
        if time.time() >= self.next_time:
            self.evaluate()
        else:
            log_info("Skip the current checkpoint eval due to throttle secs.")

    def evaluate(self) -> None:
        spec, folder = self.spec, os.path.join(self.model.run_config.model_dir, "export")
        newest = tf.train.latest_checkpoint(self.model.run_config.model_dir)
        self.next_time = time.time() + spec.throttle_secs
        self.metrics = evaluate(self.model, spec.input_fn, spec.steps, spec.name, callbacks=spec.callbacks)
        done = self.max_steps is not None and self.metrics["global_step"] >= self.max_steps
        exporters = spec.exporters if isinstance(spec.exporters, (list, tuple)) else [spec.exporters]
        self.exports = [
            e.export(self.model, os.path.join(folder, e.name), newest, self.metrics, done) for e in exporters
        ]

    def finish(self) -> tuple[dict[str, Any] | None, list[Any] | None]:
        """Evaluates the final checkpoint, unless that is done; the last metrics, and what each exporter gave for them."""
        if self.metrics.get("global_step") != self.saved_step:
            self.evaluate()
        return (self.metrics, self.exports) if self.metrics else (None, None)


def train_and_evaluate(
    model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains in one go; evaluates at checkpoints at least `throttle_secs` apart, and at the final one.

    Returns the metrics of the last evaluation and what each exporter gave for it, or (None, None) without any training.
    """
    evaluator = CheckpointEvaluator(model, train_spec, eval_spec)
    train(model, train_spec.input_fn, None, train_spec.max_steps, train_spec.callbacks, evaluator.after_save)
    return evaluator.finish()
