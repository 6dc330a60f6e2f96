"""The optimizers against the kernels of TensorFlow 1, in a graph with the TF1 optimizer itself.

Losses and weights are compared after each of ten steps. TensorFlow 2 has no `tf.contrib`, so what its optimizers
computed is recorded: `python contrib_reference.py > contrib_reference.json` with TensorFlow 1.15 writes it anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from optimizer_problem import BATCHES, INITIAL, ROWS, compute_loss, train_v1, v1

from migrator.parity.probe.tf1.contrib import Contrib
from migrator.runtime.graph_contrib.v1_lazy_adam import GraphLazyAdamOptimizer
from migrator.runtime.optimizers.contrib_optimizers import (
    AdaMaxOptimizer,
    AddSignOptimizer,
    NadamOptimizer,
    PowerSignOptimizer,
)
from migrator.runtime.optimizers.momentum import Momentum, RMSprop
from migrator.runtime.optimizers.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer, LazyAdamOptimizer
from migrator.runtime.optimizers.proximal import AdagradDA, ProximalAdagrad, ProximalGradientDescent
from migrator.runtime.optimizers.regularized_optimizers import (
    AdagradDAOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
)
from migrator.runtime.optimizers.row_updates import (
    LazyAdadelta,
    LazyAdam,
    LazyAdamax,
    LazyFtrl,
    LazyMomentum,
    LazyRMSprop,
)
from migrator.runtime.optimizers.weight_decay_optimizers import AdamWOptimizer, LARSOptimizer, MomentumWOptimizer

keras = tf.keras.optimizers
random = np.random.RandomState(1)
Weights = dict[str, np.ndarray]


def train(create: Callable[[Any], Any], decayed: bool, rate: float) -> tuple[list[float], Weights]:
    """The same with a Keras optimizer; ``create`` gets the learning rate."""
    weights = {name: tf.Variable(value, name=name) for name, value in INITIAL.items()}
    schedules = tf.keras.optimizers.schedules
    optimizer = create(schedules.ExponentialDecay(rate, 2, 0.5, staircase=True) if decayed else rate)

    @tf.function
    def step(ids: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = compute_loss(weights, ids, labels)
        gradients = tape.gradient(loss, list(weights.values()))
        optimizer.apply_gradients(zip(gradients, list(weights.values())))
        return loss

    losses = [float(step(tf.constant(ids), tf.constant(labels))) for ids, labels in BATCHES]
    return losses, {name: variable.numpy() for name, variable in weights.items()}


def distance(first: Weights, second: Weights, name: str) -> float:
    return float(np.max(np.abs(first[name] - second[name])))


# name: (learning rate, the optimizer of TF1, ours)
OPTIMIZERS: dict[str, tuple[float, Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "momentum": (0.1, lambda r, _: v1.MomentumOptimizer(r, 0.9), lambda r: MomentumOptimizer(r, 0.9)),
    "nesterov": (
        0.1,
        lambda r, _: v1.MomentumOptimizer(r, 0.9, use_nesterov=True),
        lambda r: MomentumOptimizer(r, 0.9, use_nesterov=True),
    ),
    "rmsprop": (0.01, lambda r, _: v1.RMSPropOptimizer(r), lambda r: RMSPropOptimizer(r)),
    "rmsprop momentum": (
        0.01,
        lambda r, _: v1.RMSPropOptimizer(r, 0.95, 0.9, 1e-3),
        lambda r: RMSPropOptimizer(r, 0.95, 0.9, 1e-3),
    ),
    "rmsprop centered": (
        0.01,
        lambda r, _: v1.RMSPropOptimizer(r, centered=True),
        lambda r: RMSPropOptimizer(r, centered=True),
    ),
    "rmsprop centered momentum": (
        0.01,
        lambda r, _: v1.RMSPropOptimizer(r, momentum=0.9, epsilon=1e-3, centered=True),
        lambda r: RMSPropOptimizer(r, momentum=0.9, epsilon=1e-3, centered=True),
    ),
    "adagrad": (0.05, lambda r, _: v1.AdagradOptimizer(r), lambda r: AdagradOptimizer(r)),
    "adagrad from 1e-6": (0.05, lambda r, _: v1.AdagradOptimizer(r, 1e-6), lambda r: AdagradOptimizer(r, 1e-6)),
    "adadelta": (1.0, lambda r, _: v1.AdadeltaOptimizer(r), lambda r: AdadeltaOptimizer(r)),
    "adam": (0.01, lambda r, _: v1.AdamOptimizer(r), lambda r: AdamOptimizer(r)),
    "adam epsilon": (
        0.01,
        lambda r, _: v1.AdamOptimizer(r, 0.8, 0.99, 0.1),
        lambda r: AdamOptimizer(r, 0.8, 0.99, 0.1),
    ),
    "ftrl": (0.1, lambda r, _: v1.FtrlOptimizer(r), lambda r: FtrlOptimizer(r)),
    "ftrl l1 l2": (
        0.1,
        lambda r, _: v1.FtrlOptimizer(r, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
        lambda r: FtrlOptimizer(r, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    ),
    "ftrl shrinkage": (
        0.1,
        lambda r, _: v1.FtrlOptimizer(r, -0.6, 0.2, 0.01, 0.02, l2_shrinkage_regularization_strength=0.03),
        lambda r: FtrlOptimizer(r, -0.6, 0.2, 0.01, 0.02, l2_shrinkage_regularization_strength=0.03),
    ),
    "adagrad da": (
        0.05,
        lambda r, step: v1.AdagradDAOptimizer(r, step, 0.2, 0.01, 0.02),
        lambda r: AdagradDAOptimizer(r, 0.2, 0.01, 0.02),
    ),
    "proximal adagrad": (
        0.05,
        lambda r, _: v1.ProximalAdagradOptimizer(r, 0.2, 0.01, 0.02),
        lambda r: ProximalAdagradOptimizer(r, 0.2, 0.01, 0.02),
    ),
    "proximal gradient descent": (
        0.05,
        lambda r, _: v1.ProximalGradientDescentOptimizer(r, 0.01, 0.02),
        lambda r: ProximalGradientDescentOptimizer(r, 0.01, 0.02),
    ),
}


@pytest.mark.parametrize("decayed", [False, True], ids=["constant", "decayed"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_equals_tf1(name: str, decayed: bool) -> None:
    rate, reference, create = OPTIMIZERS[name]
    expected_losses, expected_weights = train_v1(reference, decayed, rate)
    losses, weights = train(create, decayed, rate)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)
    for variable, value in weights.items():
        np.testing.assert_allclose(value, expected_weights[variable], rtol=1e-6, atol=1e-6, err_msg=variable)


# The same for optimizers of tf.contrib, whose losses and weights are recorded.
RECORDED: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "lazy adam": (0.01, lambda r: LazyAdamOptimizer(r)),
    "lazy adam of rows": (0.01, lambda r: LazyAdam(r, epsilon=1e-8)),
    "adamax of rows": (0.01, lambda r: LazyAdamax(r, 0.8, epsilon=1e-8)),
    "nadam": (0.01, lambda r: NadamOptimizer(r, epsilon=1e-3)),
    "adamax": (0.01, lambda r: AdaMaxOptimizer(r, 0.8)),
    "adamw": (0.01, lambda r: AdamWOptimizer(0.01, r)),
    "momentumw": (0.1, lambda r: MomentumWOptimizer(0.01, r, 0.9, use_nesterov=True)),
    "lars": (1.0, lambda r: LARSOptimizer(r, weight_decay=0.01, eeta=0.1, skip_list=["bias"])),
    "lars nesterov": (1.0, lambda r: LARSOptimizer(r, 0.8, eeta=0.1, epsilon=0.1, use_nesterov=True)),
    "add sign": (0.1, lambda r: AddSignOptimizer(r, 0.9)),
    "power sign": (0.1, lambda r: PowerSignOptimizer(r, 3.0, 0.8)),
}


@pytest.mark.parametrize("decayed", [False, True], ids=["constant", "decayed"])
@pytest.mark.parametrize("name", RECORDED)
def test_optimizer_equals_tf_contrib(name: str, decayed: bool) -> None:
    rate, create = RECORDED[name]
    name, _, by_rows = name.partition(" of ")
    recorded = json.loads(Path(__file__).with_name("contrib_reference.json").read_text())
    expected = recorded[f"{name} {'decayed' if decayed else 'constant'}"]
    losses, weights = train(create, decayed, rate)
    allowed = 1e-5 if by_rows else 1e-6  # which raise the betas to the power of the step
    np.testing.assert_allclose(losses, expected["losses"], rtol=allowed)
    for variable, value in weights.items():
        np.testing.assert_allclose(value.flatten(), expected[variable], rtol=allowed, atol=1e-6, err_msg=variable)


@pytest.mark.parametrize("decayed", [False, True], ids=["constant", "decayed"])
@pytest.mark.parametrize("resource", [False, True])
def test_optimizer_of_graphs_equals_tf_contrib(decayed: bool, resource: bool) -> None:
    create = GraphLazyAdamOptimizer if resource else Contrib().opt.LazyAdamOptimizer
    recorded = json.loads(Path(__file__).with_name("contrib_reference.json").read_text())
    expected = recorded[f"lazy adam {'decayed' if decayed else 'constant'}"]
    losses, weights = train_v1(lambda rate, _: create(rate), decayed, 0.01, resource)
    np.testing.assert_allclose(losses, expected["losses"], rtol=1e-6)
    for variable, value in weights.items():
        np.testing.assert_allclose(value.flatten(), expected[variable], rtol=1e-6, atol=1e-6, err_msg=variable)


def test_plain_keras_equals_tf1_where_no_class_is_needed() -> None:
    """In Keras 2: SGD, Adagrad and Adam, with the epsilon given; each with dense and sparse gradients."""
    for rate, reference, create in (
        (0.1, lambda r, _: v1.GradientDescentOptimizer(r), lambda r: keras.SGD(r)),
        (0.05, lambda r, _: v1.AdagradOptimizer(r), lambda r: keras.Adagrad(r, 0.1, epsilon=0.0)),
        (0.05, lambda r, _: v1.AdagradOptimizer(r, 1e-6), lambda r: keras.Adagrad(r, 1e-6, epsilon=0.0)),
        (0.01, lambda r, _: v1.AdamOptimizer(r), lambda r: keras.Adam(r, epsilon=1e-8)),
        (0.01, lambda r, _: v1.AdamOptimizer(r, epsilon=0.1), lambda r: keras.Adam(r, epsilon=0.1)),
    ):
        expected_losses, expected_weights = train_v1(reference, True, rate)
        losses, weights = train(create, True, rate)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)
        for variable, value in weights.items():
            np.testing.assert_allclose(value, expected_weights[variable], rtol=1e-6, atol=1e-6)


def test_plain_keras_differs_where_a_class_is_needed() -> None:
    """The reason for our classes; should this fail, one of them has become needless."""
    for name, create, decayed, dense, sparse in (
        ("momentum", lambda r: keras.SGD(r, momentum=0.9), False, 1e-6, 1e-2),
        ("momentum", lambda r: keras.SGD(r, momentum=0.9), True, None, 1e-2),
        ("rmsprop", lambda r: keras.RMSprop(r, epsilon=1e-10), False, None, 1e-2),
        ("ftrl", lambda r: keras.Ftrl(r), False, 1e-6, 1e-1),
    ):
        rate, reference, _ = OPTIMIZERS[name]
        _, expected = train_v1(reference, decayed, rate)
        _, actual = train(create, decayed, rate)
        assert distance(actual, expected, "sparse") > sparse, name
        if dense is None:
            assert distance(actual, expected, "dense") > 1e-2, name


@pytest.mark.parametrize("rate", [0.01, 1e-5])
def test_adam_is_bit_by_bit_that_of_tf1_for_hundreds_of_steps(rate: float) -> None:
    """TF1 multiplies float32 powers of its betas; computed from the step they are up to 1e-5 of a step off."""
    gradients = random.randn(400, 6).astype("float32")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        reference = tf.compat.v1.Variable(tf.zeros(6), use_resource=True)
        gradient = tf.compat.v1.placeholder(tf.float32, [6])
        train_op = v1.AdamOptimizer(rate).apply_gradients([(gradient, reference)])
        session.run(tf.compat.v1.global_variables_initializer())
        for value in gradients:
            session.run(train_op, {gradient: value})
        expected = session.run(reference)
    variable, optimizer = tf.Variable(tf.zeros(6)), AdamOptimizer(rate)
    step = tf.function(lambda gradient: optimizer.apply_gradients([(gradient, variable)]))
    for value in gradients:
        step(tf.constant(value))
    np.testing.assert_array_equal(variable, expected)


def test_lazy_adam_leaves_rows_outside_the_batch() -> None:
    """``tf.contrib`` is gone from TF2, so the reference is the formula, in NumPy."""
    random = np.random.RandomState(1)  # of its own: some rows come close to zero, where rounding is all there is
    rows = random.randn(5, 2).astype("float32")
    variable, optimizer = tf.Variable(rows), LazyAdamOptimizer(0.1)
    expected, m, v = rows.copy(), np.zeros_like(rows), np.zeros_like(rows)
    beta1, beta2, one = np.float32(0.9), np.float32(0.999), np.float32(1.0)
    for step, ids in enumerate(([0, 1, 0], [1, 2, 2], [0, 3, 1]), start=1):
        values = random.randn(3, 2).astype("float32")
        optimizer.apply_gradients([(tf.IndexedSlices(values, ids, (5, 2)), variable)])
        for row in set(ids):
            gradient = values[np.array(ids) == row].sum(0)
            m[row] = beta1 * m[row] + (one - beta1) * gradient
            v[row] = beta2 * v[row] + (one - beta2) * gradient**2
            rate = 0.1 * np.sqrt(one - beta2**step) / (one - beta1**step)
            expected[row] -= rate * m[row] / (np.sqrt(v[row]) + 1e-8)
        np.testing.assert_allclose(variable, expected, rtol=1e-5)
    np.testing.assert_array_equal(variable[4], rows[4])


def test_lazy_adam_is_adam_where_gradients_are_dense() -> None:
    gradients = random.randn(5, 4).astype("float32")
    variables = [tf.Variable(tf.ones(4)), tf.Variable(tf.ones(4))]
    for optimizer, variable in zip((AdamOptimizer(0.1), LazyAdamOptimizer(0.1)), variables):
        for gradient in gradients:
            optimizer.apply_gradients([(tf.constant(gradient), variable)])
    np.testing.assert_array_equal(variables[0], variables[1])


CREATORS: list[Callable[[], Any]] = [
    lambda: MomentumOptimizer(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), 0.9, use_nesterov=True),
    lambda: RMSPropOptimizer(0.01, momentum=0.5, centered=True, clipnorm=1.0),
    lambda: AdagradOptimizer(0.05, 0.2),
    lambda: AdadeltaOptimizer(1.0, 0.9),
    lambda: AdamOptimizer(0.01, epsilon=1e-3),
    lambda: LazyAdamOptimizer(0.01, beta1=0.8, global_clipnorm=1.0),
    lambda: FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    lambda: AdagradDAOptimizer(0.1, l2_regularization_strength=0.01),
    lambda: ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
    lambda: ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01),
    lambda: NadamOptimizer(0.01, beta1=0.8),
    lambda: AdaMaxOptimizer(0.01, epsilon=1e-3),
    lambda: AdamWOptimizer(0.02, 0.01, beta2=0.99),
    lambda: MomentumWOptimizer(0.02, 0.01, 0.8),
    lambda: LARSOptimizer(0.5, weight_decay=0.02, eeta=0.1, skip_list=["bias"]),
    lambda: AddSignOptimizer(0.1, beta=0.8),
    lambda: PowerSignOptimizer(0.1, base=2.0),
    lambda: Momentum(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), 0.9, nesterov=True),
    lambda: RMSprop(0.01, momentum=0.5, centered=True, clipnorm=1.0),
    lambda: LazyMomentum(0.1, 0.9),
    lambda: LazyRMSprop(0.01, momentum=0.5, centered=True),
    lambda: LazyFtrl(0.1, l1_regularization_strength=0.01),
    lambda: LazyAdadelta(1.0, 0.9),
    lambda: LazyAdam(0.01, 0.8, global_clipnorm=1.0),
    lambda: LazyAdamax(0.01),
    lambda: AdagradDA(0.1, l2_regularization_strength=0.01),
    lambda: ProximalAdagrad(0.1, l1_regularization_strength=0.01),
    lambda: ProximalGradientDescent(0.1, l2_regularization_strength=0.01),
]
every_optimizer = pytest.mark.parametrize("create", CREATORS, ids=lambda create: type(create()).__name__)
IDS, LABELS = random.randint(0, ROWS, (48, 1)), random.randn(48, 1).astype("float32")


def build_model(optimizer: Any) -> tf.keras.Model:
    """An embedding and a dense layer, compiled; always of the same initial weights."""
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(ROWS, 4, embeddings_initializer="ones"),
            tf.keras.layers.Lambda(lambda rows: tf.reshape(rows, [-1, 4])),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    model.compile(optimizer=optimizer, loss="mse")
    model.build((None, 1))
    return model


def fit(model: tf.keras.Model, start: int, end: int) -> None:
    dataset = tf.data.Dataset.from_tensor_slices((IDS[start:end], LABELS[start:end])).batch(8)
    model.fit(dataset, epochs=1, verbose=0)


class Trainee(tf.Module):
    """A table and its optimizer; the table is trained on sparse gradients, each step on its own."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__()
        self.optimizer = optimizer
        self.table = tf.Variable(np.arange(20.0, dtype="float32").reshape(5, 4))

    def train(self, start: int, end: int) -> np.ndarray:
        for step in range(start, end):
            values = np.random.RandomState(step).randn(3, 4).astype("float32")
            gradient = tf.IndexedSlices(values, [step % 5, 3, step % 5], (5, 4))
            self.optimizer.apply_gradients([(gradient, self.table)])
        return self.table.numpy()


