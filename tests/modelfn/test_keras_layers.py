"""Keras objects inside a model_fn: what they do in training, whether their statistics move, who makes them."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, migrate_all, model_fn

X = "x = features['x']\n"


def call_of(body: str, before: str = "") -> str:
    return method(migrate(model_fn(X + body, before=before)), "call")


@pytest.mark.parametrize(
    ("made", "applied"),
    [
        ("tf.keras.layers.Dropout(0.5)(x)", "(x, training=False)"),
        ("tf.keras.layers.Dropout(0.5)(x, training=True)", "(x, training=True)"),
        ("tf.keras.layers.Dropout(0.5)(x, True)", "(x, True)"),
        ("tf.keras.layers.Dropout(0.5)(x, training=mode == tf.estimator.ModeKeys.TRAIN)", "(x, training=training)"),
        ("tf.keras.layers.Dropout(0.5)(inputs=x)", "(inputs=x, training=False)"),
        ("tf.layers.Dropout(0.5)(x)", "(x, training=False)"),
        ("tf.layers.BatchNormalization()(x)", "(x, training=False)"),
        ("tf.layers.Dense(3)(x)", "(x)"),
        ("tf.keras.layers.Dense(3)(x)", "(x)"),
        ("tf.keras.Sequential([tf.keras.layers.Dense(3)])(x)", "(x)"),
        ("tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dropout(0.1)])(x)", "(x, training=False)"),
        ("tf.keras.layers.LSTM(3, recurrent_activation='tanh')(x)", "(x)"),
        ("tf.keras.layers.LSTM(3, recurrent_activation='tanh', dropout=0.1)(x)", "(x, training=False)"),
        ("tf.keras.layers.SimpleRNN(3, dropout=0.1)(x, None)", "(x, None, training=False)"),
    ],
)
def test_what_is_not_told_training_is_told_that_it_is_off(made: str, applied: str) -> None:
    line = next(line for line in call_of(f"predictions = {made}").splitlines() if "return self." in line)
    assert line.endswith(applied)


def test_a_named_object_is_told_in_each_call() -> None:
    body = """
    drop = tf.keras.layers.Dropout(0.5)
    a = drop(x)
    predictions = a + drop(features["w"], training=mode == tf.estimator.ModeKeys.TRAIN)
    """
    text = call_of("import math\n" + "\n".join(line.strip() for line in body.splitlines()))
    assert "a = self.drop(x, training=False)" in text
    assert 'self.drop(features["w"], training=training)' in text


@pytest.mark.parametrize("value", ["mode == tf.estimator.ModeKeys.TRAIN", "is_training"])
def test_the_learning_phase_becomes_the_argument_of_the_calls(value: str) -> None:
    text = call_of(
        "is_training = mode == tf.estimator.ModeKeys.TRAIN\n"
        f"tf.keras.backend.set_learning_phase({value})\npredictions = tf.keras.layers.Dropout(0.5)(x)"
    )
    assert "return self.dropout(x, training=training)" in text
    assert "learning_phase" not in text


@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        ("tf.keras.backend.set_learning_phase(True)  # HERE", "on in evaluation"),
        ("tf.keras.backend.set_learning_phase(params['on'])  # HERE", "not followed"),
    ],
)
def test_other_learning_phases_are_refused(phase: str, reason: str) -> None:
    source = model_fn(f"{X}{phase}\npredictions = tf.keras.layers.Dropout(0.5)(x)")
    assert reason in manual_reason(source.replace("set_learning_phase(True)  # HERE", "set_learning_phase(True)"))


def test_a_learning_phase_set_elsewhere_is_refused() -> None:
    source = model_fn(
        f"{X}predictions = tf.keras.layers.Dropout(0.5)(x)", before="tf.keras.backend.set_learning_phase(1)"
    )
    assert "learning phase" in manual_reason(source)


def test_recurrent_layers_have_the_defaults_of_tensorflow_1() -> None:
    text = migrate(model_fn(f"{X}h = tf.keras.layers.LSTM(3)(x)\npredictions = tf.keras.layers.GRU(units=2)(h)"))
    assert 'tf.keras.layers.LSTM(3, recurrent_activation="hard_sigmoid")' in text
    assert 'tf.keras.layers.GRU(units=2, recurrent_activation="hard_sigmoid", reset_after=False)' in text


def test_moving_statistics_stand_still_without_the_updates_of_the_object() -> None:
    text = migrate(model_fn(f"{X}predictions = tf.keras.layers.BatchNormalization(momentum=0.9)(x, training=True)"))
    assert "BatchNormalization(momentum=1.0)" in text


MAKER = """\
def make_network(units):
    return tf.keras.Sequential([tf.keras.layers.Dense(units), {layer}])
