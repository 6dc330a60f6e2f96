"""What a run writes to the log and for TensorBoard."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.messages import log_info


def metric_state(model: tf.keras.Model) -> list[tuple[Any, tf.Tensor]]:
    """The state of all metrics but the loss: variables, which those of `compile` have after their first update, and values."""
    held = [variable for metric in model.metrics if metric.name != "loss" for variable in metric.variables]
    return [(variable, tf.identity(variable)) for variable in held]


def resume_metrics(model: tf.keras.Model, state: Sequence[tuple[Any, tf.Tensor]]) -> None:
    """Gives the metrics the state that they had after the last step in which they were read; none: their initial one."""
    for metric in model.metrics:
        metric.reset_state()
    for variable, value in state:
        variable.assign(value)


class StepLogger(tf.keras.callbacks.Callback):
    """Writes the loss and the speed to the log and to event files; stops a training whose loss is not a number."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.config = config
        self.writer = functools.lru_cache(None)(tf.summary.create_file_writer)  # one for each folder
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)  # that summaries are written at
        self.recording = tf.Variable(False, trainable=False)  # whether the model is to write its summaries
        self.logged_step, self.logged_time = 0, 0.0
        self.recorded: list[Any] = []  # state of the metrics, which a session kept over the steps with summaries

    def on_train_begin(self, logs: Any = None) -> None:
        self.recorded = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        log, record = self.config.log_step_count_steps, self.config.save_summary_steps
        self.log_due, self.record_due = log and batch % log == 0, record and batch % record == 0
        if self.log_due or self.record_due:
            # They hold the loss of this step alone.
            resume_metrics(self.model, self.recorded if self.record_due else ())
            self.step.assign(self.model.optimizer.iterations + 1)
            self.recording.assign(bool(self.record_due))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss, step, scalars = self.check(logs), int(self.model.optimizer.iterations.numpy()), {}
        self.step.assign(step)
        if self.record_due:
            scalars["loss"] = loss
            self.recording.assign(False)
            self.recorded = metric_state(self.model)
        if self.log_due:
            now = time.time()
            if batch:
                scalars["global_step/sec"] = (step - self.logged_step) / (now - self.logged_time)
                log_info("global_step/sec: %g", scalars["global_step/sec"])
            log_info("loss = %s, step = %d", loss, step - 1)
            self.logged_step, self.logged_time = step, now
        if scalars:
            self.write(self.config.model_dir, scalars, step)

    def on_train_end(self, logs: Any = None) -> None:
        self.check(self.model.get_metrics_result())  # the data may have ended within a call of several steps

    def check(self, logs: Any) -> Any:
        loss = logs.get("loss")
        if loss is not None and np.isnan(loss):  # a mean over steps is NaN as soon as one of them is
            raise FloatingPointError(
                f"The loss is NaN at or before step {int(self.model.optimizer.iterations.numpy())}."
            )
        return loss

    def write(self, folder: Any, scalars: dict[str, Any], step: int) -> None:
        """Does what `tf.summary.scalar` does, but without the package tensorboard."""
        values = [tf.compat.v1.Summary.Value(tag=tag, simple_value=x) for tag, x in scalars.items() if np.ndim(x) == 0]
        with self.writer(folder).as_default():
            tf.summary.experimental.write_raw_pb(tf.compat.v1.Summary(value=values).SerializeToString(), step)
        self.writer(folder).flush()
