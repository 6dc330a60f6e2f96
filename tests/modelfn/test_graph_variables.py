"""`tf.Variable` in a model_fn: a weight with the initializer that its value stands for, or the program is left alone."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, joined, manual_reason, method, migrate, model_fn

END = f"""
loss = tf.reduce_mean(tf.square(labels - predictions))
{TRAIN_OP}
{SPEC}
"""


def program(value: str, rest: str = "") -> str:
    body = f'w = tf.Variable({value}{rest})\npredictions = tf.matmul(features["x"], w)'
    return model_fn(body, end=END, before="import numpy as np\n")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            "tf.random_normal([3, 1])",
            "shape=[3, 1], initializer=tf.keras.initializers.RandomNormal(stddev=1.0)",
        ),
        (
            "tf.random.normal([3, 1], 0.5, 2.0, seed=3)",
            "shape=[3, 1], initializer=tf.keras.initializers.RandomNormal(stddev=2.0, mean=0.5, seed=3)",
        ),
        (
            "tf.truncated_normal(shape=[3, 1], stddev=0.1)",
            "shape=[3, 1], initializer=tf.keras.initializers.TruncatedNormal(stddev=0.1)",
        ),
        (
            "tf.random_uniform([3, 1])",
            "shape=[3, 1], initializer=tf.keras.initializers.RandomUniform(minval=0.0, maxval=1.0)",
        ),
        (
            "tf.random_uniform([3, 1], -1.0, 1.0)",
            "shape=[3, 1], initializer=tf.keras.initializers.RandomUniform(minval=-1.0, maxval=1.0)",
        ),
        (
            "tf.random_uniform([3, 1], -1 / math.sqrt(3), params['top'])",
            "shape=[3, 1], initializer=tf.keras.initializers.RandomUniform(minval=-1 / math.sqrt(3), maxval=params['top'])",
        ),
        ("tf.zeros([3, 1])", 'shape=[3, 1], initializer="zeros"'),
        ("tf.ones(shape=[3, 1], dtype=tf.float32)", 'shape=[3, 1], initializer="ones"'),
        ("tf.ones(shape=[3, 1], dtype=np.float32), dtype=np.float32", 'shape=[3, 1], initializer="ones"'),
        ("tf.constant(0.1, shape=[3, 1])", "shape=[3, 1], initializer=tf.constant_initializer(0.1)"),
        ("-0.5", "shape=(), initializer=tf.constant_initializer(-0.5)"),
    ],
)
def test_the_value_becomes_an_initializer(value: str, written: str) -> None:
    text = migrate(program(value))
    init = (
        " ".join(method(text, "__init__").split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    )  # long calls are wrapped
    assert f'self.w = self.add_weight(name="w", {written})' in init
    assert 'tf.matmul(features["x"], self.w)' in method(text, "call")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("params['table']", "self, params['table'], name=\"w\""),
        ("np.zeros([3, 1]), dtype=tf.float32", 'self, np.zeros([3, 1]), name="w", dtype=tf.float32'),
        ("[[0.5], [1.5], [2.5]], name='a'", "self, [[0.5], [1.5], [2.5]], name='a'"),
        (
            "tf.constant(params['t'], tf.float32), trainable=False",
            "self, params['t'], name=\"w\", dtype=tf.float32, trainable=False",
        ),
    ],
)
def test_a_value_that_is_known_when_the_model_is_built(value: str, written: str) -> None:
    text = migrate(program(value).replace("import tensorflow", "import numpy as np\nimport tensorflow", 1))
    assert f" = weight_from_value({written})\n" in method(text, "__init__")


def test_a_value_that_the_model_fn_computes() -> None:
    source = program("table").replace("    w =", "    table = np.ones([3, 1]) * params['u']\n    w =")
    init = method(migrate(source.replace("import tensorflow", "import numpy as np\nimport tensorflow", 1)), "__init__")
    assert init.index("table = np.ones") < init.index("self.w = weight_from_value(self, table")


def test_name_and_trainable_are_kept() -> None:
    init = method(migrate(program("tf.zeros([3, 1])", ', trainable=False, name="weights"')), "__init__")
    assert 'self.add_weight(name="weights", shape=[3, 1], initializer="zeros", trainable=False)' in init


def test_a_dict_of_variables_stays_a_dict() -> None:
    body = """
