"""`model_to_estimator`, and input functions on arrays."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate

HEAD = (
    "import tensorflow.compat.v1 as tf\n\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])\n"
)
SGD = 'model.compile(optimizer="sgd", loss="mse")\n'


def migrated(statements: str, head: str = HEAD) -> str:
    """The statements below the model, migrated."""
    text = migrate(f"{head}{statements}\n")
    return text.split("input_shape=(3,))])\n", 1)[1].strip()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model_to_estimator(model)", "configure_keras_model(model)"),
        ("model_to_estimator(keras_model=model)", "configure_keras_model(keras_model=model)"),
        (
            "model_to_estimator(model, None, {'a': A}, 'dir', CONFIG)",
            "configure_keras_model(model, model_dir='dir', config=CONFIG)",
        ),
    ],
)
def test_model_to_estimator(old: str, new: str) -> None:
    assert migrated(f"e = tf.keras.estimator.{old}") == f"e = {new}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("optimizer='adam', loss='mse'", "optimizer=tf.keras.optimizers.legacy.Adam(), loss='mse'"),
        ("'rmsprop', 'mse'", "tf.keras.optimizers.legacy.RMSprop(), 'mse'"),
        ("tf.keras.optimizers.SGD(0.1), 'mse'", "tf.keras.optimizers.legacy.SGD(0.1), 'mse'"),
        ("tf.train.AdamOptimizer(0.1), 'mse'", "tf.keras.optimizers.Adam(0.1, epsilon=1e-8), 'mse'"),
        ("loss='mse', metrics=['accuracy', 'mae', f]", "loss='mse', metrics=['acc', 'mean_absolute_error', f]"),
    ],
)
def test_compile_keeps_optimizers_and_names_of_metrics(old: str, new: str) -> None:
    result = migrated(f"model.compile({old})\ne = tf.keras.estimator.model_to_estimator(model)")
    assert result.split("\n")[0] == f"model.compile({new})"


def test_metrics_of_tensorflow_2_have_their_names() -> None:
    head = HEAD.replace("tensorflow.compat.v1", "tensorflow")
    assert "metrics=['acc', 'mae']" in migrated(
        "model.compile('sgd', 'mse', metrics=['acc', 'mae'])\ne = tf.keras.estimator.model_to_estimator(model)", head
    )


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("e = tf.keras.estimator.model_to_estimator(keras_model_path='p')  # HERE", "`keras_model_path` of"),
        ("e = tf.keras.estimator.model_to_estimator(model, metric_names_map=M)  # HERE", "`metric_names_map` of"),
        ("e = tf.keras.estimator.model_to_estimator()  # HERE", "without `keras_model`"),
        (
            "model.compile(OPTIMIZER, 'mse')  # HERE\ne = tf.keras.estimator.model_to_estimator(model)",
            "`optimizer` of compile is not followed",
        ),
    ],
)
def test_refused(statements: str, reason: str) -> None:
    assert reason in manual_reason(HEAD + statements + "\n")


def test_array_inputs_keep_their_arguments() -> None:
    text = migrated(
        "f = tf.estimator.inputs.numpy_input_fn({'x': X}, Y, 32, None, shuffle=True, num_threads=2)\n"
        "g = tf.estimator.inputs.pandas_input_fn(x=X, y=Y, shuffle=False)\n"
        "e = tf.keras.estimator.model_to_estimator(model)\ne.train(f, steps=1)"
    )
    assert "f = numpy_input_fn({'x': X}, Y, 32, None, shuffle=True, num_threads=2)" in text
    assert "g = pandas_input_fn(x=X, y=Y, shuffle=False)" in text
    assert "train(e, f, steps=1)" in text
