"""Functions and methods of a program that make the scope around layers."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, migrate_all

PROGRAM = """\
import tensorflow as tf


class Net(object):
    def __init__(self, units):
        self.units = units

    def _scope(self):
        {scope}

    def __call__(self, x):
        with self._scope():
            return tf.layers.dense(x, self.units)


def model_fn(features, labels, mode):
    logits = Net(3)(features["x"])
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
"""


@pytest.mark.parametrize("scope", ['return tf.variable_scope("net")', 'return tf.name_scope("net")'])
def test_a_method_makes_the_scope(scope: str) -> None:
    text = migrate(PROGRAM.format(scope=scope))
    assert "return self.logits(x)" in method(text, "call")
    assert "compat" not in text and "def _scope" not in text


def test_a_function_of_another_file_makes_it() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/scopes.py": 'import tensorflow as tf\n\nROOT = "net"\n\n\ndef scope(of):\n    return tf.variable_scope(ROOT + of)\n',
        "pkg/task.py": PROGRAM.format(scope='return "a"')
        .replace("self._scope()", 'scope("/one")')
        .replace("\n\n\nclass", "\n\nfrom pkg.scopes import scope\n\n\nclass", 1),
    }
    text = migrate_all(files)["pkg/task.py"]
    assert "tf.keras.layers.Dense(" in text and "tf.compat.v1.layers" not in text


@pytest.mark.parametrize(
    "scope",
    [
        'print("made")\n        return tf.variable_scope("net")',
        "return tf.device('/cpu:0') if self.units else tf.variable_scope('net')",
    ],
)
def test_other_functions_stay(scope: str) -> None:
    assert "tf.variable_scope" in manual_reason(PROGRAM.format(scope=scope))
