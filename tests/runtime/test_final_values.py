"""What a FinalOpsHook runs when a training ends, in a session and as a method of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import new_program, old_program
from modelfn.programs import method, migrate, run, units

PROGRAM = """\
import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(5)
X, Y = RANDOM.rand(64, 2).astype("float32"), RANDOM.rand(64, 1).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(8)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    y = tf.matmul(features, w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=y)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    total = tf.reduce_sum(w)
    OPS
    hook = tf.train.FinalOpsHook(GIVEN)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])


estimator = tf.estimator.Estimator(model_fn, "FOLDER")
estimator.train(input_fn, steps=7)
print(estimator.train(input_fn, steps=2))
"""
"""What `train` returns keeps the helpers; without them nothing reads what the hook computes, and it goes."""
ALL = '{"total": total, "w": w, "rest": [tf.cast(tf.train.get_global_step(), tf.float32), 2 * total]}'


def program(given: str, folder: Any = "model", ops: str = "") -> str:
    """A program whose hook is given something."""
    lines = PROGRAM.replace("    OPS\n", f"    {ops}\n" if ops else "")
    return lines.replace("GIVEN", given).replace("FOLDER", str(folder))


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_same_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    hook = tf.compat.v1.train.FinalOpsHook
    end = hook.end
    monkeypatch.setattr(hook, "end", lambda self, session: end(self, session) or kept.append(self.final_ops_values))
    old_program(program(ALL, tmp_path / "old"), tmp_path)
    expected = kept[1]
    model = new_program(program(ALL, tmp_path / "new"), tmp_path, exact=True).estimator
    (callback,) = model.run_state.callbacks
    tf.nest.assert_same_structure(callback.final_ops_values, expected)
    assert expected["rest"][0] == 9.0
    for ours, theirs in zip(tf.nest.flatten(callback.final_ops_values), tf.nest.flatten(expected)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "ops", "written"),
    [
        ("[total, w]", "", "total = tf.reduce_sum(self.w)\n    return [total, self.w]"),
        ("ops", 'ops = {"w": w}', 'ops = {"w": self.w}\n    return ops'),
        ("tf.train.get_or_create_global_step()", "", "return self.optimizer.iterations"),
        ("final_ops=w, final_ops_feed_dict=None", "", "return self.w"),
    ],
)
def test_the_method(given: str, ops: str, written: str) -> None:
    text = migrate(program(given, ops=ops))
    assert f'"""What is computed when a training ends."""\n    {written}' in method(text, "final_values")
    assert "callbacks = [FinalValues()]" in text


@pytest.mark.parametrize(
    ("given", "ops"),
    [
        ("loss", ""),
        ("tf.reduce_sum(labels)", ""),
        ("y", ""),
        ("tf.reduce_mean(features)", ""),
        ("size", "size = tf.shape(features)[0]"),
        ("count", "count = tf.metrics.mean(w)[0]"),
        ("tf.layers.dense(w, 3)", ""),
        ("w, {y: 1}", ""),
        ('"total:0"', ""),
        ("ops", 'ops = {"total": "total:0"}'),
        ("total", "total += loss"),
    ],
)
def test_what_a_session_would_draw_a_batch_for_stays_a_graph(given: str, ops: str) -> None:
    (unit,) = units(run(program(given, ops=ops), "auto"))
    assert unit.tier == "bridge"


def test_two_of_them_and_those_of_evaluations_stay_graphs() -> None:
    two = program("w").replace("=[hook]", "=[hook, tf.train.FinalOpsHook(total)]")
    evaluated = program("w").replace("training_hooks", "evaluation_hooks")
    conditional = program("w").replace("=[hook]", "=[hook] if X[0, 0] > 1 else []")
    assert {unit.tier for text in (two, evaluated, conditional) for unit in units(run(text, "auto"))} == {"bridge"}
