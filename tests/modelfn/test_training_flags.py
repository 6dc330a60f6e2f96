"""Functions that make recurrent cells and are told the mode."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, migrate_all, model_fn, run, units

TRAIN = "tf.estimator.ModeKeys.TRAIN"
MAKER = f"""
def make_cell(units, mode, keep=0.5):
    cell = tf.nn.rnn_cell.GRUCell(units)
    if mode == {TRAIN}:
        cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
    return cell


"""
BODY = """
cell = tf.nn.rnn_cell.MultiRNNCell([{call} for n in params["units"]])
predictions, _ = tf.nn.dynamic_rnn(cell, features["x"], dtype=tf.float32)
"""


@pytest.mark.parametrize(
    "call, after",
    [
        ("make_cell(n, mode)", "make_cell(n, True) for n"),
        ("make_cell(n, mode=mode, keep=0.4)", "make_cell(n, training=True, keep=0.4) for n"),
    ],
)
def test_a_function_that_asks_for_training_is_told_of_it(call: str, after: str) -> None:
    text = migrate(model_fn(BODY.format(call=call), before=MAKER))
    assert "def make_cell(units, training, keep=0.5):\n" in text and "    if training:\n" in text
    assert after in text and "DropoutWrapper(cell, output_keep_prob=keep)" in text


def test_a_function_that_is_told_to_train_whatever_the_mode() -> None:
    text = migrate(model_fn(BODY.format(call=f"make_cell(n, {TRAIN})"), before=MAKER))
    assert "make_cell(n, True) for n" in text and "output_keep_prob=keep, only_in_training=False)" in text


def test_a_default_of_the_mode() -> None:
    maker = MAKER.replace("mode,", f"mode={TRAIN},")
    text = migrate(model_fn(BODY.format(call="make_cell(n, mode)"), before=maker))
    assert "def make_cell(units, training=True, keep=0.5):\n" in text and "make_cell(n, True)" in text


def test_a_name_that_is_taken() -> None:
    text = migrate(model_fn(BODY.format(call="make_cell(n, mode)"), before="training = 1.0\n" + MAKER))
    assert "def make_cell(units, is_training, keep=0.5):\n" in text and "    if is_training:\n" in text


def test_a_function_of_another_file() -> None:
    cells = "import tensorflow as tf\n\n" + MAKER.strip() + "\n"
    program = model_fn(BODY.format(call="cells.make_cell(n, mode)"), before="import cells\n")
    program = program.replace("predictions, _", f"train = mode == {TRAIN}\n    predictions, _")
    text = migrate_all({"program.py": program, "cells.py": cells})
    assert "def make_cell(units, training, keep=0.5):" in text["cells.py"]
    assert "cells.make_cell(n, True)" in text["program.py"]


@pytest.mark.parametrize(
    "maker, call",
    [
        (MAKER.replace("    return", "    print(mode)\n    return"), "make_cell(n, mode)"),  # for more than that
        (MAKER.replace("TRAIN:", "EVAL:"), "make_cell(n, mode)"),  # another mode
        (
            MAKER.replace("    cell = tf.nn.rnn_cell.GRU", "    mode = str(mode)\n    cell = tf.nn.rnn_cell.GRU"),
            "make_cell(n, mode)",
        ),
        (MAKER + "makers = [make_cell]\n", "make_cell(n, mode)"),  # handed around
        (MAKER, "make_cell(*[n, mode])"),  # not seen
    ],
)
def test_other_functions_keep_the_mode(maker: str, call: str) -> None:
    outcomes = run(model_fn(BODY.format(call=call), before=maker), style="auto")
    (unit, *_) = units(outcomes)
    assert unit.tier != "native" and "make_cell(units, mode" in outcomes["program.py"].after.decode()
