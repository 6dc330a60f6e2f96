"""What may move to another place of a program."""

from __future__ import annotations

import ast
import importlib

import pytest

from migrator.resolve.module import Module

places = importlib.import_module("migrator.rules.loop.places")
FUNCTIONS = """import os
import tensorflow as tf


def make_input_fn(path):
    def input_fn():
        return read(path)

    return input_fn


"""


def moves(value: str, between: str) -> object:
    """Whether a value may move over a statement."""
    module = Module("program.py", f"{FUNCTIONS}made = {value}\n{between}\nuse(made)\n")
    statement = next(node for node in module.tree.body if isinstance(node, ast.Assign))
    return places.moves(module, statement, module.tree.body[-1], [statement.value])


@pytest.mark.parametrize(
    ("value", "between"),
    [
        ("params['dir']", "params['dir'] = 'b'"),
        ("params['dir']", "params['more']['dir'] = 'b'"),
        ("params['dir']", "params.update(dir='b')"),
        ("params['dir']", "del params['dir']"),
        ("self.params['dir']", "self.params['dir'] = 'b'"),
        ("dict(plan)", "plan.dir = 'b'"),
        ("plan.dir", "plan.dir = 'b'"),
        ("folder", "folder = 'b'"),
        ("make_dir()", "print('between')"),
        ("make_dir()", "if again:\n    remove()"),
        ("os.path.join(make_dir(), 'a')", "flag = read()"),
    ],
)
def test_what_stays(value: str, between: str) -> None:
    assert not moves(value, between)


@pytest.mark.parametrize(
    ("value", "between"),
    [
        ("params['dir']", "others['dir'] = 'b'"),
        ("plan.dir", "plan.rate = 1"),
        ("params['dir']", "print('between')"),
        ("os.path.join(folder, 'a')", "print('between')"),
        ("make_dir()", "steps = 100"),
        ("make_dir()", "other = tf.estimator.EvalSpec(make_dir())"),
        ("make_dir()", "def last():\n    return read()\n"),
        ("make_input_fn('a')", "print('between')"),
        ("lambda: make_dir()", "print('between')"),
    ],
)
def test_what_moves(value: str, between: str) -> None:
    assert moves(value, between)
