"""Initializers that conditions choose once, for several weights."""

from __future__ import annotations

import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

chosen_initializers = importlib.import_module("migrator.rules.initializers.chosen_initializers")

CHOICE = """if kind == "normal":
        init = tf.random_normal_initializer(0.1)
    elif kind == "uniform":
        init = tf.random_uniform_initializer(-scale, scale)
    else:
        raise ValueError(kind)
"""
TWICE = """    x = tf.layers.dense(x, 8, kernel_initializer=init)
    return tf.layers.dense(x, 8, kernel_initializer=init)
"""


def program(choice: str = CHOICE, used: str = TWICE) -> str:
    return f"import tensorflow as tf\n\n\ndef network(x, kind, scale):\n    {choice}{used}"


def expanded(source: str) -> str:
    module = Module("program.py", source)
    drafts = Drafts(Project({"program.py": module}))
    function = next(node for node in module.tree.body if getattr(node, "name", "") == "network")
    drafts.apply(chosen_initializers.expand.expand(drafts, module, function))
    return drafts.project.modules["program.py"].text


def test_each_weight_gets_its_own() -> None:
    text = expanded(program())
    assert text.count("kernel_initializer=make_init(kind, scale)") == 2
    assert "def make_init(kind, scale):" in text and "raise ValueError(kind)" in text.partition("def network")[0]


def test_a_scope_says_it_to_many() -> None:
    used = (
        '    with tf.variable_scope("a", initializer=init):\n        return tf.layers.dense(tf.layers.dense(x, 8), 8)\n'
    )
    assert "initializer=make_init(kind, scale)" in expanded(program(used=used))


@pytest.mark.parametrize(
    "source",
    [
        program(used="    return tf.layers.dense(x, 8, kernel_initializer=init)\n"),  # one weight
        program(CHOICE.replace("tf.random_normal_initializer(0.1)", "tf.zeros_initializer()")),
        program(CHOICE.replace("    else:\n        raise ValueError(kind)\n", "")),  # there may be none
        program(CHOICE.replace("else:\n", "else:\n        print(kind)\n")),
        program(CHOICE + "    kind = 3\n"),  # chosen before
        program("init = None\n    " + CHOICE),
        program(used="    init(x)\n" + TWICE),
        program().replace("init = tf.random_n", "init = other = tf.random_n"),
    ],
)
def test_left_alone(source: str) -> None:
    assert expanded(source) == source
