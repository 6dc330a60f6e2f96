"""Where and how often a training run saves, logs and writes summaries."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

UNSET: Any = "unset"  # where None means "never"


@dataclasses.dataclass
class RunConfig:
    """Configuration of a training run. Steps are those of the optimizer."""

    model_dir: str | None = None  # folder of checkpoints and event files; None: a temporary one
    tf_random_seed: int | None = None  # set first by `train`, `evaluate` and `predict`
    save_summary_steps: int | None = 100  # 0 or None: no summaries
    save_checkpoints_steps: int | None = UNSET  # excludes save_checkpoints_secs; both None: no checkpoints
    save_checkpoints_secs: float | None = UNSET  # 600 if neither is given
    keep_checkpoint_max: int | None = 5  # 0 or None: all
    keep_checkpoint_every_n_hours: float = 10000  # besides those, keep one for this many hours of training
    log_step_count_steps: int | None = 100  # steps between log lines; None: none
    strategy: Any = None  # the `tf.distribute.Strategy` of the model; None: see `make_strategy`
    eval_strategy: Any = None  # given: an evaluation step takes a batch for each replica; a rest is left out

    def __post_init__(self) -> None:
        if self.save_checkpoints_steps is UNSET and self.save_checkpoints_secs is UNSET:
            self.save_checkpoints_secs = 600
        self.save_checkpoints_steps = None if self.save_checkpoints_steps is UNSET else self.save_checkpoints_steps
        self.save_checkpoints_secs = None if self.save_checkpoints_secs is UNSET else self.save_checkpoints_secs
        if self.save_checkpoints_steps is not None and self.save_checkpoints_secs is not None:
            raise ValueError("Give either save_checkpoints_steps or save_checkpoints_secs, not both.")
        if self.model_dir is not None:
            self.model_dir = os.fspath(self.model_dir)
        if self.log_step_count_steps == 0 or self.model_dir == "":
            raise ValueError("log_step_count_steps must not be 0, nor model_dir empty; None stands for neither.")
        for name, value in vars(self).items():
            if isinstance(value, (int, float)) and value < 0 and name != "tf_random_seed":
                raise ValueError(f"{name} must not be negative, given: {value}")

    def replace(self, **changes: Any) -> RunConfig:
        """A copy with some fields changed; giving one checkpoint interval switches the other one off."""
        if changes.get("save_checkpoints_steps") is not None:
            changes.setdefault("save_checkpoints_secs", None)
        if changes.get("save_checkpoints_secs") is not None:
            changes.setdefault("save_checkpoints_steps", None)
        return dataclasses.replace(self, **changes)
