"""Variable scopes around no variables, in code that native models call: name scopes."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, migrate, migrate_all, model_fn, run, units

BODY = """
x = deep(tf.layers.dense(features["x"], 3))
predictions = x
"""
DEEP = """
def deep(x, name=None):
    with {scope}:
        return x * 2.0
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tf.variable_scope("a")', 'tf.name_scope("a")'),
        ('tf.variable_scope(name_or_scope="a%d" % 1)', 'tf.name_scope("a%d" % 1)'),
        ('tf.variable_scope(name, default_name="a", values=[x])', 'tf.name_scope(name or "a")'),
        ('tf.variable_scope(name, "a", [x])', 'tf.name_scope(name or "a")'),
        ('tf.variable_scope(None, "a")', 'tf.name_scope("a")'),
        ('tf.variable_scope("a", reuse=tf.AUTO_REUSE)', 'tf.name_scope("a")'),
        ('tf.device("/cpu:0"), tf.variable_scope("a")', 'tf.device("/cpu:0"), tf.name_scope("a")'),
    ],
)
def test_scopes_that_only_name_operations(old: str, new: str) -> None:
    assert f"    with {new}:\n        return x * 2.0" in migrate(model_fn(BODY, before=DEEP.format(scope=old)))


def test_with_the_old_import() -> None:
    source = model_fn(BODY, before=DEEP.format(scope='tf.variable_scope("a")'))
    text = migrate(source.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
    assert 'with tf.name_scope("a"):' in text and "variable_scope" not in text


@pytest.mark.parametrize("old", ["tf.to_float(x)", "tf.log(x)"])
def test_around_what_only_has_another_name_now(old: str) -> None:
    deep = DEEP.format(scope='tf.variable_scope("a", reuse=tf.AUTO_REUSE)').replace("x * 2.0", old)
    assert 'with tf.name_scope("a"):' in migrate(model_fn(BODY, before=deep))


def test_in_another_file() -> None:
    ops = "import tensorflow as tf\n" + DEEP.format(scope='tf.variable_scope("a")')
    after = migrate_all({PATH: model_fn(BODY, before="from ops import deep\n"), "ops.py": ops})
    assert 'with tf.name_scope("a"):' in after["ops.py"]


def test_in_loops_of_the_model_function_they_go() -> None:
    body = """
    x = tf.layers.dense(features["x"], 3)
    for i in range(2):
        with tf.variable_scope("turn_%d" % i):
            x = x * 2.0
    predictions = x
    """
    assert "_scope" not in migrate(model_fn(body))


@pytest.mark.parametrize(
    "deep",
    [
        DEEP.format(scope='tf.variable_scope("a") as scope'),
        "\nopened = tf.variable_scope\n" + DEEP.format(scope='opened("a")'),
    ],
)
def test_other_scopes_are_not_native(deep: str) -> None:
    (unit, *_) = units(run(model_fn(BODY, before=deep), style="auto"))
    assert unit.tier != "native"


def test_scopes_of_variables_are_left_to_the_model() -> None:
    deep = '\ndef deep(x):\n    with tf.variable_scope("a"):\n        return tf.layers.dense(x, 2)\n'
    assert "name_scope" not in migrate(model_fn(BODY, before=deep))
