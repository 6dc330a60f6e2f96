"""Scopes around the placeholders of a serving function."""

from __future__ import annotations

import pytest
from desugared import ESTIMATOR, MODEL, TRAIN
from modelfn.programs import manual_reason, migrate

SERVING = """def serving_input_fn():
    with {scope}:
        x = tf.placeholder(tf.float32, [None, 1], name="x")
        {use}


estimator.export_savedmodel("export", serving_input_fn)
"""
RECEIVER = 'return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})'
RAW = 'made = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})()\n        return made'
SCOPE = 'tf.variable_scope("foo")'


def program(scope: str = SCOPE, use: str = RECEIVER) -> str:
    return MODEL + ESTIMATOR + TRAIN + SERVING.format(scope=scope, use=use)


@pytest.mark.parametrize("use", [RECEIVER, RAW])
@pytest.mark.parametrize("scope", [SCOPE, 'tf.name_scope("foo")'])
def test_the_scope_goes(scope: str, use: str) -> None:
    text = migrate(program(scope, use))
    assert "_scope" not in text and "def call(" in text


@pytest.mark.parametrize(
    ("scope", "use"),
    [
        (SCOPE, "y = shown(x)\n        " + RECEIVER.replace('{"x": x})', '{"x": y})')),
        (f"{SCOPE} as scope", "print(scope.name)\n        " + RECEIVER),
    ],
)
def test_other_scopes_stay(scope: str, use: str) -> None:
    assert "tf.variable_scope" in manual_reason(program(scope, use))
