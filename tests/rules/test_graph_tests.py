"""Unit tests of graph code beside a program: they do not keep it from becoming layers, and are named where it does."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run, units

NETWORK = """import tensorflow as tf


def tower(x, units):
    return tf.layers.dense(x, units)
"""
BODY = [
    "predictions = network.tower(features['x'], 1)",
    LOSS,
    TRAIN_OP,
    SPEC,
]
PROGRAM = (
    "import tensorflow as tf\nimport network\n\n\ndef model_fn(features, labels, mode):\n"
    + "".join(f"    {line}\n" for line in BODY)
    + "\n\nestimator = tf.estimator.Estimator(model_fn)\nestimator.train(lambda: None, steps=1)\n"
)
TEST = """import tensorflow as tf
import network


class TowerTest({case}):
    def test_tower(self):
        with self.session():
            self.assertEqual(network.tower(tf.zeros([2, 2]), 3).shape, [2, 3])
"""
FILES = {"network.py": NETWORK, "program.py": PROGRAM}


def noted(files: dict[str, str]) -> list[str]:
    outcomes = run(files)
    assert [unit.tier for unit in units(outcomes)] == ["native"]
    return [d.message for o in outcomes.values() for d in (*o.applied, *o.remaining) if "built graphs" in d.message]


@pytest.mark.parametrize("case", ["tf.test.TestCase", "tf.compat.v1.test.TestCase"])
def test_what_a_test_uses_becomes_layers(case: str) -> None:
    expected = "network_test.py built graphs with what becomes layers here: to be written anew, or deleted"
    assert noted({**FILES, "network_test.py": TEST.replace("{case}", case)}) == [expected]


def test_a_test_of_something_else_is_not_named() -> None:
    other = TEST.replace("import network\n", "").replace("network.", "tf.").replace("{case}", "tf.test.TestCase")
    assert noted({**FILES, "other_test.py": other}) == []


@pytest.mark.parametrize(("case", "program"), [("object", PROGRAM), ("tf.test.TestCase", "import cases\n" + PROGRAM)])
def test_what_may_be_no_test_keeps_the_function_that_it_calls(case: str, program: str) -> None:
    outcomes = run({"network.py": NETWORK, "cases.py": TEST.replace("{case}", case), "program.py": program})
    assert {unit.tier for unit in units(outcomes)} == {"native"}
    network = outcomes["network.py"].after.decode()
    assert "class Tower(" in network
    assert "def tower(x, units):\n    return tf.compat.v1.layers.dense(x, units)\n" in network
    assert "network.tower(tf.zeros([2, 2]), 3)" in outcomes["cases.py"].after.decode()
