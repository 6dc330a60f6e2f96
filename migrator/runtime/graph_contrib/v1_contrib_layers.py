"""Layers of `tf.contrib.layers` (and slim, which is the same code) for graphs of TensorFlow 1, with its variables.

All take `scope`, the variable scope that they open, and `reuse`; defaults come from `arg_scope`. Collections of variables
and outputs by other names than those of TensorFlow are not kept.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.graph_contrib.v1_arg_scope import add_arg_scope

LayerFunction = Callable[..., Any]


@add_arg_scope
def contrib_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: LayerFunction | None = tf.nn.relu,
    normalizer_fn: LayerFunction | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = tf.compat.v1.glorot_uniform_initializer,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.compat.v1.zeros_initializer,
    biases_regularizer: Any = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A dense layer over the last axis of `inputs`, which ends in a relu; with a normalizer, it has no biases."""
    with tf.compat.v1.variable_scope(scope, "fully_connected", [inputs], reuse=reuse):
        inputs = tf.convert_to_tensor(inputs)
        shape = [inputs.shape[-1], num_outputs]
        weights = model_variable("weights", shape, weights_initializer, weights_regularizer, trainable)
        outputs = tf.matmul(inputs, weights) if inputs.shape.rank == 2 else tf.tensordot(inputs, weights, 1)
        if normalizer_fn is None:
            outputs = with_biases(outputs, biases_initializer, biases_regularizer, trainable)
        return normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)


contrib_linear = functools.partial(contrib_fully_connected, activation_fn=None)
"""A dense layer without activation."""


@add_arg_scope
def contrib_conv2d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: LayerFunction | None = tf.nn.relu,
    normalizer_fn: LayerFunction | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = tf.compat.v1.glorot_uniform_initializer,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.compat.v1.zeros_initializer,
    biases_regularizer: Any = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution with SAME padding, which ends in a relu; with a normalizer, it has no biases."""
    with tf.compat.v1.variable_scope(scope, "Conv", [inputs], reuse=reuse):
        inputs = tf.convert_to_tensor(inputs)
        channels = inputs.shape[1 if is_channels_first(data_format) else -1]
        shape = [*height_and_width(kernel_size), channels, num_outputs]
        weights = model_variable("weights", shape, weights_initializer, weights_regularizer, trainable)
        outputs = tf.nn.convolution(
            inputs, weights, height_and_width(stride), padding, data_format, height_and_width(rate)
        )
        if normalizer_fn is None:
            outputs = with_biases(outputs, biases_initializer, biases_regularizer, trainable, data_format)
        return normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)


def with_biases(
    outputs: Any, initializer: Any, regularizer: Any, trainable: bool, data_format: str | None = None
) -> Any:
    """`outputs` plus a bias for each channel; as they are without an `initializer`."""
    if initializer is None:
        return outputs
    channels = outputs.shape[1 if is_channels_first(data_format) else -1]
    biases = model_variable("biases", [channels], initializer, regularizer, trainable)
    return tf.nn.bias_add(outputs, biases, data_format)


def normalized_and_activated(
    outputs: Any, normalizer_fn: LayerFunction | None, normalizer_params: Mapping[str, Any] | None, activation_fn: Any
) -> Any:
    """`outputs`, normalized and activated."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return outputs if activation_fn is None else activation_fn(outputs)


