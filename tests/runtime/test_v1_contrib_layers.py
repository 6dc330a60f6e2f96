"""Layers and argument scopes for graphs against `tf_slim`, which is the code of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.tf1.contrib import Contrib
from migrator.runtime.graph_contrib import v1_arg_scope, v1_contrib_layers, v1_fused_rnn

pytest.importorskip("tf_slim")
v1 = tf.compat.v1
OLD: Any = Contrib().slim
LAYERS = {name.replace("contrib_", "", 1): value for name, value in vars(v1_contrib_layers).items()}
NEW: Any = SimpleNamespace(**{**LAYERS, "arg_scope": v1_arg_scope.arg_scope})


def trained(network: Callable[[Any, Any, bool], Any], slim: Any, inputs: np.ndarray) -> dict[str, Any]:
    """Outputs in training and evaluation, variables and regularization losses of three steps."""
    with tf.Graph().as_default(), v1.Session() as session:
        placeholder = v1.placeholder(tf.float32, [None, *inputs.shape[1:]])
        with v1.variable_scope("net"):
            outputs = network(slim, placeholder, True)
        with v1.variable_scope("net", reuse=True):
            evaluated = network(slim, placeholder, False)
        penalties = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
        loss = tf.add_n([tf.reduce_mean(tf.square(outputs - 1.0)), *penalties])
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            step = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(v1.global_variables_initializer())
        random = np.random.RandomState(0)
        for variable in sorted(v1.global_variables(), key=lambda variable: variable.name):
            variable.load(np.abs(random.normal(0.3, 0.1, variable.shape)), session)
        found: dict[str, Any] = {"shape": tuple(outputs.shape), "penalties": len(penalties)}
        for number in range(3):
            found[f"step {number}"] = session.run([outputs, evaluated, loss], {placeholder: inputs})
            session.run(step, {placeholder: inputs})
        found["variables"] = {variable.name: session.run(variable) for variable in v1.global_variables()}
        found["trainable"] = {variable.name for variable in v1.trainable_variables()}
        return found


def check(network: Callable[[Any, Any, bool], Any], *shape: int) -> None:
    inputs = np.random.RandomState(1).normal(size=shape).astype(np.float32)
    old, new = trained(network, OLD, inputs), trained(network, NEW, inputs)
    assert {k: old[k] for k in ("shape", "penalties", "trainable")} == {
        k: new[k] for k in ("shape", "penalties", "trainable")
    }
    assert set(old["variables"]) == set(new["variables"])
    for key in ("step 0", "step 1", "step 2", "variables"):
        for one, other in zip(tf.nest.flatten(old[key]), tf.nest.flatten(new[key])):
            np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6)


def test_dense_layers_with_normalizer_under_a_scope_of_arguments() -> None:
    def network(slim: Any, x: Any, training: bool) -> Any:
        params = {"is_training": training, "decay": 0.9, "scale": True}
        with slim.arg_scope(
            [slim.fully_connected],
            activation_fn=tf.tanh,
            normalizer_fn=slim.batch_norm,
            normalizer_params=params,
            weights_regularizer=lambda weights: 0.01 * tf.nn.l2_loss(weights),
        ) as scope:
            x = slim.fully_connected(x, 5)
            x = slim.fully_connected(x, 4, scope="second")
        with slim.arg_scope(scope):
            x = slim.fully_connected(x, 3, normalizer_fn=None)
        return slim.linear(x, 2, scope="out")

    check(network, 6, 4)


def test_convolutions_and_pools() -> None:
    def network(slim: Any, x: Any, training: bool) -> Any:
        with slim.arg_scope([slim.conv2d, slim.max_pool2d], padding="SAME"):
            with slim.arg_scope([slim.conv2d], activation_fn=None, normalizer_fn=slim.batch_norm):
                with slim.arg_scope([slim.batch_norm], is_training=training, updates_collections=None, decay=0.8):
                    x = slim.conv2d(x, 4, 3, rate=2, scope="conv1")
                    x = slim.conv2d(x, 4, [3, 1], stride=2)
            x = slim.max_pool2d(x, 2, stride=1)
        x = slim.conv2d_transpose(x, 3, 3, stride=2, padding="VALID")
        x = slim.conv2d_transpose(x, 3, [2, 3], stride=(2, 1), scope="up")
        x = slim.repeat(x, 2, slim.conv2d, 3, [2, 2], scope="repeated")
        x = slim.repeat(x, 2, slim.conv2d, 2, [2, 2])
        x = slim.dropout(slim.flatten(slim.avg_pool2d(x, [2, 2])), 0.5, is_training=False)
        return slim.stack(x, slim.fully_connected, [4, 3], scope="fc")

    check(network, 4, 6, 6, 2)


@pytest.mark.parametrize("fused", [None, False])
def test_batch_norm_of_images_and_its_variables(fused: bool | None) -> None:
    def network(slim: Any, x: Any, training: bool) -> Any:
        return slim.batch_norm(
            x, 0.9, scale=True, is_training=training, fused=fused, activation_fn=tf.nn.relu, epsilon=0.01,
            param_initializers={"gamma": v1.constant_initializer(0.5)}, scope="norm",
        )  # fmt: skip

    check(network, 3, 4, 4, 2)


def test_sequences_of_ids() -> None:
    def network(slim: Any, x: Any, training: bool) -> Any:
        ids = tf.cast(tf.abs(x), tf.int32)
        embed = Contrib().layers.embed_sequence if slim is OLD else slim.embed_sequence
        outputs = embed(ids, 5, 3, scope="words")
        return slim.fully_connected(outputs, 2) + slim.one_hot_encoding(ids, 2)

    if getattr(Contrib().layers, "embed_sequence", None) is not None:
        check(network, 5, 3)


def test_what_is_not_known_is_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="is_training must be True or False"):
            NEW.batch_norm(tf.zeros([2, 2]), is_training=tf.constant(True))
        with pytest.raises(TypeError):
            NEW.fully_connected(tf.zeros([2, 2]), 3, outputs_collections="outputs")
    with pytest.raises(ValueError, match="add_arg_scope"), NEW.arg_scope([len], x=1):
        pass
    with pytest.raises(ValueError, match="takes no arguments"), NEW.arg_scope({}, x=1):
        pass


@pytest.mark.parametrize("lengths", [None, [4, 0, 2]])
def test_the_fused_lstm_is_the_stepwise_one(lengths: list[int] | None) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        inputs = tf.constant(np.random.RandomState(0).normal(size=(4, 3, 2)).astype(np.float32))
        backward = v1_fused_rnn.TimeReversedFusedRNN(v1_fused_rnn.LSTMBlockFusedCell(5, forget_bias=0.5))
        outputs, state = backward(inputs, dtype=tf.float32, sequence_length=lengths)
        kernel, bias = v1.trainable_variables()
        reverse = (
            (lambda x: tf.reverse(x, [0])) if lengths is None else (lambda x: tf.reverse_sequence(x, lengths, 0, 1))
        )
        memory = output = tf.zeros([3, 5])
        every, turned = [], reverse(inputs)
        for time in range(4):
            i, j, f, o = tf.split(tf.concat([turned[time], output], 1) @ kernel + bias, 4, 1)
            later = memory * tf.sigmoid(f + 0.5) + tf.sigmoid(i) * tf.tanh(j)
            shown = tf.tanh(later) * tf.sigmoid(o)
            running = tf.constant([[True]] * 3 if lengths is None else [[time < length] for length in lengths])
            every.append(tf.where(running, shown, tf.zeros_like(shown)))
            memory, output = tf.where(running, later, memory), tf.where(running, shown, output)
        expected = reverse(tf.stack(every)), (memory, output)
        session.run(v1.global_variables_initializer())
        found = session.run([(outputs, tuple(state)), expected])
    assert [v.name for v in (kernel, bias)] == ["lstm_fused_cell/kernel:0", "lstm_fused_cell/bias:0"]
    for one, other in zip(tf.nest.flatten(found[0]), tf.nest.flatten(found[1])):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_separable_convolutions() -> None:
    def network(slim: Any, x: Any, training: bool) -> Any:
        params = {"is_training": training, "decay": 0.8, "scale": True}
        regularizer = lambda weights: 0.01 * tf.nn.l2_loss(weights)  # noqa: E731
        with slim.arg_scope([slim.separable_conv2d], weights_regularizer=regularizer, padding="SAME"):
            with slim.arg_scope([slim.separable_conv2d], normalizer_fn=slim.batch_norm, normalizer_params=params):
                x = slim.separable_conv2d(x, None, [3, 3], depth_multiplier=2, stride=2, scope="depthwise")
                x = slim.separable_conv2d(x, 3, 3, 1, activation_fn=tf.nn.relu6)
            x = slim.separable_conv2d(x, None, 2, rate=2, biases_regularizer=regularizer)
        return slim.separable_conv2d(x, 2, [2, 1], 2, padding="VALID", activation_fn=None, scope="out")

    check(network, 4, 6, 6, 2)


def test_penalties_of_given_weights() -> None:
    def network(slim: Any, inputs: Any, training: bool) -> Any:
        weights = [v1.get_variable(name, [3, 2]) for name in ("a", "b")]
        if training:
            slim.apply_regularization(lambda weight: 0.3 * tf.nn.l2_loss(weight), weights)
            slim.apply_regularization(lambda weight: None, weights)
        return tf.matmul(inputs, weights[0] * weights[1])

    check(network, 4, 3)
