"""`create_train_op` of slim and of `tf.contrib.training`."""

from __future__ import annotations

import ast
import importlib

import pytest
from modelfn.programs import method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

created_train_ops = importlib.import_module("migrator.rules.optimizers.created_train_ops")
HEAD = "import tensorflow as tf\nfrom tensorflow.contrib import slim, training\n\n\ndef f(loss, optimizer, own):\n"
MAKE = "slim.learning.create_train_op"


def expanded(call: str) -> str:
    module = Module("program.py", f"{HEAD}    op = {call}\n    return op\n")
    drafts = Drafts(Project({"program.py": module}))
    found = (created_train_ops.expand.expand(drafts, module, node) for node in module.nodes(ast.Call))
    drafts.apply(next(filter(None, found), []))
    return drafts.project.modules["program.py"].text.partition("own):\n")[2]


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (f"{MAKE}(loss, optimizer)", "op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())"),
        ("training.create_train_op(loss, optimizer, own)", "op = optimizer.minimize(loss, global_step=own)"),
        (
            f"{MAKE}(loss, optimizer, variables_to_train=own, summarize_gradients=False, check_numerics=True)",
            "op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step(), var_list=own)",
        ),
        (f"{MAKE}(loss, optimizer, clip_gradient_norm=0)", "optimizer.minimize(loss, "),
        (
            f"{MAKE}(loss, optimizer, clip_gradient_norm=2.5)",
            "None if gradient is None else tf.clip_by_norm(gradient, 2.5)",
        ),
    ],
)
def test_a_step_behind_the_update_ops(call: str, wanted: str) -> None:
    text = expanded(call)
    assert wanted in text and "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):" in text


@pytest.mark.parametrize(
    "call",
    [
        f"{MAKE}(loss, optimizer, None)",  # nothing counts the steps
        f"{MAKE}(loss, optimizer, update_ops=own)",
        f"{MAKE}(loss, optimizer, gradient_multipliers=own)",
        f"{MAKE}(loss, optimizer, summarize_gradients=True)",
        f"{MAKE}(loss, optimizer, clip_gradient_norm=own)",
        f"{MAKE}(loss, tf.train.AdamOptimizer())",
        f"{MAKE}(*own)",
        f"{MAKE}(loss, optimizer, **own)",
        "training.create_train_op(loss, optimizer, transform_grads_fn=own)",
        "own.create_train_op(loss, optimizer)",
        f"[{MAKE}(each, optimizer) for each in own]",
        f"own and {MAKE}(loss, optimizer)",
    ],
)
def test_left_alone(call: str) -> None:
    assert expanded(call) == f"    op = {call}\n    return op\n"


@pytest.mark.parametrize("more", ["", ", clip_gradient_norm=0.5"])
def test_a_program_trains_by_fit(more: str) -> None:
    end = f"""loss = tf.losses.sparse_softmax_cross_entropy(labels, predictions)
optimizer = tf.train.GradientDescentOptimizer(0.1)
train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer{more})
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
    text = migrate(model_fn('predictions = tf.layers.dense(features["x"], 3)', end=end))
    assert "SGD(0.1" in text and "create_train_op" not in text and method(text, "call")
