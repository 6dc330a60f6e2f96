"""Callbacks that measure steps."""

from __future__ import annotations

import threading
import time
import types
from pathlib import Path

import pytest
import tensorflow as tf
from line_program import create_model, input_fn, read_events

from migrator.runtime.callbacks.step_callbacks import StepCounter, StepProfiler, StepWaiter
from migrator.runtime.training.training import train


def train_input() -> tf.data.Dataset:
    return input_fn("train")


def test_the_speed_is_written_at_the_steps_of_the_hook(tmp_path: Path) -> None:
    model = create_model(tmp_path / "new", log_step_count_steps=None)
    train(model, train_input, callbacks=[StepCounter(3, output_dir=str(tmp_path / "new_events"))], steps=11)
    found = read_events(tmp_path / "new_events")["global_step/sec"]
    assert all(rate > 0 for rate in found.values())
    if not hasattr(tf, "estimator"):
        return
    from line_program import model_fn

    hook = tf.compat.v1.train.StepCounterHook(3, output_dir=str(tmp_path / "old_events"))
    tf.estimator.Estimator(model_fn, str(tmp_path / "old")).train(train_input, hooks=[hook], steps=11)
    tf.compat.v1.summary.FileWriterCache.clear()  # the hook leaves its events with a thread
    assert list(found) == list(read_events(tmp_path / "old_events")["global_step/sec"])


def test_a_step_is_profiled(tmp_path: Path) -> None:
    model = create_model(tmp_path / "model")
    train(model, train_input, callbacks=[StepProfiler(save_steps=100, output_dir=str(tmp_path / "profile"))], steps=4)
    assert len(list((tmp_path / "profile").rglob("*.xplane.pb"))) == 1


@pytest.mark.parametrize("arguments", [{"every_n_steps": None}, {"every_n_secs": 1.0}])
def test_by_steps_or_by_time(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="Exactly one"):
        StepCounter(**arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Exactly one"):
        StepProfiler()


def test_waits_for_the_steps_of_others() -> None:
    waiter, steps = StepWaiter(wait_until_step=4), tf.Variable(2, dtype=tf.int64)
    waiter.set_model(types.SimpleNamespace(optimizer=types.SimpleNamespace(iterations=steps)))
    waiting = threading.Thread(target=waiter.on_train_batch_begin, args=(0,))
    waiting.start()
    time.sleep(0.2)
    assert waiting.is_alive()
    steps.assign(4)
    waiting.join(timeout=5)
    assert not waiting.is_alive()


def test_waits_for_nothing_on_one_machine(tmp_path: Path) -> None:
    model = create_model(tmp_path / "model")
    train(model, train_input, callbacks=[StepWaiter(0)], steps=3)
    assert int(model.optimizer.iterations) == 3
