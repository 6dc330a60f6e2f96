"""Training on TPUs."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf


@functools.lru_cache(maxsize=None)  # noqa: UP033
def tpu_strategy(resolver: Any = None) -> tf.distribute.Strategy:
    """TPUStrategy over all cores of a TPU, which is connected and initialized first: what its memory held is lost.

    `resolver` is a TPUClusterResolver; without one, the environment variable TPU_NAME or this machine say which TPU it is.
    A process has one strategy for each TPU, however often it asks.
    """
    resolver = resolver or tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
