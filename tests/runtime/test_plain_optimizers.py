"""Optimizers of Keras that are written as they are, and those for looked-up tables, against TensorFlow 1's.

`python test_plain_optimizers.py` prints the differences that the test below allows for; another TensorFlow may run it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.optimizers.momentum import Momentum, RMSprop
from migrator.runtime.optimizers.proximal import AdagradDA, ProximalAdagrad, ProximalGradientDescent
from migrator.runtime.optimizers.row_updates import LazyAdadelta, LazyFtrl, LazyMomentum, LazyRMSprop
from migrator.runtime.optimizers.summed_rows import Adagrad, Adam

TOP = Path(__file__).resolve().parent.parent.parent
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(TOP / ".venv-latest" / "bin" / "python")
v1, keras = tf.compat.v1.train, tf.keras.optimizers
ROWS, BATCH, STEPS = 12, 8, 60
Weights = dict[str, Any]


def batches(repeated: bool) -> list[tuple[Any, Any]]:
    """Ids, of which some are in every other batch only and two in none, and targets."""
    random, made = np.random.RandomState(3), []
    for step in range(STEPS):
        ids = random.randint(4 * (step % 2), 4 * (step % 2) + 6, BATCH)
        made.append((ids if repeated else random.permutation(ROWS - 2)[:BATCH], random.randn(BATCH)))
    return made


def compute_loss(weights: Weights, ids: Any, targets: Any, lookup: bool) -> Any:
    """A linear model of rows of a table, and one of a product."""
    rows = tf.nn.embedding_lookup(weights["table"], ids) if lookup else tf.one_hot(ids, ROWS) @ weights["table"]
    outputs = tf.reduce_sum(rows, 1) + tf.reduce_sum(tf.tanh(rows @ weights["kernel"]), 1)
    return tf.reduce_mean(tf.square(outputs - targets))


def initial(zeros: bool) -> Weights:
    random = np.random.RandomState(0)
    table, kernel = random.randn(ROWS, 4).astype("float32") * 0.5, random.randn(4, 3).astype("float32")
    return {"table": table * 0.0 if zeros else table, "kernel": kernel}


def old_weights(
    create: Callable[[Any], Any], rate: float, lookup: bool, repeated: bool, decayed: bool, zeros: bool
) -> Weights:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        weights = {n: tf.compat.v1.Variable(v, name=n, use_resource=True) for n, v in initial(zeros).items()}
        step = v1.get_or_create_global_step()
        ids, targets = tf.compat.v1.placeholder(tf.int64, [BATCH]), tf.compat.v1.placeholder(tf.float32, [BATCH])
        loss = compute_loss(weights, ids, targets, lookup)
        train_op = create(v1.exponential_decay(rate, step, 10, 0.7) if decayed else rate).minimize(loss, step)
        session.run(tf.compat.v1.global_variables_initializer())
        for batch in batches(repeated):
            session.run(train_op, {ids: batch[0], targets: batch[1]})
        values: Weights = session.run(weights)
        return values


def new_weights(
    create: Callable[[Any], Any], rate: float, lookup: bool, repeated: bool, decayed: bool, zeros: bool
) -> Weights:
    weights = {name: tf.Variable(value, name=name) for name, value in initial(zeros).items()}
    optimizer = create(keras.schedules.ExponentialDecay(rate, 10, 0.7) if decayed else rate)
    variables = list(weights.values())
    optimizer.build(variables)

    @tf.function
    def step(ids: Any, targets: Any) -> None:
        with tf.GradientTape() as tape:
            loss = compute_loss(weights, ids, targets, lookup)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    for ids, targets in batches(repeated):
        step(tf.constant(ids, tf.int64), tf.constant(targets, tf.float32))
    return {name: variable.numpy() for name, variable in weights.items()}


class Clipped:
    """Gradient descent that clips gradients between computing and applying them, as programs of TensorFlow 1 did."""

    def __init__(self, rate: Any, clip: Callable[[list[Any]], list[Any]]) -> None:
        self.optimizer, self.clip = v1.GradientDescentOptimizer(rate), clip

    def minimize(self, loss: Any, step: Any) -> Any:
        gradients, variables = zip(*self.optimizer.compute_gradients(loss))
        return self.optimizer.apply_gradients(zip(self.clip(list(gradients)), variables), step)


L1_L2 = {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02}
DENSE, UNIQUE, REPEATED = (False, False), (True, False), (True, True)
"""Whether a table is looked up, and whether a batch has ids several times."""
KEPT, DECAYED = (False,), (False, True)

# name: rate, that of TF1, that of Keras, which gradients, whether the rate decays, whether tables start as zeros
CASES: dict[str, tuple[float, Callable[[Any], Any], Callable[[Any], Any], tuple[Any, ...], tuple[bool, ...], bool]] = {
    "sgd": (0.1, lambda r: v1.GradientDescentOptimizer(r), lambda r: keras.SGD(r), (DENSE, REPEATED), DECAYED, False),
    "momentum": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9), lambda r: keras.SGD(r, momentum=0.9)),
        *((DENSE,), KEPT, False),
    ),
    "nesterov": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9, use_nesterov=True)),
        *(lambda r: keras.SGD(r, momentum=0.9, nesterov=True), (DENSE,), KEPT, False),
    ),
    "adam": (
        *(0.01, lambda r: v1.AdamOptimizer(r), lambda r: keras.Adam(r, epsilon=1e-8)),
        *((DENSE, UNIQUE), DECAYED, False),
    ),
    "adam of rows": (
        *(0.01, lambda r: v1.AdamOptimizer(r), lambda r: Adam(r, epsilon=1e-8)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "adagrad": (
        *(0.1, lambda r: v1.AdagradOptimizer(r), lambda r: keras.Adagrad(r, 0.1, epsilon=0.0)),
        *((DENSE, UNIQUE), DECAYED, False),
    ),
    "adagrad of rows": (
        *(0.1, lambda r: v1.AdagradOptimizer(r, 1e-6), lambda r: Adagrad(r, 1e-6, epsilon=0.0)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "ftrl": (
        *(0.1, lambda r: v1.FtrlOptimizer(r, -0.6, 0.2, l2_shrinkage_regularization_strength=0.03, **L1_L2)),
        *(
            lambda r: keras.Ftrl(r, -0.6, 0.2, l2_shrinkage_regularization_strength=0.03, **L1_L2),
            (DENSE,),
            DECAYED,
            False,
        ),
    ),
    "momentum of rates that change": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9), lambda r: Momentum(r, momentum=0.9), (DENSE,), DECAYED, False),
    ),
    "nesterov of rates that change": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9, use_nesterov=True)),
        *(lambda r: Momentum(r, momentum=0.9, nesterov=True), (DENSE,), DECAYED, False),
    ),
    "momentum of rows": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9), lambda r: LazyMomentum(r, momentum=0.9)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "nesterov of rows": (
        *(0.01, lambda r: v1.MomentumOptimizer(r, 0.9, use_nesterov=True)),
        *(lambda r: LazyMomentum(r, momentum=0.9, nesterov=True), (DENSE, REPEATED), DECAYED, False),
    ),
    "rmsprop": (
        *(0.01, lambda r: v1.RMSPropOptimizer(r), lambda r: RMSprop(r, epsilon=1e-10)),
        *((DENSE,), DECAYED, False),
    ),
    "rmsprop, centered, with momentum": (
        *(0.01, lambda r: v1.RMSPropOptimizer(r, 0.8, 0.5, 1e-3, centered=True)),
        *(lambda r: RMSprop(r, 0.8, 0.5, 1e-3, centered=True), (DENSE,), DECAYED, False),
    ),
    "rmsprop of rows": (
        *(0.01, lambda r: v1.RMSPropOptimizer(r), lambda r: LazyRMSprop(r, epsilon=1e-10)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "rmsprop of rows, centered, with momentum": (
        *(0.01, lambda r: v1.RMSPropOptimizer(r, 0.8, 0.5, 1e-3, centered=True)),
        *(lambda r: LazyRMSprop(r, 0.8, 0.5, 1e-3, centered=True), (DENSE, REPEATED), DECAYED, False),
    ),
    "adadelta": (
        *(1.0, lambda r: v1.AdadeltaOptimizer(r), lambda r: keras.Adadelta(r, epsilon=1e-8)),
        *((DENSE,), DECAYED, False),
    ),
    "adadelta of rows": (
        *(1.0, lambda r: v1.AdadeltaOptimizer(r), lambda r: LazyAdadelta(r, epsilon=1e-8)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "ftrl of rows": (
        *(0.1, lambda r: v1.FtrlOptimizer(r, -0.6, 0.2, l2_shrinkage_regularization_strength=0.03, **L1_L2)),
        *(
            lambda r: LazyFtrl(r, -0.6, 0.2, l2_shrinkage_regularization_strength=0.03, **L1_L2),
            (DENSE, REPEATED),
            DECAYED,
            False,
        ),
    ),
    "proximal adagrad": (
        *(0.05, lambda r: v1.ProximalAdagradOptimizer(r, 0.2, **L1_L2), lambda r: ProximalAdagrad(r, 0.2, **L1_L2)),
        *((DENSE, REPEATED), DECAYED, False),
    ),
    "proximal gradient descent": (
        *(0.05, lambda r: v1.ProximalGradientDescentOptimizer(r, **L1_L2)),
        *(lambda r: ProximalGradientDescent(r, **L1_L2), (DENSE, REPEATED), DECAYED, False),
    ),
    "adagrad da": (
        *(0.05, lambda r: v1.AdagradDAOptimizer(r, v1.get_global_step(), 0.2, **L1_L2)),
        *(lambda r: AdagradDA(r, initial_accumulator_value=0.2, **L1_L2), (DENSE, REPEATED), DECAYED, False),
    ),
    "global_clipnorm": (
        *(0.1, lambda r: Clipped(r, lambda g: tf.clip_by_global_norm(g, 0.5)[0])),
        *(lambda r: keras.SGD(r, global_clipnorm=0.5), (DENSE, REPEATED), KEPT, False),
    ),
    "clipnorm": (
        *(0.1, lambda r: Clipped(r, lambda g: [tf.clip_by_norm(each, 0.2) for each in g])),
        *(lambda r: keras.SGD(r, clipnorm=0.2), (DENSE, REPEATED), KEPT, False),
    ),
    "clipvalue": (
        *(0.1, lambda r: Clipped(r, lambda g: [tf.clip_by_value(each, -0.05, 0.05) for each in g])),
        *(lambda r: keras.SGD(r, clipvalue=0.05), (DENSE, REPEATED), KEPT, False),
    ),
    "ftrl of zeros": (
        *(0.1, lambda r: v1.FtrlOptimizer(r, **L1_L2), lambda r: keras.Ftrl(r, **L1_L2)),
        *((DENSE, UNIQUE), KEPT, True),
    ),
}


def differences(name: str) -> Iterator[float]:
    """How far weights are apart in each of the cases, relative to the largest one."""
    rate, old, new, gradients, decays, zeros = CASES[name]
    for lookup, repeated in gradients:
        for decayed in decays:
            expected = old_weights(old, rate, lookup, repeated, decayed, zeros)
            actual = new_weights(new, rate, lookup, repeated, decayed, zeros)
            largest = max(float(np.max(np.abs(value))) for value in expected.values())
            yield max(float(np.max(np.abs(actual[n] - expected[n]))) for n in expected) / largest


@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_tf1(name: str) -> None:
    assert max(differences(name)) < (1e-5 if "adam" in name else 2e-6)


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@pytest.mark.parametrize("legacy", ["0", "1"], ids=["Keras 3", "tf_keras"])
def test_with_the_newest_tensorflow(legacy: str) -> None:
    command = [LATEST, __file__]
    environment = {**os.environ, "PYTHONPATH": str(TOP), "TF_USE_LEGACY_KERAS": legacy}
    output = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True).stdout
    found = dict(line.rsplit(" ", 1) for line in output.splitlines())
    assert set(found) == set(CASES)
    assert max(map(float, found.values())) < 1e-5


if __name__ == "__main__":
    for each in CASES:
        print(each, max(differences(each)))
