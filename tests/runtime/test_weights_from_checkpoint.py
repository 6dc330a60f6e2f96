"""Weights begin with the values that `tf.train.init_from_checkpoint` gives the variables of an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import assert_equal_weights, new_program, old_program

from migrator.runtime.checkpoints.weight_names import TF1Variable, named_weights, tf1_variables
from migrator.runtime.checkpoints.weights_from_checkpoint import init_from_checkpoint
from migrator.runtime.training.training import evaluate, train

needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
v1 = tf.compat.v1

PROGRAM = """
import numpy as np
import tensorflow as tf

ROWS, LENGTH = 20, 4


def encoder(ids, hidden_units):
    with tf.variable_scope("encoder"):
        table = tf.get_variable("embeddings", [ROWS, 3], initializer=tf.zeros_initializer())
        net = tf.reshape(tf.nn.embedding_lookup(table, ids), [-1, LENGTH * 3])
        for index, units in enumerate(hidden_units):
            with tf.variable_scope("layer_%d" % index):
                net = tf.layers.dense(net, units, activation=tf.nn.tanh, name="dense", kernel_initializer=tf.zeros_initializer())
                net = tf.layers.batch_normalization(net, training=False, name="norm")
        return net


def known(variables, checkpoint):
    names = {v.name.split(":")[0]: v for v in variables}
    return {name: names[name] for name, _ in tf.train.list_variables(checkpoint) if name in names}


def model_fn(features, labels, mode, params):
    net = encoder(features["ids"], params["hidden_units"])
    logits = tf.layers.dense(net, 3, name="logits", kernel_initializer=tf.zeros_initializer())
    START
    predictions = {"logits": logits}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    ids = np.random.RandomState(0).randint(0, ROWS, (32, LENGTH)).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"ids": ids}, ids[:, 0] % 3)).repeat(3).batch(8)


def make_estimator(model_dir, checkpoint):
    return tf.estimator.Estimator(model_fn, model_dir, params={"hidden_units": [6, 5], "checkpoint": checkpoint})
"""
BERT = """
    tvars = tf.trainable_variables()
    if params["checkpoint"]:
        assignment_map = known(tvars, params["checkpoint"])
        tf.train.init_from_checkpoint(params["checkpoint"], assignment_map)
    for var in tvars:
        tf.logging.info("name = %s, shape = %s", var.name, var.shape)
