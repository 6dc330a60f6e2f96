"""Parsing while something else parses: a finalizer, or a thread that prints a traceback."""

from __future__ import annotations

import ast
import contextlib
import gc
import threading
from collections.abc import Callable, Iterator

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.resolve.parsing import expression_tree, syntax_tree
from migrator.vocabulary.settings import Settings

_LONG = "\n".join(f"def function_{number}(a, b):\n    return a + b * {number}" for number in range(300))
_PROGRAM = """import tensorflow as tf


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.AdamOptimizer().minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=outputs, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(lambda: tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat(), steps=3)
"""


def _here() -> None:
    ast.parse("a = 1")


def _in_a_thread() -> None:
    other = threading.Thread(target=_here)
    other.start()
    other.join()


@contextlib.contextmanager
def disturbed(disturb: Callable[[], None]) -> Iterator[None]:
    """The garbage collector runs often, and each time something else is parsed."""

    def callback(phase: str, info: object) -> None:
        disturb()

    before = gc.get_threshold()
    gc.callbacks.append(callback)
    gc.set_threshold(100, 1000, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)


@pytest.mark.parametrize("disturb", [_here, _in_a_thread])
def test_a_tree_is_made_whatever_comes_in_between(disturb: Callable[[], None]) -> None:
    with disturbed(disturb):
        tree, expression = syntax_tree(_LONG), expression_tree("[" + "a + b, " * 300 + "]")
    assert len(tree.body) == 300 and isinstance(expression, ast.List)
    assert gc.isenabled()


@pytest.mark.parametrize("disturb", [_here, _in_a_thread])
def test_a_program_becomes_the_same(disturb: Callable[[], None]) -> None:
    (expected,) = migrate_component([decode("task.py", _PROGRAM.encode())], Settings())
    with disturbed(disturb):
        (outcome,) = migrate_component([decode("task.py", _PROGRAM.encode())], Settings())
    assert [unit.tier for unit in outcome.units] == ["native"], outcome.remaining
    assert outcome == expected


@pytest.mark.parametrize("text", ["def", "a\0b"])
def test_errors_are_those_of_python(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        syntax_tree(text)
    with pytest.raises((SyntaxError, ValueError)):
        expression_tree(text)
