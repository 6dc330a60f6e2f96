"""Log lines and event files of a run."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, checkpoint_steps, create_model, input_fn, read_events

from migrator.runtime.config import RunConfig
from migrator.runtime.summaries import StepLogger
from migrator.runtime.training import evaluate, train


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(tf.get_logger(), "propagate", True)
    caplog.set_level("INFO", logger="tensorflow")
    return caplog


def test_log_lines(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    train(create_model(tmp_path, log_step_count_steps=3, save_summary_steps=0), input_fn, steps=8)
    assert re.findall(r"loss = ([\d.]{6})\d*, step = (\d+)", log.text) == [
        ("2.8908", "0"),
        ("0.7665", "3"),
        ("1.5958", "6"),
    ]
    assert log.text.count("global_step/sec: ") == 2
    assert sorted(read_events(tmp_path)["global_step/sec"]) == [4, 7]


def test_no_log_lines(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    train(create_model(tmp_path, log_step_count_steps=None), input_fn, steps=3)
    assert "loss = " not in log.text
    assert sorted(read_events(tmp_path)["loss"]) == [1, 2, 3]


@pytest.mark.parametrize("steps_per_execution", [1, 100])
def test_summaries_of_the_model_come_every_so_many_steps(tmp_path: Path, steps_per_execution: int) -> None:
    model = create_model(tmp_path, steps_per_execution, save_summary_steps=3)
    train(model, input_fn, steps=4)
    evaluate(model, input_fn)
    train(model, input_fn, steps=4)
    events = read_events(tmp_path)
    assert sorted(events["mean_output"]) == sorted(events["loss"]) == [1, 4, 5, 8]
    assert set(events) == {"loss", "mean_output", "mean_error"}
    assert set(read_events(tmp_path / "eval")) == {"loss", "mae"}


def test_no_summaries(tmp_path: Path) -> None:
    train(create_model(tmp_path, save_summary_steps=0), input_fn, steps=4)
    assert read_events(tmp_path) == {}


class WriteOnce(tf.keras.callbacks.Callback):
    def on_train_end(self, logs: Any = None) -> None:
        tf.summary.scalar("mine", 5.0)


def test_callbacks_write_at_the_step_of_the_optimizer(tmp_path: Path) -> None:
    train(create_model(tmp_path, save_summary_steps=100), input_fn, steps=4, callbacks=[WriteOnce()])
    assert read_events(tmp_path)["mine"] == {4: 5.0}


def test_tensorboard_need_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf, "summary", SimpleNamespace(**{**vars(tf.summary), "scalar": None}))
    StepLogger(RunConfig()).write(str(tmp_path), {"a": np.float32(0.5), "b": 2, "array": np.ones(3)}, 7)
    assert read_events(tmp_path) == {"a": {7: 0.5}, "b": {7: 2.0}}


@pytest.mark.parametrize(
    "config", [{"log_step_count_steps": 1}, {"log_step_count_steps": None, "save_summary_steps": 0}]
)
def test_nan_stops_training_before_it_is_saved(tmp_path: Path, config: dict[str, Any]) -> None:
    def broken() -> tf.data.Dataset:
        good = tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(5)
        return good.concatenate(tf.data.Dataset.from_tensors(({"x": X}, Y * float("nan"))).repeat(7))

    with pytest.raises(FloatingPointError, match="at or before step"):
        train(create_model(tmp_path, steps_per_execution=100, **config), broken)
    assert checkpoint_steps(tmp_path) == [0, 4]