@add_arg_scope
def contrib_conv2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: LayerFunction | None = tf.nn.relu,
    normalizer_fn: LayerFunction | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = tf.compat.v1.glorot_uniform_initializer,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.compat.v1.zeros_initializer,
    biases_regularizer: Any = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A transposed convolution with SAME padding, which ends in a relu; with a normalizer, it has no biases."""
    with tf.compat.v1.variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse):
        inputs = tf.convert_to_tensor(inputs)
        axis = 1 if is_channels_first(data_format) else 3
        size, strides = height_and_width(kernel_size), height_and_width(stride)
        shape = [*size, num_outputs, inputs.shape[axis]]
        weights = model_variable("weights", shape, weights_initializer, weights_regularizer, trainable)
        spatial = (2, 3) if axis == 1 else (1, 2)
        known, actual = inputs.shape.as_list(), tf.unstack(tf.shape(inputs))
        known[axis] = actual[axis] = num_outputs
        for at, kernel, step in zip(spatial, size, strides):
            more = max(kernel - step, 0) if padding.upper() == "VALID" else 0
            known[at] = None if known[at] is None else known[at] * step + more
            actual[at] = actual[at] * step + more
        outputs = tf.nn.conv2d_transpose(inputs, weights, tf.stack(actual), strides, padding.upper(), data_format)
        outputs.set_shape(known)
        if normalizer_fn is None:
            outputs = with_biases(outputs, biases_initializer, biases_regularizer, trainable, data_format)
        return normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)


@add_arg_scope
def contrib_separable_conv2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: LayerFunction | None = tf.nn.relu,
    normalizer_fn: LayerFunction | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = tf.compat.v1.glorot_uniform_initializer,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.compat.v1.zeros_initializer,
    biases_regularizer: Any = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel, then one that mixes them, unless `num_outputs` is None; it ends in a relu."""
    with tf.compat.v1.variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse):
        inputs = tf.convert_to_tensor(inputs)
        first = is_channels_first(data_format)
        channels, size, steps = inputs.shape[1 if first else 3], height_and_width(kernel_size), height_and_width(stride)
        strides = [1, 1, *steps] if first else [1, *steps, 1]
        shape = [*size, channels, depth_multiplier]
        weights = model_variable("depthwise_weights", shape, weights_initializer, weights_regularizer, trainable)
        moves = strides, padding.upper(), data_format, height_and_width(rate)
        if num_outputs is None:
            outputs = tf.nn.depthwise_conv2d(inputs, weights, *moves)
        else:
            starts = pointwise_initializer or weights_initializer
            shape = [1, 1, channels * depth_multiplier, num_outputs]
            mixing = model_variable("pointwise_weights", shape, starts, weights_regularizer, trainable)
            outputs = tf.nn.separable_conv2d(inputs, weights, mixing, *moves)
        if normalizer_fn is None:
            outputs = with_biases(outputs, biases_initializer, biases_regularizer, trainable, data_format)
        return normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)


@add_arg_scope
def contrib_batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: LayerFunction | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Any = "update_ops",
    is_training: bool = True,
    reuse: Any = None,
    trainable: bool = True,
    fused: bool | None = None,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Batch normalization, by the fused kernel where it can, without a factor `gamma` unless `scale` says so.

    The operations in `updates_collections` move the statistics; where that is None, the outputs do. Raises ValueError
    where `is_training` is a tensor.
    """
    if tf.is_tensor(is_training):
        raise ValueError("is_training must be True or False, not a tensor")
    with tf.compat.v1.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse):
        inputs = tf.convert_to_tensor(inputs)
        first = is_channels_first(data_format)
        shape, starts = [inputs.shape[1 if first else -1]], dict(param_initializers or {})
        limits = dict(param_regularizers or {})
        zeros, ones = tf.compat.v1.zeros_initializer(), tf.compat.v1.ones_initializer()

        def variable(name: str, default: Any, trained: bool) -> Any:
            return model_variable(name, shape, starts.get(name, default), limits.get(name), trained, tf.float32)

        beta = variable("beta", zeros, trainable) if center else tf.zeros(shape)
        gamma = variable("gamma", ones, trainable) if scale else tf.ones(shape)
        moving = variable("moving_mean", zeros, False), variable("moving_variance", ones, False)
        mean, variance = (None, None) if is_training else moving
        if fused is not False and inputs.shape.rank in (2, 4):
            images = inputs
            if inputs.shape.rank == 2:
                images = tf.reshape(inputs, [-1, *shape, 1, 1] if first else [-1, 1, 1, *shape])
            outputs, mean, variance = tf.compat.v1.nn.fused_batch_norm(
                images, gamma, beta, mean, variance, epsilon, data_format, bool(is_training)
            )
            outputs = tf.ensure_shape(tf.reshape(outputs, tf.shape(inputs)), inputs.shape)
        elif first:
            raise ValueError("batch_norm with the channels first needs the fused kernel")
        else:
            if is_training:
                mean, variance = tf.nn.moments(inputs, list(range(inputs.shape.rank - 1)))
            outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        if is_training:
            pairs = zip(moving, (mean, variance))
            updates = [old.assign_sub((old - new) * (1 - decay), read_value=False) for old, new in pairs]
            if updates_collections is None:
                with tf.control_dependencies(updates):
                    outputs = tf.identity(outputs)
            else:
                for update in updates:
                    tf.compat.v1.add_to_collections(updates_collections, update)
        return outputs if activation_fn is None else activation_fn(outputs)


@add_arg_scope
def contrib_dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Keeps elements with the probability `keep_prob`, divided by it, while `is_training`."""
    return tf.compat.v1.layers.dropout(inputs, 1 - keep_prob, noise_shape, seed, is_training)


