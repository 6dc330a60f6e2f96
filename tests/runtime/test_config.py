"""RunConfig takes and defaults what `tf.estimator.RunConfig` does."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.training.config import RunConfig

FIELDS = (
    *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs"),
    *("keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps"),
)


@pytest.mark.parametrize(
    ("arguments", "steps", "secs"),
    [
        ({}, None, 600),
        ({"save_checkpoints_steps": 10}, 10, None),
        ({"save_checkpoints_secs": 10}, None, 10),
        ({"save_checkpoints_steps": None}, None, None),
        ({"save_checkpoints_secs": None}, None, None),
        ({"save_checkpoints_steps": None, "save_checkpoints_secs": 5}, None, 5),
    ],
)
def test_checkpoint_intervals(arguments: dict[str, Any], steps: int | None, secs: int | None) -> None:
    config = RunConfig(**arguments)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (steps, secs)
    if hasattr(tf, "estimator"):
        old = tf.estimator.RunConfig(**arguments)
        assert {name: getattr(config, name) for name in FIELDS} == {name: getattr(old, name) for name in FIELDS}


def test_replace_switches_the_other_interval_off() -> None:
    config = RunConfig(save_checkpoints_secs=60).replace(save_checkpoints_steps=5, model_dir="d")
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs, config.model_dir) == (5, None, "d")
    assert config.replace(save_checkpoints_secs=7).save_checkpoints_steps is None
    assert config.replace(keep_checkpoint_max=None).save_checkpoints_steps == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
        {"save_checkpoints_steps": -1},
        {"save_summary_steps": -1},
        {"keep_checkpoint_max": -1},
        {"log_step_count_steps": 0},
        {"model_dir": ""},
    ],
)
def test_wrong_values(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="save|keep|log|model"):
        RunConfig(**arguments)


def test_path_becomes_text() -> None:
    assert RunConfig(model_dir=pathlib.Path("a") / "b").model_dir == "a/b"
