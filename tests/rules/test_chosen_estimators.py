"""Canned Estimators of a class that a table, or its name, chooses."""

from __future__ import annotations

import pytest
from modelfn.programs import run, units

HEAD = """\
import tensorflow as tf

COLUMNS = [tf.feature_column.numeric_column("x")]
"""
NAMES = 'CLASSES = {"wide": "LinearClassifier", "none": "BaselineClassifier"}\n'
CLASSES = 'CLASSES = {"wide": tf.estimator.LinearClassifier, "none": tf.estimator.BaselineClassifier}\n'
ARGUMENTS = 'ARGUMENTS = {"wide": {"feature_columns": COLUMNS}, "none": {}}\n'
BY_NAME, BY_CLASS = "getattr(tf.estimator, CLASSES[name])", "CLASSES[name]"
USE = """

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1])).repeat()


model = build(NAME)
model.train(input_fn, steps=3)
"""


def program(made: str, tables: str = NAMES + ARGUMENTS, given: str = "n_classes=2, **ARGUMENTS[name]") -> str:
    return f"{HEAD}{tables}\n\ndef build(name):\n    return {made}({given})\n{USE}"


def tiers(source: str, **more: str) -> list[str]:
    return [unit.tier for unit in units(run({"program.py": source, **more}))]


@pytest.mark.parametrize(
    ("made", "tables"),
    [
        (BY_NAME, NAMES + ARGUMENTS),
        (BY_CLASS, CLASSES + ARGUMENTS),
        (BY_NAME, NAMES + ARGUMENTS + "print(sorted(CLASSES))\n"),
        (BY_NAME, NAMES + ARGUMENTS.replace('{"feature_columns": COLUMNS}', "dict(feature_columns=COLUMNS)")),
    ],
)  # fmt: skip
def test_each_is_made_where_the_choice_falls_on_it(made: str, tables: str) -> None:
    source = program(made, tables)
    text = run(source)["program.py"].after.decode()
    assert tiers(source) == ["native", "native"]
    assert 'if name == "wide":\n' in text and 'elif name == "none":\n' in text and "raise KeyError(name)\n" in text
    assert ".fit(input_fn().take(3))" in text and "ARGUMENTS" not in text and "getattr" not in text
    assert ("CLASSES" in text) == ("sorted" in tables)


def test_a_class_by_its_name() -> None:
    source = program('getattr(tf.estimator, "LinearClassifier")', given="COLUMNS")
    assert tiers(source) == ["native"] and "getattr" not in run(source)["program.py"].after.decode()


def test_tables_of_another_file() -> None:
    tables = f"{HEAD}{NAMES}{ARGUMENTS}"
    source = program(BY_NAME, "").replace("import tensorflow as tf\n", "import tensorflow as tf\nimport tables\n")
    source = source.replace("CLASSES[", "tables.CLASSES[").replace("ARGUMENTS[", "tables.ARGUMENTS[")
    assert tiers(source, **{"tables.py": tables}) == ["native", "native"]


@pytest.mark.parametrize(
    ("made", "tables"),
    [
        (BY_NAME, NAMES + ARGUMENTS + "CLASSES['other'] = load()\n"),
        (BY_NAME, NAMES + ARGUMENTS + "ARGUMENTS['wide']['optimizer'] = load()\n"),
        (BY_NAME, NAMES + ARGUMENTS + "ARGUMENTS.update(load())\n"),
        (BY_NAME, NAMES + ARGUMENTS.replace("COLUMNS}", "load()}")),
        (BY_NAME, NAMES + ARGUMENTS + "COLUMNS = load()\n"),
        (BY_NAME, NAMES.replace('"BaselineClassifier"', "NAME") + ARGUMENTS),
        (BY_NAME, NAMES.replace("Baseline", "BoostedTrees") + ARGUMENTS),
        (BY_NAME.replace("tf.estimator", "other"), NAMES + ARGUMENTS),
        (BY_CLASS, CLASSES.replace("tf.estimator.Baseline", "other.Baseline") + ARGUMENTS),
        (BY_CLASS.replace("[name]", "[load()]"), CLASSES + ARGUMENTS),
        (BY_CLASS, CLASSES + ARGUMENTS + "print(CLASSES)\n"),
        (BY_NAME, ARGUMENTS + "CLASSES = load()\n"),
    ],
)
def test_what_is_not_seen_stays(made: str, tables: str) -> None:
    source = program(made, tables)
    assert run(source)["program.py"].after.decode() == source


OPTION = "getattr(tf.estimator, FLAGS.kind)"
PARSED = """\
parser = argparse.ArgumentParser()
parser.add_argument("--kind", choices={choices})
FLAGS = parser.parse_args()
"""
LINEAR = '["LinearClassifier", "LinearRegressor"]'


@pytest.mark.parametrize(
    "option",
    [
        f"import argparse\n{PARSED.format(choices=LINEAR)}",
        f"FLAGS = tf.flags.FLAGS\ntf.flags.DEFINE_enum('kind', 'LinearClassifier', {LINEAR}, 'which')\n",
        f"FLAGS = tf.flags.FLAGS\ntf.flags.DEFINE_enum('kind', None, enum_values={LINEAR}, help='which')\n",
    ],
)
def test_a_class_among_those_that_an_option_may_name(option: str) -> None:
    source = program(OPTION, option, "feature_columns=COLUMNS")
    text = run(source)["program.py"].after.decode()
    assert tiers(source) == ["native", "native"] and "getattr" not in text
    assert 'if FLAGS.kind == "LinearClassifier":\n' in text and 'elif FLAGS.kind == "LinearRegressor":\n' in text


@pytest.mark.parametrize(
    "option",
    [
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--kind')\nFLAGS = parser.parse_args()\n",
        f"import argparse\n{PARSED.format(choices='NAMES')}",
        f"import argparse\n{PARSED.format(choices='[NAME, *NAMES]')}",
        f"import argparse\n{PARSED.format(choices=LINEAR)}parser.add_argument('--kind')\n",
        f"import argparse\n{PARSED.format(choices=LINEAR.replace('LinearR', 'R'))}",
    ],
)
def test_a_class_that_an_option_names_anyhow(option: str) -> None:
    source = program(OPTION, option, "feature_columns=COLUMNS")
    assert "getattr(tf.estimator, FLAGS.kind)" in run(source)["program.py"].after.decode()
