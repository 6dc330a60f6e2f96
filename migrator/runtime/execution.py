"""How many steps Keras runs in one call of the train function."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class StepGrouper(tf.keras.callbacks.Callback):
    """Lets Keras run several steps in one call, which is faster, but no step beyond one that is logged or saved.

    A call takes about a second at most, so that checkpoints by the clock are in time. Must be the last callback.

    Args:
      most: Steps per call at most.
      events: Objects that are `due` after a number of steps.
    """

    def __init__(self, most: int, events: Sequence[Any]) -> None:
        super().__init__()
        self.most, self.events = most, events

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.first_batch, self.started = batch, time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps, seconds = batch - self.first_batch + 1, time.perf_counter() - self.started
        until_due = min(event.due for event in self.events) - int(self.model.optimizer.iterations)
        self.model.steps_per_execution = max(1, int(min(self.most, 4 * steps, steps / seconds, until_due)))


def can_group(model: tf.keras.Model, callbacks: Sequence[tf.keras.callbacks.Callback]) -> bool:
    """Whether several steps may run in one call: not if a callback wants to see each, and not in Keras 3."""
    base = tf.keras.callbacks.Callback
    methods = [f"on_{kind}batch_{event}" for kind in ("", "train_", "test_") for event in ("begin", "end")]
    watched = any(
        getattr(type(callback), name) is not getattr(base, name) for callback in callbacks for name in methods
    )
    return not watched and isinstance(model.steps_per_execution, tf.Variable)
