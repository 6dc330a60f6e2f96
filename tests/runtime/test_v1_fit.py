"""A `GraphModel` that `compile` and `fit` train: as the Estimator, and on from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, GraphModel

v1 = tf.compat.v1
X = np.random.RandomState(0).rand(48, 3).astype(np.float32)
Y = (X.sum(1) > 1.5).astype(np.float32)


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(8)


def model_fn(features: Any, labels: Any, mode: str, params: Any, spec: Any = EstimatorSpec) -> Any:
    normal = v1.layers.batch_normalization(features["x"], training=mode == "train", momentum=0.5)
    logits = v1.layers.dense(normal, 1, kernel_initializer=v1.constant_initializer(0.3))[:, 0]
    if mode == "infer":
        return spec(mode, predictions={"logits": logits})
    loss = v1.losses.sigmoid_cross_entropy(labels, logits)
    metrics = {"auc": v1.metrics.auc(labels, tf.sigmoid(logits)), "mean": v1.metrics.mean(logits)}
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        optimizer = v1.train.MomentumOptimizer(params["rate"], 0.9)
        train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step()) if mode == "train" else None
    return spec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def made() -> GraphModel:
    model = GraphModel(model_fn, params={"rate": 0.1})
    model.compile(steps_per_execution=3)
    return model


def test_fit_evaluate_and_predict_as_an_estimator(tmp_path: Path) -> None:
    def as_estimator(features: Any, labels: Any, mode: str, params: Any) -> Any:
        return model_fn(features, labels, mode, params, tf.estimator.EstimatorSpec)

    estimator = tf.estimator.Estimator(as_estimator, str(tmp_path), params={"rate": 0.1})
    estimator.train(input_fn)
    old = estimator.evaluate(input_fn)
    model = made()
    model.fit(input_fn(), verbose=0)
    new = model.evaluate(input_fn(), verbose=0, return_dict=True)
    assert model.optimizer.iterations.numpy() == old.pop("global_step") == 6
    assert new == pytest.approx(old, rel=1e-6)
    assert model.evaluate(input_fn(), verbose=0, return_dict=True) == new  # local variables begin anew
    rows = [row["logits"] for row in estimator.predict(input_fn)]
    np.testing.assert_allclose(model.predict(input_fn(), verbose=0)["logits"], rows, rtol=1e-5)


def test_a_checkpoint_is_taken_up(tmp_path: Path) -> None:
    whole = made()
    whole.fit(input_fn(), verbose=0)
    first = made()
    first.fit(input_fn().take(3), verbose=0)
    path = tf.train.Checkpoint(model=first).save(str(tmp_path / "model"))
    expected = first.evaluate(input_fn(), verbose=0, return_dict=True)
    second = made()
    tf.train.Checkpoint(model=second).restore(path).assert_existing_objects_matched()
    assert second.optimizer.iterations.numpy() == 3
    assert second.evaluate(input_fn(), verbose=0, return_dict=True) == expected  # before any training
    second.fit(input_fn().skip(3), verbose=0)
    for name, variable in whole.tf1_variables.items():
        np.testing.assert_array_equal(second.tf1_variables[name], variable, name)
