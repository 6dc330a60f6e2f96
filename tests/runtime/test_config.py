"""RunConfig takes and defaults what `tf.estimator.RunConfig` does."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.config import RunConfig

FIELDS = (
    *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs"),
    *("keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps"),
)
PROPERTIES = (
    *("task_type", "task_id", "is_chief", "num_worker_replicas", "num_ps_replicas", "global_id_in_cluster"),
    "cluster_spec",
)
CLUSTER = {"chief": ["a:1"], "ps": ["b:1", "b:2"], "worker": ["c:1", "c:2"]}


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
    assert config.saves_checkpoints == (steps is not None or secs is not None)
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


@pytest.mark.parametrize(
    "tf_config",
    [
        {},
        *({"cluster": CLUSTER, "task": {"type": job, "index": index}} for job in CLUSTER for index in range(1)),
        {"cluster": CLUSTER, "task": {"type": "worker", "index": "1"}},
        {"cluster": CLUSTER, "task": {"type": "ps", "index": 1}},
        {"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}},
        {"cluster": {"master": ["a:1"], "worker": ["c:1"]}, "task": {"type": "master", "index": 0}},
        {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}},
    ],
)
def test_place_in_the_cluster(tf_config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    config = RunConfig()
    task = tf_config.get("task", {"type": "worker", "index": 0})
    assert (config.task_type, config.task_id) == (task["type"], int(task["index"]))
    assert (config.master, config.evaluation_master) == ("", "")
    if hasattr(tf, "estimator"):
        old = tf.estimator.RunConfig()
        assert {name: getattr(config, name) for name in PROPERTIES} == {name: getattr(old, name) for name in PROPERTIES}
