"""Short helpers stand in the program; long ones, and those that several files need, in a file beside it."""

from __future__ import annotations

import ast
import textwrap

import pytest
from modelfn.programs import HELPERS, PATH, migrate_all

from migrator.vendor.short_helpers import LINES, short_helpers, without_annotations

TRAIN = '\n\nestimator = tf.estimator.Estimator(model_fn, params={"rate": 0.1})\nestimator.train(make_input, steps=5)\n'


def program(optimizer: str, before: str = "", body: str = "", head: str = "import tensorflow as tf\n") -> str:
    """A program with a model_fn of an optimizer, which trains with `fit`."""
    return (
        head
        + textwrap.dedent(before)
        + f"""

def make_input():
    return tf.data.Dataset.from_tensors(({{"x": [[1.0]]}}, [[1.0]])).repeat()


# What it learns.
def model_fn(features, labels, mode, params):
    {body or 'prediction = tf.layers.dense(features["x"], 1)'}
    loss = tf.reduce_mean(tf.square(prediction - labels))
    train_op = tf.train.{optimizer}.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=prediction, loss=loss, train_op=train_op)
"""
        + TRAIN
    )


def test_a_short_class_stands_above_the_model_which_needs_it() -> None:
    after = migrate_all({PATH: program("RMSPropOptimizer(0.1)")})
    assert list(after) == [PATH]
    text = after[PATH]
    assert "tf2_training" not in text and text.count("\nclass RMSprop(tf.keras.optimizers.RMSprop):\n") == 1
    above, _, below = text.partition("\n\n\nclass RMSprop(")
    assert above.endswith("repeat()") and "\n\n\n# What it learns.\nclass " in below
    names = [node.name for node in ast.parse(text).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    assert names[:2] == ["make_input", "RMSprop"]


def test_it_has_no_annotations_and_needs_nothing_but_tensorflow() -> None:
    text = migrate_all({PATH: program("RMSPropOptimizer(0.1)")})[PATH]
    assert "def add_variable_from_reference(self, variable, name=None, **kwargs):\n" in text
    assert "annotations" not in text


@pytest.mark.parametrize(
    "program",
    [
        program("RMSPropOptimizer(0.1)", "\nRMSprop = 3\n"),
        program("RMSPropOptimizer(0.1)", head="import tensorflow as tensors\n").replace("tf.", "tensors."),
        program("RMSPropOptimizer(0.1)", "\n\ndef other():\n    RMSprop = 3\n    return RMSprop\n"),
        program("ProximalAdagradOptimizer(0.1)"),
    ],
    ids=["its name is taken", "tensorflow has another name", "its name is taken in a function", "long"],
)
def test_others_stand_in_a_file(program: str) -> None:
    after = migrate_all({PATH: program})
    assert HELPERS in after and "tf2_training" in after[PATH] and "\nclass RMSprop(" not in after[PATH]


def test_what_two_files_need_stands_in_a_file() -> None:
    model = program("RMSPropOptimizer(0.1)")
    other = model.replace("estimator.train", "import second\nsecond.run()\nestimator.train")
    files = {PATH: other, "second.py": model.replace("estimator.", "\n\ndef run():\n    estimator.", 1)}
    files["second.py"] = model.replace(TRAIN, f"\n\ndef run():{textwrap.indent(TRAIN, '    ')}")
    after = migrate_all(files)
    both = [text for path, text in after.items() if path != HELPERS]
    held = [text.count("\nclass RMSprop(") for text in both]
    assert held == [0, 0] if HELPERS in after else held == [1, 1]


def test_what_a_short_helper_is() -> None:
    assert short_helpers(["train"]) is None and short_helpers(["no_such_helper"]) is None
    assert short_helpers(["KernelOptimizer"]) is None
    adam = short_helpers(["Adam"])
    assert adam is not None and list(adam) == ["Adam"]
    assert sum(len(text.splitlines()) for text in adam.values()) < LINES
    assert list(short_helpers(["index_table_from_file"]) or ()) == ["index_table_from_file", "word_table"]


def test_annotations_go() -> None:
    head = "def f(a: int, *b: str, c: float = 1.0, **d: Any) -> None:"
    source = f'{head}\n    """Text."""\n    e: int = 1\n    g: str\n    return e\n'
    expected = 'def f(a, *b, c=1.0, **d):\n    """Text."""\n    e = 1\n    return e\n'
    assert without_annotations(source) == expected


def test_one_that_is_needed_below_a_statement_stands_above_it() -> None:
    """A canned model is compiled on the lines between two statements that stand close together."""
    text = """import tensorflow.compat.v1 as tf


def make_input():
    return tf.data.Dataset.from_tensors(({"x": [[1]]}, [[1.0]])).repeat()


columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.DNNRegressor([4], columns, optimizer=tf.train.RMSPropOptimizer(0.1))
estimator.train(make_input, steps=5)
"""
    after = migrate_all({PATH: text})[PATH]
    assert 0 < after.find("class RMSprop(") < after.find("optimizer=RMSprop(")