@every_optimizer
def test_config_round_trip(create: Any) -> None:
    optimizer = create()
    copy = type(optimizer).from_config(optimizer.get_config())
    assert copy.get_config() == optimizer.get_config()
    np.testing.assert_array_equal(Trainee(copy).train(0, 3), Trainee(create()).train(0, 3))


@every_optimizer
def test_training_goes_on_from_a_checkpoint(create: Any, tmp_path: Path) -> None:
    first = Trainee(create())
    first.train(0, 3)
    path = tf.train.Checkpoint(first).save(str(tmp_path / "model"))
    second = Trainee(create())
    status = tf.train.Checkpoint(second).restore(path)
    np.testing.assert_array_equal(second.train(3, 6), Trainee(create()).train(0, 6))
    status.assert_existing_objects_matched()
    assert int(second.optimizer.iterations) == 6


@pytest.mark.parametrize("create", CREATORS[4:7:2] + CREATORS[17:22], ids=lambda create: type(create()).__name__)
def test_two_replicas_train_as_one(create: Any) -> None:
    devices = tf.config.list_logical_devices("CPU")
    if len(devices) < 2:
        pytest.skip("the processor was initialised as one device")
    alone = build_model(create())
    fit(alone, 0, 48)
    with tf.distribute.MirroredStrategy([device.name for device in devices[:2]]).scope():
        mirrored = build_model(create())
    fit(mirrored, 0, 48)
    for one, other in zip(alone.get_weights(), mirrored.get_weights()):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["model.keras", "model.h5", "saved_model"])
