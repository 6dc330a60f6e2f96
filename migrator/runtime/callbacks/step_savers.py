"""Saves checkpoints of a training when a hook of TensorFlow 1 said so, and tells listeners of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import tensorflow as tf


class CheckpointSaver(tf.keras.callbacks.Callback):
    """Lets a training save its checkpoints as often as this says, instead of as often as the RunConfig does.

    `listeners` are told before and after: `begin()`, `before_save(session, step)`, `after_save(session, step)`, which stops
    the training if it returns true later than at the start, and `end(session, step)`. There is no session: it is None.

    Args:
      checkpoint_dir: the `model_dir`; it may be left out.
      save_secs, save_steps: how often; neither of them: as the RunConfig says.
    """

    def __init__(
        self,
        checkpoint_dir: str | None = None,
        save_secs: float | None = None,
        save_steps: int | None = None,
        listeners: Iterable[Any] | None = None,
    ) -> None:
        super().__init__()
        if save_secs is not None and save_steps is not None:
            raise ValueError("Can not provide both save_secs and save_steps.")
        self.checkpoint_dir, self.listeners = checkpoint_dir, list(listeners or ())
        self.often = {"save_checkpoints_secs": save_secs, "save_checkpoints_steps": save_steps}

    def on_train_begin(self, logs: Any = None) -> None:
        config, self.checkpoints = self.model.run_config, self.model.run_state.checkpoints
        if self.checkpoint_dir is not None:
            if os.path.abspath(self.checkpoint_dir) != os.path.abspath(config.model_dir):
                raise ValueError(f"Checkpoints can only be saved in {config.model_dir}, not in {self.checkpoint_dir}.")
        self.alone = not (config.save_checkpoints_steps or config.save_checkpoints_secs)  # `train` saves nothing
        if self.alone and not any(self.often.values()):
            raise ValueError("There is nothing to listen to: the RunConfig says that no checkpoints are saved.")
        for listener in self.listeners:
            listener.begin()
        if self.alone:
            self.checkpoints.on_train_begin()
        if any(self.often.values()):
            self.checkpoints.config = config.replace(**self.often)
        self.tell(self.step())  # the training has saved before
        self.save_as_ever, self.checkpoints.save = self.checkpoints.save, self.save

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.alone:
            self.checkpoints.on_train_batch_end(batch)

    def on_train_end(self, logs: Any = None) -> None:
        if self.alone:
            self.checkpoints.on_train_end()
        self.checkpoints.config, self.checkpoints.save = self.model.run_config, self.save_as_ever
        for listener in self.listeners:
            listener.end(None, self.step())

    def step(self) -> int:
        return int(self.model.optimizer.iterations.numpy())

    def save(self) -> None:
        """Takes the place of `Checkpoints.save`."""
        if any(self.tell(self.step(), self.save_as_ever)):
            self.model.stop_training = True

    def tell(self, step: int, save: Any = None) -> list[Any]:
        """What the listeners answer after a save."""
        for listener in self.listeners:
            listener.before_save(None, step)
        if save is not None:
            save()
        return [listener.after_save(None, step) for listener in self.listeners]
