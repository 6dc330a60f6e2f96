"""What some options take; apart from `settings`, as the command line names it at every start."""

from __future__ import annotations

STYLES = ("auto", "native", "bridge")
"""Tiers that a model_fn may move to: the best that holds it, Keras layers only, or a graph inside a Keras model only."""

STRATEGIES = ("auto", "none", "mirrored", "multi_worker", "parameter_server", "tpu")
"""What a program trains on: what it says itself, one device, several of one machine, a cluster, or a TPU."""

FEATURES = ("columns", "preprocessing")
"""What feature columns become: they stay as they are, or become columns on Keras preprocessing layers."""

TARGETS = ("any", "2.15", "2.16")
"""The TensorFlow that migrated programs are to run on: all of 2.13 and newer, up to 2.15, or 2.16 and newer with `tf_keras`."""