def test_saved_with_its_model(name: str, tmp_path: Path) -> None:
    model = build_model(MomentumOptimizer(0.1, 0.9))
    fit(model, 0, 24)
    model.save(tmp_path / name)
    custom_objects = {"MomentumOptimizer": MomentumOptimizer}
    unsafe = {"safe_mode": False} if name.endswith(".keras") else {}  # the model of the test has a Lambda layer
    loaded = tf.keras.models.load_model(tmp_path / name, custom_objects=custom_objects, **unsafe)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    if name != "saved_model":  # that format drops the slots of every Keras optimizer
        fit(model, 24, 48)
        fit(loaded, 24, 48)
    for one, other in zip(loaded.get_weights(), model.get_weights()):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_slot_of_a_variable() -> None:
    variable, optimizer = tf.Variable([1.0, 2.0]), RMSPropOptimizer(0.1)
    optimizer.build([variable])
    np.testing.assert_array_equal(optimizer.slot("rms", variable), [1.0, 1.0])
    with pytest.raises(KeyError):
        optimizer.slot("rms", tf.Variable(0.0))


def test_clipping_is_that_of_keras() -> None:
    variable = tf.Variable([3.0, 4.0])
    optimizer = MomentumOptimizer(1.0, 0.0, global_clipnorm=1.0)
    optimizer.apply_gradients([(tf.constant([3.0, 4.0]), variable)])
    np.testing.assert_allclose(variable, [3.0 - 0.6, 4.0 - 0.8], rtol=1e-6)


