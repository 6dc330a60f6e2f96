"""How many steps Keras runs in one call of the train function."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class StepGrouper(tf.keras.callbacks.Callback):
    """Lets Keras run several steps in one call, which is faster: up to a multiple of an interval, or a second.

    Workers in step (`by_clock=False`) have to begin their calls at the same steps, else each waits for the other.
    """

    def __init__(self, most: int, intervals: Sequence[int | None], by_clock: bool = True) -> None:
        super().__init__()
        self.most, self.intervals, self.by_clock = most, intervals, by_clock

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.first_batch, self.started = batch, time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps, seconds = batch - self.first_batch + 1, time.perf_counter() - self.started
        limits = [-(batch + 1) % interval for interval in self.intervals if interval]  # 0: the next runs alone
        in_a_second = steps / seconds if self.by_clock else self.most
        self.model.steps_per_execution = max(1, int(min(self.most, in_a_second, *limits)))
