"""Lambdas that make Estimators become functions with a name."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, run

INPUT = """def inputs():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]]))


COLUMNS = [tf.feature_column.numeric_column("x")]
"""
TABLE = """MODELS = {
    "linear": lambda folder, rate=0.1: tf.estimator.LinearRegressor(COLUMNS, folder, optimizer=tf.train.FtrlOptimizer(rate)),
    "deep net": lambda folder: tf.estimator.DNNRegressor([8], COLUMNS, folder),
}
for name in sorted(MODELS):
    model = MODELS[name]("out/" + name)
    model.train(inputs, steps=3)
"""
HEAD = f"import tensorflow as tf\n\n\n{INPUT}"


def test_a_table_of_lambdas() -> None:
    text = migrate(HEAD + TABLE)
    assert "def make_linear(folder, rate=0.1):\n" in text and "def make(folder):\n" in text
    assert '    "linear": make_linear,\n    "deep net": make,\n' in text and "tf2_" not in text


def test_a_lambda_with_a_name() -> None:
    use = "build = lambda folder: tf.estimator.LinearRegressor(COLUMNS, folder)\nbuild('out').train(inputs, steps=3)\n"
    text = migrate(HEAD + use)
    assert "def build(folder):\n" in text and "lambda" not in text


@pytest.mark.parametrize(
    "use",
    [
        "MODELS = [lambda d: tf.estimator.LinearRegressor(COLUMNS, d)]\n",
        "keep(lambda d: tf.estimator.LinearRegressor(COLUMNS, d))\n",
        'MODELS = {"a": lambda d:  # the first\n tf.estimator.LinearRegressor(COLUMNS, d)}\n',
        'MODELS = {"a": lambda d: print(tf.estimator.LinearRegressor(COLUMNS, d))}\n',
    ],
)
def test_others_stay(use: str) -> None:
    assert "lambda" in run(HEAD + use)["program.py"].after.decode()
