"""Nested structures of tensors, as graphs of TensorFlow 1 take and give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf


def flat_tensors(*structures: Any) -> list[Any]:
    """The tensors of nested structures, without None."""
    return [part for part in tf.nest.flatten(structures, expand_composites=True) if part is not None]


def with_gaps(structure: Any, tensors: Iterable[Any]) -> list[Any]:
    """`tensors`, and None at the places where flattening `structure` gives None."""
    rest = iter(tensors)
    return [None if part is None else next(rest) for part in tf.nest.flatten(structure, expand_composites=True)]
