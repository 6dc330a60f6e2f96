"""A checkpoint of one partitioning goes on in another one, as under the Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import input_fn

from migrator.runtime.cluster.graph import graph_model
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_variables import get_variable_value
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1


def model_fn_of(spec: Any, parts: int) -> Any:
    """Rows and columns in parts, a variable that is never in parts, and the slots of an optimizer."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        rows = tf.cast(5.0 * features["x"], tf.int32)
        partitioner = v1.fixed_size_partitioner(parts) if parts else None
        with v1.variable_scope("net", partitioner=partitioner, initializer=v1.constant_initializer(0.1)):
            embeddings = v1.get_variable("embeddings", [5, 3])
            looked_up = v1.nn.embedding_lookup(embeddings, rows, partition_strategy="div")
            across = v1.fixed_size_partitioner(parts, 1) if parts else None
            wide = tf.convert_to_tensor(v1.get_variable("wide", [3, 6], partitioner=across))
        hidden = (tf.reduce_sum(looked_up, 1) + features["x"]) @ wide
        outputs = v1.layers.dense(hidden, 1, kernel_initializer=v1.constant_initializer(0.2))
        if mode == "infer":
            return spec(mode, {"output": outputs})
        loss = v1.losses.mean_squared_error(labels, outputs)
        train_op = v1.train.AdamOptimizer(0.05).minimize(loss, v1.train.get_global_step())
        return spec(mode, loss=loss, train_op=train_op)

    return model_fn


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 has no layers of TensorFlow 1")
@pytest.mark.parametrize(("first", "second"), [(2, 0), (0, 2), (3, 2)])
def test_other_parts(tmp_path: Path, first: int, second: int) -> None:
    folders = str(tmp_path / "old"), str(tmp_path / "new")
    tf.estimator.Estimator(model_fn_of(tf.estimator.EstimatorSpec, first), folders[0]).train(input_fn, max_steps=4)
    train(graph_model(model_fn_of(EstimatorSpec, first), folders[1]), input_fn, max_steps=4)
    old = tf.estimator.Estimator(model_fn_of(tf.estimator.EstimatorSpec, second), folders[0])
    new = graph_model(model_fn_of(EstimatorSpec, second), folders[1])
    assert evaluate(new, input_fn) == pytest.approx(old.evaluate(input_fn), rel=1e-5)
    expected = list(old.predict(input_fn))
    for row, other in zip(predict(new, input_fn), expected):
        np.testing.assert_allclose(row["output"], other["output"], rtol=1e-5)
    old.train(input_fn, max_steps=9)
    train(new, input_fn, max_steps=9)  # with the slots
    assert evaluate(new, input_fn) == pytest.approx(old.evaluate(input_fn), rel=1e-5)
    if not second:
        for name in ("net/embeddings", "net/wide/Adam", "dense/kernel"):
            np.testing.assert_allclose(
                get_variable_value(new, name), old.get_variable_value(name), rtol=1e-5, atol=1e-7
            )


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    train(graph_model(model_fn_of(EstimatorSpec, 2), str(tmp_path)), input_fn, max_steps=1)

    def wider(features: Any, labels: Any, mode: str) -> Any:
        v1.get_variable("net/other", [2])
        return model_fn_of(EstimatorSpec, 2)(features, labels, mode)

    with pytest.raises(ValueError, match="does not hold all variables of the model: net/other"):
        evaluate(graph_model(wider, str(tmp_path)), input_fn)


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 has no layers of TensorFlow 1")
def test_parts_of_layers_start_as_parts_of_the_whole(tmp_path: Path) -> None:
    def own_getter(getter: Any, name: str, shape: Any = None, dtype: Any = tf.float32, *args: Any, **named: Any) -> Any:
        return getter(name, shape, dtype, *args, **named)

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        del features, mode
        with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(4), custom_getter=own_getter):
            outputs = v1.layers.dense(tf.ones([8, 60]), 60, use_bias=False)
            own = v1.get_variable("own", [60, 60])
            v1.get_variable("square", [8, 4], initializer=v1.orthogonal_initializer())
        loss = tf.reduce_sum(outputs) + tf.reduce_sum(own) + tf.reduce_sum(labels)
        return EstimatorSpec("train", loss=loss, train_op=v1.assign_add(v1.train.get_global_step(), 1))

    model = graph_model(model_fn, str(tmp_path))
    train(model, input_fn, max_steps=1)
    for name in ("net/dense/kernel", "net/own"):
        value = np.concatenate([get_variable_value(model, f"{name}/part_{number}") for number in range(4)])
        limit = np.sqrt(6 / (60 + 60))  # a part by itself would have that of 15 + 60
        assert 0.97 * limit < np.abs(value).max() <= limit
        assert len(np.unique(value)) > 3500  # of 3600: no part repeats another
