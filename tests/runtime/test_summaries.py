"""Log lines and event files of a run."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import (
    LineModel,
    X,
    Y,
    after_reading_the_step,
    checkpoint_steps,
    create_model,
    input_fn,
    model_fn,
    read_events,
)

from migrator.runtime.callbacks.callbacks import TensorLogger, watch
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.summaries import StepLogger
from migrator.runtime.training.training import evaluate, train


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


class MetricModel(LineModel):
    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        results = super().compute_metrics(x, y, y_pred)
        watch(self, "mae", self.mae.result())
        tf.summary.scalar("mae", self.mae.result())
        return results


def test_metrics_that_are_logged_are_those_of_the_steps_with_log_lines(tmp_path: Path) -> None:
    found: list[list[float]] = [[], []]

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = model_fn(features, labels, mode)
        tensors = {"mae": spec.eval_metric_ops["mae"][1]}
        hook = tf.compat.v1.train.LoggingTensorHook(tensors, 3, formatter=lambda v: str(found[0].append(v["mae"])))
        return spec._replace(training_hooks=[hook])

    def train_input() -> tf.data.Dataset:
        return input_fn("train")

    tf.estimator.Estimator(old_model_fn, str(tmp_path / "old")).train(train_input, steps=8)
    logger = TensorLogger(["mae"], 3, formatter=lambda v: str(found[1].append(v["mae"])), metrics=True)
    train(create_model(tmp_path / "new", model=MetricModel()), train_input, steps=8, callbacks=[logger])
    assert len(found[0]) == 3
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


@pytest.mark.parametrize(("logged", "recorded"), [(3, 5), (2, 4), (5, 3)])
def test_metrics_that_are_logged_and_in_summaries(tmp_path: Path, logged: int, recorded: int) -> None:
    """They are over the steps of both."""
    found: list[list[float]] = [[], []]

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        with after_reading_the_step():
            spec = model_fn(features, labels, mode)
        _, update = spec.eval_metric_ops["mae"]
        tf.compat.v1.summary.scalar("mae", update)
        write = lambda v: str(found[0].append(v["mae"]))  # noqa: E731
        hook = tf.compat.v1.train.LoggingTensorHook({"mae": update}, logged, formatter=write)
        return spec._replace(training_hooks=[hook])

    def train_input() -> tf.data.Dataset:
        return input_fn("train")

    config = tf.estimator.RunConfig(save_summary_steps=recorded)
    tf.estimator.Estimator(old_model_fn, str(tmp_path / "old"), config).train(train_input, steps=11)
    arguments = {"formatter": lambda v: str(found[1].append(v["mae"])), "metrics": True, "summarized": True}
    logger = TensorLogger(["mae"], logged, **arguments)
    model = create_model(tmp_path / "new", model=MetricModel(), save_summary_steps=recorded)
    train(model, train_input, steps=11, callbacks=[logger])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    old, new = read_events(tmp_path / "old")["mae"], read_events(tmp_path / "new")["mae"]
    assert list(new) == list(old)
    np.testing.assert_allclose(list(new.values()), list(old.values()), rtol=1e-5)


@pytest.mark.parametrize("steps_per_execution", [1, 100])
def test_metrics_in_summaries_are_those_of_the_steps_with_summaries(tmp_path: Path, steps_per_execution: int) -> None:
    """In a session, the update of a metric ran where its summary was fetched."""

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        with after_reading_the_step():
            spec = model_fn(features, labels, mode)
        if mode == "train":
            _, update = spec.eval_metric_ops["mae"]
            tf.compat.v1.summary.scalar("mae", update)
        return spec

    def train_input() -> tf.data.Dataset:
        return input_fn("train")

    config = tf.estimator.RunConfig(str(tmp_path / "old"), save_summary_steps=3, log_step_count_steps=2)
    estimator = tf.estimator.Estimator(old_model_fn, config=config)
    model = create_model(
        tmp_path / "new", steps_per_execution, MetricModel(), save_summary_steps=3, log_step_count_steps=2
    )
    model.run_state.training_metrics = True
    for _ in range(2):
        estimator.train(train_input, steps=8)
        train(model, train_input, steps=8)
    old, new = (read_events(tmp_path / side)["mae"] for side in ("old", "new"))
    assert sorted(old) == sorted(new) == [1, 4, 7, 9, 12, 15]
    for step, value in old.items():
        np.testing.assert_allclose(new[step], value, rtol=1e-5)
