"""How many steps Keras runs in one call of the train function."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class StepGrouper(tf.keras.callbacks.Callback):
    """Lets Keras run several steps in one call, which is faster: up to `most`, a multiple of an interval, or a second."""

    def __init__(self, most: int, intervals: Sequence[int | None]) -> None:
        super().__init__()
        self.most, self.intervals = most, intervals

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.first_batch, self.started = batch, time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        limits = [-(batch + 1) % interval for interval in self.intervals if interval]  # 0: the next runs alone
        in_a_second = self.in_a_second(batch - self.first_batch + 1)
        self.model.steps_per_execution = max(1, int(min(self.most, in_a_second, *limits)))

    def in_a_second(self, steps: int) -> float:
        """Steps in a second, after a call of so many."""
        return steps / (time.perf_counter() - self.started)
