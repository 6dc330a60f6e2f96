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
        if self.start_delay_secs < 0 or self.throttle_secs < 0:
            raise ValueError("start_delay_secs and throttle_secs must be >= 0.")


def train_and_evaluate(
    model: tf.keras.Model, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains in one go; evaluates at checkpoints at least `throttle_secs` apart, and at the final one.

    Returns:
      The metrics of the last evaluation and an empty list (of exports); (None, None) if `max_steps` were reached
      already, since nothing is evaluated then.
    """
    if not model.run_config.saves_checkpoints:
        raise ValueError("train_and_evaluate evaluates at checkpoints: set save_checkpoints_steps or _secs.")
    metrics: dict[str, Any] = {}
    saved_step, next_time = None, 0.0

    def evaluate_checkpoint() -> None:
        nonlocal metrics, next_time
        next_time = time.time() + eval_spec.throttle_secs
        metrics = evaluate(model, eval_spec.input_fn, eval_spec.steps, eval_spec.name, callbacks=eval_spec.callbacks)

    def after_save(step: int) -> None:
        nonlocal saved_step
        saved_step = step
        if time.time() >= next_time:
            evaluate_checkpoint()
        else:
            tf.get_logger().info("Skip the current checkpoint eval due to throttle secs.")

    train(
        model,
        train_spec.input_fn,
        max_steps=train_spec.max_steps,
        callbacks=train_spec.callbacks,
        after_save=after_save,
    )
    if metrics.get("global_step") != saved_step:
        evaluate_checkpoint()
    return (metrics, []) if metrics else (None, None)
