"""A kept `model_fn` whose hooks `fit`, `evaluate` and `predict` call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooked_graph import HookedGraphModel, HookedPredictions
from migrator.runtime.graph_v1.v1_hooks import graph_hooks

v1 = tf.compat.v1
pytestmark = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 runs no model_fn")


class Watcher(v1.train.SessionRunHook):  # type: ignore[misc]
    """Notes when it is called, and with which values."""

    def __init__(self, seen: list[Any], fetched: Any, limit: int = 99) -> None:
        self.seen, self.fetched, self.limit = seen, fetched, limit

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.fetched)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(np.round(run_values.results, 5).tolist())
        if len(self.seen) == self.limit:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self.seen.append("end")


def dataset() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2)


class Program:
    """What its hooks saw, and a model_fn."""

    def __init__(self, limit: int = 99) -> None:
        self.train: list[Any] = []
        self.eval: list[Any] = []
        self.infer: list[Any] = []
        self.begun = 0
        self.limit = limit

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        outputs = tf.multiply(features["x"][:, :1], weight, name="outputs")
        if mode == "infer":
            return EstimatorSpec(mode, {"outputs": outputs}, prediction_hooks=[Watcher(self.infer, "outputs:0")])
        loss = v1.losses.mean_squared_error(labels, outputs)
        if mode == "eval":
            metrics = {"mean": v1.metrics.mean(outputs)}
            return EstimatorSpec(mode, None, loss, None, metrics, evaluation_hooks=[Watcher(self.eval, loss)])
        ones = weight.assign(1.0)

        def init_fn(scaffold: Any, session: Any) -> None:
            self.begun += 1
            assert session.run(v1.train.get_global_step()) == 0
            session.run(ones)

        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        hooks = [Watcher(self.train, loss, self.limit)]
        scaffold = v1.train.Scaffold(init_fn=init_fn)
        return EstimatorSpec(mode, None, loss, train_op, training_hooks=hooks, scaffold=scaffold)


def compiled(program: Program, kind: Any = HookedGraphModel) -> Any:
    model = kind(program.model_fn)
    model.compile()
    return model


def losses(steps: int) -> list[float]:
    """Those of gradient descent by hand."""
    weight, found = 1.0, []
    for step in range(steps):
        x, y = X[2 * step % len(X) :][:2, :1], Y[2 * step % len(X) :][:2].reshape(-1, 1)
        found.append(round(float(np.mean((x * weight - y) ** 2)), 5))
        weight -= 0.01 * float(np.mean(2 * x * (x * weight - y)))
    return found


def test_hooks_of_a_training_see_each_step_and_its_scaffold_begins_weights_once() -> None:
    program = Program()
    model = compiled(program)
    for count in (1, 2):
        model.fit(dataset().repeat().take(3), verbose=0)
        assert (len(program.train), program.begun, int(model.optimizer.iterations)) == (4 * count, 1, 3 * count)
    assert program.train[:3] == pytest.approx(losses(3), rel=1e-4)
    assert [index for index, each in enumerate(program.train) if each == "end"] == [3, 7]


def test_a_hook_ends_a_training() -> None:
    program = Program(limit=2)
    model = compiled(program)
    model.fit(dataset().repeat().take(9), verbose=0)
    assert int(model.optimizer.iterations) == 2 and program.train[2:] == ["end"]


def test_hooks_of_evaluations() -> None:
    program = Program()
    model = compiled(program)
    model.fit(dataset().take(1), verbose=0)
    one, other = (model.evaluate(dataset().take(2), verbose=0, return_dict=True) for _ in range(2))
    assert one == other and program.eval.count("end") == 2 and len(program.eval) == 6
    assert one["loss"] == pytest.approx(np.mean(program.eval[:2]), rel=1e-4)


def test_hooks_that_a_training_is_given_come_first() -> None:
    program, given = Program(), list[Any]()
    model = compiled(program)
    hook = Watcher(given, "weight:0")
    model.fit(dataset().repeat().take(2), verbose=0, callbacks=graph_hooks([hook]))
    assert len(given) == 3 and given[0] != 1.0


def test_a_hook_takes_a_batch_of_its_own() -> None:
    program = Program()
    model = compiled(program)
    final = v1.train.FinalOpsHook("outputs:0")
    model.fit(dataset().repeat(), steps_per_epoch=2, verbose=0, callbacks=graph_hooks([final]))
    weight = model.tf1_variables["weight"].numpy()
    np.testing.assert_allclose(final.final_ops_values, X[4:6, :1] * weight, rtol=1e-5)


def test_hooks_of_predictions() -> None:
    program, given = Program(), list[Any]()
    model = compiled(program, HookedPredictions)
    model.fit(dataset().take(1), verbose=0)
    named = graph_hooks([Watcher(given, "outputs:0")])
    for count in (1, 2):
        predictions = model.predict(dataset().take(2), verbose=0, callbacks=named if count == 1 else None)
        assert len(program.infer) == 3 * count and predictions["outputs"].shape == (4, 1)
        np.testing.assert_allclose(np.concatenate(program.infer[:2]), predictions["outputs"], atol=1e-4)
    assert given == program.infer[:3]


def test_a_hook_cannot_end_predictions() -> None:
    model = compiled(Program(), HookedPredictions)
    with pytest.raises(NotImplementedError, match="cannot end predictions"):
        model.predict(dataset(), verbose=0, callbacks=graph_hooks([Watcher([], "outputs:0", 1)]))
