"""Loops over texts whose turns make metrics and read them."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

metric_turns = importlib.import_module("migrator.rules.losses_metrics.metric_turns")

NET = 'predictions = tf.layers.dense(features["x"], 3)'
LOOP = """
metrics = {}
for name in ["a", "b"]:
    %s
    tf.summary.scalar(name, %s[1])
"""
END = SPEC.replace(")", ", eval_metric_ops=metrics)")


@pytest.mark.parametrize(
    ("made", "read"),
    [
        ('metrics["mean_" + name] = tf.metrics.mean(features[name])', 'metrics["mean_" + name]'),
        ('metric = tf.metrics.mean(features[name]); metrics["mean_%s" % name] = metric', "metric"),
        ('metric = tf.metrics.mean(features[name]); metrics[f"mean_{name}"] = metric', "metric"),
    ],
)
def test_each_turn_has_its_metric(made: str, read: str) -> None:
    text = method(migrate(model_fn(NET, end=f"{LOSS}\n{LOOP % (made, read)}{TRAIN_OP}\n{END}")), "compute_metrics")
    assert "self.mean_a.result()" in text and "self.mean_b.result()" in text


@pytest.mark.parametrize(
    "body",
    [
        "for name in names:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n",
        "for name in ['a', names]:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n",
        "for name in ['a', 'A']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    metrics[name] = m\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n    if x:\n        break\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\nprint(m)\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\nprint(name)\n",
        "for name in ['a', 'b']:\n    name = names\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n",
        "own = ['a']\nown.append(names)\nfor name in own:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\n",
        "for name, y in [('a', x), ('A', x)]:\n    metrics[name] = tf.metrics.mean(y)\n",
        "for name, y in [('a', x), ('b', x + 1)]:\n    metrics[name] = tf.metrics.mean(y)\n",
        "for name, y in [('a', x), ('b', names)]:\n    x = tf.metrics.mean(y)\n    metrics[name] = x\n",
        "for name, y in zip(['a', 'b'], names):\n    metrics[name] = tf.metrics.mean(y)\n",
        "for name, (y, z) in [('a', (x, x)), ('b', (x, x))]:\n    metrics[name] = tf.metrics.mean(y)\n",
        "for name, y in [('a', x), ('b', names)]:\n    metrics[name] = tf.metrics.mean(y)\nprint(y)\n",
        "for name, y in [('a', x), ('b', names)]:\n    print(name, y)\n",
        "for name in ['a', 'b']:\n    m = own(x)\n    tf.summary.scalar(name, m[1])\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, m[1])\nelse:\n    print(x)\n",
        "for name in ['a', 'b']:\n    m = tf.metrics.mean(x)\n    tf.summary.scalar(name, (lambda: m[1])())\n",
    ],
)
def test_left_alone(body: str) -> None:
    source = "import tensorflow as tf\n\n\ndef f(x, names, metrics):\n" + textwrap.indent(body, "    ")
    module = Module("program.py", source)
    assert not metric_turns.expand.expand(Drafts(Project({})), module, module.tree.body[1])


@pytest.mark.parametrize(
    "head",
    [
        'for name, x in [("a", features["x"]), ("b", predictions)]:',
        'for name, x in zip(["a", "b"], [features["x"], predictions]):',
    ],
)
def test_turns_over_tuples(head: str) -> None:
    loop = f"metrics = {{}}\n{head}\n    metrics[name + '_mean'] = tf.metrics.mean(x)\n"
    text = method(migrate(model_fn(NET, end=f"{LOSS}\n{loop}{TRAIN_OP}\n{END}")), "compute_metrics")
    assert 'self.a_mean.update_state(x["x"])' in text and "self.b_mean.update_state(y_pred)" in text
