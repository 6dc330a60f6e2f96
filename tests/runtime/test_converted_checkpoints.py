"""A checkpoint of TensorFlow 1 goes on in Keras as it would have gone on there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.parity.probe.convert import Conversion, slice_of
from migrator.parity.probe.recorded.mapping import MappingError
from migrator.parity.probe.recorded.slots import StateError
from migrator.runtime.cluster import graph as cluster_graph
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.optimizers import (
    momentum,
    optimizers,
    optimizers_adam,
    proximal,
    regularized_optimizers,
    row_updates,
    summed_rows,
)
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure

v1 = tf.compat.v1.train
pytestmark = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not go on from checkpoints of TF1")
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(6, 8, 4).astype("float32")
Y = RANDOM.randn(6, 8, 1).astype("float32")


def train_v1(folder: Path, create: Callable[[], Any]) -> tuple[str, list[float], dict[str, Any]]:
    """Six steps; a checkpoint after three of them, all losses, the weights at the end."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, y = tf.compat.v1.placeholder(tf.float32, [8, 4]), tf.compat.v1.placeholder(tf.float32, [8, 1])
        net = x
        for name, shape in (("first", [4, 5]), ("second", [5, 1])):
            with tf.compat.v1.variable_scope(f"net/{name}"):
                kernel = tf.compat.v1.get_variable("kernel", shape, use_resource=True)
                bias = tf.compat.v1.get_variable("bias", shape[1:], use_resource=True)
                net = tf.tanh(net @ kernel + bias)
        loss, step = tf.reduce_mean(tf.square(net - y)), v1.get_or_create_global_step()
        train_op = create().minimize(loss, step)
        session.run(tf.compat.v1.global_variables_initializer())
        saver, losses, path = v1.Saver(), [], ""
        for number in range(6):
            losses.append(session.run([loss, train_op], {x: X[number], y: Y[number]})[0])
            if number == 2:
                path = saver.save(session, str(folder / "model.ckpt"), global_step=step)
        return path, losses, {v.op.name: session.run(v) for v in tf.compat.v1.trainable_variables()}


class Net(tf.keras.Model):
    def __init__(self, names: tuple[str, str] = ("first", "second")) -> None:
        super().__init__()
        self.first = tf.keras.layers.Dense(5, tf.tanh, name=names[0])
        self.second = tf.keras.layers.Dense(1, tf.tanh, name=names[1])

    def call(self, features: Any, training: bool = False) -> Any:
        return self.second(self.first(features))

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        return tf.reduce_mean(tf.square(y_pred - y))


def built(folder: Path, optimizer: Any, model: Any = None) -> Any:
    """A model whose variables and slots exist, as before its first step."""
    model = model or Net()
    model.compile(optimizer)
    configure(model, RunConfig(model_dir=str(folder)))
    model(X[0])
    optimizer.build(model.trainable_variables)
    return model


def step(model: Any, number: int) -> float:
    """Takes a step; the loss before it."""
    loss = float(model.compute_loss(y=Y[number], y_pred=model(X[number])))
    model.train_on_batch(X[number], Y[number])
    return loss


