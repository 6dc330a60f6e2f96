"""`arg_scope`, `repeat` and `stack` of slim: each layer is told what the scope says, and written out."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn, run, units

HEAD = "import tensorflow as tf\nimport tensorflow.contrib.slim as slim\n"
X = 'x = features["x"]\n'


def program(body: str, before: str = "") -> str:
    return model_fn(X + body.strip("\n"), before=HEAD + before)


def made(body: str, before: str = "") -> str:
    return joined(method(migrate(program(body, before)), "__init__", "Model"))


def test_a_layer_is_told_what_its_scope_says() -> None:
    init = made("""
with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.elu, weights_regularizer=slim.l2_regularizer(0.1)):
    # Two layers.
    x = slim.conv2d(x, 4, 3, scope="a")
    x = slim.fully_connected(x, 5, activation_fn=None, scope="b")
x = slim.fully_connected(x, 6, scope="c")
predictions = x
""")
    told = "kernel_regularizer=tf.keras.regularizers.L2(0.1 / 2)"
    assert f'Conv2D(4, 3, padding="same", activation=tf.nn.elu, {told}, name="a")' in init
    assert f'Dense(5, {told}, name="b")' in init and 'Dense(6, activation="relu", name="c")' in init


def test_the_inner_scope_comes_before_the_outer_one() -> None:
    init = made("""
with slim.arg_scope([slim.fully_connected], activation_fn=tf.nn.elu, biases_initializer=None):
    with slim.arg_scope([slim.fully_connected], activation_fn=tf.tanh):
        x = slim.fully_connected(x, 4, scope="a")
    x = slim.fully_connected(x, 5, scope="b")
predictions = x
""")
    assert 'Dense(4, activation=tf.tanh, use_bias=False, name="a")' in init
    assert 'Dense(5, activation=tf.nn.elu, use_bias=False, name="b")' in init


def test_names_of_one_function_and_calls_in_calls() -> None:
    init = made(
        """
with slim.arg_scope([tf.contrib.layers.convolution2d, slim.dropout], padding="VALID"):
    x = slim.conv2d(slim.conv2d(x, 4, 3, scope="a"), 5, 3,
                    scope="b")
    text = '''
as it was'''
predictions = x
""".replace(", slim.dropout", "")
    )
    assert init.count('padding="VALID"') == 2


def test_layers_in_training_only() -> None:
    body = """
with slim.arg_scope([slim.dropout], is_training=mode == tf.estimator.ModeKeys.TRAIN):
    x = slim.dropout(x, 0.9)
predictions = slim.softmax(x)
"""
    call = method(migrate(program(body)), "call", "Model")
    assert "x = self.dropout(x, training=training)" in call and "tf.nn.softmax(x)" in call


def test_a_layer_is_repeated() -> None:
    text = migrate(program("x = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope='conv1')\npredictions = x"))
    call = method(text, "call", "Model")
    assert "x = self.conv1_1(x)\n    x = self.conv1_2(x)\n" in call
    (unit,) = units(run(program("predictions = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope='conv1')")))
    assert "conv1/conv1_2/weights" in dict(unit.variables)


def test_layers_are_stacked() -> None:
    init = made("predictions = slim.stack(x, slim.fully_connected, [8, (4, tf.tanh)], scope='fc')")
    assert 'Dense(8, activation="relu", name="fc_1")' in init
    assert 'Dense(4, activation=tf.tanh, name="fc_2")' in init


def test_a_stack_without_a_scope_in_a_scope() -> None:
    body = """
with slim.arg_scope([slim.fully_connected], activation_fn=tf.tanh):
    predictions = slim.stack(x, slim.fully_connected, [8, 4])
"""
    source = program(body)
    (unit,) = units(run(source))
    assert "Stack/fully_connected_2/weights" in dict(unit.variables)
    assert 'activation=tf.tanh, name="fully_connected_1")' in made(body)


def test_a_layer_that_is_called_behind_the_scope_is_told_nothing() -> None:
    body = "with slim.arg_scope([slim.dropout], keep_prob=0.5):\n    layer = slim.fully_connected\npredictions = layer(x, 4)"
    assert 'Dense(4, activation="relu")' in made(body)


HELPER = """

def network(x):
    return slim.fully_connected(x, 4)


