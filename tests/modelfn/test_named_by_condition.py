"""Variables of one name that conditions make in different loops."""

from __future__ import annotations

import pytest
from programs import joined, manual_reason, method, migrate, model_fn

BODY = """
x = features["x"]
parts = []
if params["kind"] == "all":
    w = tf.get_variable("w", [3, 3])
for i in range(2):
    if params["kind"] == "each":
        w = tf.get_variable("w_%d" % i, [3, 3])
    for j in range(2):
        if params["kind"] == "pair":
            w = tf.get_variable("w_%d_%d" % (i, j), [3, 3])
        parts.append(tf.matmul(x, w))
predictions = tf.layers.dense(tf.concat(parts, axis=1), 1)
"""


def test_what_reads_them_says_which_one() -> None:
    text = migrate(model_fn(BODY))
    init, call = joined(method(text, "__init__")), joined(method(text, "call"))
    assert "if params[\"kind\"] == 'each':".replace("'", '"') in init and 'name="w_%d_%d" % (i, j)' in init
    assert 'if self.params["kind"] == "pair" else w_2 if self.params["kind"] == "each" else self.w' in call


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        parts.append(tf.matmul(x, w))", "        parts.append(x)\npredictions = tf.matmul(x, w)"),
        ('    if params["kind"] == "each":\n', '    kind = params["kind"]\n    if kind == "each":\n'),
        ('    if params["kind"] == "each":\n', '    if kinds.pop() == "each":\n'),
        ('    if params["kind"] == "each":\n', '    parts.append(tf.matmul(x, w))\n    if params["kind"] == "each":\n'),
        ('        w = tf.get_variable("w_%d" % i, [3, 3])\n', "        w = x\n"),
        (
            '        w = tf.get_variable("w_%d" % i, [3, 3])\n',
            '        w = tf.get_variable("w_%d" % i, [3, 3])\n    else:\n        w = None\n',
        ),
    ],
)
def test_left_alone(old: str, new: str) -> None:
    assert old in BODY
    assert manual_reason(model_fn(BODY.replace(old, new)))
