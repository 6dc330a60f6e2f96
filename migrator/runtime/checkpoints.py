"""Checkpoints of a model and its optimizer in `model_dir`."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.config import RunConfig
from migrator.runtime.nan_loss import current_loss


class Checkpoints:
    """Saves `model.ckpt-<step>` files of a compiled model, and knows which of them the model holds."""

    def __init__(self, model: tf.keras.Model, config: RunConfig) -> None:
        self.model = model
        self.directory = str(config.model_dir)
        self.manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=model, optimizer=model.optimizer),
            self.directory,
            max_to_keep=config.keep_checkpoint_max or None,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            checkpoint_name="model.ckpt",
        )
        self.held: tuple[str, int] | None = None
        self.optimizer_restored = False

    def latest(self) -> str | None:
        """Path of the newest checkpoint, whoever wrote it; None if there is none."""
        path: str | None = tf.train.latest_checkpoint(self.directory)
        return path

    def save(self, step: int) -> str:
        """Writes `model.ckpt-<step>` and deletes the oldest beyond `keep_checkpoint_max`."""
        tf.get_logger().info("Saving checkpoints for %d into %s.", step, os.path.join(self.directory, "model.ckpt"))
        path = str(self.manager.save(checkpoint_number=step))
        self.held, self.optimizer_restored = checkpoint_version(path), True
        return path

    def restore(self, path: str | None, with_optimizer: bool) -> None:
        """Loads `path`, or the newest checkpoint for None, unless the model holds it already.

        The variables have to exist. Without `with_optimizer` only the step count of the optimizer has to.

        Raises:
          ValueError: the file is a TensorFlow 1 checkpoint, or lacks a variable of the model.
        """
        path = path or self.latest()
        if path is None:
            return
        version = checkpoint_version(path)
        if version == self.held and (self.optimizer_restored or not with_optimizer):
            return
        if not tf.train.load_checkpoint(path).has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):
            raise ValueError(
                f"{path} was written by a TensorFlow 1 Saver and does not fit this Keras model. "
                "Choose another model_dir, or convert the checkpoint first."
            )
        tf.get_logger().info("Restoring parameters from %s", path)
        missing = unsaved_variables(path, self.manager.checkpoint)
        if missing:
            raise ValueError(f"{path} does not hold all variables of the model: {', '.join(missing)}")
        self.manager.checkpoint.restore(path).expect_partial()
        self.held, self.optimizer_restored = version, with_optimizer


def checkpoint_version(path: str) -> tuple[str, int]:
    """Path and time of writing, which tell a checkpoint from a later one of the same name."""
    return os.path.abspath(path), tf.io.gfile.stat(path + ".index").mtime_nsec


def unsaved_variables(path: str, checkpoint: tf.train.Checkpoint) -> list[str]:
    """Names of those variables of `checkpoint` that the file at `path` lacks; metrics may be missing."""
    saved = {id(node) for node in tf.train.CheckpointView(path).match(checkpoint).values()}
    missing, visited, nodes = [], set(), [("", checkpoint)]
    while nodes:
        name, node = nodes.pop()
        if id(node) in visited or isinstance(node, tf.keras.metrics.Metric):
            continue
        visited.add(id(node))
        if isinstance(node, tf.Variable) and id(node) not in saved:
            missing.append(name)
        nodes += [
            (f"{name}/{key}".strip("/"), child) for key, child in tf.train.TrackableView(node).children(node).items()
        ]
    return sorted(missing)


class CheckpointSaver(tf.keras.callbacks.Callback):
    """Saves at the start if there is no checkpoint yet, at intervals, and at the end.

    Args:
      checkpoints: Where to save.
      save_steps: Steps between two checkpoints, or None.
      save_secs: Seconds between two checkpoints, or None.
      after_save: Called with the step after each checkpoint but the one at the start.

    Raises:
      NanLossError: the loss was NaN since the last checkpoint.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        save_steps: int | None,
        save_secs: float | None,
        after_save: Callable[[int], None] = lambda step: None,
    ) -> None:
        super().__init__()
        self.checkpoints, self.after_save = checkpoints, after_save
        self.save_steps, self.save_secs = save_steps, save_secs
        self.saved_step, self.saved_time = 0, 0.0

    def on_train_begin(self, logs: Any = None) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations), time.time()
        if self.checkpoints.latest() is None:
            self.checkpoints.save(self.saved_step)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        if self.save_steps and step >= self.saved_step + self.save_steps:
            self.save(step)
        elif self.save_secs and time.time() >= self.saved_time + self.save_secs:
            self.save(step)

    def on_train_end(self, logs: Any = None) -> None:
        step = int(self.model.optimizer.iterations)
        if step != self.saved_step:
            self.save(step)

    def save(self, step: int) -> None:
        current_loss(self.model)  # raises rather than save a model that is lost
        self.saved_step, self.saved_time = step, time.time()
        self.checkpoints.save(step)
        self.after_save(step)

    def steps_until_due(self, batch: int) -> int | None:
        """Steps from now to the next checkpoint; None if the clock decides."""
        if not self.save_steps:
            return None
        return max(1, self.saved_step + self.save_steps - int(self.model.optimizer.iterations))
