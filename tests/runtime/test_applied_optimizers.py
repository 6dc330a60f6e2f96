"""Optimizer classes whose base calls them for each variable, against what they became: the same weights and slots."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn import applied_optimizers
from modelfn.own_optimizers import program
from modelfn.programs import migrate
from runtime.test_own_optimizers import IDS, INITIAL, loss_of

MINIMIZE = "train_op = opt.minimize(loss, global_step=step)\n"
Values = dict[str, Any]


def old(source: str, made: str, decayed: bool) -> tuple[Values, list[float]]:
    """Variables and slots by name, and the losses, of the class as it is written."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        scope: dict[str, Any] = {}
        exec(f"import tensorflow.compat.v1 as tf\n{source}", scope)
        weights = {name: v1.get_variable(name, initializer=value) for name, value in INITIAL.items()}
        step = v1.train.get_or_create_global_step()
        scope["rate"] = v1.train.exponential_decay(0.1, step, 4, 0.5) if decayed else 0.1
        ids = v1.placeholder(tf.int64, [5])
        loss = loss_of(weights, ids)
        optimizer = eval(made, scope)
        train_op = optimizer.minimize(loss, step)
        session.run(v1.global_variables_initializer())
        losses = []
        for batch in IDS:
            losses.append(session.run(loss, {ids: batch}))
            session.run(train_op, {ids: batch})
        values = session.run(weights)
        for name, weight in weights.items():
            for slot in optimizer.get_slot_names():
                if optimizer.get_slot(weight, slot) is not None:
                    values[f"{name}/{slot}"] = session.run(optimizer.get_slot(weight, slot))
        return values, losses


def new(source: str, made: str, decayed: bool, made_of: str, folder: Path) -> tuple[Values, list[float]]:
    """The same of the class that it becomes."""
    text = migrate(program(source, made_of, MINIMIZE).replace("\n    optimizer = ", "\n    opt = "))
    kept = [n for n in ast.parse(text).body if getattr(n, "name", "") not in ("Model", "create_model")]
    kept = [n for n in kept if isinstance(n, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef))]
    helpers = ast.parse(
        "from migrator.runtime.optimizers.optimizers import KernelOptimizer\n"
        "from migrator.runtime.optimizers.shaped_slots import ShapedSlotsOptimizer\n"
    ).body
    kept = [n for n in kept if not (isinstance(n, ast.ImportFrom) and n.module in ("tf2_training", "tf2_cluster"))]
    path = folder / "new.py"  # AutoGraph asks for the lines of a file
    path.write_text(ast.unparse(ast.Module([*helpers, *kept], [])))
    scope = runpy.run_path(str(path))
    weights = {name: tf.Variable(value, name=name) for name, value in INITIAL.items()}
    scope["rate"] = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 4, 0.5) if decayed else 0.1
    optimizer = eval(made, scope)

    @tf.function
    def step(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(weights, ids)
        optimizer.apply_gradients(zip(tape.gradient(loss, list(weights.values())), weights.values()))
        return loss

    losses = [float(step(tf.constant(batch))) for batch in IDS]
    values = {name: variable.numpy() for name, variable in weights.items()}
    for slot, kept in optimizer._slots.items():
        for name, weight in weights.items():
            if optimizer._var_key(weight) in kept:
                values[f"{name}/{slot}"] = optimizer.slot(slot, weight).numpy()
    again = type(optimizer).from_config(optimizer.get_config()).get_config()
    assert {**again, "learning_rate": 0} == {**optimizer.get_config(), "learning_rate": 0}
    return values, losses


@pytest.mark.parametrize(
    ("source", "made", "decayed"),
    [
        ("ADABOUND", "AdaBoundOptimizer(rate)", True),
        ("ADABOUND", "AdaBoundOptimizer(rate, final_lr=0.3, amsbound=True)", False),
        ("RADAM", "RAdamOptimizer(rate, decay=0.01)", False),
        ("RADAM", "RAdamOptimizer(rate, beta2=0.5, amsgrad=True, total_steps=5)", True),
        ("ADAFACTOR", "AdafactorOptimizer(rate)", True),
        ("ADAFACTOR", "AdafactorOptimizer(rate, beta1=0.5, factored=False)", False),
        ("SGDW", "SGDW(rate)", True),
    ],
)
def test_same_steps(source: str, made: str, decayed: bool, tmp_path: Path) -> None:
    text = applied_optimizers.IMPORTS + getattr(applied_optimizers, source)
    before, old_losses = old(text, made, decayed)
    after, new_losses = new(text, made, decayed, f"{made.split('(', maxsplit=1)[0]}(rate)", tmp_path)
    assert sorted(before) == sorted(after)
    np.testing.assert_allclose(new_losses, old_losses, rtol=3e-6)
    for name, value in before.items():
        rounded = 3e-7 * np.abs(value).max()  # an element near 0 is the sum of steps as large as the others
        np.testing.assert_allclose(after[name], value, rtol=1e-5, atol=max(1e-7, rounded), err_msg=name)
