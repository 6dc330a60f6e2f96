"""Training with an evaluation after checkpoints."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

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
    """What to evaluate on, and how often; see `evaluate`.

    Args:
      input_fn: Returns the evaluation data.
      steps: Number of batches at most. None: until the data end.
      name: Distinguishes the folders of several evaluations.
      callbacks: Keras callbacks for the evaluations.
      start_delay_secs: Seconds that an evaluator process waits before its first evaluation; no effect in one process.
      throttle_secs: Seconds at least from one evaluation to the next; the final checkpoint is always evaluated.
    """

    input_fn: Callable[..., Any]
    steps: int | None = 100
    name: str | None = None
    callbacks: Sequence[tf.keras.callbacks.Callback] = ()
    start_delay_secs: float = 120
    throttle_secs: float = 600

    def __post_init__(self) -> None:
        if not callable(self.input_fn):
            raise TypeError(f"`input_fn` must be callable, given: {self.input_fn!r}")
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"`name` must be string, given: {self.name!r}")
        if self.steps is not None and self.steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {self.steps}")
        for name in ("start_delay_secs", "throttle_secs"):
            if getattr(self, name) < 0:
                raise ValueError(f"Must specify {name} >= 0, given: {getattr(self, name)}")


def train_and_evaluate(
    model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains in one go, and evaluates at checkpoints at least `throttle_secs` apart and at the final one.

    Returns:
      The metrics of the last evaluation and an empty list (of exports); (None, None) if `max_steps` were reached
      already, since nothing is evaluated then.

    Raises:
      ValueError: the configuration switches checkpoints off.
    """
    if not model.run_config.saves_checkpoints:
        raise ValueError("train_and_evaluate evaluates at checkpoints: set save_checkpoints_steps or _secs.")
    evaluations = ThrottledEvaluation(model, eval_spec)
    train(
        model,
        train_spec.input_fn,
        max_steps=train_spec.max_steps,
        callbacks=train_spec.callbacks,
        after_save=evaluations.after_save,
    )
    if evaluations.saved_step != evaluations.evaluated_step:
        evaluations.evaluate()
    return evaluations.metrics, None if evaluations.metrics is None else []


class ThrottledEvaluation:
    """Evaluates after a checkpoint if the last evaluation was long enough ago."""

    def __init__(self, model: tf.keras.Model, eval_spec: EvalSpec) -> None:
        self.model, self.eval_spec = model, eval_spec
        self.metrics: dict[str, Any] | None = None
        self.saved_step: int | None = None
        self.evaluated_step: int | None = None
        self.evaluated_time = 0.0

    def after_save(self, step: int) -> None:
        """Called by `train` with the step of each checkpoint."""
        self.saved_step = step
        if time.time() >= self.evaluated_time + self.eval_spec.throttle_secs:
            self.evaluate()
        else:
            tf.get_logger().info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).", self.eval_spec.throttle_secs
            )

    def evaluate(self) -> None:
        self.evaluated_step, self.evaluated_time = self.saved_step, time.time()
        spec = self.eval_spec
        self.metrics = evaluate(self.model, spec.input_fn, spec.steps, spec.name, callbacks=spec.callbacks)
