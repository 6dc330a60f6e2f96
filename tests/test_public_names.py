"""Names of private modules stand for what TensorFlow shows; all others stay as they are."""

from __future__ import annotations

import importlib

import pytest

from migrator.resolve.public_names import is_private
from migrator.resolve.symbols import normalize


@pytest.mark.parametrize(
    ("private", "shown"),
    [
        ("tensorflow.python.estimator.estimator.Estimator", "estimator.Estimator"),
        ("tensorflow_estimator.python.estimator.estimator.Estimator", "estimator.Estimator"),
        ("tensorflow_core.python.estimator.model_fn.ModeKeys", "estimator.ModeKeys"),
        ("tensorflow.python.estimator.export.export_lib.PredictOutput", "estimator.export.PredictOutput"),
        ("tensorflow.python.estimator.inputs.numpy_io.numpy_input_fn", "estimator.inputs.numpy_input_fn"),
        ("tensorflow.python.estimator.canned.dnn.DNNClassifier", "estimator.DNNClassifier"),
        ("tensorflow.contrib.tpu.python.tpu.tpu_config.RunConfig", "contrib.tpu.RunConfig"),
        ("tensorflow.contrib.layers.python.layers.batch_norm", "contrib.layers.batch_norm"),
        ("tensorflow.contrib.layers.python.layers.layers.batch_norm", "contrib.layers.batch_norm"),
        ("tensorflow.contrib.learn.python.learn.learn_runner.run", "contrib.learn.learn_runner.run"),
        ("tensorflow.contrib.training.python.training.hparam.HParams", "contrib.training.HParams"),
        ("tensorflow.contrib.framework.get_or_create_global_step", "train.get_or_create_global_step"),
        ("tensorflow.contrib.framework.python.ops.variables.get_global_step", "train.get_global_step"),
        ("tensorflow.python.ops.rnn_cell_impl.GRUCell", "nn.rnn_cell.GRUCell"),
        ("tensorflow.python.layers.core.dense", "layers.dense"),
        ("tensorflow.python.training.session_run_hook.SessionRunHook", "train.SessionRunHook"),
        ("tensorflow.python.feature_column.feature_column.numeric_column", "feature_column.numeric_column"),
    ],
)
def test_shown(private: str, shown: str) -> None:
    assert normalize(private) == f"tensorflow.{shown}"
    assert is_private(private)


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.estimator.Estimator",
        "tensorflow.python.framework.ops.convert_to_tensor",
        "tensorflow.python.training.optimizer.Optimizer",
        "tensorflow.python.estimator.canned.metric_keys.MetricKeys",
        "tensorflow_estimator.python.estimator.estimator.EstimatorV2",
        "tensorflow.contrib.layers.python.layers.layers",
        "tensorflow.contrib.slim.python.slim.nets.resnet_v1.resnet_v1_50",
        "my.python.layers.core.dense",
    ],
)
def test_others(name: str) -> None:
    assert normalize(name) == name
    assert not is_private(name)


@pytest.mark.parity
@pytest.mark.parametrize(
    "private",
    [
        "tensorflow_estimator.python.estimator.estimator.Estimator",
        "tensorflow_estimator.python.estimator.run_config.RunConfig",
        "tensorflow_estimator.python.estimator.export.export_output.PredictOutput",
        "tensorflow.python.training.basic_session_run_hooks.LoggingTensorHook",
        "tensorflow.python.training.training_util.get_global_step",
        "tensorflow.python.ops.rnn.dynamic_rnn",
    ],
)
def test_is_the_same_object(private: str) -> None:
    import tensorflow as tf

    found = tf.compat.v1
    for part in normalize(private).split(".")[1:]:
        found = getattr(found, part)
    module, _, name = private.rpartition(".")
    assert getattr(importlib.import_module(module), name) is found
