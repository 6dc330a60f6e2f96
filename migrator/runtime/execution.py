"""How many steps Keras runs in one call of the train function."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class StepGrouper(tf.keras.callbacks.Callback):
    """Lets Keras run several steps in one call, up to the next event and for about a second. Must come last."""

    def __init__(self, most: int, events: Sequence[Any]) -> None:
        super().__init__()
        self.most, self.events = most, events

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.first_batch, self.started = batch, time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps, seconds = batch - self.first_batch + 1, time.perf_counter() - self.started
        until_due = min(event.due for event in self.events) - int(self.model.optimizer.iterations)
        self.model.steps_per_execution = max(1, int(min(self.most, 4 * steps, steps / seconds, until_due)))