OLD_NEW: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: v1.GradientDescentOptimizer(0.1), lambda: tf.keras.optimizers.SGD(0.1)),
    (
        lambda: v1.AdagradOptimizer(0.1),
        lambda: tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0),
    ),
    (lambda: v1.AdagradOptimizer(0.1), lambda: optimizers.AdagradOptimizer(0.1)),
    (lambda: v1.MomentumOptimizer(0.1, 0.9, name="mine"), lambda: optimizers.MomentumOptimizer(0.1, 0.9)),
    (lambda: v1.MomentumOptimizer(0.1, 0.9), lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9)),
    (
        lambda: v1.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    ),
    (lambda: v1.AdamOptimizer(0.1), lambda: optimizers_adam.AdamOptimizer(0.1)),
    (lambda: v1.AdamOptimizer(0.1), lambda: tf.keras.optimizers.Adam(0.1, epsilon=1e-8)),
    (lambda: v1.AdamOptimizer(0.1), lambda: summed_rows.Adam(0.1, epsilon=1e-8)),
    (
        lambda: v1.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        lambda: optimizers.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    ),
    (lambda: v1.RMSPropOptimizer(0.1, momentum=0.5), lambda: optimizers.RMSPropOptimizer(0.1, momentum=0.5)),
    (lambda: v1.AdadeltaOptimizer(0.5), lambda: optimizers.AdadeltaOptimizer(0.5)),
    (lambda: v1.MomentumOptimizer(0.1, 0.9), lambda: momentum.Momentum(0.1, momentum=0.9)),
    (lambda: v1.MomentumOptimizer(0.1, 0.9), lambda: row_updates.LazyMomentum(0.1, momentum=0.9)),
    (lambda: v1.RMSPropOptimizer(0.1), lambda: momentum.RMSprop(0.1, epsilon=1e-10)),
    (lambda: v1.RMSPropOptimizer(0.1), lambda: row_updates.LazyRMSprop(0.1, epsilon=1e-10)),
    (
        lambda: v1.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        lambda: momentum.RMSprop(0.1, momentum=0.5, epsilon=1e-10, centered=True),
    ),
    (lambda: v1.AdadeltaOptimizer(0.5), lambda: tf.keras.optimizers.Adadelta(0.5, epsilon=1e-8)),
    (lambda: v1.AdadeltaOptimizer(0.5), lambda: row_updates.LazyAdadelta(0.5, epsilon=1e-8)),
    (lambda: v1.FtrlOptimizer(0.1), lambda: row_updates.LazyFtrl(0.1)),
    (
        lambda: v1.AdagradDAOptimizer(0.1, v1.get_global_step(), l2_regularization_strength=0.01),
        lambda: proximal.AdagradDA(0.1, l2_regularization_strength=0.01),
    ),
    (
        lambda: v1.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: proximal.ProximalAdagrad(0.1, l1_regularization_strength=0.01),
    ),
    (
        lambda: v1.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: proximal.ProximalGradientDescent(0.1, l1_regularization_strength=0.01),
    ),
    (
        lambda: v1.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: tf.keras.optimizers.Ftrl(0.1, l1_regularization_strength=0.01),
    ),
    (
        lambda: v1.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: regularized_optimizers.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    ),
]


@pytest.mark.parametrize(("old", "new"), OLD_NEW)
def test_training_goes_on(tmp_path: Path, old: Callable[[], Any], new: Callable[[], Any]) -> None:
    path, losses, weights = train_v1(tmp_path / "old", old)
    model = built(tmp_path / "new", new())
    conversion = Conversion(path, [], weights_only=False)
    assert conversion.run(model) == 3
    assert conversion.unused() == []
    assert int(model.optimizer.iterations) == 3
    assert [step(model, number) for number in (3, 4, 5)] == pytest.approx(losses[3:], rel=1e-5)
    by_keras = isinstance(
        model.optimizer, tf.keras.optimizers.Adam
    )  # which rounds 1 - beta_2 otherwise: 6e-6 of a step of 0.1
    for variable in model.trainable_variables:
        name = "/".join(variable.name.partition(":")[0].split("/")[-2:])
        allowed = 3e-6 if by_keras else 1e-7
        np.testing.assert_allclose(variable.numpy(), weights[f"net/{name}"], rtol=1e-5, atol=allowed)


def test_weights_only(tmp_path: Path) -> None:
    path, _, _ = train_v1(tmp_path / "old", lambda: v1.AdamOptimizer(0.1))
    model = built(tmp_path / "new", optimizers.MomentumOptimizer(0.1, 0.9))
    with pytest.raises(StateError, match="net/first/bias/Adam.* the new optimizer keeps momentum"):
        Conversion(path, [], weights_only=False).run(model)
    conversion = Conversion(path, [], weights_only=True)
    assert conversion.run(model) == 0
    reader = tf.train.load_checkpoint(path)
    np.testing.assert_array_equal(model.first.kernel.numpy(), reader.get_tensor("net/first/kernel"))
    assert not np.any(model.optimizer.slot("momentum", model.first.kernel).numpy())
    assert "net/first/kernel/Adam" in conversion.unused() and "global_step" in conversion.unused()


def test_names_that_say_nothing_need_the_map_of_the_migration(tmp_path: Path) -> None:
    path, losses, _ = train_v1(tmp_path / "old", lambda: v1.AdamOptimizer(0.1))
    model = built(tmp_path / "new", optimizers_adam.AdamOptimizer(0.1), Net(("one", "two")))
    pairs = [
        ["net/first/kernel", "first.kernel"],
        ["net/second/kernel", "second.kernel"],
        ["net/first/bias", "first.bias"],
    ]
    conversion = Conversion(path, [pairs], weights_only=False)  # of one model
    conversion.run(model)
    assert [how for _, _, how in conversion.pairs[:4]].count("map") == 3
    assert step(model, 3) == pytest.approx(losses[3], rel=1e-5)