weights = {
    "h1": tf.Variable(tf.random_normal([3, 2], stddev=0.1)),
    "out": tf.Variable(tf.zeros([2, 1])),
}
predictions = tf.matmul(tf.matmul(features["x"], weights["h1"]), weights["out"])
"""
    text = migrate(model_fn(body, end=END))
    init, call = method(text, "__init__"), method(text, "call")
    assert '"h1": self.add_weight(name="h1", shape=[3, 2], ' in init
    assert '"out": self.add_weight(name="out", shape=[2, 1], initializer="zeros")' in init
    assert 'self.weights_["h1"]' in call and "add_weight" not in call


@pytest.mark.parametrize(("rest", "dtype"), [("", "tf.int32"), (", dtype=tf.int64", "tf.int64")])
def test_an_integer_that_is_not_trained(rest: str, dtype: str) -> None:
    body = (
        f'count = tf.Variable(7, trainable=False, name="count"{rest})\npredictions = features["x"] + tf.to_float(count)'
    )
    init = method(migrate(model_fn(body, end=END)), "__init__")
    told = f"shape=(), dtype={dtype}, initializer=tf.constant_initializer(7), trainable=False"
    assert f'self.add_weight(name="count", {told})' in joined(init).replace("\n", "")


@pytest.mark.parametrize(
    ("value", "rest", "reason"),
    [
        ("tf.random_normal([3, 1], dtype=tf.float64)", "", "another type than float32"),
        ("tf.zeros([3, 1])", ", dtype=tf.float64", "another type than float32"),
        ("tf.zeros([3, 1])", ", dtype=np.float64", "another type than float32"),
        ("1", "", "not seen"),
        ("features['x']", "", "known only when data flows"),
        ("tf.constant(1, shape=[3, 1])", "", "not migrated yet"),
        ("tf.zeros([3, 1]) + 1.0", "", "known only when data flows"),
        ("tf.random_normal([3, 1], stddev=tf.sqrt(0.5))", "", "known only when data flow"),
        ("tf.random_normal([3, 1], stddev=tf.reduce_mean(features['x']))", ", name='v'", "known only when data flow"),
        ("tf.random_normal([3, 1], stddev=0.1 if mode == 'train' else 1.0)", "", "depends on the mode"),
        ("tf.zeros([tf.shape(features['x'])[1], 1])", "", "has no name"),
        ("tf.zeros([3, 1])", ", collections=[]", "`collections`"),
        ("tf.zeros([3, 1])", ", validate_shape=False", "`validate_shape`"),
    ],
)
def test_what_no_initializer_stands_for_is_refused(value: str, rest: str, reason: str) -> None:
    assert reason in manual_reason(program(value, rest))


def test_variables_chosen_by_a_name_that_keras_gives_otherwise_are_refused() -> None:
    body = 'w = tf.Variable(tf.zeros([3, 1]))\npredictions = tf.matmul(features["x"], w)'
    end = f"""
penalty = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "Variable" in v.name])
loss = tf.reduce_mean(tf.square(labels - predictions)) + penalty
{TRAIN_OP}
{SPEC}
"""
    assert "chosen by name" in manual_reason(model_fn(body, end=end))


def test_sizes_that_data_tell() -> None:
    text = migrate(
        model_fn(
            """
            x = tf.layers.dense(features["x"], 4)
            size = x.get_shape()[-1:]
            beta = tf.Variable(tf.zeros(size), name="beta")
            gamma = tf.Variable(tf.ones(size), name="gamma")
            predictions = gamma * x + beta
            """
        )
    )
    assert 'beta = get_weight(self, name="beta", shape=size, initializer="zeros")' in method(text, "call")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("x = x + tf.Variable(tf.zeros(x.get_shape()[-1:]))  # HERE\n", "has no name"),
        (
            'x = x + tf.Variable(tf.zeros(x.get_shape()[-1:]), name="b")\n'
            'x = x + tf.Variable(tf.zeros(x.get_shape()[-1:]), name="b")  # HERE\n',
            "have one name",
        ),
        (
            'for i in range(2):\n    x = x + tf.Variable(tf.zeros(x.get_shape()[-1:]), name="b")  # HERE\n',
            "have one name",
        ),
    ],
)
def test_sizes_that_data_tell_without_a_name_of_their_own(lines: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f'x = features["x"]\n{lines}predictions = x'))


@pytest.mark.parametrize("package", ["train", "contrib.framework"])
def test_a_variable_of_a_checkpoint_that_another_training_left(package: str) -> None:
    text = joined(migrate(program(f"tf.{package}.load_variable('other', 'net/w')", ", name='w'")))
    assert "self.w = weight_from_value(self, load_variable('other', 'net/w'), name='w')" in text
    assert "load_variable" in text.partition("class ")[0]


def test_a_checkpoint_that_is_named_by_its_keyword_is_refused() -> None:
    source = program("tf.contrib.framework.load_variable(checkpoint_dir='other', name='w')", ", name='w'")
    assert "says from where a checkpoint is read" in manual_reason(source)
