"""Callbacks that save and evaluate while a training runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import tensorflow as tf

from migrator.runtime.callbacks.evaluations_by_steps import EvaluateEvery
from migrator.runtime.callbacks.save_listeners import SaveCheckpoints, SaveListener
from migrator.runtime.callbacks.validations import ValidateEvery


class Told(SaveListener):
    """Notes what it is told."""

    def __init__(self, stops_at: int | None = None) -> None:
        self.told: list[object] = []
        self.stops_at = stops_at

    def begin(self) -> None:
        self.told.append("begin")

    def before_save(self, step: int) -> None:
        self.told.append(-step)

    def after_save(self, step: int) -> bool:
        self.told.append(step)
        return step == self.stops_at

    def end(self, step: int) -> None:
        self.told.append(f"end {step}")


def trained(*callbacks: tf.keras.callbacks.Callback, model: tf.keras.Model, steps: int = 7) -> None:
    data = tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat(steps)
    model.fit(data, callbacks=list(callbacks), verbose=0)


def make_model() -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def make_manager(model: tf.keras.Model, folder: Path) -> tf.train.CheckpointManager:
    return tf.train.CheckpointManager(tf.train.Checkpoint(model=model), str(folder), max_to_keep=None)


def test_listeners_are_told_as_by_a_session(tmp_path: Path) -> None:
    model, told = make_model(), Told()
    trained(SaveCheckpoints(make_manager(model, tmp_path), 3, [told]), model=model)
    assert told.told == ["begin", 0, 0, -3, 3, -6, 6, -7, 7, "end 7"]
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".index")) == [
        f"ckpt-{step}.index" for step in (0, 3, 6, 7)
    ]


def test_a_listener_ends_a_training_but_not_before_it_begins(tmp_path: Path) -> None:
    model, told = make_model(), Told(stops_at=3)
    trained(SaveCheckpoints(make_manager(model, tmp_path), 3, [told]), model=model)
    assert told.told[-1] == "end 3"
    model, told = make_model(), Told(stops_at=0)
    trained(SaveCheckpoints(make_manager(model, tmp_path), 3, [told]), model=model)
    assert told.told[-1] == "end 7"


def test_evaluations_by_steps(tmp_path: Path) -> None:
    callback = EvaluateEvery(ONE, 3, str(tmp_path))
    assert evaluated(callback, tmp_path) == [0, 3, 6, 7]


def test_evaluations_amid_an_epoch(tmp_path: Path) -> None:
    told = Epochs()
    assert evaluated(ValidateEvery(ONE, 3, str(tmp_path), [told]), tmp_path) == [3, 6, 7]
    assert [(epoch, set(logs) == {"val_loss"}) for epoch, logs in told.told] == [(0, True), (1, True), (2, True)]
    told.stops_at = 6
    assert evaluated(ValidateEvery(ONE, 3, str(tmp_path / "stopped"), [told]), tmp_path / "stopped") == [3, 6]


ONE = tf.data.Dataset.from_tensors(([[1.0]], [[1.0]]))


class Epochs(tf.keras.callbacks.Callback):
    """Is told of epochs."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[int, dict[str, float]]] = []
        self.stops_at = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.told.append((epoch, logs))
        if self.model.optimizer.iterations.numpy() == self.stops_at:
            self.model.stop_training = True


def evaluated(callback: Any, tmp_path: Path) -> list[int]:
    """The steps at which a callback evaluates, by its summaries."""
    trained(callback, model=make_model())
    callback.writer.flush()
    found = []
    for path in tmp_path.iterdir():
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            found += [event.step for value in event.summary.value if value.tag == "loss"]
    return found