@add_arg_scope
def contrib_max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """The largest elements of windows, by steps of two and without padding unless told otherwise."""
    return tf.nn.max_pool2d(
        inputs, height_and_width(kernel_size), height_and_width(stride), padding.upper(), data_format
    )


@add_arg_scope
def contrib_avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """The means of windows, by steps of two and without padding unless told otherwise."""
    return tf.nn.avg_pool2d(
        inputs, height_and_width(kernel_size), height_and_width(stride), padding.upper(), data_format
    )


@add_arg_scope
def contrib_apply_regularization(regularizer: Callable[[Any], Any], weights_list: Any = None) -> Any:
    """The sum of what `regularizer` asks for over all weights, those of the graph unless given, which the collection of
    regularization losses gets too. Raises ValueError without weights."""
    weights_list = weights_list or tf.compat.v1.get_collection("weights")
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty"):
        terms = [regularizer(weight) for weight in weights_list]
        penalty = tf.add_n([tf.constant(0.0) if term is None else term for term in terms])
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.REGULARIZATION_LOSSES, penalty)
    return penalty


def contrib_flatten(inputs: Any, scope: Any = None) -> Any:
    """All axes but the first as one."""
    return tf.compat.v1.layers.flatten(inputs)


@add_arg_scope
def contrib_one_hot_encoding(
    labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0, scope: Any = None
) -> Any:
    """`labels` as rows with one element that is `on_value`."""
    if labels.dtype == tf.int32:
        labels = tf.cast(labels, tf.int64)
    return tf.one_hot(labels, num_classes, on_value, off_value)


def contrib_embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The rows of a table that `ids` name. Raises ValueError for a new table whose size is not given."""
    if not reuse and (vocab_size is None or embed_dim is None):
        raise ValueError("embed_sequence needs vocab_size and embed_dim")
    with tf.compat.v1.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if vocab_size is None else [vocab_size, embed_dim]
        table = model_variable("embeddings", shape, initializer, regularizer, trainable)
        return tf.nn.embedding_lookup(table, ids)


def contrib_repeat(inputs: Any, repetitions: int, layer: LayerFunction, *args: Any, **named: Any) -> Any:
    """Applies `layer` several times, each under a scope of its own: ``conv1/conv1_1`` for the scope ``conv1``."""
    scope = named.pop("scope", None)
    with tf.compat.v1.variable_scope(scope, "Repeat", [inputs]):
        stem = scope or repeated_scope(layer)
        for number in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{stem}_{number + 1}", **named)
        return inputs


def contrib_stack(inputs: Any, layer: LayerFunction, stack_args: Any, **named: Any) -> Any:
    """Applies `layer` once for each element of `stack_args`, its arguments: ``fc/fc_1`` for the scope ``fc``."""
    scope = named.pop("scope", None)
    with tf.compat.v1.variable_scope(scope, "Stack", [inputs]):
        stem = scope or repeated_scope(layer)
        for number, arguments in enumerate(stack_args):
            given = arguments if isinstance(arguments, (list, tuple)) else [arguments]
            inputs = layer(inputs, *given, scope=f"{stem}_{number + 1}", **named)
        return inputs


def repeated_scope(layer: LayerFunction) -> str:
    """The stem of the scopes of a repeated layer: its name in contrib."""
    name = layer.__name__[len("contrib_") :] if layer.__name__.startswith("contrib_") else layer.__name__
    return name.replace("conv2d", "convolution2d") if name.startswith("conv2d") else name


def model_variable(
    name: str, shape: Any, initializer: Any, regularizer: Any, trainable: bool, dtype: Any = None
) -> Any:
    """A variable of the scope."""
    return tf.compat.v1.get_variable(name, shape, dtype, initializer, regularizer, trainable)


def is_channels_first(data_format: str | None) -> bool:
    """Whether the second axis of images holds the channels."""
    return data_format is not None and data_format.startswith("NC")


def height_and_width(size: Any) -> list[int]:
    """Height and width, where one number may stand for both."""
    return [size, size] if isinstance(size, int) else list(size)
