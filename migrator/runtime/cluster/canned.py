"""The canned Estimators where strategies are: created in the scope of one."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.canned.canned import CannedModel
from migrator.runtime.canned.heads import Head
from migrator.runtime.cluster.strategy import make_strategy
from migrator.runtime.cluster.tasks import current_task
from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.training.config import RunConfig

LEAST_PART = 64 << 20
"""Bytes of a variable below which parameter servers do not share it."""


def canned_strategy() -> tf.distribute.Strategy:
    """The strategy that TF_CONFIG asks for. In a cluster, make it before the first tensor, so before optimizers, too.

    Parameter servers share tables of 64 MiB and more, as with the partitioners of canned Estimators.
    """
    servers = max(1, current_task().num_ps_replicas)
    partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(LEAST_PART, max_shards=servers)
    return make_strategy(variable_partitioner=partitioner)


def compile_canned(
    head: Head, parts: Any, config: RunConfig | None, model_dir: str | None, summary_tags: str
) -> tf.keras.Model:
    """Compiles a `CannedModel`. `parts` are layers, each with its optimizer or a function that makes it.

    `summary_tags`: which Estimators summaries have the tags of: ``v1``, ``dnn/dnn/logits/activation`` for example, or
    ``v2``, ``dnn/logits/activation``, which also have no ``average_loss``.
    """
    layers, optimizers = zip(*parts)
    strategy = config.strategy if config is not None and config.strategy is not None else canned_strategy()
    with strategy.scope():
        made = [optimizer() if callable(optimizer) else optimizer for optimizer in optimizers]
        model = CannedModel(head, layers, made, summary_tags)
        model.compile(optimizer=made[0], steps_per_execution=100)
    return configure_distributed(model, config, model_dir=model_dir)
