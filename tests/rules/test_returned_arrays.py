"""Functions that return what numpy_input_fn makes."""

from __future__ import annotations

import importlib

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

returned_arrays = importlib.import_module("migrator.rules.inputs.returned_arrays")
HEAD = "import numpy as np\nimport tensorflow as tf\n\n\ndef make(x, y, n, train):\n"


def written(arguments: str, above: str = "") -> str:
    """The body of a function that returns what numpy_input_fn makes of the arguments."""
    source = f"{HEAD}{above}    return tf.estimator.inputs.numpy_input_fn({arguments})\n"
    drafts = Drafts(Project({"program.py": Module("program.py", source)}))
    returned_arrays.expand.expand(drafts, ["program.py"])
    return drafts.project.modules["program.py"].text.partition("train):\n")[2]


def made(dataset: str) -> str:
    return f"    def input_fn():\n        return tf.data.Dataset.{dataset}\n\n    return input_fn\n"


def test_what_is_known_is_one_expression() -> None:
    assert written("x, y, shuffle=False") == made("from_tensor_slices((x, y)).batch(128)")
    assert written("x, None, 8, n, False") == made("from_tensor_slices(x).repeat(n).batch(8)")
    assert written("x, y, n, None, True, 50") == made("from_tensor_slices((x, y)).repeat().shuffle(50).batch(n)")


def test_a_shuffle_that_is_not_known_is_a_condition() -> None:
    text = written("x, y, n, None if train else 1, train")
    assert ".repeat(None if train else 1)\n        if train:\n            dataset = dataset.shuffle(1000)\n" in text


def test_what_is_computed_is_computed_once() -> None:
    text = written('{"x": x, "id": np.arange(n)}, np.array(y), shuffle=False')
    assert text.startswith(
        '    features = {"x": x, "id": np.arange(n)}\n    labels = np.array(y)\n\n    def input_fn():\n'
    )
    assert "from_tensor_slices((features, labels))" in text


@pytest.mark.parametrize(
    ("arguments", "above"),
    [
        ("x, y", ""),
        ("x, y, shuffle=None", ""),
        ("x, y, shuffle=train()", ""),
        ("x, y, shuffle=False, num_threads=n", ""),
        ("x, y, shuffle=False, **n", ""),
        ("x, y, shuffle=False  # in order", ""),
        ("x, labels, shuffle=False", "    labels = None\n"),
        ("x, y, n, shuffle=False", "    if train:\n        n = 3\n"),
    ],
)
def test_others_are_left_alone(arguments: str, above: str) -> None:
    arguments += "\n" if "#" in arguments else ""
    assert "numpy_input_fn(" in written(arguments, above)
