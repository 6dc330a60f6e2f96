"""Hooks that a callback runs, against an Estimator that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import LineModel, create_model, input_fn, model_fn

from migrator.runtime.callbacks.callbacks import watch
from migrator.runtime.callbacks.session_hooks import HookCallback
from migrator.runtime.training.training import evaluate, train

pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1 = tf.compat.v1


class Recorder(v1.train.SessionRunHook):
    """Notes what is called, and with which values."""

    def __init__(self, stop_at: int = 1000) -> None:
        self.stop_at, self.calls = stop_at, []  # type: int, list[Any]

    def begin(self) -> None:
        self.step = v1.train.get_global_step()
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append("created")

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs({"step": self.step, "more": ["watched_loss:0"]})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        results = run_values.results
        self.calls.append((int(results["step"]), results["more"][0]))
        if results["step"] >= self.stop_at:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self.calls.append("end")


class Plain(v1.train.SessionRunHook):
    """Fetches nothing."""

    results: Any = ()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.results += (run_values.results,)


class WatchedModel(LineModel):
    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        return watch(self, "watched_loss", super().compute_loss(*args, **kwargs))


def watched_model_fn(features: Any, labels: Any, mode: str) -> Any:
    spec = model_fn(features, labels, mode)
    tf.identity(spec.loss, "watched_loss")
    return spec


def train_input() -> tf.data.Dataset:
    return input_fn("train")


@pytest.fixture
def reference_variables() -> Iterator[None]:
    """Variables as in TensorFlow 1, where what is fetched beside a train op is the global step after it."""
    v1.disable_resource_variables()
    yield
    v1.enable_resource_variables()


@pytest.mark.usefixtures("reference_variables")
@pytest.mark.parametrize(("given", "stop_at"), [({"steps": 6}, 1000), ({"max_steps": 50}, 4), ({"max_steps": 4}, 4)])
def test_the_hook_sees_what_it_saw(tmp_path: Path, given: Any, stop_at: int) -> None:
    old, new, plain = Recorder(stop_at), Recorder(stop_at), (Plain(), Plain())
    estimator = tf.estimator.Estimator(watched_model_fn, str(tmp_path / "old"))
    estimator.train(train_input, hooks=[old, plain[0]], **given)
    model = create_model(tmp_path / "new", model=WatchedModel())
    train(model, train_input, callbacks=[HookCallback(new), HookCallback(plain[1])], **given)
    kinds = [[call if isinstance(call, str) else call[0] for call in hook.calls] for hook in (old, new)]
    assert kinds[0] == kinds[1]
    losses = [[call[1] for call in hook.calls if not isinstance(call, str)] for hook in (old, new)]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    assert plain[0].results == plain[1].results
    assert int(model.optimizer.iterations) == estimator.get_variable_value("global_step")


def test_the_step_before_as_compat_v1_gives_it(tmp_path: Path) -> None:
    old, new = Recorder(5), Recorder(5)
    estimator = tf.estimator.Estimator(watched_model_fn, str(tmp_path / "old"))
    estimator.train(train_input, hooks=[old])
    model = create_model(tmp_path / "new", model=WatchedModel())
    train(model, train_input, callbacks=[HookCallback(new, steps_behind=1)])
    kinds = [[call if isinstance(call, str) else call[0] for call in hook.calls] for hook in (old, new)]
    assert kinds[0] == kinds[1]


class Counter(v1.train.SessionRunHook):  # type: ignore[misc]
    """Counts the batches of an evaluation, and notes the step."""

    def __init__(self) -> None:
        self.notes: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(v1.train.get_global_step())

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.notes.append(int(run_values.results))

    def end(self, session: Any) -> None:
        self.notes.append("end")


def test_the_hook_of_an_evaluation(tmp_path: Path) -> None:
    old, new = Counter(), Counter()
    estimator = tf.estimator.Estimator(watched_model_fn, str(tmp_path / "old"))
    model = create_model(tmp_path / "new", model=WatchedModel())
    estimator.train(train_input, steps=2)
    train(model, train_input, steps=2)
    for steps in (3, None):
        estimator.evaluate(lambda: input_fn("eval"), steps=steps, hooks=[old])
        evaluate(model, lambda: input_fn("eval"), steps=steps, callbacks=[HookCallback(new, steps_behind=1)])
    assert new.notes == old.notes and len(new.notes) > 4
