"""Checkpoints of a model and its optimizer in `model_dir`."""

from __future__ import annotations

import math
import time
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.config import RunConfig


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves `model.ckpt-<step>` when a training starts without any, at intervals, and at the end; restores them."""

    def __init__(self, model: tf.keras.Model, config: RunConfig) -> None:
        super().__init__()
        self.set_model(model)
        self.config = config
        self.checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        self.manager = tf.train.CheckpointManager(
            self.checkpoint,
            config.model_dir,
            max_to_keep=config.keep_checkpoint_max or None,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            checkpoint_name="model.ckpt",
        )
        self.held: str | None = None  # path of the checkpoint that the model need not restore
        self.saved_step, self.saved_time = 0, 0.0
        self.after_save: Callable[[int], None] | None = None

    def newest(self) -> str | None:
        """Path of the newest checkpoint in `model_dir`, whoever wrote it."""
        path: str | None = tf.train.latest_checkpoint(self.config.model_dir)
        return path

    def newest_step(self) -> int:
        """Steps that a training would start with."""
        path = self.newest()
        if path is None or path == self.held:
            return int(self.model.optimizer.iterations)
        number = path.rpartition("-")[2]
        return int(number) if number.isdigit() else 0

    def restore(self, path: str | None = None, with_optimizer: bool = False) -> None:
        """Loads `path`, or the newest checkpoint, into the variables, which have to exist.

        Raises ValueError if it lacks variables other than those of metrics.
        """
        path = path or self.newest()
        if path is None:
            tf.get_logger().info("No checkpoint in %s, using the model as it is.", self.config.model_dir)
        if path is None or path == self.held:
            return
        if not tf.train.load_checkpoint(path).has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):
            raise ValueError(f"{path} was written by TensorFlow 1 and does not fit. Convert it, or change model_dir.")
        tf.get_logger().info("Restoring parameters from %s", path)
        found = {id(node) for node in tf.train.CheckpointView(path).match(self.checkpoint).values()}
        found |= {id(node) for metric in self.model.metrics for node in tf.train.TrackableView(metric).descendants()}
        nodes = tf.train.TrackableView(self.checkpoint).descendants()
        missing = [node.name for node in nodes if isinstance(node, tf.Variable) and id(node) not in found]
        if missing:
            raise ValueError(f"{path} does not hold all variables of the model: {', '.join(sorted(missing))}")
        self.checkpoint.restore(path).expect_partial()
        self.held = path if with_optimizer else None

    def save(self, at_start: bool = False) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations), time.time()
        tf.get_logger().info("Saving checkpoints for %d into %s.", self.saved_step, self.config.model_dir)
        self.held = self.manager.save(checkpoint_number=self.saved_step)
        if self.after_save and not at_start:
            self.after_save(self.saved_step)

    @property
    def due(self) -> float:
        """Number of steps after which to save next."""
        return self.saved_step + (self.config.save_checkpoints_steps or math.inf)

    def on_train_begin(self, logs: Any = None) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations), time.time()
        if self.newest() is None:
            self.save(at_start=True)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        overdue = time.time() >= self.saved_time + (self.config.save_checkpoints_secs or math.inf)
        if overdue or int(self.model.optimizer.iterations) >= self.due:
            self.save()

    def on_train_end(self, logs: Any = None) -> None:
        if int(self.model.optimizer.iterations) != self.saved_step:
            self.save()
