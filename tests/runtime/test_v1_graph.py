"""A `GraphModel` computes what the Estimator of the same model_fn does."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, input_fn, model_fn, read_events

from migrator.runtime.checkpoints.checkpoint_names import list_variables, load_variable
from migrator.runtime.cluster import graph as cluster_graph
from migrator.runtime.graph_contrib.v1_layers import layer_norm
from migrator.runtime.graph_v1.v1_checkpoints import init_graph_from_checkpoint
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.graph_v1.v1_tpu import tpu_graph_model, tpu_spec
from migrator.runtime.graph_v1.v1_variables import get_variable_names, get_variable_value
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
needs_keras_2 = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 has no layers of TensorFlow 1")


def as_migrated(model_fn: Any) -> Any:
    """The model_fn with the vendored tuple instead of an Estimator's."""

    def new_model_fn(features: Any, labels: Any, mode: str) -> Any:
        with mock.patch.object(tf.estimator, "EstimatorSpec", EstimatorSpec):
            return model_fn(features, labels, mode)

    return new_model_fn


def rich_model_fn(features: Any, labels: Any, mode: str) -> Any:
    """Two optimizers over variables of their scopes, shared and looped variables, a table, a wrapped cell, summaries."""
    constant = v1.constant_initializer
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [2.0, 3.0]), 1.0)
    hidden = features["x"] * table.lookup(tf.zeros([1], tf.int32))
    for number in range(2):
        with v1.variable_scope("shared", reuse=v1.AUTO_REUSE):
            hidden = tf.tanh(hidden @ v1.get_variable("kernel", [3, 3], initializer=constant(0.1)))
        hidden += v1.get_variable(f"bias_{number}", [3], initializer=constant(0.2 * number))
    with v1.variable_scope("head"):
        cell = v1.nn.rnn_cell.DropoutWrapper(v1.nn.rnn_cell.GRUCell(2, kernel_initializer=constant(0.3)), 1.0)
        states, _ = v1.nn.dynamic_rnn(cell, hidden[:, :, tf.newaxis], dtype=tf.float32)
        scale = v1.Variable(tf.ones([1]) * 2.0, name="scale")
        outputs = tf.reduce_sum(states, [1, 2])[:, tf.newaxis] * scale
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    v1.summary.scalar("largest", tf.reduce_max(outputs))
    v1.summary.scalar("mean", v1.metrics.mean(outputs)[1])  # over all steps of a training
    step = v1.train.get_global_step()
    head = v1.trainable_variables("head")
    rest = [variable for variable in v1.trainable_variables() if all(variable is not other for other in head)]
    train_op = tf.group(
        v1.train.AdamOptimizer(0.05).minimize(loss, var_list=rest),
        v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step, var_list=head),
    )
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def words_model_fn(features: Any, labels: Any, mode: str) -> Any:
    """Feature columns with vocabularies, which fill their tables as they are made, beside a table that is to be filled."""
    column = tf.feature_column
    words = {"word": tf.strings.as_string(tf.cast(5.0 * features["x"], tf.int32))}
    listed = column.categorical_column_with_vocabulary_list("word", ["3", "1", "0"], num_oov_buckets=1)
    ones = tf.constant_initializer(0.1)
    columns = [column.indicator_column(listed), column.embedding_column(listed, 2, initializer=ones)]
    inputs = v1.feature_column.input_layer(words, columns)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["2", "3"], [2.0, 3.0]), 1.0)
    inputs = tf.concat([inputs, table.lookup(words["word"])], 1)
    outputs = inputs @ v1.get_variable("kernel", [9, 1], initializer=v1.constant_initializer(0.2))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    train_op = v1.train.RMSPropOptimizer(0.01).minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def cell_model_fn(features: Any, labels: Any, mode: str) -> Any:
    """A recurrent cell of the program that calls layers."""

    class Cell(v1.nn.rnn_cell.RNNCell):  # type: ignore[misc]
        state_size = output_size = 2

        def call(self, inputs: Any, state: Any) -> Any:
            state = tf.tanh(v1.layers.dense(tf.concat([inputs, state], 1), 2, kernel_initializer=constant))
            return state, state

    constant = v1.constant_initializer(0.3)
    _, state = v1.nn.dynamic_rnn(Cell(), features["x"][:, :, tf.newaxis], dtype=tf.float32)
    outputs = v1.layers.dense(state, 1, kernel_initializer=constant)
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def partitioned_model_fn(features: Any, labels: Any, mode: str) -> Any:
    """Partitioned variables with slots; rows of the first are shared out in turn, as `embedding_lookup` reads them."""
    constant = v1.constant_initializer
    rows = tf.cast(5.0 * features["x"], tf.int32)
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
        embeddings = v1.get_variable("embeddings", [5, 3], initializer=constant(0.1))
        hidden = tf.reduce_sum(v1.nn.embedding_lookup(embeddings, rows), 1) + features["x"]
        outputs = hidden @ v1.get_variable("kernel", [3, 1], initializer=constant(0.2))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    train_op = v1.train.AdamOptimizer(0.05).minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@needs_estimators
