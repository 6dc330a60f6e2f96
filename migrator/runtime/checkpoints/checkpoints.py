"""Checkpoints of a model and its optimizer in `model_dir`."""

from __future__ import annotations

import time
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.messages import log_info

KINDS = (tf.Variable, getattr(tf.keras, "Variable", tf.Variable))  # Keras 3 has its own


def rate_variable(node: Any) -> Any:
    """The variable in which an optimizer of Keras keeps a learning rate that is a number, and saves it; else None."""
    rate = getattr(node, "_learning_rate", None) if hasattr(node, "apply_gradients") else None
    return rate if isinstance(rate, KINDS) else None


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves `model.ckpt-<step>`: at the start if there is none yet, at intervals, and at the end. Restores them."""

    def __init__(self, model: tf.keras.Model, config: RunConfig) -> None:
        super().__init__()
        self.set_model(model)
        self.config = config
        self.checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        keep, hours = config.keep_checkpoint_max or None, config.keep_checkpoint_every_n_hours
        self.manager = tf.train.CheckpointManager(self.checkpoint, config.model_dir, keep, hours, "model.ckpt")
        self.held: str | None = None  # path of the checkpoint that the model stems from
        self.after_save: Callable[[int], None] | None = None

    def newest(self) -> str | None:
        """Path of the newest checkpoint."""
        path: str | None = tf.train.latest_checkpoint(self.config.model_dir)
        return path

    def steps_done(self) -> int:
        """Steps that a training would begin with, by the name of the newest checkpoint where that is not loaded yet."""
        path = self.newest()
        return int(self.model.optimizer.iterations.numpy() if path in (None, self.held) else path.rpartition("-")[2])

    def restore(self, path: str | None = None, with_optimizer: bool = False) -> None:
        """Loads `path`, or the newest checkpoint unless the model stems from it. The variables have to exist."""
        path = path or self.newest()
        if path is None or path == self.held:
            return
        if not tf.train.load_checkpoint(path).has_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"):
            raise ValueError(f"{path} is of TensorFlow 1: convert it with `migrate checkpoint`, or change model_dir.")
        log_info("Restoring parameters from %s", path)
        nodes = self._held_in(path)
        made = all(layer.built for layer in self.model._flatten_layers())
        if hasattr(tf.keras, "ops") and made and not self.model.optimizer.built:
            self.model.optimizer.build(self.model.trainable_variables)  # with Keras 3 it holds those of layers in lists
            nodes = self._held_in(path)
        rates = [(rate, rate.numpy()) for rate in map(rate_variable, nodes) if rate is not None]
        self.checkpoint.restore(path).expect_partial()
        for rate, number in rates:  # those of this run, as a graph has them
            rate.assign(number)
        self.held = path if with_optimizer else None

    def _held_in(self, path: str) -> list[Any]:
        """What the model has that a checkpoint may hold. Raises ValueError if that does not hold all variables of it."""
        found = {id(node) for node in tf.train.CheckpointView(path).match(self.checkpoint).values()}
        found |= {id(variable) for metric in self.model.metrics for variable in metric.variables}  # need not be saved
        nodes = list(tf.train.TrackableView(self.checkpoint).descendants())
        missing = [node.name for node in nodes if isinstance(node, KINDS) and id(node) not in found]
        if missing:
            raise ValueError(f"{path} does not hold all variables of the model: {', '.join(missing)}")
        return nodes

    def save(self, at_start: bool = False) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations.numpy()), time.time()
        log_info("Saving checkpoints for %d into %s.", self.saved_step, self.manager.directory)
        self.held = self.manager.save(checkpoint_number=self.saved_step)
        if self.after_save and not at_start:
            self.after_save(self.saved_step)

    def on_train_begin(self, logs: Any = None) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations.numpy()), time.time()
        if self.newest() is None:
            self.save(at_start=True)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.is_due(batch + 1):
            self.save()

    def is_due(self, done: int) -> bool:
        """Whether to save after `done` steps of this training."""
        steps, seconds = self.config.save_checkpoints_steps, self.config.save_checkpoints_secs
        if steps:
            return done % steps == 0
        return seconds is not None and seconds > 0 and time.time() >= self.saved_time + seconds

    def on_train_end(self, logs: Any = None) -> None:
        if int(self.model.optimizer.iterations.numpy()) != self.saved_step:
            self.save()
