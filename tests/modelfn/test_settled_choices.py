"""Expressions that are one of two values, where it is known which."""

from __future__ import annotations

import ast
import importlib
import textwrap

import pytest
from modelfn.programs import joined, migrate, model_fn

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

settled_choices = importlib.import_module("migrator.normalise.functions.settled_choices")


def settled(expression: str) -> str:
    """What is returned after one step."""
    source = textwrap.dedent(f"def f(a, b):\n    return {expression}\n")
    module = Module("program.py", source)
    function = module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edits = [change.edit for change in settled_choices.expand.expand(Drafts(Project({})), module, function)]
    return splice(module.source, edits).decode().partition("return ")[2].strip()


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("'a' if not None else None", "'a'"),
        ("a if None else b", "b"),
        ("a if None is None else b", "a"),
        ("a if 'x' is not None else b", "a"),
        ("a if True else b", "a"),
        ("f(a if 0 else b) + 1", "f(b) + 1"),
    ],
)
def test_arms_that_are_taken(expression: str, wanted: str) -> None:
    assert settled(expression) == wanted


@pytest.mark.parametrize(
    "expression", ["a if b else None", "a if a is None else b", "a if not b else b", "a if 1 < 2 else b"]
)
def test_other_choices_stay(expression: str) -> None:
    assert settled(expression) == expression


def test_a_scope_that_an_inlined_function_is_given_no_name_for() -> None:
    before = """
    class Net(object):
        def __init__(self, x):
            self.x = x

        def project(self, name=None):
            with tf.variable_scope("project" if not name else name):
                w = tf.get_variable("w", [4, 3])
            return self.x @ w
    """
    text = migrate(model_fn("predictions = Net(features['x']).project()", before=textwrap.dedent(before)))
    assert 'add_weight(name="project_w"' in joined(text)
