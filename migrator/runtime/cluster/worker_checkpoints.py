"""Checkpoints of workers that train in step."""

from __future__ import annotations

import tempfile

import tensorflow as tf

from migrator.runtime.checkpoints.checkpoints import Checkpoints
from migrator.runtime.training.config import RunConfig

PAUSE = 50
"""Steps between two questions whether to save by the clock, which differs from worker to worker."""


class WorkerCheckpoints(Checkpoints):
    """All workers take part in a save, as their moving statistics are averaged, but only the chief's is kept."""

    def __init__(self, model: tf.keras.Model, config: RunConfig) -> None:
        self.writes: bool = model.distribute_strategy.extended.should_checkpoint
        super().__init__(model, config if self.writes else config.replace(model_dir=tempfile.mkdtemp()))
        self.config = config

    def newest(self) -> str | None:
        """Path of the newest checkpoint; a worker whose checkpoints are not kept goes on from what it holds."""
        return self.held if self.held and not self.writes else super().newest()

    def is_due(self, done: int) -> bool:
        if self.config.save_checkpoints_steps or not self.config.save_checkpoints_secs:
            return super().is_due(done)
        return done % PAUSE == 0 and self.chief_says(super().is_due(done))

    def chief_says(self, own: bool) -> bool:
        """The answer that the chief gives, on all workers; `own` is that of this one."""
        strategy, answer = self.model.distribute_strategy, float(own and self.writes)
        answers = strategy.run(tf.identity, (tf.constant(answer),))
        return bool(strategy.reduce(tf.distribute.ReduceOp.SUM, answers, axis=None) > 0)
