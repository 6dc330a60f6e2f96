"""`normalizer_fn` of contrib's layers: a layer without biases, the normalization, the activation."""

from __future__ import annotations

import ast
import importlib

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

normalizer_functions = importlib.import_module("migrator.rules.contrib.normalizer_functions")

HEAD = "import tensorflow as tf\nfrom tensorflow.contrib import slim\n\n\ndef f(x, params, own, training):\n    return "


def expanded(call: str) -> str:
    """What becomes of a call that a function returns."""
    drafts = Drafts(Project({"program.py": Module("program.py", HEAD + call + "\n")}))
    while True:
        module = drafts.project.modules["program.py"]
        found = (normalizer_functions.expand.expand(drafts, module, node) for node in module.nodes(ast.Call))
        changes = next(filter(None, found), None)
        if not changes:
            return module.text[len(HEAD) :].strip()
        drafts.apply(changes)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (
            'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, scope="fc")',
            'tf.nn.relu(slim.batch_norm(slim.fully_connected(x, 4, scope="fc", activation_fn=None, biases_initializer=None), '
            'scope="fc/BatchNorm"))',
        ),
        (
            "slim.conv2d(x, 4, 3, normalizer_fn=slim.batch_norm, activation_fn=None, normalizer_params=params, scope='c%d' % 1)",
            "slim.batch_norm(slim.conv2d(x, 4, 3, activation_fn=None, scope='c%d' % 1, biases_initializer=None), "
            'scope="c%d/BatchNorm" % 1, **params)',
        ),
        (
            'tf.contrib.layers.fully_connected(x, 4, tf.tanh, tf.contrib.layers.layer_norm, {"center": False}, scope=own)',
            "tf.tanh(tf.contrib.layers.layer_norm(tf.contrib.layers.fully_connected(x, 4, None, None, None, scope=own, "
            'biases_initializer=None), center=False, scope=own + "/LayerNorm"))',
        ),
        (
            "slim.fully_connected(x, 4, normalizer_fn=tf.layers.batch_normalization, normalizer_params=dict(training=training), "
            'activation_fn=lambda t: t * 2, scope="fc")',
            '(lambda t: t * 2)(tf.layers.batch_normalization(slim.fully_connected(x, 4, activation_fn=None, scope="fc", '
            'biases_initializer=None), training=training, name="fc/batch_normalization"))',
        ),
    ],
)
def test_the_layers_are_said_apart(call: str, wanted: str) -> None:
    assert expanded(call) == wanted


@pytest.mark.parametrize(
    "call",
    [
        "slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm)",  # its scope gets a number
        'slim.fully_connected(x, 4, normalizer_fn=own, scope="fc")',
        'slim.fully_connected(x, 4, normalizer_fn=None, scope="fc")',
        'slim.fully_connected(x, 4, scope="fc")',
        'slim.fully_connected(*own, normalizer_fn=slim.batch_norm, scope="fc")',
        'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, scope="fc", **params)',
        'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, normalizer_params={own: 1}, scope="fc")',
        'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, normalizer_params={**params}, scope="fc")',
        'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, normalizer_params={"scope": "a"}, scope="fc")',
        'slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, reuse=True, scope="fc")',
        'own.fully_connected(x, 4, normalizer_fn=slim.batch_norm, scope="fc")',
    ],
)
def test_left_alone(call: str) -> None:
    assert expanded(call) == call


SCOPED = """
with slim.arg_scope([slim.fully_connected], normalizer_fn=slim.batch_norm, normalizer_params={"is_training": False}):
    net = slim.fully_connected(features["x"], 4, scope="fc")
predictions = tf.layers.dense(net, 3)
"""
INNER = """
with slim.arg_scope([slim.fully_connected], normalizer_fn=slim.batch_norm):
    with slim.arg_scope([slim.batch_norm], epsilon=0.5):
        net = slim.fully_connected(features["x"], 4, scope="fc")
predictions = tf.layers.dense(net, 3)
"""


def _program(body: str) -> str:
    text = model_fn(body, end=f"{LOSS}\n{TRAIN_OP}\n{SPEC}")
    return text.replace(
        "import tensorflow as tf\n", "import tensorflow as tf\nfrom tensorflow.contrib import slim\n", 1
    )


def test_what_a_scope_says_is_heard() -> None:
    text = method(migrate(_program(SCOPED)), "call")
    assert "tf.nn.relu(self.fc_batchnorm(self.fc(features" in text


def test_a_scope_around_the_normalization_is_not_lost() -> None:
    made = method(migrate(_program(INNER)), "__init__")
    assert 'ContribBatchNorm(epsilon=0.5, name="fc_BatchNorm", momentum=1.0)' in made
