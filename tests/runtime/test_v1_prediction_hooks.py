"""Hooks of predictions see in a `GraphModel` what they saw in an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import X

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_hooks import graph_hooks
from migrator.runtime.graph_v1.v1_prediction_hooks import predict_with_hooks
from migrator.runtime.graph_v1.v1_session_graph import graph_model

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


class Sums(v1.train.SessionRunHook):  # type: ignore[misc]
    """Notes the sum of each batch of what has a name, and the calls around them."""

    def __init__(self, seen: list[Any], name: str) -> None:
        self.seen, self.name = seen, name

    def begin(self) -> None:
        self.seen.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(f"weight {session.run('read:0')}")

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.name)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(round(float(np.sum(run_values.results)), 4))

    def end(self, session: Any) -> None:
        self.seen.append("end")


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices({"x": X}).batch(4)


@needs_estimators
def test_same_as_estimator(tmp_path: Path) -> None:
    seen: dict[str, list[Any]] = {"old": [], "new": []}
    rows = []
    side = ""

    def model_fn(features: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=v1.constant_initializer(0.5))
        outputs = tf.multiply(features["x"], tf.identity(weight, name="read"), name="outputs")
        hooks = [Sums(seen[side], "twice:0")]
        predictions = {"y": outputs, "twice": tf.multiply(2.0, outputs, name="twice")}
        return tf.estimator.EstimatorSpec(mode, predictions, prediction_hooks=hooks)

    for side in ("old", "new"):
        given = Sums(seen[side], "outputs:0")
        if side == "old":
            model = tf.estimator.Estimator(model_fn, str(tmp_path / side))
            rows.append(list(model.predict(input_fn, predict_keys=["y"], hooks=[given])))
            continue
        with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
            model = graph_model(model_fn, str(tmp_path / side))
            rows.append(list(predict_with_hooks(model, input_fn, predict_keys=["y"], callbacks=graph_hooks([given]))))
            seen["once more"], seen["new"] = seen["new"], []
            both = zip(predict_with_hooks(model, input_fn), predict_with_hooks(model, input_fn, None, None, False))
            (one, batch) = next(iter(both))
            assert one["y"].shape == (3,) and batch["y"].shape == (4, 3)
    assert seen["once more"] == seen["old"] and len(seen["old"]) == 2 + 2 + 2 * 6 + 2
    assert [set(row) for row in rows[1]] == [{"y"}] * len(X)
    np.testing.assert_allclose([row["y"] for row in rows[1]], [row["y"] for row in rows[0]])


def test_a_hook_that_stops_is_refused(tmp_path: Path) -> None:
    def model_fn(features: Any, mode: str) -> EstimatorSpec:
        return EstimatorSpec(mode, features["x"] * v1.get_variable("weight", []))

    class Stop(v1.train.SessionRunHook):  # type: ignore[misc]
        def after_run(self, run_context: Any, run_values: Any) -> None:
            run_context.request_stop()

    with pytest.raises(NotImplementedError, match="cannot end predictions"):
        list(predict_with_hooks(graph_model(model_fn, str(tmp_path)), input_fn, callbacks=graph_hooks([Stop()])))
