"""Hooks of a training for which Keras has a callback, or an argument."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import migrate, run

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat(epochs).batch(2)


estimator = tf.estimator.Estimator(model_fn)
"""
COUNTER = 'tf.train.StepCounterHook(10, output_dir="speed")'
PROFILER = 'tf.train.ProfilerHook(save_steps=5, output_dir="profile")'
BOARD = "tf.keras.callbacks.TensorBoard"


def migrated(loop: str, head: str = HEAD) -> str:
    return migrate(head + textwrap.dedent(loop))


def fit(hooks: str) -> str:
    """The call that trains with these hooks."""
    text = migrated(f"estimator.train(lambda: input_fn(None), hooks=[{hooks}], steps=20)\n")
    return " ".join(text[text.index("model.fit(") :].split())


@pytest.mark.parametrize(
    ("hooks", "callbacks"),
    [
        (COUNTER, f'{BOARD}("speed", update_freq=10, write_steps_per_second=True)'),
        (PROFILER, f'{BOARD}("profile", profile_batch=5)'),
        ('tf.train.NanTensorHook("loss:0")', "tf.keras.callbacks.TerminateOnNaN()"),
    ],
)
def test_callbacks(hooks: str, callbacks: str) -> None:
    text = fit(hooks)
    assert f"callbacks=[{callbacks}]" in text and "Hook" not in text


def test_the_speed_of_a_log_is_that_of_the_progress_bar() -> None:
    assert fit("tf.train.StepCounterHook()") == "model.fit(input_fn(None).take(20))"


@pytest.mark.parametrize(
    ("hook", "trains"),
    [
        ("tf.train.StopAtStepHook(num_steps=30)", "model.fit(input_fn(None).take(30))\n"),
        ("tf.train.StopAtStepHook(last_step=30)", "model.fit(input_fn(None).take(30))\n"),
        ("tf.estimator.StopAtStepHook(last_step=30)", "model.fit(input_fn(None).take(30))\n"),
    ],
)
def test_the_last_step(hook: str, trains: str) -> None:
    assert migrated(f"estimator.train(lambda: input_fn(None), hooks=[{hook}])\n").endswith(f"\n{trains}")


def test_names_that_hold_hooks_go_and_their_comments_stay() -> None:
    text = migrated(
        """\
        # Where it ends.
        stop = tf.train.StopAtStepHook(last_step=30)
        hooks = [stop]  # and no others
        estimator.train(lambda: input_fn(None), hooks=hooks)
        """
    )
    assert text.endswith("# Where it ends.\nmodel.fit(input_fn(None).take(30))\n") or "hooks =" not in text
    assert "# Where it ends." in text and "stop" not in text.replace("Where", "")


def test_hooks_beside_a_folder_of_checkpoints_and_evaluations() -> None:
    head = HEAD.replace("Estimator(model_fn)", 'Estimator(model_fn, "model")')
    text = migrated(
        f"""\
        train_spec = tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=20, hooks=[{COUNTER}])
        tf.estimator.train_and_evaluate(estimator, train_spec, tf.estimator.EvalSpec(input_fn))
        """,
        head,
    )
    text = " ".join(text.split())
    assert f'callbacks=[{BOARD}("model", update_freq=100, write_steps_per_second=True)]' in text
    assert "StepCounterHook" not in text and "steps_per_execution" not in text


@pytest.mark.parametrize(
    "loop",
    [
        "estimator.train(lambda: input_fn(None), hooks=[tf.train.StopAtStepHook(30)], steps=20)\n",
        "estimator.train(lambda: input_fn(None), hooks=[tf.train.ProfilerHook(save_secs=5)], steps=20)\n",
        "estimator.train(lambda: input_fn(None), hooks=[tf.train.StepCounterHook(every_n_secs=5)], steps=20)\n",
        f"estimator.train(lambda: input_fn(None), hooks=[{COUNTER}, {PROFILER}], steps=20)\n",
        f"hooks = []\nif 1 > 0:\n    hooks.append({COUNTER})\nestimator.train(lambda: input_fn(None), hooks=hooks, steps=20)\n",
    ],
)
def test_hooks_that_stay_with_helpers(loop: str) -> None:
    text = migrated(loop)
    assert ".fit(" not in text and "train(" in text


@pytest.mark.parametrize(("hooks", "is_said"), [("[]", True), ('[tf.train.NanTensorHook("loss:0")]', False)])
def test_that_training_goes_on_without_a_number_is_said(hooks: str, is_said: bool) -> None:
    loop = f"for steps in (10, 20):\n    estimator.train(lambda: input_fn(None), hooks={hooks}, steps=steps)\n"
    found = [d for outcome in run(HEAD + loop).values() for d in outcome.remaining if "TerminateOnNaN" in d.message]
    assert len(found) == is_said and all(d.severity.name == "INFO" for d in found)