"""
CALL = 'tf.train.init_from_checkpoint(params["checkpoint"], {})'
SHAPES = {
    "encoder/embeddings": [20, 3],
    "encoder/layer_0/dense/kernel": [12, 6],
    "encoder/layer_0/dense/bias": [6],
    **{f"encoder/layer_0/norm/{name}": [6] for name in ("gamma", "beta", "moving_mean", "moving_variance")},
    "encoder/layer_1/dense/kernel": [6, 5],
    "encoder/layer_1/dense/bias": [5],
    **{f"encoder/layer_1/norm/{name}": [5] for name in ("gamma", "beta", "moving_mean", "moving_variance")},
    "logits/kernel": [5, 3],
    "logits/bias": [3],
}


def program(start: str) -> str:
    return PROGRAM.replace(
        "    START\n", "".join(f"    {line}\n" if line[:1] != " " else f"{line}\n" for line in start.split("\n"))
    )


def checkpoint(folder: Path, prefix: str = "") -> str:
    """A checkpoint of TensorFlow 1 with a value for each variable, under names with a prefix."""
    random = np.random.RandomState(1)
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in SHAPES.items():
            v1.get_variable(prefix + name, initializer=random.rand(*shape).astype("float32") + 0.1)
        v1.get_variable("global_step", initializer=np.int64(7))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(folder / "pretrained"), global_step=7))


@needs_estimators
@pytest.mark.parametrize(
    ("start", "prefix", "step"),
    [
        (CALL.format('{"lm/encoder/": "encoder/", "lm/logits/bias": "logits/bias"}'), "lm/", 0),
        (CALL.format('{"/": "/"}'), "", 7),
        (CALL.format('{"lm/" + v.op.name: v for v in tf.trainable_variables() if "bias" not in v.name}'), "lm/", 0),
        (BERT, "", 0),
    ],
)
def test_weights_are_those_of_an_estimator(tmp_path: Path, start: str, prefix: str, step: int) -> None:
    source, path = program(start), checkpoint(tmp_path, prefix)
    old = old_program(source, tmp_path)
    estimator = old.make_estimator(str(tmp_path / "a"), path)
    first = estimator.evaluate(old.input_fn)
    for _ in range(2):  # the second time from the checkpoint of the first
        estimator.train(old.input_fn, steps=3)
    last = estimator.evaluate(old.input_fn)

    new = new_program(source, tmp_path, exact=True)
    model = new.make_estimator(str(tmp_path / "b"), path)
    assert evaluate(model, new.input_fn) == pytest.approx(first, rel=1e-6)
    for _ in range(2):
        train(model, new.input_fn, steps=3)
    assert int(model.optimizer.iterations.numpy()) == estimator.get_variable_value("global_step") == step + 6
    weights = {name: variable.numpy() for name, variable in named_weights(model, [*model.tf1_names.items()])}
    assert set(weights) == set(SHAPES)
    assert_equal_weights(estimator, weights)
    with pytest.raises(AssertionError):
        assert_equal_weights(estimator, {"encoder/layer_0/norm/beta": weights["encoder/layer_0/norm/gamma"]})
    again = new.make_estimator(str(tmp_path / "b"), path)  # its own checkpoint goes before
    assert evaluate(again, new.input_fn) == pytest.approx(last, rel=1e-6)


class Block(tf.keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.kernel = self.add_weight(name="kernel", shape=[2])
        self.gain = self.add_weight(name="gain", shape=[], trainable=False)


class Net(tf.keras.Model):
    def __init__(self, blocks: int = 2, head: bool = True) -> None:
        super().__init__()
        self.blocks = [Block() for _ in range(blocks)]
        if head:
            self.head = Block()

    tf1_names = {
        "block_*/kernel": "blocks.*.kernel",
        "block_*/gain": "blocks.*.gain",
        "head/kernel": "head.kernel",
        "head/gain": "head.gain",
    }


def test_names_are_in_the_order_of_creation() -> None:
    names = [name for name, _ in named_weights(Net(), [*Net.tf1_names.items()])]
    assert names == ["block_0/kernel", "block_0/gain", "block_1/kernel", "block_1/gain", "head/kernel", "head/gain"]
    model = Net()
    model.late_weights = {"bias": model.add_weight(name="bias", shape=[1])}
    ((name, bias),) = named_weights(model, [("out/bias", "late_weights.bias"), ("out/x", "late_weights.x")])
    assert name == "out/bias" and bias is model.late_weights["bias"]
    assert [name for name, _ in named_weights(Net(1, head=False), [*Net.tf1_names.items()])] == names[:2]


def test_lists_of_variables() -> None:
    model = Net()
    found = tf1_variables(model)
    assert [each.name for each in found] == ["block_0/kernel:0", "block_1/kernel:0", "head/kernel:0"]
    assert found[0].op.name == "block_0/kernel" and found[0].get_shape() == [2] and found[0].dtype == tf.float32
    assert [each.name for each in tf1_variables(model, "block_1|head")] == ["block_1/kernel:0", "head/kernel:0"]
    assert len({*found, *found}) == 3
    model.extra = Block()
    with pytest.raises(ValueError, match="tf1_names of Net does not name these weights: kernel"):
        tf1_variables(model)


@pytest.mark.parametrize(
    ("assignment_map", "message"),
    [
        ({"encoder/": "head/"}, "does not hold encoder/kernel, which head/kernel should begin with"),
        ({"logits/kernel": "head/kernel"}, r"head/kernel has shape \[2\]; in .*: \[5, 3\]"),
        ({"encoder/": "head"}, "leads from encoder/ to head: neither a weight, nor scope to scope"),
        ({"encoder": "head/"}, "leads from encoder to head/"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, assignment_map: dict[str, Any], message: str) -> None:
    model = Net()
    model.compile(optimizer="sgd")
    with pytest.raises(ValueError, match=message):
        init_from_checkpoint(model, checkpoint(tmp_path), assignment_map)


def test_a_checkpoint_of_keras_is_told_from_one_of_tensorflow_1(tmp_path: Path) -> None:
    model = Net()
    model.compile(optimizer="sgd")
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "model"))
    with pytest.raises(ValueError, match="has no names of TensorFlow 1, as the model"):
        init_from_checkpoint(model, path, {})


def test_a_weight_may_be_given_itself(tmp_path: Path) -> None:
    model = Net()
    model.compile(optimizer="sgd")
    model.head.kernel = model.add_weight(name="kernel", shape=[3])
    init_from_checkpoint(
        model, checkpoint(tmp_path), [("logits/bias", TF1Variable("head/kernel:0", model.head.kernel))]
    )
    np.testing.assert_array_equal(model.head.kernel, tf.train.load_variable(str(tmp_path), "logits/bias"))
