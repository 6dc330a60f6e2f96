"""Weights that a program reads by the names which a canned Estimator gave them."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run

PROGRAM = """import tensorflow.compat.v1 as tf


def input_fn(repeat=1):
    data = {{"x": [1.0, 2.0], "w": [1.0, 2.0]}}, [0, 1]
    return tf.data.Dataset.from_tensor_slices(data).repeat(repeat).batch(2)


COLUMNS = [tf.feature_column.numeric_column("x", 1)]
estimator = tf.estimator.{}
estimator.train(lambda: input_fn(None), steps=5)
key = "x"
"""
LINEAR = "LinearRegressor(COLUMNS)"
NETWORK = "DNNClassifier([4, 2], COLUMNS)"
BASELINE = "BaselineRegressor()"
COMBINED = (
    "DNNLinearCombinedRegressor(linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[2])"
)


def written(made: str, uses: str) -> str:
    source = PROGRAM.format(made) + uses
    assert HELPERS not in run(source)
    return joined(migrate(source))


@pytest.mark.parametrize(
    ("made", "name", "value"),
    [
        (LINEAR, "'linear/linear_model/bias_weights'", "model.bias.numpy()"),
        (LINEAR, "name='linear/linear_model/x/weights'", 'model.get_layer("x").get_weights()[0]'),
        (LINEAR, "'linear/linear_model/%s/weights' % key", "model.get_layer(key).get_weights()[0]"),
        (LINEAR, "'linear/linear_model/{}/weights'.format(key)", "model.get_layer(key).get_weights()[0]"),
        (LINEAR, "f'linear/linear_model/{key}/weights'", "model.get_layer(key).get_weights()[0]"),
        (LINEAR, "'global_step'", "model.optimizer.iterations.numpy()"),
        (NETWORK, "'dnn/hiddenlayer_1/kernel'", "model.hidden_layers[1].kernel.numpy()"),
        (NETWORK, "'dnn/logits/bias'", "model.logits.bias.numpy()"),
        ("DNNRegressor([4], COLUMNS)", "'dnn/logits/bias'", "model.prediction.bias.numpy()"),
        (BASELINE, "'baseline/bias'", "model.bias.numpy()"),
        (COMBINED, "'linear/linear_model/bias_weights'", "model.bias.numpy()"),
        (COMBINED, "'dnn/hiddenlayer_0/bias'", "model.hidden_layers[0].bias.numpy()"),
    ],
)
def test_values(made: str, name: str, value: str) -> None:
    text = written(made, f"print(estimator.get_variable_value({name}))\n")
    assert f"print({value})\n" in text and "named_weights" not in text


@pytest.mark.parametrize("made", [LINEAR, BASELINE])
def test_all_names(made: str) -> None:
    text = written(made, "print({n: estimator.get_variable_value(n).shape for n in estimator.get_variable_names()})\n")
    assert "print({n: model.named_weights()[n].numpy().shape for n in list(model.named_weights())})\n" in text
    assert text.count("def named_weights(self):") == 1


def test_names_that_are_shown() -> None:
    source = PROGRAM.format(NETWORK) + "print(estimator.get_variable_names())\n"
    assert "print([weight.name for weight in model.weights])\n" in migrate(source)
    assert any("those that Keras gives the weights" in d.message for o in run(source).values() for d in o.remaining)


@pytest.mark.parametrize(
    ("made", "uses"),
    [
        (NETWORK, "names = estimator.get_variable_names()\n"),
        (NETWORK, "print(estimator.get_variable_value(key))\n"),
        (NETWORK, "print(estimator.get_variable_value('dnn/logits/kernel/Adagrad'))\n"),
        (COMBINED, "print(estimator.get_variable_value('dnn/%s/%s' % (key, key)))\n"),
    ],
)
def test_names_that_a_model_has_not_stay_with_helpers(made: str, uses: str) -> None:
    source = PROGRAM.format(made) + uses
    assert HELPERS in run(source) and "variable_" in migrate(source)


def test_a_list_of_names_with_the_step_is_no_result_of_an_evaluation() -> None:
    uses = "print(estimator.evaluate(input_fn)['loss'])\n"
    uses += "print([n for n in estimator.get_variable_names() if n not in ['global_step']])\n"
    assert "if n not in ['global_step']]" in written(LINEAR, uses)


OWN = """import tensorflow as tf


def model_fn(features, labels, mode):
    table = tf.get_variable("table", [4, 2])
    with tf.variable_scope("tower"):
        net = tf.layers.dense(tf.nn.embedding_lookup(table, features["id"]), 3, name="hidden")
    for _ in range(2):
        net = tf.layers.dense(net, 3)
    loss = tf.reduce_mean(tf.square(net))
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions={"net": net})


estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: tf.data.Dataset.from_tensors({"id": [1]}).repeat(), steps=5)
key = "table"
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("'table'", "model.table.embeddings.numpy()"),
        ("name='tower/hidden/kernel'", "model.hidden.kernel.numpy()"),
        ("'global_step'", "model.optimizer.iterations.numpy()"),
    ],
)
def test_values_of_a_model_fn(name: str, value: str) -> None:
    source = f"{OWN}print(estimator.get_variable_value({name}).shape)\n"
    assert HELPERS not in run(source)
    assert f"print({value}.shape)\n" in joined(migrate(source))


def test_names_of_a_model_fn_that_are_shown() -> None:
    assert "print([weight.name for weight in model.weights])\n" in migrate(
        f"{OWN}print(estimator.get_variable_names())\n"
    )


@pytest.mark.parametrize("name", ["key", "'dense/kernel'", "'table/Adam'", "'table:0'", "'tower/' + key"])
def test_values_of_which_it_is_not_known_what_they_are(name: str) -> None:
    after = run(f"{OWN}print(estimator.get_variable_value({name}))\n")
    assert ".fit(" not in after["program.py"].after.decode()
