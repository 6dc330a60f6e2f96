"""Each idiom that is rewritten before a program is taken apart does what its docstring shows, and nothing to that again."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

desugarings = importlib.import_module("migrator.rules.program.desugarings")
PATH = "program.py"
OF_FILES = [*desugarings.REACHED, *desugarings.FILES, *desugarings.PLAIN, desugarings.PLACED]
EVERY = [*OF_FILES, *desugarings.CALLS, *desugarings.FUNCTIONS]
EXAMPLES = [(idiom, *pair) for idiom in EVERY for pair in idiom.examples()]


def places(idiom: Desugaring[Any], module: Module) -> Iterator[ast.AST]:
    yield from module.nodes(ast.Call if idiom in desugarings.CALLS else ast.FunctionDef)


def expanded(idiom: Desugaring[Any], text: str) -> str:
    drafts = Drafts(Project({PATH: Module(PATH, text)}))
    if idiom in OF_FILES:
        idiom.expand(drafts, [PATH])
        return drafts.project.modules[PATH].text

    def step() -> list[Change]:
        module = drafts.project.modules[PATH]
        return next(filter(None, (idiom.expand(drafts, module, node) for node in places(idiom, module))), [])

    while changes := step():
        drafts.apply(changes)
    return drafts.project.modules[PATH].text


@pytest.mark.parametrize(("idiom", "before", "after"), EXAMPLES, ids=[idiom.name for idiom, _, _ in EXAMPLES])
def test_the_example_of_the_docstring(idiom: Desugaring[Any], before: str, after: str) -> None:
    assert before != after
    assert expanded(idiom, before) == after
    assert expanded(idiom, after) == after


@pytest.mark.parametrize("idiom", EVERY, ids=lambda idiom: idiom.name)
def test_every_idiom_has_an_example(idiom: Desugaring[Any]) -> None:
    assert idiom.examples()


def test_names_tell_idioms_apart() -> None:
    assert len({idiom.name for idiom in EVERY}) == len(EVERY)


@pytest.mark.parametrize("idiom", EVERY, ids=lambda idiom: idiom.name)
def test_other_code_is_left_alone(idiom: Desugaring[Any]) -> None:
    text = (
        'import tensorflow as tf\n\n\ndef f(x, mode):\n    y = tf.layers.dense(x, 8, name="y")\n    return g(y * 2)\n'
    )
    assert expanded(idiom, text) == text
