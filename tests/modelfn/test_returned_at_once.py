"""What `call` ends in gets no name where it is returned at once."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn

from migrator.rewrite import returned_at_once, rows, text_of


def ended(body: str) -> str:
    before = rows(body.split("\n")[:-1])
    after = returned_at_once(before)
    return "" if after == before else text_of(after, "    ")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "net = self.dense(x)\nlogits = self.logits(net)\nreturn logits\n",
            "net = self.dense(x)\nreturn self.logits(net)\n",
        ),
        ("# above\nlogits = self.logits(x)\nreturn logits  # behind\n", "# above\nreturn self.logits(x)  # behind\n"),
        ("y: tf.Tensor = self.logits(x)\nreturn y\n", "return self.logits(x)\n"),
        ("x = self.logits(x)\n\nreturn x\n", "return self.logits(x)\n"),
        ("x = tf.concat([\n    x,\n    x], 1)\nreturn x\n", "return tf.concat([\n    x,\n    x], 1)\n"),
        ('y = self.dense("ä")[0]\nreturn y\n', 'return self.dense("ä")[0]\n'),
    ],
)
def test_a_name_that_is_returned(body: str, expected: str) -> None:
    assert ended(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "logits = self.logits(x)  # [batch, 3]\nreturn logits\n",
        "logits = self.logits(x)\n# which is not scaled\nreturn logits\n",
        "logits = tf.concat([x,\n                    x], 1)\nreturn logits\n",
        "logits = (\n    x + 1\n)\nreturn logits\n",
        "a = b = self.logits(x)\nreturn a\n",
        "a, b = self.logits(x)\nreturn a\n",
        "a += self.logits(x)\nreturn a\n",
        "a: (int) = self.logits(x)\nreturn a\n",
        "a: int\nreturn a\n",
        "a = self.logits(x)\nreturn b\n",
        "a = self.logits(x)\nreturn -a\n",
        "a = tf.map_fn(lambda row: row + a, x)\nreturn a\n",
        "a = self.logits(x)\ntf.print(a)\nreturn a\n",
        "return x\n",
        "a = self.logits(x)\n",
    ],
)
def test_left_alone(body: str) -> None:
    assert ended(body) == ""


def test_a_model() -> None:
    call = method(migrate(model_fn('predictions = tf.layers.dense(features["x"], 1, name="out")')), "call")
    assert call.endswith('    return self.out(features["x"])\n') and "predictions" not in call
