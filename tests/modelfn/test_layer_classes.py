"""Classes of the program that derive from layers of TensorFlow 1, or make such layers: they become classes of Keras."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import TRAIN_OP, joined, manual_reason, method, migrate, migrate_all, model_fn, run, units

UPDATES = """
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
"""
PART = '''
class Part(tf.layers.Layer):
    """A part."""

    def __init__(self, units, name=None):
        super(Part, self).__init__(name=name)
        self.units = units
{init}

{methods}
'''


def part(
    init: str = "self.dense = tf.layers.Dense(units)", methods: str = "", call: str = "return self.dense(x)"
) -> str:
    """The class `Part`; its `call` is ``call(self, x, training=False)``."""
    own = f"def call(self, x, training=False):\n{textwrap.indent(textwrap.dedent(call).strip(), '    ')}\n"
    inside = textwrap.dedent(methods).strip() + "\n\n" + own if methods else own
    first = textwrap.indent(textwrap.dedent(init).strip(), " " * 8)
    return PART.format(init=first, methods=textwrap.indent(inside, "    "))


def program(before: str, body: str = 'predictions = Part(3)(features["x"])', updates: bool = False) -> str:
    source = model_fn(body, before="import tensorflow as tf\n" + before)
    return source.replace("    " + TRAIN_OP, UPDATES.strip("\n")) if updates else source


def test_objects_and_the_base_become_those_of_keras() -> None:
    text = migrate(program(part()))
    assert "class Part(tf.keras.layers.Layer):\n" in text and "self.dense = tf.keras.layers.Dense(units)\n" in text
    assert "self.part = Part(3)\n" in method(text, "__init__", "Model")
    assert 'self.part(features["x"], training=False)' in method(text, "call", "Model")


def test_variables_by_the_names_of_their_arguments() -> None:
    methods = """
    def build(self, input_shape):
        n = input_shape[-1].value
        self.w = self.add_variable("w", [n, self.units], initializer=tf.random_normal_initializer(stddev=0.1))
        self.b = self.add_weight("b", shape=[self.units])
        self.built = True
    """
    text = joined(migrate(program(part("self.n = units", methods, "return tf.matmul(x, self.w) + self.b"))))
    assert "n = input_shape[-1]\n" in text
    first = "tf.keras.initializers.RandomNormal(stddev=0.1)"
    assert f'self.w = self.add_weight(name="w", shape=[n, self.units], initializer={first})' in text
    assert 'self.b = self.add_weight(name="b", shape=[self.units])' in text


def test_a_layer_that_call_makes_is_made_once() -> None:
    call = """
    x = tf.layers.dense(x, self.units, activation=tf.nn.relu, name="hidden")
    x = tf.layers.dropout(tf.contrib.layers.layer_norm(x), 0.1, training=training)
    return self.dense(tf.layers.dense(x, 4))
    """
    text = migrate(program(part(call=call)))
    assert method(text, "__init__", "Part").endswith(
        """\
    self.dense = tf.keras.layers.Dense(units)
    self.hidden = tf.keras.layers.Dense(self.units, activation=tf.nn.relu, name="hidden")
    self.layer_norm = ContribLayerNorm()
    self.dropout = tf.keras.layers.Dropout(0.1)
    self.dense_1 = tf.keras.layers.Dense(4)
"""
    )
    call = method(text, "call", "Part")
    assert "x = self.hidden(x)\n" in call and "self.dropout(self.layer_norm(x), training=training)\n" in call
    assert "return self.dense(self.dense_1(x))\n" in call


def test_dropout_that_is_told_nothing_stays_off() -> None:
    init = "self.drop = tf.layers.Dropout(0.5)\nself.other = tf.layers.Dropout(0.5)"
    text = migrate(program(part(init, call="return self.drop(x) + self.other(x, training=training)")))
    assert "self.drop(x, training=False) + self.other(x, training=training)" in method(text, "call", "Part")


def test_a_class_inside_a_class_keeps_its_default() -> None:
    block = part("self.drop = tf.layers.Dropout(0.5)", call="return self.drop(x, training=training)")
    block = block.replace("Part", "Block").replace("training=False", "training=True")
    text = migrate(program(block + part("self.block = Block(units)", call="return self.block(x)")))
    assert "return self.block(x, training=True)" in method(text, "call", "Part")


def test_normalization_stands_still_unless_the_updates_run() -> None:
    source = part("self.bn = tf.layers.BatchNormalization()", call="return self.bn(x, training=training)")
    assert "BatchNormalization(momentum=1.0)" in migrate(program(source))
    assert "BatchNormalization()" in migrate(program(source, updates=True))


def test_a_convolution_with_a_call_of_its_own() -> None:
    before = """
class Causal(tf.layers.Conv1D):
    def __init__(self, filters, size, **kwargs):
        super(Causal, self).__init__(filters, size, padding="valid", **kwargs)

    def call(self, inputs):
        inputs = tf.pad(inputs, [[0, 0], [self.kernel_size[0] - 1, 0], [0, 0]])
        return super(Causal, self).call(inputs)


