"""Lengths of lists of tensors that helpers get."""

from __future__ import annotations

import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

handed_lengths = importlib.import_module("migrator.rules.layers.handed_lengths")

GATE = """import tensorflow as tf


def gate(x, experts):
    weights = tf.layers.dense(x, len(experts))
    return tf.reduce_sum(tf.stack(experts, 1) * weights, 1)


"""


def expanded(source: str) -> str:
    drafts = Drafts(Project({"program.py": Module("program.py", source)}))
    module = drafts.project.modules["program.py"]
    drafts.apply(handed_lengths.expand.expand(drafts, module, module.tree.body[1]))
    return drafts.project.modules["program.py"].text


def test_each_call_says_it() -> None:
    text = expanded(GATE + "def net(x, a, b):\n    return gate(x, a + [b]), gate(experts=a, x=x)\n")
    assert "gate(x, a + [b], num_experts=len(a + [b])), gate(experts=a, x=x, num_experts=len(a))" in text
    assert "tf.layers.dense(x, num_experts)" in text and "def gate(x, experts, *, num_experts):" in text


@pytest.mark.parametrize(
    "source",
    [
        GATE + "def net(x, a):\n    return gate(x, [tf.layers.dense(x, 2)])\n",  # it would be made twice
        GATE + "def net(x, a):\n    return map(gate, a)\n",
        GATE + "def net(x, a):\n    return gate(*a)\n",
        GATE + "def net(x, a):\n    return gate(x, **a)\n",
        GATE.replace("len(experts)", "3") + "def net(x, a):\n    return gate(x, a)\n",
        GATE.replace("tf.stack(experts, 1)", "1")
        + "def net(x, a):\n    return gate(x, a)\n",  # of numbers, as it seems
        GATE.replace("tf.layers.dense(x, len(experts))", "x * len(experts)")
        + "def net(x, a):\n    return gate(x, a)\n",
        GATE.replace("(x, experts):", "(x, experts):\n    experts = experts[1:]")
        + "def net(x, a):\n    return gate(x, a)\n",
        GATE.replace("(x, experts):", "(x, experts, num_experts):\n    print(num_experts)")
        + "def net(x, a):\n    return gate(x, a, 1)\n",
        GATE.replace("(x, experts)", "(x, experts, **more)") + "def net(x, a):\n    return gate(x, a)\n",
        GATE.replace("def gate", "@wrapped\ndef gate") + "def net(x, a):\n    return gate(x, a)\n",
    ],
)
def test_left_alone(source: str) -> None:
    assert expanded(source) == source
