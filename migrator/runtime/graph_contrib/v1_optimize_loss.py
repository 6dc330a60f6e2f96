"""`tf.contrib.layers.optimize_loss` for graphs of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

import tensorflow as tf

V1_OPTIMIZERS: Mapping[str, Callable[[Any], Any]] = {
    "Adagrad": tf.compat.v1.train.AdagradOptimizer,
    "Adam": tf.compat.v1.train.AdamOptimizer,
    "Ftrl": tf.compat.v1.train.FtrlOptimizer,
    "Momentum": lambda rate: tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9),
    "RMSProp": tf.compat.v1.train.RMSPropOptimizer,
    "SGD": tf.compat.v1.train.GradientDescentOptimizer,
}


def optimize_loss(
    loss: tf.Tensor,
    global_step: tf.Variable | None,
    learning_rate: float | tf.Tensor | None,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[str, Any] | None = None,
    clip_gradients: float | Callable[[Any], Any] | None = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[tf.Variable] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> tf.Tensor:
    """Runs the update ops, then takes a step of an optimizer; returns the loss after both.

    Args:
      loss: a scalar.
      global_step: counts the steps; by default the one of the graph.
      learning_rate: a float becomes the variable `OptimizeLoss/learning_rate`.
      optimizer: a name, a class or function of the learning rate (of nothing where that is None), or an optimizer.
      gradient_noise_scale: factor of truncated normal noise that is added to the gradients.
      gradient_multipliers: factors of gradients, by the name of the variable.
      clip_gradients: a limit of the global norm, or a function of the pairs of gradients and variables.
      learning_rate_decay_fn: a function of the learning rate and the step.
      update_ops: by default the collection UPDATE_OPS.
      variables: what is trained; by default all trainable variables.
      name: the scope of the learning rate and the summaries.
      summaries: some of `learning_rate`, `loss`, `gradients`, `gradient_norm` and `global_gradient_norm`.
      colocate_gradients_with_ops: as in `tf.compat.v1.gradients`.
      increment_global_step: whether the step counts.

    Raises:
      ValueError: there is no such optimizer, or it lacks a learning rate.
    """
    step = tf.compat.v1.train.get_global_step() if global_step is None else global_step
    wanted = ("loss", "learning_rate", "global_gradient_norm") if summaries is None else summaries
    with tf.compat.v1.variable_scope(name, "OptimizeLoss", [loss, step]):
        if update_ops is None:
            update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(list(update_ops)):
            loss = tf.identity(loss)
        rate: Any = learning_rate
        if isinstance(learning_rate, float):
            initializer = tf.compat.v1.constant_initializer(learning_rate)
            rate = tf.compat.v1.get_variable("learning_rate", [], trainable=False, initializer=initializer)
        if rate is not None and learning_rate_decay_fn is not None:
            rate = learning_rate_decay_fn(rate, step)
            if "learning_rate" in wanted:
                tf.compat.v1.summary.scalar("learning_rate", rate)
        minimizer = make_v1_optimizer(optimizer, rate)
        if variables is None:
            variables = tf.compat.v1.trainable_variables()
        pairs = minimizer.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = [(add_noise(gradient, gradient_noise_scale), variable) for gradient, variable in pairs]
        if gradient_multipliers is not None:
            factors = gradient_multipliers
            pairs = [(multiplied(gradient, factors.get(variable.name)), variable) for gradient, variable in pairs]
        norms = "global_gradient_norm" in wanted or "gradient_norm" in wanted
        if norms:
            tf.compat.v1.summary.scalar("global_norm/gradient_norm", tf.linalg.global_norm([g for g, _ in pairs]))
        if callable(clip_gradients):
            pairs = clip_gradients(pairs)
        elif clip_gradients is not None:
            clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], clip_gradients)
            pairs = [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs)]
        if "loss" in wanted:
            tf.compat.v1.summary.scalar("loss", loss)
        summarize_gradients(pairs, wanted)
        if norms and clip_gradients is not None:
            norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
            tf.compat.v1.summary.scalar("global_norm/clipped_gradient_norm", norm)
        update = minimizer.apply_gradients(pairs, global_step=step if increment_global_step else None, name="train")
        with tf.control_dependencies([update]):
            return tf.identity(loss)


def make_v1_optimizer(optimizer: Any, rate: Any) -> Any:
    """The optimizer that a name, class, function or optimizer stands for."""
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        return optimizer
    if isinstance(optimizer, str) and optimizer not in V1_OPTIMIZERS:
        raise ValueError(f"optimizer is one of {', '.join(V1_OPTIMIZERS)}, not {optimizer}")
    made: Any = V1_OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
    if rate is None and (isinstance(optimizer, str) or isinstance(optimizer, type)):
        raise ValueError(f"the optimizer {optimizer} needs a learning rate")
    return made() if rate is None else made(rate)


def add_noise(gradient: Any, scale: float) -> Any:
    """A gradient with truncated normal noise; a sparse one becomes dense."""
    if gradient is None:
        return None
    gradient = tf.convert_to_tensor(gradient)
    return gradient + tf.random.truncated_normal(tf.shape(gradient)) * scale


def multiplied(gradient: Any, factor: Any) -> Any:
    """A gradient times a factor, if there is one."""
    if gradient is None or factor is None:
        return gradient
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype)


def summarize_gradients(pairs: Any, wanted: Sequence[str]) -> None:
    """Writes the distribution of each gradient, and its norm."""
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        name = variable.name.replace(":", "_")
        if values is not None and "gradients" in wanted:
            tf.compat.v1.summary.histogram(f"gradients/{name}", values)
        if values is not None and "gradient_norm" in wanted:
            tf.compat.v1.summary.scalar(f"gradient_norm/{name}", tf.linalg.global_norm([values]))
