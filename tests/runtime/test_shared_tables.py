"""Columns of a model_fn that share a table train it in Keras as in TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from both_sides import new_program, old_program

pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")

COLUMNS = """\
home = tf.feature_column.categorical_column_with_identity("home", 6)
away = tf.feature_column.categorical_column_with_identity("away", 6)
weighted = tf.feature_column.weighted_categorical_column(away, "form")
teams = tf.feature_column.shared_embedding_columns(
    [home, weighted], 2, "sum", tf.constant_initializer(0.5), "teams", max_norm=0.6)
"""
PROGRAM = """\
import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(5)
X = {{"home": RANDOM.randint(0, 6, (40, 1)), "away": RANDOM.randint(0, 6, (40, 2)), "form": RANDOM.rand(40, 2)}}
X["form"] = X["form"].astype("float32")
Y = RANDOM.rand(40, 1).astype("float32")
{outside}

def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


def model_fn(features, labels, mode):
{inside}
    net = tf.feature_column.input_layer(features, teams)
{more}
    logits = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer([[0.1], [-0.2], [0.3], [0.4]]))
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdagradOptimizer(0.3).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, "{folder}")
estimator.train(input_fn)
result = estimator.evaluate(input_fn)
"""


@pytest.mark.parametrize("inside", [False, True])
def test_one_table_is_trained(inside: bool, tmp_path: Path) -> None:
    indented = "".join(f"    {line}" for line in COLUMNS.splitlines(keepends=True))
    parts = {"outside": "" if inside else COLUMNS, "inside": indented if inside else "    # Two columns of the table"}
    parts["more"] = "    # All of the network"
    with tf.Graph().as_default():  # which an Estimator makes, but for columns outside of it
        old = old_program(PROGRAM.format(folder=tmp_path / "old", **parts), tmp_path)
    new = new_program(PROGRAM.format(folder=tmp_path / "new", **parts), tmp_path, exact=True)
    (table,) = [variable for variable in new.model.weights if variable.shape == (6, 2)]
    assert len(new.model.trainable_variables) == 3
    expected = old.estimator.get_variable_value("input_layer/teams/embedding_weights")
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(table.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(new.result["loss"], old.result["loss"], rtol=1e-6)


MORE_LAYERS = """\
    net -= 2.0 * tf.feature_column.input_layer(features, teams[::-1])
    again = tf.feature_column.shared_embedding_columns([home], 2, "mean", None, "teams")
    net *= tf.tile(tf.feature_column.input_layer(features, again), [1, 2])
    net += tf.feature_column.linear_model(features, teams, units=4)
    for team in teams:
        net += tf.tile(tf.feature_column.input_layer(features, [team]), [1, 2])"""


@pytest.mark.parametrize("features", ["columns", "preprocessing"])
def test_several_layers_train_one_table(features: str, tmp_path: Path) -> None:
    parts = {"outside": COLUMNS, "inside": "    # Two columns of the table", "more": MORE_LAYERS}
    with tf.Graph().as_default():
        old = old_program(PROGRAM.format(folder=tmp_path / "old", **parts), tmp_path)
    new = new_program(PROGRAM.format(folder=tmp_path / "new", **parts), tmp_path, features=features, exact=True)
    (table,) = [variable for variable in new.model.weights if variable.shape == (6, 2)]
    names = old.estimator.get_variable_names()
    (name,) = [name for name in names if name.endswith("teams/embedding_weights")]
    np.testing.assert_allclose(table.numpy(), old.estimator.get_variable_value(name), rtol=1e-5)
    np.testing.assert_allclose(new.result["loss"], old.result["loss"], rtol=1e-6)
