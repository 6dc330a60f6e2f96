"""Dicts of weights with keys that are no texts."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

text_keys = importlib.import_module("migrator.rules.model_fns.text_keys")


def test_numbers_of_turns() -> None:
    text = migrate(
        model_fn(
            """
            weights = {}
            for i, units in enumerate(params["hidden"]):
                weights[i] = tf.get_variable("w%d" % i, [4, units])
            net = tf.matmul(features["x"], weights[0])
            for i in range(1, len(params["hidden"])):
                net = net + tf.matmul(features["x"], weights[i])
            predictions = net
            """
        )
    )
    assert "self.weights_[str(i)] = self.add_weight" in method(text, "__init__", "Model")
    assert 'self.weights_["0"]' in method(text, "call", "Model")


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(3):\n    w['w%d' % i] = tf.get_variable('w', [2])\nreturn w['w0']",
        "for i in names:\n    w[i] = tf.get_variable('w', [2])\nreturn w['a']",
        "for i in range(3):\n    w[i] = tf.get_variable('w', [2])\nreturn w",
        "for i in range(3):\n    w[i] = tf.get_variable('w', [2])\nreturn list(w.values())",
        "for i in range(3):\n    w[i] = tf.square(x)\nreturn w[0]",
        "for i in range(3):\n    w[i, features[\"a\"]] = tf.get_variable('w', [2])\nreturn w[0, 1]",
    ],
)
def test_left_alone(body: str) -> None:
    source = "import tensorflow as tf\n\n\ndef f(x, names, features):\n    w = {}\n" + textwrap.indent(body, "    ")
    module = Module("program.py", source)
    assert not text_keys.expand.expand(Drafts(Project({})), module, module.tree.body[1])
