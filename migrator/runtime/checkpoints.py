"""Checkpoints of a model and its optimizer in `model_dir`."""

from __future__ import annotations

import tempfile
import time
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.config import RunConfig


class Checkpoints(tf.keras.callbacks.Callback):
    """Saves `model.ckpt-<step>`: at the start if there is none yet, at intervals, and at the end. Restores them."""

    def __init__(self, model: tf.keras.Model, config: RunConfig) -> None:
        super().__init__()
        self.set_model(model)
        self.config = config
        self.checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        keep, hours = config.keep_checkpoint_max or None, config.keep_checkpoint_every_n_hours
        self.writes = getattr(model.distribute_strategy.extended, "should_checkpoint", True)
        # All workers take part in a save, as their moving statistics are averaged, but only the chief's is kept.
        folder = config.model_dir if self.writes else tempfile.mkdtemp()
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, keep, hours, "model.ckpt")
        self.held: str | None = None  # path of the checkpoint that the model stems from
        self.after_save: Callable[[int], None] | None = None
        # Clocks of workers differ, and all have to save at the same step: they ask the chief every so many steps.
        shared = isinstance(model.distribute_strategy, tf.distribute.MultiWorkerMirroredStrategy)
        self.steps_between_questions = 50 if shared and config.save_checkpoints_secs else None

    def newest(self) -> str | None:
        """Path of the newest checkpoint; a worker whose checkpoints are not kept goes on from what it holds."""
        return self.held if self.held and not self.writes else tf.train.latest_checkpoint(self.config.model_dir)

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
        tf.get_logger().info("Restoring parameters from %s", path)
        found = {id(node) for node in tf.train.CheckpointView(path).match(self.checkpoint).values()}
        found |= {id(variable) for metric in self.model.metrics for variable in metric.variables}  # need not be saved
        nodes = tf.train.TrackableView(self.checkpoint).descendants()
        missing = [node.name for node in nodes if isinstance(node, tf.Variable) and id(node) not in found]
        if missing:
            raise ValueError(f"{path} does not hold all variables of the model: {', '.join(missing)}")
        self.checkpoint.restore(path).expect_partial()
        self.held = path if with_optimizer else None

    def save(self, at_start: bool = False) -> None:
        self.saved_step, self.saved_time = int(self.model.optimizer.iterations.numpy()), time.time()
        tf.get_logger().info("Saving checkpoints for %d into %s.", self.saved_step, self.manager.directory)
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
        if steps or not seconds:
            return steps is not None and steps > 0 and done % steps == 0
        late = time.time() >= self.saved_time + seconds
        pause = self.steps_between_questions
        return late if not pause else done % pause == 0 and self.chief_says(late)

    def chief_says(self, own: bool) -> bool:
        """The answer that the chief gives, on all workers; `own` is that of this one."""
        strategy, answer = self.model.distribute_strategy, float(own and self.writes)
        answers = strategy.run(tf.identity, (tf.constant(answer),))
        return bool(strategy.reduce(tf.distribute.ReduceOp.SUM, answers, axis=None) > 0)

    def on_train_end(self, logs: Any = None) -> None:
        if int(self.model.optimizer.iterations.numpy()) != self.saved_step:
            self.save()