def test_partitioned_variables_as_under_estimator(tmp_path: Path) -> None:
    old = tf.estimator.Estimator(partitioned_model_fn, str(tmp_path / "old"))
    new = cluster_graph.graph_model(as_migrated(partitioned_model_fn), str(tmp_path / "new"))
    old.train(input_fn, max_steps=9)
    train(new, input_fn, max_steps=9)
    assert evaluate(new, input_fn) == pytest.approx(old.evaluate(input_fn), rel=1e-5)
    parts = {name: variable for name, variable in new.tf1_variables.items() if "/part_" in name}
    for name in ("net/embeddings", "net/kernel"):  # each with the two slots of Adam
        for slot in ("", "/Adam", "/Adam_1"):
            whole = np.concatenate([parts.pop(f"{name}/part_{i}{slot}").numpy() for i in range(2)])
            np.testing.assert_allclose(whole, old.get_variable_value(name + slot), rtol=1e-5, atol=1e-7)
    assert not parts

    def warm_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec: EstimatorSpec = as_migrated(partitioned_model_fn)(features, labels, mode)
        init_graph_from_checkpoint(str(tmp_path / "old"), {"net/": "net/"})
        return spec

    warm = graph_model(warm_model_fn, str(tmp_path / "warm"))
    next(predict(warm, input_fn))
    for name in ("net/embeddings", "net/kernel"):
        whole = np.concatenate([warm.tf1_variables[f"{name}/part_{i}"].numpy() for i in range(2)])
        np.testing.assert_array_equal(whole, old.get_variable_value(name))


@needs_estimators
@pytest.mark.parametrize(
    "program",
    [
        model_fn,
        words_model_fn,
        *(pytest.param(program, marks=needs_keras_2) for program in (rich_model_fn, cell_model_fn)),
    ],
)
def test_same_as_estimator(tmp_path: Path, program: Any) -> None:
    old = tf.estimator.Estimator(
        program, str(tmp_path / "old"), tf.estimator.RunConfig(save_summary_steps=1, save_checkpoints_steps=4)
    )
    config = RunConfig(save_summary_steps=1, save_checkpoints_steps=4)
    new = graph_model(as_migrated(program), str(tmp_path / "new"), config)
    for steps in (5, 9):
        old.train(input_fn, max_steps=steps)
        train(new, input_fn, max_steps=steps)
        for _ in range(2):  # metrics begin anew
            assert evaluate(new, input_fn) == pytest.approx(old.evaluate(input_fn), rel=1e-5)
    assert set(new.tf1_variables) == set(old.get_variable_names()) - {"global_step"}
    for name, variable in new.tf1_variables.items():
        np.testing.assert_allclose(variable.numpy(), old.get_variable_value(name), rtol=1e-5, atol=1e-7)
    expected_rows = list(old.predict(input_fn))  # not in turns: the Estimator's graph is the default one meanwhile
    for row, expected in zip(predict(new, input_fn), expected_rows):
        np.testing.assert_allclose(row["output"], expected["output"], rtol=1e-5)
    events = read_events(tmp_path / "new"), read_events(tmp_path / "old")
    for tag in {"loss", "largest", "mean"} & set(events[1]):
        assert events[0][tag] == pytest.approx(events[1][tag], rel=1e-5)


