"""Where and how often a training run saves, logs and writes summaries."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import tensorflow as tf

from migrator.runtime.strategy import ClusterTask, current_task

BY_DEFAULT: Any = "by default"  # "not given", where None is a value of its own


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """Configuration of a training run; times are in seconds, intervals in optimizer steps.

    Args:
      model_dir: Folder of checkpoints and event files. None: a temporary folder.
      tf_random_seed: Seed that each `train`, `evaluate` and `predict` sets first. None: not seeded.
      save_summary_steps: Steps between two summaries while training. 0 or None: no summaries.
      save_checkpoints_steps: Steps between two checkpoints; excludes `save_checkpoints_secs`.
      save_checkpoints_secs: Seconds between two checkpoints; 600 if neither of the two is given. No checkpoints are
        written when both are None.
      keep_checkpoint_max: Checkpoints to keep; older ones are deleted. 0 or None: keep all.
      keep_checkpoint_every_n_hours: Besides those, one checkpoint is kept for this many hours of training.
      log_step_count_steps: Steps between two log lines of the loss and the speed. None: no log lines.
      strategy: `tf.distribute.Strategy` to create the model in. None: `make_strategy()` chooses by TF_CONFIG.

    Raises:
      ValueError: both checkpoint intervals are given, or a number is out of range.
    """

    model_dir: str | None = None
    tf_random_seed: int | None = None
    save_summary_steps: int | None = 100
    save_checkpoints_steps: int | None = BY_DEFAULT
    save_checkpoints_secs: float | None = BY_DEFAULT
    keep_checkpoint_max: int | None = 5
    keep_checkpoint_every_n_hours: float = 10000
    log_step_count_steps: int | None = 100
    strategy: Any = None

    def __post_init__(self) -> None:
        steps, secs = self.save_checkpoints_steps, self.save_checkpoints_secs
        if steps is BY_DEFAULT and secs is BY_DEFAULT:
            steps, secs = None, 600
        steps = None if steps is BY_DEFAULT else steps
        secs = None if secs is BY_DEFAULT else secs
        if steps is not None and secs is not None:
            raise ValueError("Give either save_checkpoints_steps or save_checkpoints_secs, not both.")
        object.__setattr__(self, "save_checkpoints_steps", steps)
        object.__setattr__(self, "save_checkpoints_secs", secs)
        if self.model_dir is not None:
            object.__setattr__(self, "model_dir", os.fspath(self.model_dir))
            if not self.model_dir:
                raise ValueError("model_dir must not be empty.")
        for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} must be >= 0, given: {getattr(self, name)}")
        if self.log_step_count_steps is not None and self.log_step_count_steps <= 0:
            raise ValueError(f"log_step_count_steps must be > 0, given: {self.log_step_count_steps}")

    def replace(self, **changes: Any) -> RunConfig:
        """A copy with some fields changed; giving one checkpoint interval switches the other one off."""
        if changes.get("save_checkpoints_steps") is not None:
            changes.setdefault("save_checkpoints_secs", None)
        if changes.get("save_checkpoints_secs") is not None:
            changes.setdefault("save_checkpoints_steps", None)
        return dataclasses.replace(self, **changes)

    @property
    def saves_checkpoints(self) -> bool:
        return bool(self.save_checkpoints_steps or self.save_checkpoints_secs)

    @property
    def task(self) -> ClusterTask:
        """The place of this process in the cluster of TF_CONFIG."""
        return current_task()

    @property
    def cluster_spec(self) -> tf.train.ClusterSpec:
        """The cluster; empty for a local run and for an evaluator, which is no part of the cluster."""
        return tf.train.ClusterSpec({} if self.task_type == "evaluator" else self.task.cluster)

    @property
    def task_type(self) -> str:
        return self.task.type

    @property
    def task_id(self) -> int:
        return self.task.index

    @property
    def is_chief(self) -> bool:
        return self.task.is_chief

    @property
    def num_worker_replicas(self) -> int:
        """Number of workers, the chief included; 1 for a local run."""
        return self.task.num_workers

    @property
    def num_ps_replicas(self) -> int:
        return self.task.num_parameter_servers

    @property
    def global_id_in_cluster(self) -> int | None:
        """Rank of this process: chief first, parameter servers last; None for an evaluator."""
        return self.task.rank

    @property
    def master(self) -> str:
        """Always empty: TensorFlow 2 has no sessions to connect."""
        return ""

    @property
    def evaluation_master(self) -> str:
        """Always empty, as `master`."""
        return ""
