"""What a run writes for TensorBoard and to the log."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from migrator.runtime.nan_loss import current_loss, loss_metric


class SummaryWriters:
    """One event file per folder, opened at the first use; none where the package tensorboard is missing."""

    def __init__(self) -> None:
        self.writers: dict[str, Any] = {}

    def writer(self, directory: str) -> Any:
        """A context manager in which `tf.summary` writes to `directory`."""
        if directory not in self.writers:
            self.writers[directory] = self.open(directory)
        return self.writers[directory].as_default() if self.writers[directory] else contextlib.nullcontext()

    def open(self, directory: str) -> Any:
        if importlib.util.find_spec("tensorboard") is None:
            if not self.writers:
                tf.get_logger().warning("No summaries are written: tf.summary needs the package tensorboard.")
            return None
        return tf.summary.create_file_writer(directory)

    def flush(self) -> None:
        """Writes to disk what is still in memory."""
        for writer in self.writers.values():
            if writer:
                writer.flush()

    def write_scalars(self, directory: str, scalars: dict[str, float], step: int) -> None:
        """Writes each scalar under its tag, also where summaries of the model are switched off."""
        with self.writer(directory), tf.summary.record_if(True):
            if self.writers[directory]:
                for tag, value in scalars.items():
                    tf.summary.scalar(tag, value, step=step)
        self.flush()


@contextlib.contextmanager
def model_summaries(
    model: tf.keras.Model, writers: SummaryWriters, directory: str, every_steps: int | None
) -> Iterator[None]:
    """Lets `tf.summary` calls inside the model write to `directory` in every `every_steps`-th step; 0 or None: never.

    The step that they are written at is the number of updates done before it: 0, 100, 200, ...
    """
    if not every_steps:
        with tf.summary.record_if(False):
            yield
        return

    def due() -> Any:
        return tf.equal(steps % every_steps, 0) if tf.inside_function() else True  # callbacks choose their own steps

    steps, previous = model.optimizer.iterations, tf.summary.experimental.get_step()
    tf.summary.experimental.set_step(steps)
    try:
        with writers.writer(directory), tf.summary.record_if(due):
            yield
    finally:
        tf.summary.experimental.set_step(previous)
        writers.flush()


class StepLogger(tf.keras.callbacks.Callback):
    """Logs the loss of the first and of every `log_steps`-th step after it, and the speed in between.

    The same loss goes to the event file of `directory` every `summary_steps`. The metric named "loss" is reset before
    such a step, so that it holds the loss of this step alone; what it held is checked before.

    Raises:
      NanLossError: a loss was NaN.
    """

    def __init__(
        self, writers: SummaryWriters, directory: str, log_steps: int | None, summary_steps: int | None
    ) -> None:
        super().__init__()
        self.writers, self.directory = writers, directory
        self.log_steps, self.summary_steps = log_steps or 0, summary_steps or 0
        self.next_log = self.next_summary = 0
        self.log_time: float | None = None
        self.log_batch = 0
        self.watched = False

    def on_train_begin(self, logs: Any = None) -> None:
        self.next_log = self.next_summary = 0
        self.log_time = None

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        log, summary = self.log_steps and batch >= self.next_log, self.summary_steps and batch >= self.next_summary
        self.watched = bool(log or summary)
        if self.watched and current_loss(self.model) is not None:
            loss_metric(self.model).reset_state()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self.watched:
            return
        loss, step = current_loss(self.model), int(self.model.optimizer.iterations)
        scalars = {}
        if self.summary_steps and batch >= self.next_summary:
            self.next_summary += self.summary_steps
            if loss is not None:
                scalars["loss"] = loss
        if self.log_steps and batch >= self.next_log:
            self.next_log += self.log_steps
            scalars.update(self.log(loss, batch, step))
        if scalars:
            self.writers.write_scalars(self.directory, scalars, step)

    def on_train_end(self, logs: Any = None) -> None:
        current_loss(self.model)

    def log(self, loss: float | None, batch: int, step: int) -> dict[str, float]:
        """Logs as `Estimator` does: the loss of a step with the number of updates before it."""
        now, message = time.time(), f"loss = {loss}, step = {step - 1}"
        speed = {}
        if self.log_time is not None:
            seconds = now - self.log_time
            speed["global_step/sec"] = (batch - self.log_batch) / max(seconds, 1e-9)
            tf.get_logger().info("global_step/sec: %g", speed["global_step/sec"])
            message += f" ({seconds:.3f} sec)"
        tf.get_logger().info(message)
        self.log_time, self.log_batch = now, batch
        return speed

    def steps_until_due(self, batch: int) -> int | None:
        """Steps from now to the next that must run alone, or 1 if that is the next one."""
        due = [at for at, every in ((self.next_log, self.log_steps), (self.next_summary, self.summary_steps)) if every]
        return max(1, min(due) - batch) if due else None