@needs_estimators
@pytest.mark.parametrize("empty", [lambda data: data.take(0), lambda data: data.filter(lambda *_: False)])
@pytest.mark.parametrize("make", [graph_model, cluster_graph.graph_model])
def test_metrics_without_data_are_those_of_the_estimator(tmp_path: Path, make: Any, empty: Any) -> None:
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    new = make(as_migrated(model_fn), str(tmp_path / "new"))
    old.train(input_fn, max_steps=3)
    train(new, input_fn, max_steps=3)
    evaluate(new, input_fn)  # of which nothing may be left
    expected = old.evaluate(lambda: empty(input_fn("eval")))
    assert evaluate(new, lambda: empty(input_fn("eval"))) == pytest.approx(expected)
    assert set(expected) == {"loss", "mae", "global_step"}


@needs_estimators
def test_training_goes_on_in_a_new_process(tmp_path: Path) -> None:
    whole = graph_model(as_migrated(model_fn), str(tmp_path / "whole"))
    train(whole, input_fn, max_steps=8)
    train(graph_model(as_migrated(model_fn), str(tmp_path / "parts")), lambda: input_fn("train").take(4))
    rest = graph_model(as_migrated(model_fn), str(tmp_path / "parts"))
    train(rest, lambda: input_fn("train").skip(4), max_steps=8)
    for name, variable in whole.tf1_variables.items():  # the sums of Adagrad among them
        np.testing.assert_allclose(rest.tf1_variables[name].numpy(), variable.numpy(), rtol=1e-6)


@needs_estimators
def test_new_variables_from_a_checkpoint(tmp_path: Path) -> None:
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    old.train(input_fn, max_steps=3)

    def warm_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec: EstimatorSpec = as_migrated(model_fn)(features, labels, mode)
        init_graph_from_checkpoint(str(tmp_path / "old"), {"kernel": "kernel"})
        return spec

    new = graph_model(warm_model_fn, str(tmp_path / "new"))
    next(predict(new, input_fn))
    np.testing.assert_array_equal(new.tf1_variables["kernel"].numpy(), old.get_variable_value("kernel"))
    assert not new.tf1_variables["bias"].numpy().any()
    train(new, input_fn, max_steps=2)
    trained = new.tf1_variables["kernel"].numpy()
    evaluate(new, input_fn)  # traces the model_fn once more
    np.testing.assert_array_equal(new.tf1_variables["kernel"].numpy(), trained)


@needs_estimators
def test_checkpoints_of_both_versions_have_the_names_of_tensorflow_1(tmp_path: Path) -> None:
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "old"))
    old.train(input_fn, max_steps=3)
    new = graph_model(as_migrated(model_fn), str(tmp_path / "new"))
    train(new, input_fn, max_steps=3)
    expected = tf.train.list_variables(str(tmp_path / "old"))
    assert list_variables(str(tmp_path / "old")) == expected
    found = list_variables(str(tmp_path / "new"))
    assert [pair for pair in expected if pair not in found] == []
    kernel = new.tf1_variables["kernel"].numpy()
    for folder in ("old", "new"):
        np.testing.assert_allclose(load_variable(str(tmp_path / folder), "kernel"), kernel, rtol=1e-5)

    def second_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec: EstimatorSpec = as_migrated(model_fn)(features, labels, mode)
        names = [variable.name[:-2] for variable in v1.trainable_variables()]
        shared = {name: name for name, _ in list_variables(str(tmp_path / "new")) if name in names}
        init_graph_from_checkpoint(str(tmp_path / "new"), shared)
        return spec

    second = graph_model(second_model_fn, str(tmp_path / "second"))
    next(predict(second, input_fn))
    for name in ("kernel", "bias"):
        np.testing.assert_array_equal(second.tf1_variables[name].numpy(), new.tf1_variables[name].numpy())
    with pytest.raises((RuntimeError, tf.errors.NotFoundError), match="not_there"):
        load_variable(str(tmp_path / "new"), "not_there")


