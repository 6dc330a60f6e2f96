"""Exporters of an EvalSpec, where the program trains by `fit`: one SavedModel at the end."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, migrate

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    score = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.losses.mean_squared_error(labels, score)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat(epochs).batch(2)


def serving_input_fn():
    features = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(features, features)


"""
MAIN = """\
estimator = tf.estimator.Estimator(model_fn, CONFIG)
exporter = tf.estimator.FinalExporter("final", serving_input_fn)
eval_spec = tf.estimator.EvalSpec(input_fn, exporters=EXPORTERS)
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=20), eval_spec)
"""
EVERY = '"model", tf.estimator.RunConfig(save_checkpoints_steps=5)'
LATEST = MAIN.replace("FinalExporter", "LatestExporter")


def migrated(main: str = MAIN, config: str = '"model"', exporters: str = "exporter") -> str:
    return migrate(HEAD + textwrap.dedent(main).replace("CONFIG", config).replace("EXPORTERS", exporters))


SAVED = """\
    serve = tf.function(model.predict_step, input_signature=[serving_input_fn()])
    tf.saved_model.save(model, os.path.join("model", "export", "final", str(int(time.time()))), \
signatures={"serving_default": serve})
"""


@pytest.mark.parametrize(
    ("main", "config", "exporters"),
    [
        (MAIN, '"model"', "exporter"),
        (MAIN, '"model"', "[exporter]"),
        (MAIN, EVERY, "[exporter]"),
        (LATEST, '"model"', "exporter"),  # after the one evaluation that there is
        (LATEST.replace("serving_input_fn)", "serving_input_fn, exports_to_keep=2)"), '"model"', "exporter"),
    ],
)
def test_a_model_is_saved_at_the_end(main: str, config: str, exporters: str) -> None:
    text = migrated(main, config, exporters)
    assert joined(text).endswith(SAVED) and "Exporter" not in text and "import os\nimport time\n" in text


def test_one_that_is_made_in_place() -> None:
    made = 'tf.estimator.FinalExporter("final", serving_input_fn)'
    main = MAIN.replace(f"exporter = {made}\n", "")
    assert joined(migrated(main, exporters=made)).endswith(SAVED)


@pytest.mark.parametrize(
    ("main", "config", "exporters"),
    [
        (LATEST, EVERY, "exporter"),  # after each of several evaluations
        (MAIN.replace("FinalExporter", "BestExporter"), '"model"', "exporter"),
        (MAIN.replace("serving_input_fn)", 'serving_input_fn, assets_extra={"a": "b"})'), '"model"', "exporter"),
        (MAIN + "print(exporter)\n", '"model"', "exporter"),
        (MAIN.replace("(model_fn, CONFIG)", "(model_fn)"), "", "exporter"),
    ],
)
def test_exporters_that_stay_with_helpers(main: str, config: str, exporters: str) -> None:
    text = migrated(main, config, exporters)
    assert ".fit(" not in text and "Exporter(" in text
