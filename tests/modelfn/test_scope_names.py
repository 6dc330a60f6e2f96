"""Names of scopes as values, which Keras knows by the names of layers only."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn


def body(head: str, use: str) -> str:
    return f"""
with {head} as scope:
    kernel = tf.get_variable("kernel", [4, 3])
    hidden = {use}
predictions = tf.layers.dense(hidden, 1)
"""


@pytest.mark.parametrize(
    ("head", "use", "written"),
    [
        ("tf.variable_scope('conv1')", "tf.nn.relu(features['x'] @ kernel, name=scope.name)", "name='conv1'"),
        ("tf.name_scope('conv1')", "tf.nn.relu(features['x'] @ kernel, name=scope)", "name='conv1'"),
        ("tf.variable_scope('a', reuse=False)", "tf.identity(features['x'] @ kernel, scope.name)", "'a')"),
    ],
)
def test_written_out(head: str, use: str, written: str) -> None:
    text = method(migrate(model_fn(body(head, use))), "call")
    assert written in text and "scope" not in text


def test_scopes_in_scopes() -> None:
    inner = body("tf.variable_scope('conv1')", "tf.nn.relu(features['x'] @ kernel, name=scope.name)").strip()
    outer = "with tf.variable_scope('net'):\n    " + inner.replace("\n", "\n    ")
    assert 'name="net/conv1"' in method(migrate(model_fn(outer)), "call")


def test_read_after_the_scope() -> None:
    text = migrate(
        model_fn(
            body("tf.variable_scope('a')", "features['x'] @ kernel") + "tf.summary.scalar(scope.name, tf.norm(hidden))"
        )
    )
    assert "tf.summary.scalar('a', tf.norm(hidden))" in text


def test_a_name_that_has_another_value_by_then() -> None:
    source = body("tf.variable_scope('a')", "tf.nn.relu(features['x'] @ kernel, name=scope.name)")
    text = method(migrate(model_fn(source + "scope = params['text']\ntf.print(scope)\n")), "call")
    assert "name='a'" in text and "tf.print('a')" not in text


@pytest.mark.parametrize(
    ("head", "use"),
    [
        ("tf.variable_scope('a')", "params['layer'](features['x'] @ kernel, scope)"),
        ("tf.variable_scope(params['scope'])", "tf.nn.relu(features['x'] @ kernel, name=scope.name)"),
        ("tf.variable_scope('a')", "tf.nn.relu(features['x'] @ kernel, name=scope.original_name_scope)"),
    ],
)
def test_refused(head: str, use: str) -> None:
    reason = manual_reason(model_fn(body(head, use)))
    assert "scope" in reason


HELPER = """
def block(x, units, kind, name):
    with tf.variable_scope(name) as scope:
        if kind == "relu":
            kernel = tf.get_variable("kernel", [4, units])
        else:
            raise ValueError("no such kind: %s" % kind)
        return tf.nn.relu(tf.matmul(x, kernel), name=scope.name)
"""


def test_a_helper_has_the_name_of_its_layer_and_keeps_its_checks() -> None:
    use = (
        "predictions = block(features['x'], 1, params['kind'], 'one') + block(features['x'], 1, params['kind'], 'two')"
    )
    text = migrate(model_fn(use, before=HELPER))
    assert "return tf.nn.relu(tf.matmul(x, self.kernel), name=self.name)" in text
    assert 'raise ValueError("no such kind: %s" % kind)' in method(text, "__init__")


@pytest.mark.parametrize(
    ("use", "written"),
    [
        ("tf.summary.histogram(kernel.name, kernel)", 'tf.summary.histogram("a/kernel_0", self.kernel)'),
        ("tf.summary.histogram(kernel.op.name, kernel)", 'tf.summary.histogram("a/kernel", self.kernel)'),
        ("tf.logging.info('%s %s', hidden.op.name, hidden.shape)", "logging.info('%s %s', \"hidden\", hidden.shape)"),
        ("print('{}'.format(hidden.name))", "print('{}'.format(\"hidden\"))"),
        ("print(params['x'].name)", "print(params['x'].name)"),
    ],
)
def test_names_of_variables_and_of_tensors_in_messages(use: str, written: str) -> None:
    source = body("tf.variable_scope('a')", "features['x'] @ kernel") + use
    text = migrate(model_fn(source))
    assert written.replace('"', "'") in text.replace('"', "'")


@pytest.mark.parametrize("use", ["tf.summary.histogram(hidden.op.name, 2 * kernel)", "tf.print(hidden.graph)"])
def test_names_of_tensors_are_refused(use: str) -> None:
    source = body("tf.variable_scope('a')", "features['x'] @ kernel") + use
    assert "which is another one without the graph" in manual_reason(model_fn(source))


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ('tf.get_variable("cls/squad/output_bias", [3])', '"cls_squad_output_bias"'),
        ('[tf.get_variable("w/%d" % i, [3]) for i in range(2)][1]', '"w_%d" % i'),
    ],
)
def test_names_with_slashes_which_keras_3_does_not_allow(made: str, name: str) -> None:
    text = migrate(model_fn(f"bias = {made}\npredictions = tf.layers.dense(features['x'], 3) + bias"))
    assert f"name={name}" in joined(method(text, "__init__"))


LAYERS = """
with tf.variable_scope("{first}"):
    net = tf.layers.dense(features["x"], 3{name})
with tf.variable_scope("{second}"):
    net = tf.layers.dense(net, 3{name})
predictions = tf.layers.dense(net, 1, name="out")
"""


def test_layers_of_one_name_are_called_after_their_scopes() -> None:
    init = method(migrate(model_fn(LAYERS.format(first="low", second="high", name=', name="fc"'))), "__init__")
    assert 'self.low_fc = tf.keras.layers.Dense(3, name="low_fc")' in init
    assert 'self.high_fc = tf.keras.layers.Dense(3, name="high_fc")' in init and "self.out = " in init


def test_layers_without_names_are_called_after_their_scopes() -> None:
    init = method(migrate(model_fn(LAYERS.format(first="low", second="high", name=""))), "__init__")
    assert "self.low_dense = tf.keras.layers.Dense(3)" in init and "self.high_dense = " in init


def test_one_scope_tells_layers_not_apart() -> None:
    init = method(migrate(model_fn(LAYERS.format(first="low", second="low", name=""))), "__init__")
    assert "self.dense_1 = " in init and "self.dense_2 = " in init
