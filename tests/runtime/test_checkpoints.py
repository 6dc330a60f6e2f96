"""What is saved, what is kept, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tensorflow as tf
from line_program import checkpoint_steps, create_model, input_fn, model_fn

from migrator.runtime.checkpoints.checkpoints import Checkpoints
from migrator.runtime.training.training import evaluate, train


@pytest.mark.parametrize(("keep", "kept"), [(2, [4, 5]), (None, [0, 1, 2, 3, 4, 5]), (0, [0, 1, 2, 3, 4, 5])])
def test_number_of_checkpoints_kept(tmp_path: Path, keep: int | None, kept: list[int]) -> None:
    train(create_model(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=keep), input_fn, steps=5)
    assert checkpoint_steps(tmp_path) == kept


def test_a_second_run_deletes_the_checkpoints_of_the_first(tmp_path: Path) -> None:
    for steps in (2, 4):
        train(create_model(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=2), input_fn, max_steps=steps)
    assert checkpoint_steps(tmp_path) == [3, 4]


def test_intervals_count_from_the_start_of_a_run(tmp_path: Path) -> None:
    for steps in (3, 10):
        train(create_model(tmp_path, save_checkpoints_steps=4, keep_checkpoint_max=None), input_fn, max_steps=steps)
    assert checkpoint_steps(tmp_path) == [0, 3, 7, 10]


def test_each_run_trains_at_its_own_rate(tmp_path: Path) -> None:
    """A graph has the rate as a constant, which no checkpoint holds; Keras keeps a variable for it."""
    old = new = None
    for steps, rate in ((3, 0.5), (6, 0.05)):
        model = create_model(tmp_path / "new", rate=rate)
        train(model, input_fn, max_steps=steps)
        new = {"loss": evaluate(model, input_fn)["loss"]}
        estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old"), params={"rate": rate})
        estimator.train(lambda: input_fn("train"), max_steps=steps)
        old = {"loss": estimator.evaluate(lambda: input_fn("eval"))["loss"]}
    assert new == pytest.approx(old, rel=1e-5)


def test_a_schedule_goes_on_where_it_was(tmp_path: Path) -> None:
    for steps in (3, 6):
        model = create_model(tmp_path)
        train(model, input_fn, max_steps=steps)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.5 * 0.9 ** (5 / 3))


def test_seconds(tmp_path: Path) -> None:
    model = create_model(tmp_path / "often", save_checkpoints_steps=None, save_checkpoints_secs=1e-6)
    train(model, input_fn, steps=3, callbacks=[])
    assert len(checkpoint_steps(tmp_path / "often")) > 2
    model = create_model(tmp_path / "seldom", save_checkpoints_steps=None, save_checkpoints_secs=600)
    train(model, input_fn, steps=3)
    assert checkpoint_steps(tmp_path / "seldom") == [0, 3]


def test_restores_only_what_the_model_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    restored: list[str] = []
    load = tf.train.load_checkpoint
    monkeypatch.setattr(tf.train, "load_checkpoint", lambda path: restored.append(os.path.basename(path)) or load(path))
    model = create_model(tmp_path)
    train(model, input_fn, steps=3)
    evaluate(model, input_fn)
    train(model, input_fn, steps=3)
    assert restored == []
    evaluate(create_model(tmp_path), input_fn)
    assert restored == ["model.ckpt-6"]


def test_checkpoint_of_tensorflow_1(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("kernel", [3, 1])
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=7)
    with pytest.raises(ValueError, match="TensorFlow 1"):
        train(create_model(tmp_path), input_fn, steps=1)
    assert checkpoint_steps(tmp_path) == [7]


def test_checkpoint_of_a_smaller_model(tmp_path: Path) -> None:
    train(create_model(tmp_path), input_fn, steps=1)
    larger = create_model(tmp_path)
    larger.scale = tf.Variable(1.0, name="scale")
    with pytest.raises(ValueError, match="model.ckpt-1 does not hold all variables of the model: scale:0"):
        train(larger, input_fn, steps=1)


def test_metrics_may_change_between_runs(tmp_path: Path) -> None:
    train(create_model(tmp_path), input_fn, steps=6)
    changed = create_model(tmp_path)
    changed.mae = tf.keras.metrics.MeanAbsoluteError(name="renamed")
    changed.other = tf.keras.metrics.AUC()
    train(changed, input_fn, steps=1)
    assert evaluate(changed, input_fn)["global_step"] == 7


def test_latest_of_an_empty_folder(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    checkpoints = Checkpoints(model, model.run_config)
    assert checkpoints.steps_done() == 0
    checkpoints.restore(with_optimizer=True)
    assert checkpoints.held is None
