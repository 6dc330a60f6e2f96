"""Sparse labels out of padded ones; tf_slim, which the old side runs, has what TensorFlow 1.15 had."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.losses_metrics.sparse_labels import dense_to_sparse

ROWS = np.array([[3, 0, 2, -1], [-1, -1, -1, -1], [1, -1, 4, 0]], np.int32)


@pytest.mark.parametrize("padding", [-1, 0, 7])
def test_what_is_no_padding(padding: int) -> None:
    found = dense_to_sparse(tf.constant(ROWS), padding)
    there = np.argwhere(ROWS != padding)
    np.testing.assert_array_equal(found.indices, there)
    np.testing.assert_array_equal(found.values, [ROWS[tuple(place)] for place in there])
    assert found.dense_shape.numpy().tolist() == [3, 4]