"""


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("with slim.arg_scope([slim.fully_connected], activation_fn=None) as s:\n    predictions = slim.fully_connected(x, 4)",
         ""),
        ("with slim.arg_scope([slim.fully_connected], **params):\n    predictions = slim.fully_connected(x, 4)", ""),
        ("with slim.arg_scope([slim.fully_connected], activation_fn=None):\n    predictions = slim.linear(x, 4)", ""),
        ("n = None\nwith slim.arg_scope([slim.fully_connected], activation_fn=n):\n    n = tf.tanh\n"
         "    predictions = slim.fully_connected(x, 4)", ""),
        ("with slim.arg_scope([slim.fully_connected], activation_fn=None):\n"
         "    predictions = (lambda y: slim.fully_connected(y, 4))(x)", ""),
        ("predictions = slim.stack(x, slim.conv2d, params['units'], scope='fc')", ""),
        ("predictions = slim.repeat(x, params['n'], slim.fully_connected, 4, scope='fc')", ""),
        ("predictions = slim.repeat(x, 2, network, scope='fc')", HELPER.replace("(x)", "(x, scope=None)")),
    ],
)  # fmt: skip
def test_left_alone(body: str, before: str) -> None:
    manual_reason(program(body, before))


def test_functions_that_are_called_in_a_scope_are_told() -> None:
    text = made(
        "with slim.arg_scope([slim.fully_connected], activation_fn=None):\n    predictions = network(x)", HELPER
    )
    assert "Dense(4)" in text


RETURNED = """
def told(training=None, decay=0.9, stride=2):
    bn = {"decay": decay, "scale": True}
    if training is not None:
        bn["is_training"] = training
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, activation_fn=tf.nn.relu6):
        with slim.arg_scope([slim.batch_norm], **bn):
            with slim.arg_scope([slim.conv2d], stride=stride) as scope:
                return scope

def network(x):
    x = slim.conv2d(x, 4, 3, scope="a")
    return slim.conv2d(x, 5, 1, stride=1, normalizer_fn=None, scope="b")
"""
ENTERED = """
training = mode == tf.estimator.ModeKeys.TRAIN
with slim.arg_scope(told(training)):
    predictions = network(x)
"""


def test_a_scope_that_a_function_returns_is_told_in_the_functions_that_are_called_in_it() -> None:
    text = migrate(program(ENTERED, RETURNED))
    init, call = joined(method(text, "__init__", "Model")), method(text, "call", "Model")
    assert 'Conv2D(4, 3, strides=2, padding="same", use_bias=False, name="a")' in init
    assert 'Conv2D(5, 1, strides=1, padding="same", activation=tf.nn.relu6, name="b")' in init
    assert 'ContribBatchNorm(scale=True, name="a_BatchNorm", momentum=1.0)' in init
    assert "tf.nn.relu6(self.a_batchnorm(self.a(x), training=training))" in call


def test_a_scope_that_a_function_returns_may_have_a_name() -> None:
    held = "scope = told(training)\nwith slim.arg_scope(scope):"
    named = migrate(program(ENTERED.replace("with slim.arg_scope(told(training)):", held), RETURNED))
    assert method(named, "__init__", "Model") == method(migrate(program(ENTERED, RETURNED)), "__init__", "Model")


def test_a_name_of_a_scope_that_is_read_twice_is_left() -> None:
    again = "scope = told(training)\nprint(scope)\nwith slim.arg_scope(scope):"
    body = ENTERED.replace("with slim.arg_scope(told(training)):", again)
    assert "arg_scope is not migrated yet" in manual_reason(program(body, RETURNED))


@pytest.mark.parametrize(
    "before",
    [
        RETURNED.replace("    bn = {", "    if stride > 2:\n        return {}\n    bn = {"),
        RETURNED.replace("return scope", "return scope, stride"),
        RETURNED.replace("as scope:", "as scope, tf.name_scope('x'):"),
    ],
)
def test_other_functions_that_return_scopes_are_left(before: str) -> None:
    assert "arg_scope is not migrated yet" in manual_reason(program(ENTERED, before))


def test_sizes_of_slim_are_entries_of_shapes() -> None:
    text = migrate(program("predictions = tf.reshape(x, [-1, slim.utils.last_dimension(x.get_shape(), min_rank=2)])"))
    assert "tf.reshape(x, [-1, x.get_shape().as_list()[-1]])" in text or "x.shape[-1]" in text


UNIT = """
def network(x, collections=None):
    return slim.utils.collect_named_outputs(collections, "unit", slim.fully_connected(x, 4))
"""


def test_an_output_that_is_collected_for_nobody_is_the_tensor() -> None:
    assert "Dense(4" in migrate(program("predictions = network(x)", UNIT))


@pytest.mark.parametrize("asks", ["slim.utils.convert_collection_to_dict('ends')", "tf.get_collection('ends')"])
def test_an_output_that_somebody_asks_for_stays(asks: str) -> None:
    assert manual_reason(program(f"predictions = network(x)\nprint({asks})", UNIT))
