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
        """Number of steps after which one comes that is logged."""
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
        loss, step = self.checked_loss(logs), int(self.model.optimizer.iterations)
        self.step.assign(step)
        scalars: dict[str, Any] = {}
        if step > self.next_summary:
            self.next_summary += self.config.save_summary_steps or 0
            scalars["loss"] = loss
        if step > self.next_log:
            message, every, now = (
                f"loss = {loss}, step = {step - 1}",
                self.config.log_step_count_steps or 0,
                time.time(),
            )
            if self.log_time:
                seconds = now - self.log_time
                scalars["global_step/sec"] = every / seconds
                tf.get_logger().info("global_step/sec: %g", every / seconds)
                message += f" ({seconds:.3f} sec)"
            tf.get_logger().info(message)
            self.next_log, self.log_time = self.next_log + every, now
        if scalars:
            self.write(str(self.config.model_dir), scalars, step)

    def on_train_end(self, logs: Any = None) -> None:
        self.checked_loss(self.model.get_metrics_result())  # of all steps, also where the data ended within a call

    def checked_loss(self, logs: Any) -> Any:
        """The mean loss since the metrics were reset; None if the model reports none."""
        loss = (logs or {}).get("loss")
        if loss is not None and np.isnan(loss):
            raise NanLossError(f"The loss is NaN at or before step {int(self.model.optimizer.iterations)}.")
        return loss
