"""Saves that a hook asked for, and listeners, against an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import LineModel, create_model, input_fn, model_fn

from migrator.runtime.callbacks.callbacks import TensorLogger, watch
from migrator.runtime.callbacks.step_savers import CheckpointSaver
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


class Listener(v1.train.CheckpointSaverListener):
    """Notes what it is told."""

    def __init__(self, stop_at: int = 1000) -> None:
        self.told: list[Any] = []
        self.stop_at = stop_at

    def begin(self) -> None:
        self.told.append("begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.told.append(("before", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: int) -> bool:
        self.told.append(("after", int(global_step_value)))
        return bool(global_step_value >= self.stop_at)

    def end(self, session: Any, global_step_value: int) -> None:
        self.told.append(("end", int(global_step_value)))


def train_input() -> tf.data.Dataset:
    return input_fn("train")


def saved(folder: Path) -> list[int]:
    """The steps of the checkpoints in a folder."""
    return sorted(int(path.stem.rpartition("-")[2]) for path in folder.glob("model.ckpt-*.index"))


@needs_estimators
@pytest.mark.parametrize(("every", "steps", "stop_at"), [(4, 10, 1000), (5, 10, 1000), (3, 11, 6), (100, 2, 1000)])
def test_saves_and_listeners_are_those_of_the_hook(tmp_path: Path, every: int, steps: int, stop_at: int) -> None:
    old, new = Listener(stop_at), Listener(stop_at)
    hook = v1.train.CheckpointSaverHook(str(tmp_path / "old"), save_steps=every, listeners=[old])
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    model = create_model(tmp_path / "new")
    for _ in range(2):  # the second training goes on from the first
        estimator.train(train_input, hooks=[hook], steps=steps)
        train(model, train_input, callbacks=[CheckpointSaver(str(tmp_path / "new"), None, every, [new])], steps=steps)
    assert new.told == old.told
    assert saved(tmp_path / "new") == saved(tmp_path / "old")


@needs_estimators
def test_listeners_alone_hear_of_the_saves_of_the_configuration(tmp_path: Path) -> None:
    old, new = Listener(), Listener()
    config = tf.estimator.RunConfig(save_checkpoints_steps=4)
    tf.estimator.Estimator(model_fn, str(tmp_path / "old"), config).train(train_input, steps=10, saving_listeners=[old])
    model = create_model(tmp_path / "new", save_checkpoints_steps=4)
    train(model, train_input, callbacks=[CheckpointSaver(listeners=[new])], steps=10)
    assert new.told == old.told


class Watched(LineModel):
    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        return watch(self, "loss", super().compute_loss(*args, **kwargs))


@pytest.mark.parametrize("by", ["listener", "train_and_evaluate"])
def test_an_evaluation_changes_nothing_for_other_callbacks(tmp_path: Path, by: str) -> None:
    class Evaluating(Listener):
        def after_save(self, session: Any, global_step_value: int) -> bool:
            evaluate_now()
            return False

    def evaluate_now(step: int = 0) -> None:
        evaluate(model, lambda: input_fn("eval"))

    seen: list[list[str]] = [[], []]
    for lines, evaluates in zip(seen, (False, True)):
        model = create_model(tmp_path / str(evaluates), model=Watched(), save_checkpoints_steps=2)
        logger = TensorLogger(["loss"], 1, formatter=lambda values, lines=lines: str(lines.append(str(values))))  # type: ignore[misc]
        listeners = [Evaluating()] if evaluates and by == "listener" else []
        callbacks = [CheckpointSaver(save_steps=2, listeners=listeners), logger]
        after_save = evaluate_now if evaluates and not listeners else None
        train(model, train_input, callbacks=callbacks, steps=6, after_save=after_save)
    assert len(seen[0]) == 6 and seen[1] == seen[0]


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both"):
        CheckpointSaver("d", 1.0, 1)
    model = create_model(tmp_path / "model", save_checkpoints_steps=None)
    with pytest.raises(ValueError, match="can only be saved in"):
        train(model, train_input, callbacks=[CheckpointSaver(str(tmp_path / "other"), save_steps=1)], steps=1)
    with pytest.raises(ValueError, match="no checkpoints are saved"):
        train(model, train_input, callbacks=[CheckpointSaver(listeners=[Listener()])], steps=1)
