"""Callbacks that measure the steps of a training."""

from __future__ import annotations

import time
from typing import Any

import tensorflow as tf

from migrator.runtime.callbacks.callbacks import Timer
from migrator.runtime.training.messages import log_info


class StepCounter(tf.keras.callbacks.Callback):
    """Logs steps per second, and writes them as `global_step/sec` to `output_dir`, by steps or by time."""

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: str | None = None
    ) -> None:
        super().__init__()
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("Exactly one of every_n_steps and every_n_secs must be given.")
        self.timer, self.output_dir = Timer(every_n_secs, every_n_steps), output_dir

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        step, before = int(self.model.optimizer.iterations.numpy()), self.timer.step
        if self.timer.is_due(step):
            seconds = self.timer.reset(step)
            if before is not None and seconds:
                rate = (step - before) / seconds
                log_info("global_step/sec: %g", rate)
                if self.output_dir is not None:
                    self.model.run_state.logger.write(self.output_dir, {"global_step/sec": rate}, step)


class StepWaiter(tf.keras.callbacks.Callback):
    """Lets a training begin only when the optimizer, which other processes may drive, has done `wait_until_step` steps."""

    def __init__(self, wait_until_step: int) -> None:
        super().__init__()
        self.wait_until_step = wait_until_step

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        while batch == 0 and int(self.model.optimizer.iterations.numpy()) < self.wait_until_step:
            time.sleep(0.5)


class StepProfiler(tf.keras.callbacks.Callback):
    """Profiles single steps, by steps or by time but not the first one, for TensorBoard's profile plug-in."""

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str = "") -> None:
        super().__init__()
        if (save_steps is None) == (save_secs is None):
            raise ValueError("Exactly one of save_steps and save_secs must be given.")
        self.timer, self.output_dir, self.active = Timer(save_secs, save_steps), output_dir, False

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations.numpy()) + 1
        if batch and self.timer.is_due(step):
            self.timer.reset(step)
            self.active = True
            tf.profiler.experimental.start(self.output_dir)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.active:
            self.active = False
            tf.profiler.experimental.stop()

    def on_train_end(self, logs: Any = None) -> None:
        self.on_train_batch_end(0)  # the data may have ended
