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


@pytest.mark.parametrize(
    "made",
    [
        "e = tf.keras.estimator.model_to_estimator(model)  # HERE\nf = tf.keras.estimator.model_to_estimator(model)",
        "for d in 'ab':\n    e = tf.keras.estimator.model_to_estimator(model, model_dir=d)  # HERE",
        "def make(d):\n    return tf.keras.estimator.model_to_estimator(model, model_dir=d)  # HERE\n"
        "e = make('a')\nf = make('b')",
        "def make(net, d):\n    return tf.keras.estimator.model_to_estimator(net, model_dir=d)  # HERE\n"
        "for d in 'ab':\n    e = make(model, d)",
    ],
)
def test_each_estimator_trains_a_copy_of_its_own(made: str) -> None:
    assert "several Estimators of one Keras model" in manual_reason(f"{HEAD}{made}\n")


def test_a_model_that_is_made_again_is_copied_again() -> None:
    made = "    net = tf.keras.Sequential()\n    e = tf.keras.estimator.model_to_estimator(net, model_dir=d)"
    assert "configure_keras_model(net, model_dir=d)" in migrated(f"for d in 'ab':\n{made}")


def test_array_inputs_keep_their_arguments() -> None:
    text = migrated(
        "f = tf.estimator.inputs.numpy_input_fn({'x': X}, Y, 32, None, shuffle=True, num_threads=2)\n"
        "g = tf.estimator.inputs.pandas_input_fn(x=X, y=Y, shuffle=False)\n"
        "e = tf.keras.estimator.model_to_estimator(model)\ne.train(f, steps=1)"
    )
    assert "f = numpy_input_fn({'x': X}, Y, 32, None, shuffle=True, num_threads=2)" in text
    assert "g = pandas_input_fn(x=X, y=Y, shuffle=False)" in text
    assert "model.fit(f().take(1))" in text


TRAINED = """\
def input_fn():
    return tf.data.Dataset.from_tensors((X, Y)).repeat()


e = tf.keras.estimator.model_to_estimator(model, model_dir=DIR)
e.train(input_fn, steps=9)
"""


def test_a_model_that_is_trained_is_trained_by_fit() -> None:
    text = migrated(f"{TRAINED}print(e.evaluate(input_fn, steps=2))")
    assert "Estimator" not in text and "configure" not in text and "e = " not in text
    assert "checkpoint = tf.train.Checkpoint(model=model)\n" in text
    assert "model.fit(" in text and "input_fn().take(9)" in text
    assert "print(model.evaluate(input_fn().take(2), return_dict=True))" in text


def test_a_model_without_a_name_of_its_own_is_held_by_that_of_the_estimator() -> None:
    head = HEAD.replace("model = ", "def make():\n    return ")
    text = migrated(TRAINED.replace("(model,", "(make(),"), head)
    assert "e = make()\n" in text and "e.fit(" in text


@pytest.mark.parametrize("again", ["model = None\n", "def f():\n    model = None\n    e.evaluate(input_fn, steps=1)\n"])
def test_a_name_that_means_something_else_as_well_is_not_taken(again: str) -> None:
    text = migrated(TRAINED + again)
    assert "e = model\n" in text and "e.fit(" in text


@pytest.mark.parametrize(
    ("loop", "new"),
    [
        ("for row in e.predict(input_fn):\n    print(row['dense'][0])", "):\n    print(row[0])"),
        ("for row in e.predict(input_fn):\n    print(row)", "):\n    print(row)"),
    ],
)
def test_predictions_of_one_output_are_arrays(loop: str, new: str) -> None:
    text = migrated((TRAINED + loop).replace(".repeat()", "").replace("steps=9", "steps=1"))
    assert "for row in model.predict(input_fn(), verbose=0)" in text and new in text


@pytest.mark.parametrize(
    ("loop", "head"),
    [
        ("for row in e.predict(input_fn):\n    keep(row)", HEAD),
        ("for row in e.predict(input_fn):\n    print(row['a'], row['b'])", HEAD),
        (
            "for row in e.predict(input_fn):\n    print(row)",
            HEAD.replace("model = ", "tf.keras.Model(I, [A, B])\nmodel = "),
        ),
        (
            "for row in e.predict(input_fn):\n    print(row)",
            HEAD.replace("model = ", "class M(tf.keras.Model):\n    pass\nmodel = "),
        ),
    ],
)
def test_predictions_by_name_stay(loop: str, head: str) -> None:
    text = migrated((TRAINED + loop).replace(".repeat()", "").replace("steps=9", "steps=1"), head)
    assert "e = configure_keras_model(model, model_dir=DIR)" in text and "predict(e, input_fn)" in text


@pytest.mark.parametrize(
    "optimizer",
    [
        "'adam'",
        "'SGD'",
        "tf.keras.optimizers.Adam(learning_rate=0.1)",
        "tf.keras.optimizers.SGD(0.1, momentum=0.0)",
        "tf.keras.optimizers.legacy.SGD(0.1, decay=0.1)",
    ],
)
def test_fit_takes_optimizers_that_are_the_same(optimizer: str) -> None:
    assert f"model.compile({optimizer}, 'mse')" in migrated(f"model.compile({optimizer}, 'mse')\n{TRAINED}")


@pytest.mark.parametrize(
    "optimizer",
    [
        "RMSprop()",
        "SGD(0.1, decay=0.1)",
        "SGD(0.1, momentum=0.9)",
        "SGD(0.1, 0.9)",
        "SGD(*ARGUMENTS)",
        "Adam(0.1, **OPTIONS)",
    ],
)
def test_fit_takes_legacy_optimizers_where_others_differ(optimizer: str) -> None:
    text = migrated(f"model.compile(tf.keras.optimizers.{optimizer}, 'mse')\n{TRAINED}")
    assert f"model.compile(tf.keras.optimizers.legacy.{optimizer}, 'mse')" in text


@pytest.mark.parametrize("optimizer", ["Adam", "SGD"])
def test_the_rate_of_an_optimizer_has_its_present_name(optimizer: str) -> None:
    text = migrated(f"model.compile(tf.keras.optimizers.{optimizer}(lr=0.1), 'mse')\n{TRAINED}")
    assert f"model.compile(tf.keras.optimizers.{optimizer}(learning_rate=0.1), 'mse')" in text


def test_an_optimizer_with_a_decay_keeps_the_old_name_of_its_rate() -> None:
    text = migrated(f"model.compile(tf.keras.optimizers.Adam(lr=0.1, decay=0.1), 'mse')\n{TRAINED}")
    assert "tf.keras.optimizers.legacy.Adam(lr=0.1, decay=0.1)" in text


MADE = """\
import tensorflow.compat.v1 as tf


def make(rate):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(rate), "mse")
    # the Estimator of it
    return tf.keras.estimator.model_to_estimator(model, model_dir=DIR)


def input_fn():
    return tf.data.Dataset.from_tensors((X, Y)).repeat()


e = make(0.1)
e.train(input_fn, steps=9)
"""


def test_a_function_returns_the_model_itself() -> None:
    text = migrate(MADE)
    assert "    return model\n" in text and "model_" not in text.replace("model_dir", "")
    assert "tf.train.Checkpoint(model=model)" in text and "# the model of it\n" in text


def test_a_model_with_two_values_is_held_by_another_name() -> None:
    text = migrate(MADE.replace("    # the Est", "    model = wrapped(model)\n    # the Est"))
    assert "    model_ = model\n" in text and "    return model_\n" in text
