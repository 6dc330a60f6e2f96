"""Estimators that are handed to one of several functions, which a table names."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, units
from modelfn.programs import run as outcomes
from test_loop import MODEL

ACTIONS = """\
def train(estimator, count):
    estimator.train(make_input_fn(count, None), max_steps=20)


def evaluate(estimator, count):
    print(estimator.evaluate(make_input_fn(count, 1)))


"""
MADE = 'estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n'


@pytest.mark.parametrize(
    "call",
    [
        'actions = {"train": train, "eval": evaluate}\nactions[load()](estimator, 8)\n',
        '{"train": train, "eval": evaluate}[load()](estimator, count=8)\n',
        '{"train": train}.get(load(), evaluate)(estimator, 8)\n',
        "(train if load() else evaluate)(estimator, 8)\n",
        "action = train if load() else evaluate\naction(estimator, 8)\n",
    ],
)
def test_each_function_gets_the_model(call: str) -> None:
    text = migrate(f"{MODEL}{ACTIONS}{MADE}{call}")
    assert "    steps = 20 - estimator.optimizer.iterations.numpy()\n" in text and "estimator.fit(" in text
    assert "    print(estimator.evaluate(make_input_fn(count, 1)(), return_dict=True))" in text
    assert "    restore(estimator.checkpoints, make_input_fn(count, 1)())\n" in text


@pytest.mark.parametrize(
    "call",
    [
        'actions = {"train": train, "eval": evaluate}\nactions.update(load())\nactions["train"](estimator, 8)\n',
        'actions = {"train": train, "eval": load()}\nactions[load()](estimator, 8)\n',
        "action = load() or train\naction(estimator, 8)\n",
        "globals()[load()](estimator, 8)\n",
        'actions = {"train": train, "print": print}\nactions[load()](estimator, 8)\n',
    ],
)
def test_what_may_be_another_function_is_told(call: str) -> None:
    source = f"{MODEL}{ACTIONS}{MADE}{call}"
    outcome = outcomes(source)
    assert [unit.tier for unit in units(outcome)] == ["manual"]
    assert outcome["program.py"].after.decode().count("tf.estimator.Estimator(") == 1
