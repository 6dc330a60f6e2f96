"""Several models with one folder of checkpoints: each is made behind the trainings it goes on from, or stays as it is."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, run
from test_loop import MODEL

MADE = 'tf.estimator.Estimator(model_fn, model_dir="here", params={"units": 1})'
DATA = "make_input_fn(8, None)"
MAKE = f"def make(name):\n    return {MADE}\n\n\n"


def program(text: str) -> str:
    return (
        MODEL
        + MAKE
        + textwrap.dedent(text).format(made=MADE, train=f"train({DATA}, steps=4)", read=f"evaluate({DATA}, 2)")
    )


@pytest.mark.parametrize(
    "text",
    [
        "one = {made}\none.{train}\ntwo = {made}\nprint(two.{read})\n",
        "one = {made}\none.{train}\ntwo = {made}\ntwo.{train}\nprint(two.{read})\n",
        "one = {made}\ntwo = {made}\nprint(one.{read})\nprint(two.{read})\n",
        "one = {made}\ntwo = {made}\nprint(one.{read})\none.{train}\n",
        "for _ in range(2):\n    one = {made}\n    one.{train}\n    two = {made}\n    print(two.{read})\n",
        "one = make('a')\none.{train}\ntwo = make('a')\nprint(two.{read})\n",
        "def work():\n    one = {made}\n    one.{train}\n\n\nwork()\ntwo = {made}\nprint(two.{read})\n",
        "def work(one):\n    one.{train}\n\n\none = {made}\nwork(one)\nprint(one.evaluate(make_input_fn(8, 1)))\n",
        "one = make('a')\none.{train}\none = make('a')\nprint(one.{read})\n",
    ],
)
def test_one_after_the_other(text: str) -> None:
    assert HELPERS not in run(program(text))


@pytest.mark.parametrize(
    "text",
    [
        "one = {made}\ntwo = {made}\none.{train}\nprint(two.{read})\n",
        "one = {made}\none.{train}\ntwo = {made}\ntwo.{train}\nprint(one.{read})\n",
        "one = {made}\none.{train}\ntwo = {made}\ntwo.{train}\nprint(one.latest_checkpoint())\n",
        "one = {made}\ntwo = {made}\nfor _ in range(2):\n    print(one.{read})\n    two.{train}\n",
        "one = {made}\n\n\ndef work():\n    two = {made}\n    two.{train}\n\n\nwork()\nprint(one.{read})\n",
        "one = make('a')\ntwo = make('a')\none.{train}\nprint(two.{read})\n",
        "one = make('a')\nfor _ in range(2):\n    print(one.{read})\n    two = make('a')\n    two.{train}\n",
    ],
)
def test_one_that_is_older_than_what_it_has_to_read(text: str) -> None:
    assert HELPERS in run(program(text))


def test_what_changes_nothing_is_no_training() -> None:
    assert HELPERS not in run(program("one = {made}\ntwo = {made}\ntwo.{train}\nprint(one.model_dir)\n"))
