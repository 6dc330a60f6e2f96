"""Functions that nothing names: they keep the names of TensorFlow 1, and do not keep the program."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate, migrate_all, model_fn

BODY = "predictions = tf.layers.dense(features['x'], 1)"
UNUSED = """

def dice(x, name=""):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        x = tf.layers.batch_normalization(x)
        return tf.get_variable("alpha", [1]) * tf.log(x)


def outer(x):
    return dice(x) + tf.layers.dense(x, 1)
"""
KEPT = """
def dice(x, name=""):
    with tf.compat.v1.variable_scope(name, reuse=tf.compat.v1.AUTO_REUSE):
        x = tf.compat.v1.layers.batch_normalization(x)
        return tf.compat.v1.get_variable("alpha", [1]) * tf.math.log(x)


def outer(x):
    return dice(x) + tf.compat.v1.layers.dense(x, 1)
"""


@pytest.mark.parametrize("head", ["", "import tensorflow.compat.v1 as tf\n"])
def test_it_keeps_its_names(head: str) -> None:
    text = migrate(model_fn(BODY, before=head + UNUSED))
    assert KEPT in text
    assert "import tensorflow as tf" in text and "tf.keras.layers.Dense(1)" in text


def test_a_file_of_helpers() -> None:
    layers = f"import tensorflow as tf\n{UNUSED}\n\ndef tower(x):\n    return tf.layers.dense(x, 1, name='out')\n"
    program = model_fn("predictions = layers.tower(features['x'])", before="import layers\nimport tensorflow as tf\n")
    after = migrate_all({PATH: program, "layers.py": layers})
    assert KEPT in after["layers.py"] and "class Tower(tf.keras.layers.Layer):" in after["layers.py"]


@pytest.mark.parametrize(
    "rest",
    [
        "table = {'dice': dice}\n",
        "table = [outer]\n",
        "chosen = globals()[name]\n",
        "chosen = getattr(module, name)\n",
        "chosen = getattr(module, 'outer')\n",
        "def main():\n    return outer(1)\n\nmain()\n",
    ],
)
def test_what_may_be_called_keeps_the_program(rest: str) -> None:
    source = model_fn(
        BODY, before=f"module = name = None\n{UNUSED}".replace("module", "import tensorflow as tf\nmodule")
    )
    assert "in code that does not move" in manual_reason(f"{source}\n{rest}")


def test_what_nothing_holds_keeps_the_program() -> None:
    unused = "\n\ndef twist(x):\n    return tf.contrib.framework.nest(x)\n"
    assert "tf.contrib.framework" in manual_reason(model_fn(BODY, before=unused))


OLD = """

def old_model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss))
"""


def test_a_model_fn_that_no_estimator_gets() -> None:
    text = migrate(model_fn(BODY, before=f"import tensorflow as tf\n{OLD}"))
    assert (
        "    return EstimatorSpec(mode, loss=loss, train_op=tf.compat.v1.train.AdamOptimizer().minimize(loss))" in text
    )
    assert "tf.keras.layers.Dense(1)" in text and text.count("(tf.keras.Model)") == 1


NETWORK = """

class Network:
    def __call__(self, x):
        return tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize("name", ["main", "train"])
def test_what_makes_an_estimator_is_in_use(name: str) -> None:
    """Nothing names `main`, which ``tf.app.run()`` calls, nor `train`, which a file elsewhere may call."""
    use = f"def {name}(_):\n    estimator = tf.estimator.Estimator(model_fn, params={{}})\n    print([Network])\n"
    source = model_fn(BODY, before=f"import tensorflow as tf\n{NETWORK}", after=use)
    assert "tf.layers.dense is in code that does not move" in manual_reason(source)
