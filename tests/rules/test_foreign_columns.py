"""Columns of other libraries keep canned Estimators as they are; columns of the program, and other calls, do not."""

from __future__ import annotations

import pytest
from modelfn.programs import run, units

LIBRARY = "import tensorflow.compat.v1 as tf\nimport lib\nfrom lib import hashed_column\n"
OWN = "import tensorflow.compat.v1 as tf\n\n\ndef age_column():\n    return tf.feature_column.numeric_column('age')\n"


def tier(text: str, **others: str) -> str:
    """The tier of the one Estimator of a program."""
    (unit,) = units(run({"model.py": text, **{f"{name}.py": source for name, source in others.items()}}))
    return unit.tier


@pytest.mark.parametrize(
    "made",
    [
        "e = tf.estimator.LinearRegressor([hashed_column('a')])",
        "A = hashed_column('a')\ne = tf.estimator.LinearRegressor([A])",
        "A = []\nA.append(lib.hashed_column('a'))\ne = tf.estimator.LinearRegressor(feature_columns=A)",
        "def columns():\n    found = []\n    found += [hashed_column('a')]\n    return found\n"
        "e = tf.estimator.DNNLinearCombinedRegressor(linear_feature_columns=columns())",
        "def make():\n    a = hashed_column('a')\n    both = [a]\n    return tf.estimator.DNNRegressor([3], both)\ne = make()",
        "def make(key):\n    return hashed_column(key)\ne = tf.estimator.LinearRegressor([make(k) for k in 'ab'])",
    ],
)
def test_manual(made: str) -> None:
    assert tier(f"{LIBRARY}{made}\n") == "manual"


@pytest.mark.parametrize(
    "made",
    [
        "columns = lib.build()\ne = tf.estimator.LinearRegressor(columns)",  # may well be of TensorFlow
        "a = hashed_column('a')\nprint(a)\ne = tf.estimator.LinearRegressor(C)",
        "data = lib.drop_column(table)\ne = tf.estimator.LinearRegressor(C, model_dir=data.name)",
        "def a():\n    c = hashed_column('a')\ndef b():\n    c = C\n    return tf.estimator.LinearRegressor(c)\ne = b()",
        "def age_column():\n    return C[0]\ne = tf.estimator.LinearRegressor([age_column()])",
        "e = tf.estimator.LinearRegressor([lib.text_embedding_column_v2('a')])",
    ],
)
def test_left_alone(made: str) -> None:
    columns = "C = [tf.feature_column.numeric_column('x')]\n"
    assert tier(f"{LIBRARY}{columns}{made}\n") == "native"


@pytest.mark.parametrize(
    "imported", ["import columns", "from columns import age_column", "import columns as c", "from columns import *"]
)
def test_columns_of_the_program_are_known(imported: str) -> None:
    name = {"import columns": "columns.age_column", "import columns as c": "c.age_column"}.get(imported, "age_column")
    text = f"import tensorflow.compat.v1 as tf\n{imported}\ne = tf.estimator.LinearRegressor([{name}()])\n"
    assert tier(text, columns=OWN) == "native"
