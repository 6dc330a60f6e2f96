"""Columns that are numbers by a name alone become the names, and canned models read the features."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, migrate, run

PROGRAM = """
import tensorflow.compat.v1 as tf


def input_fn():
    data = {{"x": [1.0, 2.0], "y": [1, 2]}}, [0, 1]
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(2)


{columns}
estimator = tf.estimator.{made}
estimator.train(input_fn, steps=5)
"""
DNN = "DNNRegressor([4], COLUMNS)"
NUMBER = "tf.feature_column.numeric_column"


def source(columns: str, made: str = DNN) -> str:
    return PROGRAM.format(columns=textwrap.dedent(columns), made=made)


def written(columns: str, made: str = DNN) -> str:
    """The program after migration, without any feature column; nothing is vendored for it."""
    assert HELPERS not in run(source(columns, made))
    text = migrate(source(columns, made))
    assert "feature_column." not in text and "InputFeatures" not in text
    return text


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (f'COLUMNS = [{NUMBER}("x"), {NUMBER}(key="y")]', 'COLUMNS = ["x", "y"]'),
        (f'COLUMNS = [{NUMBER}(k) for k in ("x", "y")]', 'COLUMNS = ["x", "y"]'),
        (f'KEYS = "xy"\nCOLUMNS = [{NUMBER}(k) for k in KEYS]', "COLUMNS = list(KEYS)"),
        (f'KEYS = "xy"\nCOLUMNS = set([{NUMBER}(key=k) for k in KEYS])', "COLUMNS = set(KEYS)"),
        (f'COLUMNS = [{NUMBER}("a" + k) for k in "xy" if k != "x"]', 'COLUMNS = ["a" + k for k in "xy" if k != "x"]'),
        (f'COLUMNS = []\nfor k in ["x", "y"]:\n    COLUMNS.append({NUMBER}(k))', 'COLUMNS = list(["x", "y"])'),
        (f"COLUMNS = []\nfor k in 'xy':\n    COLUMNS.append({NUMBER}(k))\nprint(k)", "    COLUMNS.append(k)\n"),
        (f"COLUMNS = []\nfor k in 'xy':\n    # each\n    COLUMNS.append({NUMBER}(k))", "    COLUMNS.append(k)\n"),
        (f"COLUMNS = ['x']\nfor k in 'y':\n    COLUMNS.append({NUMBER}(k))", "    COLUMNS.append(k)\n"),
        (f'def make():\n    return [{NUMBER}("x")]\n\n\nCOLUMNS = make()', '    return ["x"]\n'),
        ('fc = tf.feature_column\nCOLUMNS = [fc.numeric_column("x")]', 'COLUMNS = ["x"]'),
        (f'X = {NUMBER}("x")\nCOLUMNS = [X]', 'X = "x"\nCOLUMNS = [X]'),
    ],
)  # fmt: skip
def test_names_take_the_places_of_columns(columns: str, names: str) -> None:
    assert names in written(columns)


COLUMNS = f'COLUMNS = [{NUMBER}("x"), {NUMBER}("y")]'


def test_a_network_on_numbers() -> None:
    text = written(COLUMNS)
    assert "        self.feature_names = sorted(feature_columns)\n" in text
    assert "numbers = [tf.cast(tf.reshape(features[name], [-1, 1]), tf.float32) for name in self.feature_names]" in text
    assert "        net = tf.concat(numbers, axis=1)\n" in text and "a network on features." in text


def test_a_weighted_sum_of_numbers() -> None:
    text = written(COLUMNS, "LinearClassifier(COLUMNS)")
    weights = 'tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros", name=name)'
    assert weights in text and "def column_weights(" not in text
    assert "return tf.add_n(sums) + self.bias\n" in text


def test_both() -> None:
    made = (
        "DNNLinearCombinedClassifier(linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[2])"
    )
    text = written(COLUMNS, made)
    assert "return self.logits(net) + tf.add_n(sums) + self.bias\n" in text


@pytest.mark.parametrize(
    ("columns", "made"),
    [
        (f'COLUMNS = [{NUMBER}("x", shape=(2,))]', DNN),
        (f'COLUMNS = [{NUMBER}("x", normalizer_fn=abs)]', DNN),
        (f'COLUMNS = [{NUMBER}(*["x"])]', DNN),
        (f'COLUMNS = [{NUMBER}("x"), tf.feature_column.bucketized_column({NUMBER}("y"), [1.0])]', DNN),
        (f"{COLUMNS}\nSPEC = tf.feature_column.make_parse_example_spec(COLUMNS)", DNN),
        (f"{COLUMNS}\nprint([column.name for column in COLUMNS])", DNN),
        (f'number = {NUMBER}\nCOLUMNS = [number("x")]\nprint(number)', DNN),
        (f'COLUMNS = [print({NUMBER}("x"))]', DNN),
        (f'W = {NUMBER}("y")\nCOLUMNS = [{NUMBER}("x")]', "DNNRegressor([4], COLUMNS, weight_column=W)"),
        (COLUMNS, "LinearClassifier(COLUMNS, sparse_combiner='mean')"),
    ],
)  # fmt: skip
def test_other_columns_stay(columns: str, made: str) -> None:
    text = migrate(source(columns, made))
    assert "feature_column.numeric_column" in text and "feature_names" not in text


def test_columns_for_helpers_stay() -> None:
    text = migrate(source(COLUMNS, "DNNRegressor([4], COLUMNS, warm_start_from='models')"))
    assert "feature_column.numeric_column" in text and ".fit(" not in text
