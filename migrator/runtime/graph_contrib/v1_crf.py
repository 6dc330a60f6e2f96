"""Conditional random fields in graphs of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from migrator.runtime.layers.crf import crf_log_likelihood


def crf_log_likelihood_of_scope(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[tf.Tensor, Any]:
    """`crf_log_likelihood`; where no transitions are given, with the variable ``transitions`` of the scope."""
    if transition_params is None:
        tags = inputs.shape[2]
        transition_params = tf.compat.v1.get_variable("transitions", [tags, tags])
    return crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params)