"""
    text = migrate(program(before, 'predictions = Causal(4, 3, name="c")(features["x"])'))
    assert "class Causal(tf.keras.layers.Conv1D):" in text and "return super(Causal, self).call(inputs)" in text
    assert 'self.causal = Causal(4, 3, name="c")' in text


def test_objects_in_a_loop() -> None:
    body = """
    x = features["x"]
    for i in range(2):
        x = Part(3, name="part_%d" % i)(x)
    predictions = x
    """
    text = migrate(program(part(call="return self.dense(x)").replace(", training=False", ""), body))
    assert 'self.part_layers = [Part(3, name="part_%d" % i) for i in range(2)]' in text
    assert "for part in self.part_layers:\n        x = part(x)\n" in method(text, "call", "Model")


def test_a_model_of_keras_with_layers_of_tensorflow_1() -> None:
    before = part().replace("tf.layers.Layer", "tf.keras.Model")
    text = migrate(program(before))
    assert "class Part(tf.keras.Model):" in text and "self.dense = tf.keras.layers.Dense(units)" in text


def test_a_class_of_another_file() -> None:
    files = {
        "parts.py": "import tensorflow as tf\n\n" + part(),
        "program.py": "import parts\n" + program("", 'predictions = parts.Part(3)(features["x"])'),
    }
    after = migrate_all(files)
    assert "class Part(tf.keras.layers.Layer):" in after["parts.py"] and "parts.Part(3)" in after["program.py"]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (part(call="for _ in range(2):\n    x = tf.layers.dense(x, 3)\nreturn x"), "in a loop of its `call`"),
        (part(call="n = x.shape[1]\nreturn tf.layers.dense(x, n)"), "`__init__` does not know"),
        (part(call="return self.inner(x)", methods="def inner(self, x):\n    return tf.layers.dense(x, 3)"),
         "outside of its `call`"),
        (part(call="return x * tf.get_variable('w', [3])"), "variables of the graph"),
        (part("self.dense = tf.layers.Dense(units, kernel_regularizer=tf.keras.regularizers.l2(0.1))"), "regularizes"),
        (part("self.parts = [tf.layers.Dropout(0.5)]", call="for p in self.parts:\n    x = p(x)\nreturn x"),
         "without saying `training`"),
        (part("self.dense = tf.layers.Dense(units, _reuse=True)"), ""),
        (part(call="print(self.graph)\nreturn self.dense(x)"), "works on a graph"),
        (part().replace("tf.layers.Layer", "tf.keras.layers.Layer").replace("self.dense(x)", "tf.layers.dense(x, 3)"),
         "outside of its `call`"),
        (part() + "\n\nspare = Part(3)\n", "used outside of the model_fn"),
        (part("self.bn = tf.keras.layers.BatchNormalization()", call="return self.bn(x, training=training)"),
         "stand still"),
    ],
)  # fmt: skip
def test_left_alone(before: str, reason: str) -> None:
    assert reason in manual_reason(program(before))


def test_a_class_that_nothing_of_the_model_uses_stays() -> None:
    outcomes = run(program(part(), 'predictions = tf.layers.dense(features["x"], 3)'), style="auto")
    assert [unit.tier for unit in units(outcomes)] != ["crashed"]


KERAS_PART = '''
class Part(tf.keras.layers.Layer):
    """A part."""

    def build(self, input_shape):
        self.bn = tf.keras.layers.BatchNormalization(epsilon=1e-9)
        super(Part, self).build(input_shape)

    def call(self, x, training=None):
        gate = tf.sigmoid(self.bn(x, training=training))
        tf.summary.scalar("gate", tf.reduce_mean(gate))
        tf.summary.histogram("gates", values=gate, collections=None)
        return gate * x


class Whole(tf.keras.layers.Layer):
    def __init__(self, **kwargs):
        self.part = Part()
        super(Whole, self).__init__(**kwargs)

    def call(self, x, training=None):
        return self.part(x, training=training)
'''
TRAINED = 'predictions = Whole(name="whole")(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)'


def test_summaries_of_a_keras_layer_are_those_of_the_step() -> None:
    text = migrate(program(KERAS_PART, TRAINED))
    part = method(text, "call", "Part")
    assert 'tf.summary.scalar("gate", tf.reduce_mean(gate))\n' in part and 'tf.summary.histogram("gates", gate)' in part
    assert "compat" not in part and "self.bn(x, training=training)" in part
    assert "def __init__(self, **kwargs):" in text
    assert 'self.whole(features["x"], training=training)' in method(text, "call", "Model")


def test_moving_statistics_of_a_keras_layer_in_a_class_stand_still() -> None:
    assert "BatchNormalization(epsilon=1e-9, momentum=1.0)" in migrate(program(KERAS_PART, TRAINED))
    given = KERAS_PART.replace("(epsilon=1e-9)", "(-1, 0.9)")
    assert "a normalization is not given its arguments by name" in manual_reason(program(given, TRAINED))


def test_a_family_of_summaries_in_a_class() -> None:
    before = KERAS_PART.replace("collections=None", 'family="a"')
    assert "a summary with a family is not migrated yet" in manual_reason(program(before, TRAINED))