"""


def test_a_function_that_makes_a_keras_model_stays_as_it_is() -> None:
    before = MAKER.format(layer="tf.keras.layers.Dropout(0.1)")
    body = (
        "network = make_network(params['units'])\n"
        "predictions = network(features['x'], training=mode == tf.estimator.ModeKeys.TRAIN)"
    )
    text = migrate(model_fn(body, before=before))
    assert before in text
    assert 'self.network = make_network(params["units"])' in text.replace("'", '"')
    assert "self.network(features['x'], training=training)" in text
    text = migrate(model_fn(body.replace(", training=mode == tf.estimator.ModeKeys.TRAIN", ""), before=before))
    assert "self.network(features['x'], training=False)" in text


def test_a_functional_model_of_another_file() -> None:
    network = """\
import tensorflow as tf


def make(units):
    inputs = tf.keras.layers.Input(shape=(4,))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(units)(inputs))
"""
    source = model_fn("predictions = network.make(1)(features['x'])", before="import tensorflow as tf\nimport network")
    after = migrate_all({"program.py": source, "network.py": network})
    assert after["network.py"] == network
    assert "self.predictions = network.make(1)" in after["program.py"] or "network.make(1)" in after["program.py"]


CLASS = """\
class Network(tf.keras.Model):
    def __init__(self, units):
        super(Network, self).__init__()
        self.dense = {made}

    def call(self, inputs{training}):
        return self.dense(inputs)
"""


def test_a_class_of_the_program() -> None:
    before = CLASS.format(made="tf.keras.layers.Dense(units)", training="")
    text = migrate(model_fn("net = Network(3)\npredictions = net(features['x'])", before=before))
    assert "self.network = Network(3)" in text and "self.network(features['x'])" in text
    before = CLASS.format(made="tf.keras.layers.Dropout(units)", training=", training=True")
    text = migrate(model_fn("net = Network(3)\npredictions = net(features['x'])", before=before))
    assert "self.network(features['x'], training=True)" in text


REGULARIZED = f"""
loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()
{TRAIN_OP}
{SPEC}
"""


@pytest.mark.parametrize(
    ("body", "before", "reason"),
    [
        ("net = Network(3)", CLASS.format(made="tf.keras.layers.Dropout(0.1)", training=""), "takes no `training`"),
        ("net = Network(3)", CLASS.format(made="tf.layers.Dropout(0.1)", training=""), "takes no `training`"),
        (
            "net = make_network(3)",
            MAKER.format(layer="tf.keras.layers.BatchNormalization()"),
            "nothing runs the updates",
        ),
        ("net = tf.keras.layers.CuDNNLSTM(3)", "", "no CuDNNLSTM"),
        ("net = tf.keras.Sequential([tf.keras.layers.GRU(3)])", "", "defaults that TensorFlow 2 changed"),
        ("net = tf.keras.layers.Dense(3)\nnet.build([4, 3])", "", "`build` of a Keras object"),
        ("net = tf.keras.layers.Dropout(0.1)\nnets = [net]", "", "used for more"),
        ("nets = [tf.keras.layers.Dropout(0.1)]\nnet = nets[0]", "", "not called where it is made"),
    ],
)
def test_left_alone(body: str, before: str, reason: str) -> None:
    source = model_fn(f"{body}\npredictions = net(features['x'], training=True)", before=before)
    assert reason in manual_reason(source.replace(", training=True)", ")") if "takes no" in reason else source)


def test_regularizers_of_keras_are_not_in_the_collection() -> None:
    body = "predictions = tf.keras.layers.Dense(1, kernel_regularizer=tf.keras.regularizers.l2(0.1))(features['x'])"
    assert "regularizers of Keras layers" in manual_reason(model_fn(body, end=REGULARIZED))
    assert "self.losses" not in migrate(model_fn(body, end=f"{LOSS}\n{TRAIN_OP}\n{SPEC}"))


def test_what_only_the_first_call_makes_is_not_read_when_the_model_is_built() -> None:
    body = """
    net = tf.keras.layers.Dense(3)
    x = net(features["x"])
    {}
    predictions = {}
    """
    text = migrate(model_fn(body.format("size = net.units", "tf.matmul(x, net.kernel) + size")))
    assert "tf.matmul(x, self.net.kernel)" in text.replace("self.dense", "self.net")
    assert "before it exists" in manual_reason(model_fn(body.format("kernel = net.kernel", "x + kernel")))
    call = method(migrate(model_fn(body.format("penalty = sum(net.losses)", "x + penalty"))), "call")
    assert "penalty = sum(self.net.losses)" in call.replace("self.dense", "self.net")


AROUND = """\
class Wrapper(object):
    def __init__(self, net):
        self.net = net


