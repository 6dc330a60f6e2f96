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


@pytest.mark.parametrize(
    ("program", "counter"),
    [
        ("for epoch in range(4):\n    HERE\n", "epoch"),
        ("for epoch in range(2, epochs):\n    if epoch:\n        x = HERE\n", "epoch"),
        ("for run in range(2):\n    for epoch in range(4):\n        HERE\n", "epoch"),
        ("for epoch in range(4):\n    pass\nfor epoch in range(4):\n    HERE\n", "epoch"),
        ("HERE\n", None),
        ("for _ in range(4):\n    HERE\n", None),
        ("for epoch in range(0, 4, 2):\n    HERE\n", None),
        ("for epoch in epochs:\n    HERE\n", None),
        ("for epoch in range(4):\n    epoch += 1\n    HERE\n", None),
        ("for epoch in range(4):\n    while x:\n        HERE\n", None),
        ("for epoch in range(4):\n    def run():\n        HERE\n", None),
        ("for epoch in range(4):\n    pass\nelse:\n    HERE\n", None),
        ("for epoch in range(HERE):\n    pass\n", None),
        ("for epoch in range(4):\n    MADE\n    HERE\n", None),
        ("def range(n): return n\nfor epoch in range(4):\n    HERE\n", None),
    ],
)
def test_what_counts_the_turns_of_a_loop(program: str, counter: str | None) -> None:
    module = Module("program.py", program)
    names = [node for node in ast.walk(module.tree) if isinstance(node, ast.Name)]
    made = [node for node in names if node.id == "MADE"]
    (here,) = (node for node in names if node.id == "HERE")
    assert places.counter_of(module, here, made) == counter


def moves_into(value: str, head: str, before: str = "pass") -> object:
    """Whether a value may move into a statement, behind another one in it."""
    text = f"{FUNCTIONS}made = {value}\n{head}:\n    {before}\n    use(made)\n"
    module = Module("program.py", text)
    statement = next(node for node in module.tree.body if isinstance(node, ast.Assign))
    (last,) = (
        node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and ast.unparse(node) == "use(made)"
    )
    return places.moves(module, statement, last, [statement.value])


@pytest.mark.parametrize(
    ("value", "head", "before"),
    [
        ("folder", "with Timer()", "print('between')"),
        ("folder", "with Timer() as timer, open('log') as log", "timer.begin()"),
        ("make_input_fn('a')", "with Timer()", "pass"),
    ],
)
def test_what_moves_into_a_context(value: str, head: str, before: str) -> None:
    assert moves_into(value, head, before)


@pytest.mark.parametrize(
    ("value", "head", "before"),
    [
        ("folder", "with Timer() as folder", "pass"),
        ("folder", "with Timer()", "folder = 'b'"),
        ("make_dir()", "with Timer()", "pass"),
        ("folder", "if again", "pass"),
        ("folder", "for again in range(3)", "pass"),
        ("folder", "def run()", "pass"),
    ],
)
def test_what_stays_out_of_a_block(value: str, head: str, before: str) -> None:
    assert not moves_into(value, head, before)


RETURNS = "def name():\n    return {value}\n\n\n"


@pytest.mark.parametrize(
    ("value", "stays"),
    [("'eval-{}'.format(KIND)", False), ("load(KIND)", True), ("'{}'.format(load(KIND))", True), ("name()", True)],
)
def test_a_function_that_only_computes_may_be_called_later(value: str, stays: bool) -> None:
    source = f"{FUNCTIONS}{RETURNS.format(value=value)}made = name()\nshow()\nuse(made)\n"
    module = Module("program.py", source)
    statement = next(node for node in module.tree.body if isinstance(node, ast.Assign))
    assert places.moves(module, statement, module.tree.body[-1], [statement.value]) is not stays