PARAMETER_SERVERS = """
import os, socket, numpy as np, tensorflow as tf
from migrator.runtime.optimizers.momentum import Momentum
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer
from migrator.runtime.optimizers.row_updates import LazyFtrl, LazyMomentum, LazyRMSprop

def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]

jobs = {"worker": 1, "ps": 2}
cluster = tf.train.ClusterSpec({job: [f"localhost:{free_port()}" for _ in range(n)] for job, n in jobs.items()})
servers = [tf.distribute.Server(cluster, job, i, protocol="grpc") for job, n in jobs.items() for i in range(n)]
strategy = tf.distribute.ParameterServerStrategy(
    tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc"),
    variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(2),
)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

def train(strategy, run, optimizer):
    with strategy.scope():
        rows, optimizer = tf.Variable(np.arange(24.0, dtype="float32").reshape(6, 4), name="rows"), optimizer()
    variables = list(rows.variables) if hasattr(rows, "variables") else [rows]
    with strategy.scope():
        optimizer.build(variables)
    @tf.function
    def step(ids):
        def replica(ids):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(rows, ids)))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        strategy.run(replica, args=(ids,))
    for ids in ([0, 1, 0], [1, 5, 5], [4, 0, 1]):
        run(step, tf.constant(ids))
    return tf.convert_to_tensor(rows).numpy()

def schedule(step, ids):
    coordinator.schedule(step, args=(ids,))
    coordinator.join()

for create in (
    lambda: Momentum(0.1, momentum=0.9),
    lambda: AdamOptimizer(0.1),
    lambda: LazyMomentum(0.1, momentum=0.9),
    lambda: LazyRMSprop(0.1, momentum=0.5),
    lambda: LazyFtrl(0.1),
):
    sharded = train(strategy, schedule, create)
    whole = train(tf.distribute.get_strategy(), lambda step, ids: step(ids), create)
    np.testing.assert_allclose(sharded, whole, rtol=1e-6)
print("equal", flush=True)
os._exit(0)  # servers have no way to stop
"""


def test_shards_on_parameter_servers_train_as_a_whole_variable(root: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", PARAMETER_SERVERS], env=environment, capture_output=True, text=True, timeout=90
    )
    assert done.stdout.endswith("equal\n"), done.stderr[-2000:]
