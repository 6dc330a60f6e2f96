"""Entries that a call adds to the params for one helper."""

from __future__ import annotations

import pytest
from programs import joined, method, migrate, model_fn, run, units

HELPER = """

def net(x, params):
    x = tf.layers.dense(x, params["units"])
    x = tf.layers.dropout(x, 0.5, training=params["training"])
    return tf.layers.dense(x, 1)
"""
FLAG = "training = mode == tf.estimator.ModeKeys.TRAIN\n"
CALL = "predictions = net(features['x'], dict(params, training=training))"


@pytest.mark.parametrize(
    "body",
    [
        FLAG + CALL,
        "params['training'] = mode == tf.estimator.ModeKeys.TRAIN\npredictions = net(features['x'], params)",
        FLAG + CALL.replace("dict(", "params=dict("),
    ],
)
def test_the_mode_is_an_argument_of_its_own(body: str) -> None:
    text = joined(migrate(model_fn(body, before=HELPER)))
    assert "self.dropout(x, training=training)" in method(text, "call", "Net")
    assert "self.net(features['x'], training=training)" in method(text, "call", "Model") and "dict(" not in text


def test_an_entry_that_the_helper_does_not_read_goes() -> None:
    text = migrate(model_fn(FLAG + CALL.replace("=training)", "=training, more=3)"), before=HELPER))
    assert "more" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('params["training"]', 'params.get("training", False)'),
        (
            '    x = tf.layers.dense(x, params["units"])\n',
            '    show(params)\n    x = tf.layers.dense(x, params["units"])\n',
        ),
        ('    x = tf.layers.dense(x, params["units"])\n', '    training = params["units"]\n'),
        ("def net(x, params):\n", "def net(x, params):\n    params['units'] = 3\n"),
        ("    return tf.layers.dense(x, 1)\n", "    return tf.layers.dense(x, 1)\n\n\nprint(net)\n"),
    ],
)
def test_left_alone(old: str, new: str) -> None:
    assert old in HELPER
    outcomes = run(model_fn(FLAG + CALL, before=HELPER.replace(old, new)))
    assert [unit.tier for unit in units(outcomes)] == ["manual"]
