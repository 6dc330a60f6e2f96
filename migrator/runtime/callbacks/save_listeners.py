"""Tells a program of the checkpoints that a training saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


class SaveListener:
    """Is told of each checkpoint; all of these methods may be left out."""

    def begin(self) -> None:
        """Before a training."""

    def before_save(self, step: int) -> None:
        """Before a checkpoint is saved."""

    def after_save(self, step: int) -> Any:
        """After that; the training stops if this returns true."""

    def end(self, step: int) -> None:
        """After a training, and its last checkpoint."""


class SaveCheckpoints(tf.keras.callbacks.Callback):
    """Saves by a manager of checkpoints before the first step, every `save_steps` and after the last one."""

    def __init__(
        self, checkpoints: tf.train.CheckpointManager, save_steps: int, listeners: Sequence[SaveListener]
    ) -> None:
        super().__init__()
        self.checkpoints, self.save_steps, self.listeners = checkpoints, save_steps, listeners

    def on_train_begin(self, logs: Any = None) -> None:
        for listener in self.listeners:
            listener.begin()
        self.save()
        self.model.stop_training = False

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.step() >= self.saved + self.save_steps:
            self.save()

    def on_train_end(self, logs: Any = None) -> None:
        if self.step() > self.saved:
            self.save()
        for listener in self.listeners:
            listener.end(self.step())

    def step(self) -> int:
        return int(self.model.optimizer.iterations.numpy())

    def save(self) -> None:
        self.saved = self.step()
        for listener in self.listeners:
            listener.before_save(self.saved)
        self.checkpoints.save(self.saved)
        answers = [listener.after_save(self.saved) for listener in self.listeners]
        if any(answers):
            self.model.stop_training = True
