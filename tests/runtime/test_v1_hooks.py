"""Hooks and Scaffolds of an EstimatorSpec see in a `GraphModel` what they saw in an Estimator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, after_reading_the_step, read_events

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooks import StepCounterHook, graph_hooks
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


class Watcher(v1.train.SessionRunHook):  # type: ignore[misc]
    """Notes what it is called with."""

    def __init__(self, seen: list[Any], loss: Any, limit: int) -> None:
        self.seen, self.loss, self.limit = seen, loss, limit

    def begin(self) -> None:
        self.double = self.loss * 2.0
        self.seen.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append("session")

    def before_run(self, run_context: Any) -> Any:
        assert len(run_context.original_args.fetches) >= 1
        return v1.train.SessionRunArgs([self.double, {"loss": self.loss.name}])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        double, named = run_values.results
        assert double == named["loss"] * 2.0
        self.seen.append(float(double))
        if len([value for value in self.seen if isinstance(value, float)]) == self.limit:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self.seen.append(round(float(session.run("read_weight:0")), 5))


def program(seen: list[Any], checkpoint: str, summaries: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        read = tf.identity(weight, name="read_weight")
        outputs = features["x"][:, :1] * read
        loss = v1.losses.mean_squared_error(labels, outputs)
        if mode == "eval":
            return tf.estimator.EstimatorSpec(mode, loss=loss, evaluation_hooks=[Watcher(seen, loss, 99)])
        saver = v1.train.Saver({"old_weight": weight})
        scaffold = v1.train.Scaffold(init_fn=lambda _, session: saver.restore(session, checkpoint))
        hooks = [
            Watcher(seen, loss, 3),
            v1.train.SummarySaverHook(1, output_dir=summaries, summary_op=v1.summary.scalar("watched", loss)),
            StepCounterHook(every_n_steps=1, output_dir=summaries),
        ]
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op, scaffold=scaffold, training_hooks=hooks,
            training_chief_hooks=[v1.train.StopAtStepHook(num_steps=50)],
        )  # fmt: skip

    return model_fn


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(4).repeat(3)


@needs_estimators
def test_same_as_estimator(tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "start")
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("old_weight", initializer=0.75, use_resource=True)
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, checkpoint)
    seen: dict[str, list[Any]] = {"old": [], "new": []}
    weights = []
    for side in seen:
        model_fn = program(seen[side], checkpoint, str(tmp_path / f"summaries_{side}"))
        if side == "old":
            with mock.patch(f"{__name__}.StepCounterHook", v1.train.StepCounterHook):
                old = tf.estimator.Estimator(model_fn, str(tmp_path / side))
                old.train(input_fn)
                old.train(input_fn, steps=1)
                old.evaluate(input_fn)
                weights.append(old.get_variable_value("weight"))
        else:
            with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
                new = graph_model(model_fn, str(tmp_path / side), RunConfig())
                train(new, input_fn)
                train(new, input_fn, steps=1)
                evaluate(new, input_fn)
                weights.append(new.tf1_variables["weight"].numpy())
    assert [type(value) for value in seen["new"]] == [type(value) for value in seen["old"]]
    old_values, new_values = ([value for value in seen[side] if isinstance(value, float)] for side in ("old", "new"))
    np.testing.assert_allclose(new_values, old_values, rtol=1e-6)
    np.testing.assert_allclose(weights[1], weights[0], rtol=1e-6)
    old_events, new_events = (read_events(tmp_path / f"summaries_{side}") for side in ("old", "new"))
    assert list(old_events) == list(new_events)
    assert new_events["watched"] == pytest.approx(old_events["watched"], rel=1e-6)


class Steps(v1.train.SessionRunHook):  # type: ignore[misc]
    """Notes the global step and what ops gave, by their names, and stops a training."""

    def __init__(self, seen: list[Any], stop_at: int, name: str) -> None:
        self.seen, self.stop_at, self.name = seen, stop_at, name

    def begin(self) -> None:
        self.step = v1.train.get_or_create_global_step()
        self.seen.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(("session", int(session.run(self.step))))

    def before_run(self, run_context: Any) -> Any:
        fetches = {"step": self.step, "more": [self.name, "outputs:0"]}
        return v1.train.SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        found = run_values.results
        self.seen += [int(found["step"]), found["more"][0].sum(), found["more"][1].sum()]
        if found["step"] == self.stop_at:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self.seen.append(("end", int(session.run(self.step))))


@pytest.fixture(params=[True, False], ids=["reference variables", "resource variables"])
def old_variables(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the Estimator has the variables of TensorFlow 1, or those that compat.v1 makes in TensorFlow 2."""
    if request.param:
        v1.disable_resource_variables()
    yield request.param
    v1.enable_resource_variables()


@needs_estimators
def test_hooks_that_train_and_evaluate_are_given(tmp_path: Path, old_variables: bool) -> None:
    def named_model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        outputs = tf.multiply(features["x"][:, :1], weight, name="outputs")
        loss = v1.losses.mean_squared_error(labels, outputs)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        with after_reading_the_step():
            return named_model_fn(features, labels, mode)

    name = "global_step:0" if old_variables else "outputs:0"
    old, new, logged = [], [], tmp_path / "events"  # type: list[Any], list[Any], Path
    estimator = tf.estimator.Estimator(old_model_fn, str(tmp_path / "old"))
    estimator.train(input_fn, max_steps=2)
    estimator.train(input_fn, hooks=[Steps(old, 6, name)])
    estimator.train(input_fn, hooks=[Steps(old, -1, name)], steps=3)
    estimator.evaluate(input_fn, hooks=[Steps(old, -1, name)], steps=2)
    with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
        model = graph_model(named_model_fn, str(tmp_path / "new"))
        behind = 0 if old_variables else 1
        train(model, input_fn, max_steps=2)
        train(model, input_fn, callbacks=graph_hooks([Steps(new, 6, name)], behind))
        counter, lines = StepCounterHook(2, output_dir=str(logged)), v1.train.LoggingTensorHook(["global_step"], 2)
        train(model, input_fn, callbacks=graph_hooks([Steps(new, -1, name), counter, lines], behind), steps=3)
        evaluate(model, input_fn, callbacks=graph_hooks([Steps(new, -1, name)], behind), steps=2)
        train(model, input_fn, callbacks=graph_hooks(None), steps=1)
    assert len(new) == len(old) and new[:2] == old[:2]
    numbers = [[v for v in seen if not isinstance(v, (str, tuple))] for seen in (old, new)]
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=1e-6)
    assert [v for v in new if isinstance(v, (str, tuple))] == [v for v in old if isinstance(v, (str, tuple))]
    assert "global_step/sec" in read_events(logged)


def test_variables_are_logged(tmp_path: Path) -> None:
    logged: list[str] = []

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        step = v1.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(features["x"] * weight))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        shown = {"loss": loss, "step": step, "weight": weight, "constant": tf.constant(3)}
        hook = v1.train.LoggingTensorHook(shown, every_n_iter=1, formatter=lambda now: logged.append(sorted(now)) or "")
        return EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])

    train(graph_model(model_fn, str(tmp_path)), lambda: tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(), steps=2)
    assert logged == [["constant", "loss", "step", "weight"]] * 2
