"""Hooks that work on the session and the graph see in a `GraphModel` what they saw in an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, read_events

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooks import graph_hooks
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2).repeat()


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
    outputs = tf.multiply(features["x"][:, :1], weight, name="outputs")
    loss = tf.identity(v1.losses.mean_squared_error(labels, outputs), name="the_loss")
    v1.summary.scalar("loss_too", loss)
    v1.summary.scalar("largest", tf.reduce_max(outputs))
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    hooks = {kind: [v1.train.FinalOpsHook({"outputs": outputs})] for kind in ("training_hooks", "evaluation_hooks")}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, **hooks)


class Draws(v1.train.SessionRunHook):  # type: ignore[misc]
    """Runs more batches by itself, and reads variables and the step."""

    def __init__(self, seen: list[Any], folder: Path) -> None:
        self.seen, self.count = seen, 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(session.run("outputs:0"))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.count += 1
        if self.count % 2 == 0:
            self.seen += run_context.session.run([v1.train.get_global_step(), ("weight:0", "the_loss:0")])[1:]

    def end(self, session: Any) -> None:
        self.seen += session.run({"weight": v1.trainable_variables()[0], "loss": "the_loss:0"}).values()


class Names(v1.train.SessionRunHook):  # type: ignore[misc]
    """Finds tensors, operations and variables in the graph by name, and asks for nests of them."""

    def __init__(self, seen: list[Any], folder: Path) -> None:
        self.seen, self.count = seen, 0

    def begin(self) -> None:
        graph = v1.get_default_graph()
        self.loss = graph.get_tensor_by_name("the_loss:0")
        self.outputs = graph.get_operation_by_name("outputs").outputs[0]
        self.start = graph.get_tensor_by_name("weight:0")

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(
            {
                "a": self.loss,
                "b": [self.outputs, (v1.train.get_global_step(), "the_loss:0")],
                "c": [self.start, "weight:0"],
            }
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, (outputs, (step, again)) = run_values.results["a"], run_values.results["b"]
        assert loss == again and step >= self.count
        self.seen += [loss, outputs, *run_values.results["c"]]
        self.count += 1
        if self.count == 4:
            run_context.request_stop()


class Summaries(v1.train.SessionRunHook):  # type: ignore[misc]
    """Writes all summaries of the graph."""

    def __init__(self, seen: list[Any], folder: Path) -> None:
        self.seen, self.folder = seen, folder

    def begin(self) -> None:
        self.merged = v1.summary.merge_all()
        self.writer = v1.summary.FileWriter(str(self.folder))

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.merged)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.writer.add_summary(run_values.results, len(self.seen))
        self.seen.append(0.0)

    def end(self, session: Any) -> None:
        self.writer.close()


class Feeds(v1.train.SessionRunHook):  # type: ignore[misc]
    """Gives a variable a value that is fed, by a key that is a tensor."""

    def __init__(self, seen: list[Any], folder: Path) -> None:
        self.seen = seen

    def begin(self) -> None:
        self.weight = v1.trainable_variables()[0]
        self.fed = v1.placeholder(tf.float32, [])
        self.assigned = v1.assign(self.weight, self.fed * 2.0)

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs([self.weight])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results[0] > 0.3:
            self.seen.append(run_context.session.run(self.assigned, {self.fed: run_values.results[0] / 8.0}))
        self.seen.append(run_context.session.run(self.weight))


def logger(seen: list[Any], folder: Path) -> Any:
    """Logs at the end, too: the values of one more batch."""

    def note(values: Any) -> str:
        seen.append(values["the_loss"])
        return ""

    return v1.train.LoggingTensorHook(["the_loss"], every_n_iter=3, at_end=True, formatter=note)


@pytest.mark.parametrize("make", [Draws, Names, Feeds, Summaries, logger])
def test_same_as_estimator(make: Any, tmp_path: Path) -> None:
    old: list[Any] = []
    new: list[Any] = []
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    v1.disable_resource_variables()
    try:
        estimator.train(input_fn, hooks=[make(old, tmp_path / "old events")], steps=7)
        shown = estimator.evaluate(input_fn, hooks=[make(old, tmp_path / "old eval")], steps=3)
    finally:
        v1.enable_resource_variables()
    with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
        model = graph_model(model_fn, str(tmp_path / "new"))
        train(model, input_fn, callbacks=graph_hooks([make(new, tmp_path / "new events")]), steps=7)
        results = evaluate(model, input_fn, callbacks=graph_hooks([make(new, tmp_path / "new eval")]), steps=3)
    assert len(new) == len(old) > 2
    for ours, theirs in zip(new, old):
        tf.nest.map_structure(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-6), ours, theirs)
    np.testing.assert_allclose(results["loss"], shown["loss"], rtol=1e-6)
    assert results["global_step"] == shown["global_step"]
    if make is Summaries:
        events = [read_events(tmp_path / f"{side} {kind}") for kind in ("events", "eval") for side in ("old", "new")]
        for ours, theirs in (events[1::-1], events[3:1:-1]):
            assert ours.keys() == theirs.keys()
            for tag, values in theirs.items():
                assert ours[tag] == pytest.approx(values, rel=1e-6)
