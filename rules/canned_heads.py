"""Heads of canned Estimators, and how a loss is reduced."""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.module import Module

# Names of tf.losses.Reduction and tf.keras.losses.Reduction, and their values as text.
_REDUCTIONS = {
    "SUM": "sum",
    "SUM_OVER_BATCH_SIZE": "sum_over_batch_size",
    "SUM_BY_NONZERO_WEIGHTS": "sum_by_nonzero_weights",
    "SUM_OVER_NONZERO_WEIGHTS": "sum_by_nonzero_weights",
    "MEAN": "mean",
    "sum": "sum",
    "weighted_sum": "sum",
    "sum_over_batch_size": "sum_over_batch_size",
    "weighted_sum_over_batch_size": "sum_over_batch_size",
    "weighted_sum_by_nonzero_weights": "sum_by_nonzero_weights",
    "weighted_mean": "mean",
}
HEADS = {
    "tensorflow.estimator.BinaryClassHead": "BinaryClassHead",
    "tensorflow.estimator.MultiClassHead": "MultiClassHead",
    "tensorflow.estimator.RegressionHead": "RegressionHead",
}
SIGNATURES = {
    "BinaryClassHead": "weight_column thresholds label_vocabulary loss_reduction loss_fn name",
    "MultiClassHead": "n_classes weight_column label_vocabulary loss_reduction loss_fn name",
    "RegressionHead": "label_dimension weight_column loss_reduction loss_fn inverse_link_fn name",
}


def loss_reduction(module: Module, value: ast.expr) -> str:
    """The text of a reduction for the vendored heads. Raises Unsupported."""
    name = module.resolve(value)
    if isinstance(value, ast.Constant) and value.value in _REDUCTIONS:
        return f'"{_REDUCTIONS[value.value]}"'
    if name is not None and ".losses.Reduction." in name and name.rsplit(".", 1)[1] in _REDUCTIONS:
        return f'"{_REDUCTIONS[name.rsplit(".", 1)[1]]}"'
    raise Unsupported("`loss_reduction` is none of tf.losses.Reduction that is seen here", value)
