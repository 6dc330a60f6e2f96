"""Compiled Keras models that `train`, `evaluate` and `predict` take."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure, report_batch_loss


def configure_keras_model(
    keras_model: tf.keras.Model, model_dir: str | None = None, config: RunConfig | None = None
) -> tf.keras.Model:
    """``keras.estimator.model_to_estimator``: a compiled functional or sequential model with `train` and the like.

    Features are named by the inputs of the model; `predict` yields dicts by the names of its outputs.
    """
    return configure(speak_as_estimator(keras_model), config, model_dir=model_dir)


def speak_as_estimator(keras_model: tf.keras.Model) -> tf.keras.Model:
    """Lets a compiled model predict by the names of its outputs, and report its loss as a mean over batches."""
    if not keras_model.optimizer:
        raise ValueError("The model has to be compiled.")
    predict_step = keras_model.predict_step

    def predict_by_name(data: Any) -> dict[str, tf.Tensor]:
        return dict(zip(keras_model.output_names, tf.nest.flatten(predict_step(data))))

    keras_model.predict_step = predict_by_name
    report_batch_loss(keras_model)
    return keras_model
