"""How many steps Keras runs in one call of the train function."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import tensorflow as tf


@contextlib.contextmanager
def steps_per_call(model: tf.keras.Model, steps: int) -> Iterator[None]:
    """Overrides what `compile(steps_per_execution=...)` has set."""
    compiled = int(model.steps_per_execution)
    model.steps_per_execution = steps
    try:
        yield
    finally:
        model.steps_per_execution = compiled


class StepGrouper(tf.keras.callbacks.Callback):
    """Makes events happen at their exact step although Keras runs several steps in one call.

    Before each call, it chooses the number of steps: up to the next event, at most `steps_per_execution` of `compile`,
    and not for much longer than a second. Must be the last callback. Keras 2 only: Keras 3 compiles the number in.

    Args:
      most: Largest number of steps per call.
      events: For each kind of event, a function from the number of steps done in this run to the number of steps until
        the event is due, or None.
    """

    def __init__(self, most: int, events: Sequence[Callable[[int], int | None]]) -> None:
        super().__init__()
        self.most, self.events = most, events
        self.started, self.first_batch = 0.0, 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.model.steps_per_execution = 1

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.started, self.first_batch = time.time(), batch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps, seconds = batch - self.first_batch + 1, time.time() - self.started
        limits = [self.most, 4 * steps, int(steps / max(seconds, 1e-9))]
        limits += [due for due in (event(batch + 1) for event in self.events) if due is not None]
        self.model.steps_per_execution = max(1, min(limits))


def can_group(model: tf.keras.Model, callbacks: Sequence[tf.keras.callbacks.Callback]) -> bool:
    """Whether several steps may run in one call: not in Keras 3, and not if a callback wants to see each batch."""
    in_variable = not isinstance(model.steps_per_execution, int)
    return in_variable and not any(watches_batches(callback) for callback in callbacks)


def watches_batches(callback: tf.keras.callbacks.Callback) -> bool:
    """Whether a callback has a method that is called for each batch."""
    base = tf.keras.callbacks.Callback
    methods = [f"on_{kind}batch_{event}" for kind in ("", "train_", "test_") for event in ("begin", "end")]
    return any(getattr(type(callback), method) is not getattr(base, method) for method in methods)