def make(units):
    net = tf.keras.Sequential([tf.keras.layers.Dense(units)])

    def scaled(x):
        return net(2 * x)

    return {returned}
"""


def test_a_function_around_layers_becomes_one_of_the_model() -> None:
    body = "net = make(3)\npredictions = net(features['x']) + net(features['w'])"
    text = migrate(model_fn(body, before=AROUND.format(returned="scaled")))
    assert text.count(" = tf.keras.Sequential(") == 1 and "def make" not in text
    assert "(2 * x)" in method(text, "call", "Model")


def test_two_such_functions_are_not_native() -> None:
    body = "first = make(3)\nsecond = make(2)\npredictions = second(first(features['x']))"
    assert "hides" in manual_reason(model_fn(body, before=AROUND.format(returned="scaled")))


def test_a_lambda_that_makes_layers_becomes_a_function() -> None:
    body = """
    dense = lambda units, activation=tf.nn.relu: tf.keras.layers.Dense(units, activation=activation)
    net = tf.keras.Sequential([dense(3), dense(2, activation=None)])
    predictions = net(features["x"])
    """
    text = migrate(model_fn(body))
    assert (
        """
def dense(units, activation=tf.nn.relu):
    return tf.keras.layers.Dense(units, activation=activation)
"""
        in text
    )
    assert "Sequential([dense(3), dense(2, activation=None)])" in method(text, "__init__", "Model")


def test_a_lambda_that_makes_no_layers_stays() -> None:
    body = "scale = lambda x: 2.0 * x\npredictions = tf.layers.dense(scale(features['x']), 1)"
    assert "lambda x: 2.0 * x" in migrate(model_fn(body))


@pytest.mark.parametrize("returned", ["lambda x: net(x)", "functools.partial(net, training=False)", "Wrapper(net)"])
def test_layers_that_the_model_would_not_see_are_left(returned: str) -> None:
    source = model_fn("net = make(3)\npredictions = net(features['x'])", before=AROUND.format(returned=returned))
    assert "hides them from the model" in manual_reason(f"import functools\n{source}")


def test_functions_inside_of_one_that_returns_a_model_hide_nothing() -> None:
    source = model_fn("net = make(3)\npredictions = net(features['x'])", before=AROUND.format(returned="net"))
    assert " = make(3)" in method(migrate(source), "__init__", "Model")


def test_layers_that_are_objects_are_applied_in_call() -> None:
    """Weights that `compute_loss` would make first are none for whoever builds the model."""
    body = """
    extract = tf.layers.Dense(3)
    classify = tf.layers.Dense(3)
    judge = tf.layers.Dense(2)
    source = extract(features["w"])
    target = tf.negative(extract(features["x"]))
    predictions = tf.nn.softmax(classify(target))
    loss, train_op = None, None
    if mode == tf.estimator.ModeKeys.TRAIN:
        loss = tf.reduce_mean(tf.square(labels - classify(source)))
        both = tf.concat([source, target], axis=0)
        judged = tf.reduce_mean(judge(both))
        loss = loss + judged
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    """
    text = migrate(model_fn(body, end=SPEC))
    assert "self.judge(" in method(text, "call") and "self.judge(" not in method(text, "compute_loss")


CLOSURES = """
def make_encoder(units):
    net = tf.keras.Sequential([tf.keras.layers.Dense(units), tf.keras.layers.Dense(3)])

    def encoder(x):
        return net(2.0 * x)

    return encoder


"""


def test_functions_that_apply_layers_are_the_forward_pass() -> None:
    body = (
        'encode = make_encoder(params["units"])\ncode = encode(features["x"])\nloss = tf.reduce_mean(tf.square(code))'
    )
    train = "train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())"
    end = f"{train}\nreturn tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
    text = migrate(model_fn(body, end=end, before=CLOSURES))
    assert 'code = encode(features["x"])' in method(text, "call").replace("encoder", "encode")
    assert "tf.reduce_mean(tf.square(y_pred))" in method(text, "compute_loss")
