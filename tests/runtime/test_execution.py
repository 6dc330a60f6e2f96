"""How many steps run in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from line_program import create_model, input_fn

from migrator.runtime.execution import StepGrouper, can_group, steps_per_call, watches_batches
from migrator.runtime.training import BatchLoss, train


class Batches(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        pass


class Epochs(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        pass


def calls_of_train(model: tf.keras.Model, monkeypatch: pytest.MonkeyPatch, steps: int) -> list[int]:
    """Trains, and returns the number of steps of each call."""
    calls: list[int] = []
    choose = StepGrouper.on_train_batch_end

    def spy(self: StepGrouper, batch: int, logs: Any = None) -> None:
        calls.append(batch - self.first_batch + 1)
        choose(self, batch, logs)

    monkeypatch.setattr(StepGrouper, "on_train_batch_end", spy)
    train(model, input_fn, steps=steps)
    return calls


def test_calls_end_at_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = create_model(tmp_path, 100, log_step_count_steps=20, save_summary_steps=0, save_checkpoints_steps=30)
    if not can_group(model, []):
        pytest.skip("Keras 3 compiles the number of steps in")
    calls = calls_of_train(model, monkeypatch, 50)
    ends = [sum(calls[: i + 1]) for i in range(len(calls))]
    assert {1, 20, 21, 30, 40, 41, 50} <= set(ends)
    assert max(calls) > 1
    assert int(model.steps_per_execution) == 100


def test_no_grouping_unless_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert calls_of_train(create_model(tmp_path), monkeypatch, 5) == []


def test_a_callback_that_watches_batches_sees_each(tmp_path: Path) -> None:
    assert watches_batches(Batches())
    assert watches_batches(BatchLoss())
    assert not watches_batches(Epochs())
    assert not can_group(create_model(tmp_path), [Epochs(), Batches()])


def test_number_of_steps_is_put_back(tmp_path: Path) -> None:
    model = create_model(tmp_path, steps_per_execution=7)
    with pytest.raises(KeyError), steps_per_call(model, 1):
        assert int(model.steps_per_execution) == 1
        raise KeyError
    assert int(model.steps_per_execution) == 7
