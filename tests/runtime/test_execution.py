"""How many steps run in one call."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf
from line_program import create_model, input_fn

from migrator.runtime.cluster.replicas import InStepGrouper
from migrator.runtime.training import execution
from migrator.runtime.training.execution import StepGrouper
from migrator.runtime.training.training import evaluate, train


class Batches(tf.keras.callbacks.Callback):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append(batch)


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
    if isinstance(model.steps_per_execution, int):
        pytest.skip("Keras 3 compiles the number of steps in")
    calls = calls_of_train(model, monkeypatch, 50)
    ends = [sum(calls[: i + 1]) for i in range(len(calls))]
    assert {1, 20, 21, 30, 40, 41, 50} <= set(ends)
    assert max(calls) > 1
    assert int(model.steps_per_execution) == 100


def test_no_grouping_unless_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = create_model(tmp_path, log_step_count_steps=None, save_summary_steps=0, save_checkpoints_steps=30)
    assert calls_of_train(model, monkeypatch, 20) == [1] * 20


def test_callbacks_see_each_batch(tmp_path: Path) -> None:
    batches = Batches()
    model = create_model(tmp_path, 100, log_step_count_steps=None, save_summary_steps=0, save_checkpoints_steps=30)
    train(model, input_fn, steps=25, callbacks=[batches])
    assert batches.seen == list(range(25))


def test_evaluation_within_a_training_leaves_its_number_of_steps(tmp_path: Path) -> None:
    batches = Batches()
    model = create_model(tmp_path, 100, save_checkpoints_steps=3)
    evaluated: list[int] = []

    def after_save(step: int) -> None:
        evaluated.append(evaluate(model, lambda: input_fn("eval"))["global_step"])

    train(model, input_fn, steps=10, callbacks=[batches], after_save=after_save)
    assert batches.seen == list(range(10))
    assert evaluated == [3, 6, 9, 10]


def test_workers_in_step_group_alike_however_fast_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(seconds: float, kind: type[StepGrouper]) -> list[int]:
        times = iter(range(100))
        monkeypatch.setattr(execution.time, "perf_counter", lambda: next(times) * seconds)
        grouper, numbers, done = kind(100, [20, None]), [1], 0
        grouper.set_model(SimpleNamespace(steps_per_execution=1))
        while done < 60:
            grouper.on_train_batch_begin(done)
            done += numbers[-1]
            grouper.on_train_batch_end(done - 1)
            numbers.append(grouper.model.steps_per_execution)
        return numbers

    assert chosen(0.2, StepGrouper) != chosen(0.001, StepGrouper)
    assert chosen(0.2, InStepGrouper) == chosen(0.001, InStepGrouper)
