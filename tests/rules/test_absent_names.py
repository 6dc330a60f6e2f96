"""Names that TensorFlow 2 does not have: told with their lines where nothing else is said of them."""

from __future__ import annotations

from importlib import import_module

import pytest
from modelfn.programs import PATH, run

from tools import check_noop

RULES = [import_module("migrator.rules.symbols.absent_names").AbsentNames()]
TF = "import tensorflow as tf\n"


def told(text: str) -> list[str]:
    """What is left to say of a program, with the line."""
    return [f"{d.location.line}: {d.message}" for d in run(text)[PATH].remaining if d.code == "EST010"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{TF}x = tf.contrib.image.rotate(1, 2)",
            "2: TensorFlow 2 has no tf.contrib, of which tf.contrib.image.rotate is",
        ),
        (
            "from tensorflow.contrib import slim\nx = slim.conv2d(1)",
            "2: TensorFlow 2 has no tf.contrib, of which tf.contrib.slim.conv2d is",
        ),
        (
            "from tensorflow.contrib.foo.python.ops import bar as b\nx = b(1)",
            "2: TensorFlow 2 has no tf.contrib, of which tf.contrib.foo.python.ops.bar is",
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.contrib.foo(1)",
            "2: TensorFlow 2 has no tf.contrib, of which tf.contrib.foo is",
        ),
        (
            f"{TF}x = tf.contrib.foo.bar(1)\ny = 3\nz = [tf.contrib.foo.bar(2), tf.contrib.foo.bar]",
            "2: TensorFlow 2 has no tf.contrib, of which tf.contrib.foo.bar is, also in line 4",
        ),
        (
            f"{TF}x = tf.train.SessionManager()\nx = tf.train.SessionManager()\ny = tf.train.SessionManager()",
            "2: TensorFlow 2 has no tf.train.SessionManager; tf.compat.v1.train.SessionManager is for graphs of TensorFlow 1, "
            "also in lines 3, 4",
        ),
    ],
)
def test_told(text: str, said: str) -> None:
    assert told(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        f"{TF}x = tf.nn.relu(1)",
        f"{TF}x = tf.summary.scalar('x', 1, step=2)",
        f"{TF}x = tf.compat.v1.train.SessionManager()",
        "import tensorflow.compat.v1 as tf\nx = tf.train.SessionManager()",
        f"{TF}x = tf.unheard.of",  # newer than the table, perhaps
        "from nets import contrib as tf\nx = tf.contrib.foo(1)",
        "def f(tf):\n    return tf.contrib.foo(tf)",
        f"{TF}try:\n    x = tf.contrib.foo\nexcept AttributeError:\n    x = None",
        f"{TF}if hasattr(tf, 'contrib'):\n    x = tf.contrib.foo(1)",
        f"{TF}x = tf.contrib.foo(1) if tf.__version__ < '2' else None",
        f"{TF}class A:\n    contrib = 1\nx = A.contrib",
    ],
)
def test_left_alone(text: str) -> None:
    check_noop(text, RULES)


def test_what_has_a_row_is_told_by_it() -> None:
    text = f"{TF}x = tf.keras.layers.CuDNNLSTM(3)\ny = tf.contrib.training.HParams(a=1)"
    assert told(text) == [] and [d.code for d in run(text)[PATH].remaining] == ["EST003", "EST003"]


def test_of_an_estimator_program_that_is_left_only_its_reason_is_told() -> None:
    text = f"""{TF}
def model_fn(features, labels, mode):
    logits = tf.contrib.layers.fully_connected(tf.contrib.foo.bar(features), 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn, "model").train(lambda: None, steps=1)
"""
    assert {d.code for d in run(text)[PATH].remaining} == {"EST100"}
