"""What a run writes to the log and for TensorBoard."""

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
    """Writes loss and speed to the log and to event files, and raises NanLossError.

    Metrics are reset before a step that is logged, so that they hold its loss alone.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.config = config
        self.writers: dict[str, Any] = {}
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)  # of summaries
        self.recording = tf.Variable(False, trainable=False)  # whether the model is to write its summaries

    def writer(self, folder: str) -> Any:
        if folder not in self.writers:
            self.writers[folder] = tf.summary.create_file_writer(folder)
        return self.writers[folder]

    def write(self, folder: str, scalars: dict[str, Any], step: int) -> None:
        """Does what `tf.summary.scalar` does, but without the package tensorboard."""
        value = tf.compat.v1.Summary.Value
        values = [value(tag=tag, simple_value=scalars[tag]) for tag in scalars if np.ndim(scalars[tag]) == 0]
        with self.writer(folder).as_default():
            tf.summary.experimental.write_raw_pb(tf.compat.v1.Summary(value=values).SerializeToString(), step)
        self.writer(folder).flush()

    def on_train_begin(self, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        self.next_log = step if self.config.log_step_count_steps else math.inf
        self.next_summary = step if self.config.save_summary_steps else math.inf
        self.log_time: float | None = None

    @property
    def due(self) -> float:
        """Number of steps after which one comes that is logged."""
        return min(self.next_log, self.next_summary)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        self.recording.assign(step >= self.next_summary)
        if step >= self.due:
            self.step.assign(step + 1)
            self.model.reset_metrics()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss, step, scalars = self.check(logs), int(self.model.optimizer.iterations), {}
        self.step.assign(step)
        if step > self.next_summary:
            self.next_summary += self.config.save_summary_steps or 0
            scalars["loss"] = loss
        if step > self.next_log:
            every, last, self.log_time = self.config.log_step_count_steps or 0, self.log_time, time.time()
            self.next_log += every
            if last is not None:
                scalars["global_step/sec"] = every / (self.log_time - last)
                tf.get_logger().info("global_step/sec: %g", scalars["global_step/sec"])
            tf.get_logger().info("loss = %s, step = %d", loss, step - 1)
        if scalars:
            self.write(str(self.config.model_dir), scalars, step)

    def on_train_end(self, logs: Any = None) -> None:
        self.check(self.model.get_metrics_result())  # the data may have ended within a call of several steps

    def check(self, logs: Any) -> Any:
        loss = logs.get("loss")
        if loss is not None and np.isnan(loss):  # the mean is NaN as soon as one loss is
            raise NanLossError(f"The loss is NaN at or before step {int(self.model.optimizer.iterations)}.")
        return loss
