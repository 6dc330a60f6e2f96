"""What a run writes to the log and for TensorBoard, and how many steps it runs in one go between."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.config import RunConfig


class NanLossError(RuntimeError):
    """Training was stopped because the loss is not a number."""


class StepLogger(tf.keras.callbacks.Callback):
    """Writes the loss and the speed to the log and to event files; lets the model write its summaries.

    Before a step that is logged the metrics are reset, so that they hold the loss of that step alone.
    Raises NanLossError if the loss of any step was not a number, which makes the mean no number as well.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.config = config
        self.writers: dict[str, Any] = {}
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)  # read by `tf.summary` in the model
        self.recording = tf.Variable(False, trainable=False)
        self.next_log = self.next_summary = 0.0
        self.log_time = 0.0

    def writer(self, folder: str) -> Any:
        """The event file of a folder."""
        if folder not in self.writers:
            self.writers[folder] = tf.summary.create_file_writer(folder)
        return self.writers[folder]

    def write(self, folder: str, scalars: dict[str, Any], step: int) -> None:
        """Writes scalars as `tf.summary.scalar` does, which needs the package tensorboard."""
        values = [
            tf.compat.v1.Summary.Value(tag=tag, simple_value=value)
            for tag, value in scalars.items()
            if np.ndim(value) == 0
        ]
        with self.writer(folder).as_default():
            tf.summary.experimental.write_raw_pb(tf.compat.v1.Summary(value=values).SerializeToString(), step)
        self.writer(folder).flush()

    @property
    def due(self) -> float:
        """Step after which one comes that is logged."""
        return min(self.next_log, self.next_summary)

    def on_train_begin(self, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        self.next_log = step if self.config.log_step_count_steps else math.inf
        self.next_summary = step if self.config.save_summary_steps else math.inf
        self.log_time = 0.0

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        self.recording.assign(step >= self.next_summary)
        if step >= self.due:
            self.step.assign(step + 1)
            self.model.reset_metrics()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss, step, scalars = self.checked_loss(logs), int(self.model.optimizer.iterations), {}
        self.step.assign(step)
        if step > self.next_summary:
            self.next_summary += self.config.save_summary_steps
            scalars["loss"] = loss
        if step > self.next_log:
            self.next_log += self.config.log_step_count_steps
            ...
