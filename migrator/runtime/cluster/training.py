"""Models that train on several devices or machines."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.cluster.coordinator import CoordinatorRun
from migrator.runtime.cluster.replicas import ReplicaRun, run_on_replicas
from migrator.runtime.cluster.worker_checkpoints import WorkerCheckpoints
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.keras_versions import keras_2
from migrator.runtime.training.summaries import StepLogger
from migrator.runtime.training.training import configure


def configure_distributed(model: tf.keras.Model, config: RunConfig | None = None, **settings: Any) -> tf.keras.Model:
    """`configure` for a model that was created in the scope of a strategy, with the same settings.

    Raises ClusterError for what would differ on its replicas from the training by an Estimator, and RuntimeError for
    parameter servers with Keras 3.
    """
    configure(model, config, **settings)
    config, state, strategy = model.run_config, model.run_state, model.distribute_strategy
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        keras_2("Parameter servers")
        state.run = CoordinatorRun(model)
    else:
        state.run = ReplicaRun(model)
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        state.checkpoints = WorkerCheckpoints(model, config)
        state.logger = StepLogger(config.replace(model_dir=state.checkpoints.manager.directory))
    run_on_replicas(model)
    return model
