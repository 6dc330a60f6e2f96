"""Names of scopes and tensors that errors tell."""

from __future__ import annotations

import ast
import textwrap

import pytest
from modelfn.programs import migrate_all, model_fn

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from tools import load

HEAD = "import tensorflow as tf\n"


def renamed(text: str) -> str:
    module = Module("program.py", HEAD + textwrap.dedent(text))
    fixes = load("bridge.graph_names").graph_name_fixes(module)
    return splice(module.source, [edit for fix in fixes for edit in fix.edits]).decode()[len(HEAD) :]


RANK = """
def assert_rank(tensor, rank, name=None):
    if name is None:
        name = {name}
    if tensor.shape.ndims != rank:
        scope = {scope}
        raise ValueError("%s in %s" % (name, scope))
"""
OLD = {"name": "tensor.name", "scope": "tf.get_variable_scope().name"}


def test_names_in_errors() -> None:
    after = RANK.format(name='getattr(tensor, "name", None)', scope="tf.get_current_name_scope()")
    assert renamed(RANK.format(**OLD)) == after
    assert renamed("def f():\n    raise ValueError(tf.get_variable_scope().name)") == (
        "def f():\n    raise ValueError(tf.get_current_name_scope())"
    )


def test_a_file_with_the_old_import_moves_as_a_whole() -> None:
    layer = "\n\ndef hidden(x):\n    assert_rank(x, 2)\n    return tf.layers.dense(x, 3)\n"
    helpers = "import tensorflow.compat.v1 as tf\n" + RANK.format(**OLD) + layer
    program = model_fn(
        "predictions = helpers.hidden(features['x'])",
        before="import helpers\nimport tensorflow.compat.v1 as tf\n",
    )
    after = migrate_all({"helpers.py": helpers, "program.py": program})["helpers.py"]
    assert after.startswith("import tensorflow as tf\n") and "tf.get_current_name_scope()" in after


@pytest.mark.parametrize(
    "text",
    [
        RANK.format(**{**OLD, "name": "tensor.op.name", "scope": "other.name"}),
        RANK.format(name="other.name", scope="tf.get_variable_scope().original_name_scope"),
        "def f(spec, name=None):\n    if name is None:\n        name = spec.name\n    return name",
        "def f():\n    scope = tf.get_variable_scope().name\n    print(scope)\n    raise ValueError(scope)",
        "def f(x):\n    with tf.variable_scope(tf.get_variable_scope(), reuse=True):\n        return x",
        "def f(x):\n    name = x.name\n    return x.shape, name",
    ],
)
def test_left_alone(text: str) -> None:
    ast.parse(text)
    assert renamed(text) == textwrap.dedent(text)
