"""Exports of Keras models that `model_to_estimator` made Estimators of."""

from __future__ import annotations

from modelfn.programs import HELPERS, joined, migrate, run

MODEL = """import tensorflow as tf

{model}
model.compile(optimizer="sgd", loss="mse")


def serve():
    inputs = {{"x": tf.placeholder(tf.float32, [None, 4], name="x")}}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({{"x": [[1.0] * 4] * 8}}, [[1.0]] * 8)).repeat().batch(2)


estimator = tf.keras.estimator.model_to_estimator(model, model_dir="m")
estimator.train(input_fn, steps=5)
estimator.export_savedmodel("exported", serve)
"""
SEQUENTIAL = 'model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,), name="y")])'
FUNCTIONAL = """x = tf.keras.layers.Input((4,), name="x")
y = tf.keras.layers.Dense(1)(x)
model = tf.keras.Model(x, y)"""


def exported(model: str) -> str:
    """The endpoint of a model."""
    text = joined(migrate(MODEL.format(model=model)))
    return text.partition("archive.add_endpoint(")[2].partition("\n")[0]


def test_the_last_layer_of_a_sequential_model_names_the_output() -> None:
    served = '"serving_default", lambda features: {model.layers[-1].name: model(features)}, input_signature=[serve()]'
    assert exported(SEQUENTIAL) == served


def test_a_functional_model_names_its_output() -> None:
    assert "{model.output_names[0]: model(features)}" in exported(FUNCTIONAL)


def test_models_that_may_have_several_outputs() -> None:
    several = FUNCTIONAL.replace("Model(x, y)", "Model(x, [y, y])")
    assert HELPERS in run(MODEL.format(model=several))
    assert HELPERS in run(MODEL.format(model='model = tf.keras.models.load_model("saved")'))


TENSOR = """def serve():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.{kind}ServingInputReceiver(x, x)
"""


def test_a_receiver_of_one_tensor_feeds_it_as_it_is() -> None:
    before, after = MODEL.partition("def serve():")[0], MODEL.partition("inputs)\n")[2]
    program = before + TENSOR.format(kind="Tensor").replace("{", "{{").replace("}", "}}") + after
    text = joined(migrate(program.format(model=SEQUENTIAL)))
    assert "def serve(x):\n    return x\n" in text
    assert "lambda x: {model.layers[-1].name: model(serve(x))}" in text
    other = program.replace("TensorServingInputReceiver", "ServingInputReceiver")  # which makes a dict of it
    assert HELPERS in run(other.format(model=SEQUENTIAL))
