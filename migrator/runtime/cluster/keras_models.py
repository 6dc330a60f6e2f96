"""Compiled Keras models that `train`, `evaluate` and `predict` take, where strategies are."""

from __future__ import annotations

import tensorflow as tf

from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.keras_models import speak_as_estimator


def configure_keras_model(
    keras_model: tf.keras.Model, model_dir: str | None = None, config: RunConfig | None = None
) -> tf.keras.Model:
    """``keras.estimator.model_to_estimator``: a compiled functional or sequential model with `train` and the like.

    Features are named by the inputs of the model; `predict` yields dicts by the names of its outputs.
    """
    return configure_distributed(speak_as_estimator(keras_model), config, model_dir=model_dir)
