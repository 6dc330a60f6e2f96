"""Names of operations of variables become names of variables; what merely looks like one stays."""

from __future__ import annotations

import textwrap

import pytest

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from tools import load

HEAD = "import tensorflow as tf\n"
EMA = "ema = tf.train.ExponentialMovingAverage(0.9)\naverage = ema.average(v)\n"


def rewritten(text: str) -> str:
    module = Module("program.py", HEAD + textwrap.dedent(text))
    fixes = load("bridge.variable_objects").variable_fixes(module)
    after = splice(module.source, [edit for fix in fixes for edit in fix.edits]).decode()
    return after[len(HEAD) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kept = [v for v in vs if 'bias' not in v.op.name]", "kept = [v for v in vs if 'bias' not in v.name.split(\":\")[0]]"),
        ("tf.summary.histogram(v.op.name + '/g', g)", "tf.summary.histogram(v.name.split(\":\")[0] + '/g', g)"),
        ("names = pairs[0][1].op.name.split('/')", "names = pairs[0][1].name.split(\":\")[0].split('/')"),
        ("tag = f'{v.op.name}/{w.op.name}'", "tag = f'{v.name.split(\":\")[0]}/{w.name.split(\":\")[0]}'"),
        ('tag = f"{v.op.name}/g"', "tag = f\"{v.name.split(':')[0]}/g\""),
        (EMA + "used = average if average else v", EMA + "used = average if average is not None else v"),
        (EMA + "if not average:\n    average", EMA + "if average is None:\n    average"),
    ],
)  # fmt: skip
def test_what_variables_of_graphs_say(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "kept = [v for v in vs if 'bias' not in v.name]",
        "kind = v.op.type",
        "v.op.name = 'other'",
        "class Layer:\n    def __init__(self, op):\n        self.op = op\n    def name(self):\n        return self.op.name",
        "tag = f'''{v.op.name}\"'''",
        EMA + "average = 0.0\nused = average if average else v",
        EMA + "used = average if average is not None else v",
        "average = history.average(v)\nused = average if average else v",
        "def f(average):\n    return average if average else 0\n",
    ],
)
def test_what_merely_looks_like_it_is_left_alone(text: str) -> None:
    assert rewritten(text) == text
