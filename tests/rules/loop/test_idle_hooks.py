"""Hooks that a program makes and gives to nothing: their statements go."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, migrate, run
from test_loop import ESTIMATOR, MODEL

HOOK = 'hook = tf.train.LoggingTensorHook({"a": "b"}, every_n_iter=5)\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"


@pytest.mark.parametrize(
    "hook",
    [
        HOOK,
        HOOK.replace("tf.train.Logging", "tf.estimator.Logging"),
        "hook = tf.train.StepCounterHook(every_n_steps=5)\n",
    ],
)
def test_it_goes(hook: str) -> None:
    program = MODEL + ESTIMATOR + hook + TRAIN
    assert HELPERS not in run(program)
    text = migrate(program)
    assert "Hook" not in text and "\nmodel.fit(make_input_fn(8, None)().take(20))\n" in text


def test_it_is_said() -> None:
    remarks = [str(each) for each in run(MODEL + ESTIMATOR + HOOK + TRAIN)["program.py"].remaining]
    assert any("nothing is given this hook" in text for text in remarks)


def test_comments_stay() -> None:
    assert "# why\n" in migrate(MODEL + ESTIMATOR + HOOK.replace("every", "# why\n    every") + TRAIN)


@pytest.mark.parametrize(
    "code",
    [
        HOOK + "print(hook)\n",
        HOOK.replace("hook =", "hook = other =") + "",
        HOOK.replace('"b"', "input()"),
        "hooks.logging = tf.train.LoggingTensorHook({}, every_n_iter=5)\n",
        'print(tf.train.LoggingTensorHook({"a": "b"}, every_n_iter=5))\n',
    ],
)
def test_one_that_may_be_read_stays(code: str) -> None:
    text = run(MODEL + ESTIMATOR + code + TRAIN)["program.py"].after.decode()
    assert ".fit(" not in text and "LoggingTensorHook" in text
