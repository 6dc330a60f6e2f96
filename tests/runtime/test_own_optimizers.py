"""Optimizer classes of programs against what they became: the same weights and slots, dense and sparse."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.own_optimizers import ADAM, LAMB, program
from modelfn.programs import migrate

from migrator.runtime.checkpoints.variable_paths import variable_path
from migrator.runtime.optimizers.optimizers import KernelOptimizer

random = np.random.RandomState(0)
INITIAL = {
    "table": random.randn(10, 3).astype("float32"),
    "kernel": random.randn(3, 2).astype("float32"),
    "bias": random.randn(2).astype("float32"),
}
IDS = random.randint(0, 7, [12, 5])  # twice in a batch, and rows that none has


def loss_of(weights: dict[str, Any], ids: Any) -> Any:
    rows = tf.gather(weights["table"], ids)
    return tf.reduce_mean(tf.square(tf.tanh(tf.matmul(rows, weights["kernel"]) + weights["bias"]) - 0.3))


def old(source: str, made: str, decayed: bool) -> tuple[dict[str, Any], list[float]]:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        scope: dict[str, Any] = {"tf": v1, "re": re}
        exec(source, scope)
        weights = {name: v1.get_variable(name, initializer=value) for name, value in INITIAL.items()}
        step = v1.train.get_or_create_global_step()
        scope["rate"] = v1.train.exponential_decay(0.1, step, 4, 0.5) if decayed else 0.1
        ids = v1.placeholder(tf.int64, [5])
        loss = loss_of(weights, ids)
        gradients = tf.gradients(loss, list(weights.values()))
        update = eval(made, scope).apply_gradients(zip(gradients, weights.values()), global_step=step)
        train_op = tf.group(update, [step.assign(step + 1)])
        session.run(v1.global_variables_initializer())
        losses = []
        for batch in IDS:
            losses.append(session.run(loss, {ids: batch}))
            session.run(train_op, {ids: batch})
        return {v.op.name: session.run(v) for v in v1.global_variables() if v is not step}, losses


def new(source: str, made: str, decayed: bool) -> tuple[dict[str, Any], list[float]]:
    text = migrate(program(source, made))
    scope: dict[str, Any] = {
        "tf": tf, "re": re, "KernelOptimizer": KernelOptimizer, "variable_path": variable_path
    }  # fmt: skip
    node = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name != "Model")
    exec(compile(ast.Module([node], []), "new.py", "exec"), scope)
    weights = {name: tf.Variable(value, name=name) for name, value in INITIAL.items()}
    scope["rate"] = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 4, 0.5) if decayed else 0.1
    optimizer = eval(made, scope)

    @tf.function
    def step(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(weights, ids)
        gradients = tape.gradient(loss, list(weights.values()))
        optimizer.apply_gradients(zip(gradients, weights.values()))
        return loss

    losses = [float(step(tf.constant(batch))) for batch in IDS]
    found = {name: variable.numpy() for name, variable in weights.items()}
    for slot in optimizer.initial_slots():
        found.update({f"{name}/{slot}": optimizer.slot(slot, v).numpy() for name, v in weights.items()})
    assert int(optimizer.iterations.numpy()) == len(IDS)
    if "learning_rate" in source:
        again = type(optimizer).from_config(optimizer.get_config()).get_config()
        assert {**again, "learning_rate": 0} == {**optimizer.get_config(), "learning_rate": 0}
    return found, losses


@pytest.mark.parametrize("decayed", [False, True])
@pytest.mark.parametrize(
    ("source", "made"),
    [
        (ADAM, "AdamWeightDecayOptimizer(rate, 0.01, epsilon=1e-6, exclude_from_weight_decay=['bias'])"),
        (ADAM, "AdamWeightDecayOptimizer(learning_rate=rate)"),
        (LAMB, "LAMB(rate, exclude=['bias'])"),
        (LAMB, "LAMB(rate, decay=0.0, exclude_from_layer_adaptation=['kernel'])"),
    ],
)
def test_same_steps(source: str, made: str, decayed: bool) -> None:
    before, old_losses = old(source, made, decayed)
    after, new_losses = new(source, made, decayed)
    assert sorted(before) == sorted(after)
    np.testing.assert_allclose(new_losses, old_losses, rtol=1e-6)
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, rtol=1e-5, atol=1e-7, err_msg=name)
