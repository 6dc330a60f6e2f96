"""Optimizers of canned Estimators: those of contrib, and those that come through parameters and tables."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate

V1 = "import tensorflow.compat.v1 as tf\n"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("AdamWOptimizer(0.01, 0.1)", "AdamWOptimizer(weight_decay=0.01, learning_rate=0.1)"),
        ("AdamWOptimizer(tf.train.exponential_decay(0.1, STEP, 5, 0.5))", ""),
        ("AdamWOptimizer(weight_decay=lambda: 0.1)", ""),
        ("LARSOptimizer(0.1, skip_list=[])", "LARSOptimizer(0.1, skip_list=[])"),
        ("LARSOptimizer(0.1, skip_list=['bias'])", ""),
    ],
)
def test_optimizers_of_contrib(made: str, said: str) -> None:
    made = made.replace("STEP", "tf.train.get_global_step()")
    source = f"{V1}\ne = tf.estimator.DNNRegressor([8], C, optimizer=tf.contrib.opt.{made})\n"
    if said:
        assert said in migrate(source)
    else:
        assert "not seen to stay the same" in (text := manual_reason(source)) or "chooses variables by name" in text


HANDED = """def build(optimizer):
    return tf.estimator.LinearRegressor(COLUMNS, optimizer=optimizer)


estimator = build(tf.train.FtrlOptimizer(0.1))
"""
TABLE = """OPTIMIZERS = {"ftrl": tf.train.FtrlOptimizer(0.1), "adam": lambda: tf.train.AdamOptimizer(0.1)}
estimator = tf.estimator.LinearRegressor(COLUMNS, optimizer=OPTIMIZERS[NAME])
"""
DATA = """

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat()


estimator.train(input_fn, steps=3)
"""
COLUMN = 'COLUMNS = [tf.feature_column.numeric_column("x")]\n\n\n'


def test_optimizers_that_are_handed_over() -> None:
    text = migrate(f"import tensorflow as tf\n\n{COLUMN}{HANDED}{DATA}")
    assert "build(tf.keras.optimizers.Ftrl(0.1))" in text and "compile(optimizer=optimizer," in text


def test_optimizers_in_a_table() -> None:
    text = migrate(f"import tensorflow as tf\n\n{COLUMN}{TABLE}{DATA}")
    assert '"ftrl": tf.keras.optimizers.Ftrl(0.1), "adam": tf.keras.optimizers.Adam(0.1, epsilon=1e-8)' in text
    assert "compile(optimizer=OPTIMIZERS[NAME]," in text


def test_a_table_of_optimizers_that_something_else_reads_stays() -> None:
    program = f"import tensorflow as tf\n\n{COLUMN}{TABLE}print(OPTIMIZERS)\n{DATA}"
    assert "is not followed to an optimizer" in manual_reason(program)