def test_layer_norm_has_the_variables_and_the_formula_of_contrib() -> None:
    graph = tf.Graph()
    with graph.as_default(), v1.Session() as session:
        inputs = tf.constant(X[:, :, np.newaxis] * [[[1.0, 2.0]]], tf.float32)
        outputs = layer_norm(inputs, begin_norm_axis=-1, begin_params_axis=-1)
        assert [variable.op.name for variable in v1.global_variables()] == ["LayerNorm/beta", "LayerNorm/gamma"]
        session.run(v1.global_variables_initializer())
        given, got = session.run([inputs, outputs])
    mean, variance = given.mean(-1, keepdims=True), given.var(-1, keepdims=True)
    np.testing.assert_allclose(got, (given - mean) / np.sqrt(variance + 1e-12), rtol=1e-4, atol=1e-5)


def test_each_mode_gets_its_batch_size(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def tpu_model_fn(features: Any, labels: Any, mode: str, params: Any) -> EstimatorSpec:
        seen[mode] = params
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(tf.square(features["x"] * weight))
        if mode == "infer":
            return tpu_spec(mode, {"output": features["x"] * weight})
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        metrics = (lambda values: {"mean": v1.metrics.mean(values)}), {"values": labels}
        return tpu_spec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)

    def sized_input(params: Any) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(params["batch_size"])

    model = tpu_graph_model(
        tpu_model_fn, str(tmp_path), params={"a": 1}, train_batch_size=4, eval_batch_size=11, predict_batch_size=2
    )
    train(model, sized_input)
    results = evaluate(model, sized_input)
    assert results["global_step"] == 6 and results["mean"] == pytest.approx(Y.mean(), rel=1e-5)
    assert next(predict(model, sized_input))["output"].shape == (3,)
    assert {mode: params["batch_size"] for mode, params in seen.items()} == {"train": 4, "eval": 11, "infer": 2}
    assert all(params["a"] == 1 and params["use_tpu"] is False for params in seen.values())


def test_a_tpu_is_not_there() -> None:
    with pytest.raises(NotImplementedError, match="use_tpu"):
        tpu_graph_model(model_fn, use_tpu=True)


@needs_estimators
@needs_keras_2
def test_variables_of_the_newest_checkpoint(tmp_path: Path) -> None:
    old = tf.estimator.Estimator(rich_model_fn, str(tmp_path / "old"))
    old.train(lambda: input_fn("train"), steps=2)
    new = graph_model(as_migrated(rich_model_fn), str(tmp_path / "new"))
    with pytest.raises(ValueError, match="no checkpoint"):
        get_variable_names(new)
    train(new, lambda: input_fn("train"), steps=2)
    assert get_variable_names(new) == sorted(old.get_variable_names())
    for name in old.get_variable_names():
        np.testing.assert_allclose(get_variable_value(new, name), old.get_variable_value(name), rtol=1e-5, atol=1e-7)
    fresh = graph_model(as_migrated(rich_model_fn), str(tmp_path / "new"))  # has not seen any data yet
    assert get_variable_value(fresh, "global_step") == 2
    with pytest.raises(KeyError):
        get_variable_value(new, "other")


def test_features_that_are_a_tuple_are_predicted_whole(tmp_path: Path) -> None:
    def pairs_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        (first, second), third = features
        return EstimatorSpec(mode, {"output": first * v1.get_variable("scale", [], first.dtype) * 0.0 + second + third})

    def pairs() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((((X, 2.0 * X), 3.0 * X), Y)).batch(4)

    found = [each["output"] for each in predict(graph_model(pairs_model_fn, str(tmp_path)), pairs)]
    np.testing.assert_allclose(found, 5.0 * X, rtol=1e-6)


def test_a_model_fn_may_change_its_parameters(tmp_path: Path) -> None:
    """TensorFlow 1 gave each graph a copy of them."""
    seen: list[list[int]] = []

    def changing(features: Any, labels: Any, mode: str, params: Any) -> EstimatorSpec:
        params["units"].insert(0, 3)
        seen.append(list(params["units"]))
        logits = tf.compat.v1.layers.dense(features["x"], 1)
        loss = tf.reduce_mean(tf.square(logits - tf.cast(tf.reshape(labels, [-1, 1]), logits.dtype)))
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    params = {"units": [4]}
    model = graph_model(changing, str(tmp_path), params=params)
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(4)
    train(model, lambda: data, steps=2)
    evaluate(model, lambda: data, steps=1)
    assert len(seen) >= 2 and all(units == [3, 4] for units in seen) and params == {"units": [4]}
