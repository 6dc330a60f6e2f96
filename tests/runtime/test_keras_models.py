"""`configure_keras_model`: a compiled Keras model behaves as the Estimator made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.training.keras_models import configure_keras_model
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

X = np.random.RandomState(0).rand(10, 3).astype("float32")
Y = X.sum(axis=1, keepdims=True)


def compiled() -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), name="total")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return model


def test_features_and_predictions_have_the_names_of_inputs_and_outputs(tmp_path: Path) -> None:
    model = compiled()
    dataset = tf.data.Dataset.from_tensor_slices(({model.input_names[0]: X}, Y)).batch(4)
    assert configure_keras_model(model, str(tmp_path)) is model
    train(model, lambda: dataset)
    rows = list(predict(model, lambda: dataset))
    np.testing.assert_allclose([row["total"] for row in rows], model(X), rtol=1e-6)
    batches = [np.mean((model(X[i : i + 4]) - Y[i : i + 4]) ** 2) for i in (0, 4, 8)]
    result = evaluate(model, lambda: dataset)
    assert result["global_step"] == 3 and result["loss"] == pytest.approx(np.mean(batches))  # not the mean of examples


def test_a_model_has_to_be_compiled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has to be compiled"):
        configure_keras_model(tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))]), str(tmp_path))
