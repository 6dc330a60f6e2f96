"""Names that come with all others of TensorFlow."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate_all, run

from migrator.vocabulary.diagnostics import Diagnostic

STAR = "from tensorflow import *\n"


def after(files: dict[str, str]) -> dict[str, str]:
    return {path: outcome.after.decode() for path, outcome in run(files).items()}


def told(files: dict[str, str]) -> list[Diagnostic]:
    return [d for outcome in run(files).values() for d in outcome.remaining if d.code == "EST012"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("x = sqrt(y)\n", "from tensorflow import sqrt\nx = sqrt(y)\n"),
        ("x = sqrt(keras.x)\n", "from tensorflow import keras, sqrt\nx = sqrt(keras.x)\n"),
        ("for i in range(3):\n    pass\n", "from tensorflow import range\nfor i in range(3):\n    pass\n"),
        ("def sin(x): pass\n\nx = sin(exp(y))\n", "from tensorflow import exp\ndef sin(x): pass\n\nx = sin(exp(y))\n"),
        ("x = abs(y)\nabs = len\n", "from tensorflow import abs\nx = abs(y)\nabs = len\n"),
    ],
)  # fmt: skip
def test_imported_by_name(before: str, expected: str) -> None:
    before, expected = f"y = 1\n{STAR}{before}", f"y = 1\n{expected}"
    assert after({"program.py": before})["program.py"] == expected
    assert after({"program.py": expected})["program.py"] == expected


def test_what_it_hides() -> None:
    text = "from numpy import sqrt\nfrom tensorflow import *\nx = sqrt(1)\n"
    assert "from tensorflow import sqrt\n" in after({"program.py": text})["program.py"]


@pytest.mark.parametrize(
    ("star", "line", "expected"),
    [
        ("from tensorflow import *", "x = placeholder(float32)", "x = tf.compat.v1.placeholder(float32)"),
        ("from tensorflow.compat.v1 import *", "x = Session()", "from tensorflow.compat.v1 import Session\n"),
        ("from tensorflow.gfile import *", "x = Exists(y)", "x = tf.io.gfile.exists(y)"),
        ("from math import *\nfrom tensorflow import *", "x = to_float(floor(y))", "x = tf.cast(floor(y), tf.float32)"),
    ],
)
def test_what_is_read_of_it_is_migrated(star: str, line: str, expected: str) -> None:
    files = {"program.py": f"{star}\ny = 1\n{line}\n"}
    found = after(files)["program.py"]
    assert expected in found and "*" not in found.replace("from math import *", "") and not told(files)


def test_by_way_of_another_file() -> None:
    files = {
        "ops.py": STAR + "from os import path\n",
        "program.py": "from ops import *\nx = placeholder(float32, path)\n",
    }
    found = after(files)
    assert "from ops import *\n" in found["program.py"] and "from tensorflow import float32\n" in found["program.py"]
    assert "x = tf.compat.v1.placeholder(float32, path)\n" in found["program.py"]


@pytest.mark.parametrize(
    "reader",
    ["from ops import sqrt\nx = sqrt(1)\n", "import ops\nx = ops.sqrt(1)\n", "from . import ops\nx = ops.sqrt(1)\n"],
)
def test_what_others_read_of_the_file(reader: str) -> None:
    found = after({"ops.py": STAR + "def half(x): return x / sin(2.)\n", "program.py": f"{reader}import tensorflow\n"})
    assert "from tensorflow import sin, sqrt\n" in found["ops.py"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (STAR + "from numpy import *\nx = placeholder(float32)\n", "`from numpy import *` follows"),
        (STAR + "x = eval('placeholder')\n", "eval reads names at run time (program.py:2)"),
        (STAR + "x = globals()['placeholder']\n", "globals reads names at run time (program.py:2)"),
        (STAR + "x = placeholder(unheard_of)\n", "`unheard_of` is not known as one of its names (program.py:2)"),
        ("from tensorflow.python.ops.nn_ops import *\nx = convolution_v2(1)\n", "`convolution_v2` is not known"),
    ],
)
def test_what_is_not_followed_is_told(text: str, why: str) -> None:
    (said,) = told({"program.py": text})
    assert said.fix is None and why in said.message
    assert text.splitlines()[0] in after({"program.py": text})["program.py"]


@pytest.mark.parametrize(
    "text",
    [
        STAR + "x = 1\n",
        "from numpy import *\nimport tensorflow\nx = sqrt(1)\n",
        "from tensorflow_datasets import *\nx = load('mnist')\n",
        STAR + "from numpy import *\nprint = 1\n",
    ],
)
def test_left_alone(text: str) -> None:
    assert after({"program.py": text}) == {"program.py": text}
    assert told({"program.py": text}) == []


def test_a_program_is_followed() -> None:
    lines = ["predictions = layers.dense(features['x'], 1)", LOSS, TRAIN_OP, SPEC]
    body = "".join(f"    {line.replace('tf.', '')}\n" for line in lines)
    program = f"def model_fn(features, labels, mode):\n{body}\n\nestimator.Estimator(model_fn).train(read, steps=1)\n"
    found = migrate_all({"program.py": f"{STAR}from data import read\n\n\n{program}"})["program.py"]
    assert "class Model(tf.keras.Model)" in found and "tf.keras.layers.Dense(1)" in found and "*" not in found