class Twins(Net):
    """Two layers of one shape, with names that TensorFlow 1 did not have."""

    def __init__(self) -> None:
        super().__init__(("one", "two"))
        self.third = tf.keras.layers.Dense(5, name="three")

    def call(self, features: Any, training: bool = False) -> Any:
        return self.second(self.first(features) + self.third(features))


def test_what_is_refused(tmp_path: Path) -> None:
    path, _, _ = train_v1(tmp_path / "old", lambda: v1.AdamOptimizer(0.1))
    with pytest.raises(MappingError, match="three/kernel"):
        Conversion(path, [], weights_only=False).run(
            built(tmp_path / "twins", optimizers_adam.AdamOptimizer(0.1), Twins())
        )
    with pytest.raises(StateError, match="the state of Nadam is not that of an optimizer of TensorFlow 1"):
        Conversion(path, [], weights_only=False).run(built(tmp_path / "keras", tf.keras.optimizers.Nadam(0.1)))
    with pytest.raises(StateError, match="beta1_power of the checkpoint is not that of its global step"):
        adam = built(tmp_path / "other", tf.keras.optimizers.Adam(0.1, beta_1=0.5))
        Conversion(path, [], weights_only=False).run(adam)
    plain, _, _ = train_v1(tmp_path / "plain", lambda: v1.GradientDescentOptimizer(0.1))
    with pytest.raises(StateError, match="holds no slots of AdamOptimizer"):
        Conversion(plain, [], weights_only=False).run(built(tmp_path / "adam", optimizers_adam.AdamOptimizer(0.1)))
    momentum, _, _ = train_v1(tmp_path / "momentum", lambda: v1.MomentumOptimizer(0.1, 0.9))
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.9)
    with pytest.raises(StateError, match="at a rate that changes"):
        decayed = built(tmp_path / "decayed", tf.keras.optimizers.SGD(rate, momentum=0.9))
        Conversion(momentum, [], weights_only=False).run(decayed)
    model = built(tmp_path / "new", tf.keras.optimizers.SGD(0.1))
    with pytest.raises(StateError, match="a checkpoint of TensorFlow 2"):
        Conversion(tf.train.Checkpoint(model=model).save(str(tmp_path / "tf2")), [], weights_only=False)
    foreign = tf.keras.Sequential([tf.keras.layers.Dense(5, name="another", input_shape=(2,))])
    foreign.compile(tf.keras.optimizers.Adam(0.1))
    with pytest.raises(MappingError, match="another/kernel"):
        Conversion(path, [], weights_only=False).run(foreign)


def test_parts_of_variables_and_of_their_slots() -> None:
    part = SimpleNamespace(full_name="a/w", var_offset=[3, 0], var_shape=[2, 4])
    variables = {"a/w/part_1": SimpleNamespace(_get_save_slice_info=lambda: part), "b": SimpleNamespace()}
    assert slice_of("a/w/part_1", variables) == ("a/w", part)
    assert slice_of("a/w/part_1/Adam_1", variables) == ("a/w/Adam_1", part)
    assert slice_of("b", variables) == ("b", None) and slice_of("b/Adam", variables) == ("b/Adam", None)


def test_a_graph_with_partitioned_variables_goes_on(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with tf.compat.v1.variable_scope("a", partitioner=tf.compat.v1.fixed_size_partitioner(2)):
            kernel = tf.compat.v1.get_variable("w", [4, 1])
        outputs = tf.tanh(features @ tf.convert_to_tensor(kernel))
        loss = tf.reduce_mean(tf.square(outputs - labels))
        train_op = v1.AdamOptimizer(0.1).minimize(loss, v1.get_global_step())
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v1.create_global_step()
        x, y = tf.compat.v1.placeholder(tf.float32, [8, 4]), tf.compat.v1.placeholder(tf.float32, [8, 1])
        spec = model_fn(x, y, "train")
        session.run(tf.compat.v1.global_variables_initializer())
        losses, path = [], ""
        for number in range(4):
            if number == 2:
                path = v1.Saver().save(session, str(tmp_path / "old"), global_step=2)
            losses.append(session.run([spec.loss, spec.train_op], {x: X[number], y: Y[number]})[0])
    model = cluster_graph.graph_model(model_fn, str(tmp_path / "new"))
    model.graph("train", tf.constant(X[0]), tf.constant(Y[0]))
    assert Conversion(path, [], weights_only=False).run(model) == 2
    batches = [(tf.constant(X[number]), tf.constant(Y[number])) for number in (2, 3)]
    found = [float(model.graph("train", *batch).run(batch)) for batch in batches]
    assert found == pytest.approx(losses[2:], rel=1e-5)
