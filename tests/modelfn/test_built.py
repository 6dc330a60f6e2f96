"""Classes of other files whose `__init__` builds the graph: each becomes a layer of its name."""

from __future__ import annotations

import pytest
from modelfn.programs import TRAIN_OP, method, migrate_all, run, units

ENCODER = '''
import copy

import tensorflow as tf


def attention(x, units, rate):
    """Looks at itself."""
    with tf.variable_scope("attention"):
        return tf.nn.dropout(tf.layers.dense(x, units, name="query"), rate)


class Encoder(object):
    """Encodes features."""

    SCALE = 2.0

    def __init__(self, config, is_training, inputs, scope=None):
        """Builds the graph.

        Args:
          config: sizes.
        """
        config = copy.deepcopy(config)
        if not is_training:
            config.rate = 0.0
        self.config = config
        with tf.variable_scope(scope, default_name="encoder"):
            self.table = tf.get_variable("table", [3, config.units])
            # The first layer.
            self._hidden = attention(inputs * self.SCALE, config.units, config.rate)
            self.output = tf.matmul(self._hidden, self.table, transpose_b=True)

    def get_output(self):
        """The last layer."""
        return self.output

    def get_table(self):
        return self.table
'''
PROGRAM = f"""
import tensorflow as tf

import encoder


def model_fn(features, labels, mode, params):
    model = encoder.Encoder(params, mode == tf.estimator.ModeKeys.TRAIN, features["x"])
    # What is read.
    net = model.get_output()
    predictions = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(labels - predictions))
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
"""
FILES = {"encoder.py": ENCODER.replace("        self.config = config\n", ""), "program.py": PROGRAM}


def test_a_layer_of_its_name() -> None:
    after = migrate_all(FILES)
    text, program = after["encoder.py"], after["program.py"]
    assert "class Encoder(tf.keras.layers.Layer):" in text and '"""Encodes features.\n\n    Builds the graph.' in text
    call = method(text, "call", "Encoder")
    assert "rate = self.config.rate\n    if not training:\n        rate = 0.0" in call and "deepcopy" not in text
    assert "inputs * 2.0, rate" in call and "# The first layer." in call
    assert 'return {"table": self.table, "output": output}' in call
    assert "self.encoder = encoder.Encoder(params)" in program
    body = method(program, "call")
    assert 'outputs = self.encoder(features["x"], training=training)' in body and 'net = outputs["output"]' in body
    assert "# What is read." in body


def test_one_result_needs_no_dict() -> None:
    files = {
        "encoder.py": FILES["encoder.py"].replace("    def get_table(self):\n        return self.table\n", ""),
        "program.py": PROGRAM,
    }
    after = migrate_all(files)
    assert "return tf.matmul" in after["encoder.py"] or "return output" in after["encoder.py"]
    assert 'net = self.encoder(features["x"], training=training)' in method(after["program.py"], "call")


def test_names_of_scopes_that_have_a_default() -> None:
    (unit,) = units(run(FILES))
    names = dict(unit.variables)
    assert names["encoder/table"] == "encoder.table"
    assert names["encoder/attention/query/kernel"] == "encoder.attention.query.kernel"


REFUSED = {
    "the copy is handed on": ("            config.rate = 0.0", "            config.rate = 0.0\n        show(config)"),
    "a list of the copy is changed": ("config.rate = 0.0", "config.rates[0] = 0.0"),
    "used as a whole": ("            # The first layer.", "            register(self)"),
    "others derive from it": ("# The first layer.", "# The first."),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_left_to_the_bridge(name: str) -> None:
    old, new = REFUSED[name]
    text = FILES["encoder.py"].replace(old, new, 1)
    assert text != FILES["encoder.py"]
    if name == "others derive from it":
        text += '\n\nclass Small(Encoder):\n    pass\n\n\nSIZES = {"small": Small}\n'
    (unit,) = units(run({**FILES, "encoder.py": text}))
    assert unit.tier == "manual"
