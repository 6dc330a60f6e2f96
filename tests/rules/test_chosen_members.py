"""Estimators that functions make which are taken of files whose names are put together at run time."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate_all

NET = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def build(folder):
    return tf.estimator.Estimator(model_fn, folder)
"""
MAIN = """import importlib
import sys

import tensorflow as tf

import common

name = sys.argv[1]
build = {taken}
estimator = build("here")
estimator.train(lambda: tf.data.Dataset.from_tensor_slices(({{"x": [[1.0]]}}, [[1.0]])).batch(1), steps=1)
"""


def migrated(taken: str, nets: tuple[str, ...] = ("deep",)) -> str:
    """The file that takes the function."""
    files = {"main.py": MAIN.format(taken=taken), "common.py": "X = 1\n", "nets/__init__.py": ""}
    files |= {f"nets/{name}.py": NET.replace("import tensorflow", "import common\nimport tensorflow") for name in nets}
    return migrate_all(files)["main.py"]


@pytest.mark.parametrize(
    "taken",
    [
        'getattr(importlib.import_module("nets.{}".format(name)), "build")',
        'importlib.import_module("nets." + name).build',
        'importlib.import_module("nets.%s" % name).build',
        'importlib.import_module(f"nets.{name}").build',
    ],
)
def test_what_it_makes_is_followed(taken: str) -> None:
    text = migrated(taken)
    assert "estimator.fit(" in text and ".train(" not in text and taken in text


@pytest.mark.parametrize(
    "taken",
    [
        'getattr(importlib.import_module("nets." + name), name)',
        'getattr(importlib.import_module("nets." + name), "build", None)',
    ],
)
def test_what_is_not_seen_to_be_of_the_program_is_left(taken: str) -> None:
    with pytest.raises(AssertionError, match="is imported by a call: write it as an import"):
        migrated(taken)


def test_a_name_of_two_parts_is_followed_and_else_refused() -> None:
    def files(taken: str) -> dict[str, str]:
        net = NET.replace("import tensorflow", "import common\nimport tensorflow")
        return {
            "main.py": MAIN.format(taken=taken),
            "common.py": "X = 1\n",
            "nets/__init__.py": "",
            "nets/deep/__init__.py": "",
            "nets/deep/deep.py": net,
        }

    module = 'importlib.import_module("nets.{}.{}".format(name, name))'
    assert "estimator.fit(" in migrate_all(files(f'getattr({module}, "build")'))["main.py"]
    with pytest.raises(AssertionError, match="is imported by a call: write it as an import"):
        migrate_all(files(f"getattr({module}, name)"))
