"""Lists of hooks: written, joined, filled under conditions, made elsewhere."""

from __future__ import annotations

import pytest
from hook_programs import fitted, program, stays

LOGS = 'tf.train.LoggingTensorHook(["mse"], every_n_iter=5)'
CALLED = "tf.keras.callbacks.LambdaCallback(on_train_batch_end=log_progress)"


@pytest.mark.parametrize(
    "lines",
    [
        f"hooks = [Count()]\nhooks.append({LOGS})\n",
        f"hooks = [Count()]\nhooks += [{LOGS}]\n",
        f"hooks = [Count()]\nhooks.extend([{LOGS}])\n",
        f"more = [{LOGS}]\nhooks = [Count()] + more\n",
    ],
)
def test_lists_that_are_put_together(lines: str) -> None:
    text = fitted(program(f"{lines}estimator.train(input_fn, steps=20, hooks=hooks)\n"))
    assert f"callbacks=[{CALLED}, Count()]" in text and "hooks" not in text


def test_hooks_under_a_condition() -> None:
    lines = f"hooks = [Count()]\nif FLAGS.log:\n    hooks.append({LOGS})\nelse:\n    hooks.append(Count(2))\n"
    text = fitted(program(f"{lines}estimator.train(input_fn, steps=20, hooks=hooks)\n"))
    chosen = f"    if FLAGS.log:\n        callbacks.append({CALLED})\n    else:\n        callbacks.append(Count(2))\n"
    assert f"    callbacks = [Count()]\n{chosen}    model.fit(input_fn().take(20), callbacks=callbacks)" in text


@pytest.mark.parametrize("begun", ["None", "[]"])
def test_a_list_that_there_is_under_a_condition_alone(begun: str) -> None:
    lines = f"hooks = {begun}\nif FLAGS.log:\n    hooks = [Count()]\n"
    text = fitted(program(f"{lines}estimator.train(input_fn, steps=20, hooks=hooks)\n"))
    assert "    callbacks = []\n    if FLAGS.log:\n        callbacks.append(Count())\n    model.fit(" in text


def test_a_list_that_a_condition_chooses() -> None:
    text = fitted(program("estimator.train(input_fn, steps=20, hooks=[Count()] if FLAGS.log else None)\n"))
    assert "    callbacks = []\n    if FLAGS.log:\n        callbacks.append(Count())\n    model.fit(" in text


def test_hooks_of_the_program_keep_what_they_count_over_several_trainings() -> None:
    loop = "hooks = [Count()]\nfor _ in range(3):\n    estimator.train(input_fn, steps=20, hooks=hooks)\n"
    text = fitted(program(loop))
    assert "    hooks = [Count()]\n    for _ in range(3):\n" in text and "callbacks=[*hooks]" in text


def test_what_remembers_nothing_is_made_in_the_loop() -> None:
    loop = f"hooks = [{LOGS}]\nfor _ in range(3):\n    estimator.train(input_fn, steps=20, hooks=hooks)\n"
    text = fitted(program(loop))
    assert "hooks" not in text and f"callbacks=[{CALLED}]" in text


@pytest.mark.parametrize(
    "use",
    [
        "hooks = [Count()]\nhooks.reverse()\nestimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = [Count()]\nif FLAGS.a:\n    hooks = []\nestimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = None\nif FLAGS.a:\n    hooks = [Count()]\nif FLAGS.b:\n    hooks = [Count()]\n"
        "estimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = []\nif FLAGS.a:\n    hooks = [Count()]\nhooks.append(Count())\n"
        "estimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = [*other()]\nestimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = other()\nestimator.train(input_fn, steps=20, hooks=hooks)\n",
        "if FLAGS.a:\n    hooks = [Count()]\nelse:\n    hooks = []\nestimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = []\nif FLAGS.a:\n    print(1)\n    hooks.append("
        + LOGS
        + ")\nestimator.train(input_fn, hooks=hooks, steps=2)\n",
        f"hooks = [Count(), {LOGS}]\nfor _ in range(3):\n    estimator.train(input_fn, steps=20, hooks=hooks)\n",
        "hooks = []\nif FLAGS.a:\n    hooks.append(tf.train.StopAtStepHook(9))\nestimator.train(input_fn, hooks=hooks)\n",
        "hooks = []\nif FLAGS.a:\n    if FLAGS.b:\n        hooks.append(Count())\nestimator.train(input_fn, 2, hooks=hooks)\n",
    ],
)
def test_lists_that_are_not_seen(use: str) -> None:
    stays(program(use))
