"""A graph that starts with a checkpoint trains as the Estimator with the same `warm_start_from`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import input_fn

from migrator.runtime.cluster.graph import graph_model
from migrator.runtime.graph_v1 import v1_tpu, v1_warm_start
from migrator.runtime.graph_v1.v1_checkpoints import saved_keys
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, GraphModel
from migrator.runtime.graph_v1.v1_warm_start import WarmStartSettings, warm_graph_model, warm_tpu_graph_model
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")


@pytest.fixture(autouse=True)
def partitioned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs with partitioners get this one."""
    for module in (v1_warm_start, v1_tpu):
        monkeypatch.setattr(module, "graph_model", graph_model)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """A partitioned kernel, a bias in a scope of its own, and a variable that is not trained."""
    constant = v1.constant_initializer
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
        kernel = v1.get_variable("kernel", [3, 1], initializer=constant(params["start"]))
    with v1.variable_scope(params.get("head", "head")):
        bias = v1.get_variable("bias", [1], initializer=constant(params["start"]))
    count = v1.get_variable("counter", [], initializer=constant(0.0), trainable=False)
    outputs = features["x"] @ kernel + bias
    loss = tf.reduce_mean(tf.square(outputs - labels))
    step = v1.train.get_global_step()
    train_op = tf.group(v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step), count.assign_add(1.0))
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def new_model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """The same with the vendored tuple instead of an Estimator's."""
    estimator = mock.Mock(EstimatorSpec=EstimatorSpec)
    with mock.patch.object(tf, "estimator", estimator, create=True):
        return model_fn(features, labels, mode, params)


def values(model: GraphModel) -> dict[str, Any]:
    return {variable.name: variable.numpy() for variable in model.tf1_variables.values()}


@needs_estimators
@pytest.mark.parametrize(
    ("origin", "patterns", "renamed"),
    [
        ("old", None, None),
        ("new", "net", None),
        ("new", ["net/kernel/part_.:0", "counter"], None),
        ("old", ".*", {"other/bias": "head/bias"}),
    ],
)
def test_weights_are_those_of_an_estimator(tmp_path: Path, origin: str, patterns: Any, renamed: Any) -> None:
    first, second = {"start": 0.25}, {"start": 0.0, **({"head": "other"} if renamed else {})}
    tf.estimator.Estimator(model_fn, str(tmp_path / "old"), None, first).train(lambda: input_fn("train"), steps=5)
    train(graph_model(new_model_fn, str(tmp_path / "new"), None, first), lambda: input_fn("train"), steps=5)
    given = {"vars_to_warm_start": patterns, "var_name_to_prev_var_name": renamed}
    given = {name: value for name, value in given.items() if value is not None}

    old_settings = tf.estimator.WarmStartSettings(str(tmp_path / "old"), **given) if given else str(tmp_path / "old")
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old_2"), None, second, old_settings)
    before = old.evaluate(lambda: input_fn("eval"))
    old.train(lambda: input_fn("train"), steps=4).train(lambda: input_fn("train"), steps=3)

    path = str(tmp_path / origin)
    settings: Any = WarmStartSettings(path, **given) if given else path
    new = warm_graph_model(new_model_fn, str(tmp_path / "new_2"), None, second, settings)
    results = evaluate(new, lambda: input_fn("eval"))
    assert results["mae"] == pytest.approx(before["mae"], rel=1e-6) and results["global_step"] == 0
    train(train(new, lambda: input_fn("train"), steps=4), lambda: input_fn("train"), steps=3)
    assert int(new.global_step) == 7
    whole = old.get_variable_value("net/kernel")
    for name, value in values(new).items():
        part = {"net/kernel/part_0:0": whole[:2], "net/kernel/part_1:0": whole[2:]}.get(name)
        if "/part_" not in name or part is not None:
            expected = old.get_variable_value(name[:-2]) if part is None else part
            np.testing.assert_allclose(value, expected, rtol=1e-6, err_msg=name)
    again = evaluate(new, lambda: input_fn("eval"))
    assert again["mae"] == pytest.approx(old.evaluate(lambda: input_fn("eval"))["mae"], rel=1e-6)


def test_a_checkpoint_of_its_own_goes_before(tmp_path: Path) -> None:
    train(graph_model(new_model_fn, str(tmp_path / "a"), None, {"start": 5.0}), lambda: input_fn("train"), steps=1)
    train(graph_model(new_model_fn, str(tmp_path / "b"), None, {"start": 0.0}), lambda: input_fn("train"), steps=2)
    model = warm_graph_model(new_model_fn, str(tmp_path / "b"), None, {"start": 0.0}, str(tmp_path / "a"))
    train(model, lambda: input_fn("train"), max_steps=3)
    assert int(model.global_step) == 3 and values(model)["counter:0"] == 3.0


def test_what_the_checkpoint_lacks_is_named(tmp_path: Path) -> None:
    train(graph_model(new_model_fn, str(tmp_path / "a"), None, {"start": 5.0}), lambda: input_fn("train"), steps=1)
    model = warm_graph_model(
        new_model_fn, str(tmp_path / "b"), None, {"start": 0.0, "head": "tail"}, str(tmp_path / "a")
    )
    with pytest.raises(ValueError, match="does not hold tail/bias, which tail/bias should start from"):
        train(model, lambda: input_fn("train"), steps=1)


def test_names_that_are_no_variables_are_errors(tmp_path: Path) -> None:
    train(graph_model(new_model_fn, str(tmp_path / "a"), None, {"start": 5.0}), lambda: input_fn("train"), steps=1)
    settings = WarmStartSettings(str(tmp_path / "a"), "net", {"head/bias": "x"})
    model = warm_graph_model(new_model_fn, str(tmp_path / "b"), None, {"start": 0.0}, settings)
    with pytest.raises(ValueError, match="head/bias"):
        train(model, lambda: input_fn("train"), steps=1)


def test_nothing_to_start_from(tmp_path: Path) -> None:
    model = warm_graph_model(new_model_fn, str(tmp_path), None, {"start": 1.0})
    train(model, lambda: input_fn("train"), steps=1)
    assert set(saved_keys(str(tmp_path))) >= {"net/kernel/part_0", "head/bias", "counter", "global_step"}


def test_a_tpu_model(tmp_path: Path) -> None:
    start = {"start": 5.0}
    train(graph_model(new_model_fn, str(tmp_path / "a"), None, start), lambda: input_fn("train"), steps=1)
    folders = {"model_dir": str(tmp_path / "b"), "warm_start_from": str(tmp_path / "a")}
    model = warm_tpu_graph_model(new_model_fn, params={"start": 0.0}, train_batch_size=4, **folders)
    train(model, lambda params: input_fn("train").unbatch().batch(params["batch_size"]), steps=1)
    other = warm_graph_model(new_model_fn, str(tmp_path / "c"), None, start, str(tmp_path / "a"))
    train(other, lambda: input_fn("train"), steps=1)
    for name, value in values(other).items():
        np.testing.assert_array_equal(values(model)[name], value)
