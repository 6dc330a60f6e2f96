"""model_fns that a class inherits: they move to the one class that has what they call."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, method, migrate_all

BASE = """
import tensorflow as tf

SCALE = 2.0


class Base(object):
    def __init__(self, width):
        self.width = width

    def network(self, x):
        raise NotImplementedError

    # One spec for all.
    def model_fn(self, features, labels, mode):
        predictions = self.network(features["x"]) * SCALE
        loss = tf.reduce_mean(tf.square(labels - predictions))
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
NET = """
class Net(Base):
    def network(self, x):
        return tf.layers.dense(x, self.width)
"""
USE = """
net = Net(3)
estimator = tf.estimator.Estimator(net.model_fn)
"""
OTHER = NET.replace("Net", "Other")


def one_file(base: str = BASE, more: str = "", use: str = USE) -> dict[str, str]:
    return {"program.py": f"{base}\n{NET}\n{more}\n{use}"}


def test_in_one_file() -> None:
    text = migrate_all(one_file())["program.py"]
    assert "class NetModel(tf.keras.Model):" in text and "tf.keras.layers.Dense(width)" in text
    assert 'predictions = self.dense(features["x"]) * SCALE' in method(text, "call")
    assert text.count("# One spec for all.") == 1
    assert "NotImplementedError" not in text and "def network" not in text
    assert "create_net_model(width=net.width)" in text


def test_through_several_files() -> None:
    head = "import tensorflow as tf\nfrom base import Base\n"
    files = {"base.py": BASE, "net.py": head + NET, "main.py": "import tensorflow as tf\nfrom net import Net\n" + USE}
    after = migrate_all(files)
    assert "class NetModel(tf.keras.Model):" in after["net.py"] and "SCALE" in method(after["net.py"], "call")
    assert "import SCALE" in after["net.py"] and "SCALE = 2.0" in after["base.py"]
    assert "from net import create_net_model" in after["main.py"]
    assert "EstimatorSpec" not in after["base.py"] and "class Base" in after["base.py"]


def test_a_class_that_nothing_makes_does_not_count() -> None:
    more = "class Middle(Net):\n    pass\n"
    text = migrate_all(one_file(more=more, use=USE.replace("Net(", "Middle(")))["program.py"]
    assert "class MiddleModel(tf.keras.Model):" in text


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (one_file(more=OTHER), "several classes share `model_fn`"),
        (one_file(use=USE + "Base(1)\n"), "several classes share `model_fn`"),
        (
            one_file(BASE.replace("* SCALE", "* super().__getattribute__('width')")),
            "uses `super`",
        ),
        (one_file(BASE.replace("* SCALE", "* self.__scale")), "private"),
        (one_file(BASE.replace("    def model_fn", "    @staticmethod\n    def model_fn")), ""),
        (one_file(use="net = Net(3) if FLAG else None\nestimator = tf.estimator.Estimator(net.model_fn)\n"), ""),
    ],
)
def test_what_is_not_followed(files: dict[str, str], reason: str) -> None:
    assert reason in manual_reason({path: textwrap.dedent(text) for path, text in files.items()})
