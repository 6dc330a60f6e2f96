"""Dropout under `if training`: a layer, where the share is one of the program's numbers."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn

BODY = """
training = mode == tf.estimator.ModeKeys.TRAIN
net = tf.layers.dense(features["x"], 4)
if {test}:
    # only then
    net = {dropout}
predictions = tf.layers.dense(net, 1)
"""
TRAIN = "mode == tf.estimator.ModeKeys.TRAIN"


def call(dropout: str, test: str = TRAIN) -> tuple[str, str]:
    """The constructor and `call` of the model."""
    text = migrate(model_fn(BODY.format(test=test, dropout=dropout), before="KEPT = 0.8"))
    return method(text, "__init__"), method(text, "call")


@pytest.mark.parametrize("test", [TRAIN, "tf.estimator.ModeKeys.TRAIN == mode", "training"])
@pytest.mark.parametrize(
    ("dropout", "rate"),
    [
        ("tf.nn.dropout(net, keep_prob=0.9)", "0.1"),
        ("tf.nn.dropout(net, KEPT)", "1 - KEPT"),
        ('tf.nn.dropout(net, params["keep"])', '1 - params["keep"]'),
        ("tf.nn.dropout(net, rate=0.3)", "0.3"),
        ('tf.nn.dropout(net, 1.0 - params["drop"])', 'params["drop"]'),
        ("tf.nn.dropout(net, keep_prob=1 - (KEPT + 0.1))", "KEPT + 0.1"),
        ("tf.nn.dropout(net, 1 - KEPT - 0.1)", "1 - (1 - KEPT - 0.1)"),
        ("tf.nn.dropout(net, 2 - KEPT)", "1 - (2 - KEPT)"),
    ],
)
def test_a_layer(dropout: str, rate: str, test: str) -> None:
    made, called = call(dropout, test)
    assert f"self.dropout = tf.keras.layers.Dropout({rate})" in made
    assert "    # only then\n    net = self.dropout(net, training=training)\n" in called
    assert "if training" not in called


@pytest.mark.parametrize(
    ("test", "dropout", "told"),
    [
        ('training and params["keep"] < 1', 'tf.nn.dropout(net, params["keep"])', "training"),
        (f'params["drop"] > 0 and {TRAIN}', 'tf.nn.dropout(net, rate=params["drop"])', "training"),
        ('training and params["wide"]', "tf.nn.dropout(net, 0.9)", 'training and self.params["wide"]'),
        (
            'training and params["keep"] < 0.5',
            'tf.nn.dropout(net, params["keep"])',
            'training and self.params["keep"] < 0.5',
        ),
    ],
)
def test_a_condition_beside_that_of_training(test: str, dropout: str, told: str) -> None:
    _, called = call(dropout, test)
    assert f"    net = self.dropout(net, training={told})\n" in called


PTB = """
training = mode == tf.estimator.ModeKeys.TRAIN
with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
    def make_cell():
        cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        if training and params["keep"] < 1:
            cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=params["keep"])
        return cell

    cell = tf.nn.rnn_cell.MultiRNNCell([make_cell() for _ in range(2)])
    outputs, _ = tf.nn.dynamic_rnn(cell, features["x"], dtype=tf.float32)
    predictions = tf.layers.dense(outputs[:, -1], 1)
"""


def test_cells_of_a_function_in_a_scope_with_an_initializer() -> None:
    made = method(migrate(model_fn(PTB)), "__init__")
    assert 'cell = DropoutWrapper(cell, output_keep_prob=params["keep"])' in made
    assert "DynamicRNN(cell, initializer=tf.keras.initializers.RandomUniform(-0.1, 0.1))" in made


def test_one_layer_for_each_turn_of_a_loop() -> None:
    body = f"""
    kept = list(map(float, params["kept"].split(",")))
    net = features["x"]
    for i in range(len(params["units"])):
        net = tf.layers.dense(net, params["units"][i])
        if {TRAIN}:
            net = tf.nn.dropout(net, keep_prob=kept[i])
    predictions = tf.layers.dense(net, 1)
    """
    text = migrate(model_fn(body))
    assert "tf.keras.layers.Dropout(1 - kept[i])" in method(text, "__init__")
    assert "net = dropout(net, training=training)" in method(text, "call")


@pytest.mark.parametrize(
    ("dropout", "test"),
    [
        ('tf.nn.dropout(net, features["kept"])', TRAIN),
        ("tf.nn.dropout(net, tf.constant(0.5))", TRAIN),
        ("tf.nn.dropout(net, 0.5, seed=3)", TRAIN),
        ("tf.nn.dropout(tf.nn.relu(net), 0.5)", TRAIN),
        ("tf.nn.dropout(net, 0.5)", 'params["drops"]'),
    ],
)
def test_what_stays_a_function(dropout: str, test: str) -> None:
    made, called = call(dropout, test)
    assert "Dropout" not in made and "tf.nn.dropout(" in called


HELPER = """
def encode(net, {parameter}):
    net = tf.layers.dense(net, 4)
    if {flag}:
        net = tf.nn.dropout(net, keep_prob=0.9)
    return net

"""
CALL = f"""
net = encode(features["x"], {{argument}})
net += encode(features["x"], {TRAIN})
predictions = tf.layers.dense(net, 1)
"""


@pytest.mark.parametrize("parameter", ["is_training", "training=False"])
def test_a_helper_that_is_told_whether_it_trains(parameter: str) -> None:
    flag = parameter.partition("=")[0]
    text = migrate(model_fn(CALL.format(argument=TRAIN), before=HELPER.format(parameter=parameter, flag=flag)))
    assert "tf.keras.layers.Dropout(0.1)" in text and "tf.nn.dropout" not in text


@pytest.mark.parametrize("parameter", ["training=None", "drops"])
def test_a_helper_whose_parameter_may_say_something_else(parameter: str) -> None:
    flag = parameter.partition("=")[0]
    text = migrate(model_fn(CALL.format(argument=TRAIN), before=HELPER.format(parameter=parameter, flag=flag)))
    assert "Dropout(" not in text and "tf.nn.dropout(" in text
