"""Lists of variables for several optimizers, in other words than a comprehension."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

chosen_variables = importlib.import_module("migrator.normalise.functions.chosen_variables")

BODY = """
with tf.variable_scope("wide"):
    wide = tf.layers.dense(features["x"], 1, name="out")
with tf.variable_scope("deep"):
    deep = tf.layers.dense(features["x"], 1, name="top")
predictions = wide + deep
"""
END = """
loss = tf.reduce_mean(tf.square(labels - predictions))
{lists}
step = tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=first)
step_2 = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=second, global_step=tf.train.get_global_step())
train_op = tf.group(step, step_2)
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""


@pytest.mark.parametrize(
    "lists",
    [
        """
first, second = [], []
for v in tf.trainable_variables():
    if v.name.startswith("wide"):
        first.append(v)
    else:
        second.append(v)
""",
        """
first = list(filter(lambda v: "wide" in v.name, tf.trainable_variables()))
second = list(filter(lambda v: "wide" not in v.name, tf.trainable_variables()))
""",
        """
first = [v for v in tf.trainable_variables() if v.name.split("/")[0] == "wide"]
second = [v for v in tf.trainable_variables() if v.op.name.split("/")[0] != "wide"]
""",
        """
first = [v for v in tf.trainable_variables() if "out" in v.name.split("/")[-2]]
second = [v for v in tf.trainable_variables() if not v.name.split("/")[1].startswith("out")]
""",
    ],
    ids=["loop", "filter", "first piece", "other pieces"],
)
def test_two_lists(lists: str) -> None:
    step = method(migrate(model_fn(BODY, end=END.format(lists=lists))), "train_step")
    assert "self.out.trainable_variables" in step and "self.top.trainable_variables" in step
    assert "v.name" not in step


@pytest.mark.parametrize(
    "body",
    [
        "for v in every:\n    if 'a' in v.name:\n        a.append(v)\n    else:\n        b.append(v)",
        "for v in tf.trainable_variables():\n    print(v)\n    if 'a' in v.name:\n        a.append(v)",
        "for v in tf.trainable_variables():\n    if 'a' in v.name:\n        a.append(v)\n    else:\n        a.append(v)",
        "for v in tf.trainable_variables():\n    if 'a' in v.name:\n        a.append((v, 1))",
        "for v in tf.trainable_variables():\n    if 'a' in v.name:\n        every.append(v)",
        "for v in tf.trainable_variables():\n    if 'a' in v.name:\n        a.append(v)\nprint(v)",
        "a.append(1)\nfor v in tf.trainable_variables():\n    if 'a' in v.name:\n        a.append(v)",
        "return list(filter(None, tf.trainable_variables()))",
        "return list(filter(lambda v: v.trainable, every))",
    ],
)
def test_left_alone(body: str) -> None:
    source = "import tensorflow as tf\n\n\ndef f(every):\n    a = []\n    b = []\n" + textwrap.indent(body, "    ")
    module = Module("program.py", source)
    assert not chosen_variables.expand.expand(Drafts(Project({})), module, module.tree.body[1])


def test_a_penalty_by_a_piece_of_names() -> None:
    end = """
    loss = tf.reduce_mean(tf.square(labels - predictions))
    kernels = [v for v in tf.trainable_variables() if v.name.split("/")[-1] == "kernel:0"]
    loss += tf.add_n([tf.nn.l2_loss(v) for v in kernels])
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
    """
    loss = method(migrate(model_fn(BODY, end=end)), "compute_loss")
    assert "kernels = [self.out.kernel, self.top.kernel]" in loss
