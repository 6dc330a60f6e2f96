"""What a TPUEstimator of TensorFlow 1 does where there is no TPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_v1.v1_graph import EstimatorSpec, GraphModel
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.graph_v1.without_tpu import TPUParams
from migrator.runtime.training.config import RunConfig


def tpu_graph_model(
    model_fn: Callable[..., EstimatorSpec],
    model_dir: str | None = None,
    config: RunConfig | None = None,
    params: dict[str, Any] | None = None,
    use_tpu: bool = False,
    train_batch_size: int | None = None,
    eval_batch_size: int | None = None,
    predict_batch_size: int | None = None,
) -> GraphModel:
    """Compiles a `GraphModel` whose `params` hold the `batch_size` of the mode, for `input_fn` and `model_fn`."""
    given = TPUParams(params, use_tpu, train_batch_size, eval_batch_size, predict_batch_size)
    return graph_model(model_fn, model_dir, config, given)


def tpu_spec(
    mode: str,
    predictions: Any = None,
    loss: Any = None,
    train_op: Any = None,
    eval_metrics: tuple[Callable[..., Any], Any] | None = None,
    export_outputs: Any = None,
    scaffold_fn: Callable[[], Any] | None = None,
    host_call: Any = None,
    training_hooks: Sequence[Any] | None = None,
    evaluation_hooks: Sequence[Any] | None = None,
    prediction_hooks: Sequence[Any] | None = None,
) -> EstimatorSpec:
    """A `TPUEstimatorSpec` as an `EstimatorSpec`. `eval_metrics` are a function and its tensors, a list or a dict."""
    scaffold = scaffold_fn() if scaffold_fn is not None else None
    metrics = None
    if mode == "eval" and eval_metrics is not None:
        function, tensors = eval_metrics
        metrics = function(**tensors) if isinstance(tensors, dict) else function(*tensors)
    if isinstance(loss, tf.Tensor) and loss.shape.rank != 0:
        loss = tf.reshape(loss, [])
    return EstimatorSpec(
        mode,
        predictions,
        loss,
        train_op,
        metrics,
        export_outputs,
        training_hooks=training_hooks,
        scaffold=scaffold,
        evaluation_hooks=evaluation_hooks,
        prediction_hooks=prediction_hooks,
    )
