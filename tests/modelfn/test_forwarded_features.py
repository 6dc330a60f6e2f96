"""`forward_features` around an Estimator with a model_fn."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate

HEAD = """import tensorflow as tf


def model_fn(features, labels, mode):
    y = tf.layers.dense(features["x"], 1)
    predictions = {"y": y}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    features = {"x": [[1.0]] * 8, "key": list(range(8)), "part": [1] * 8}
    return tf.data.Dataset.from_tensor_slices((features, [[1.0]] * 8)).batch(2)


"""
USE = """estimator.train(input_fn, steps=3)
print([row["key"] for row in estimator.predict(input_fn)])
"""
MADE = "estimator = tf.estimator.Estimator(model_fn)\n"
FORWARD = 'estimator = tf.contrib.estimator.forward_features(estimator, "key")\n'


@pytest.mark.parametrize(
    "made",
    [
        MADE + FORWARD,
        'estimator = tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn), keys=["key"])\n',
        MADE.replace("estimator =", "base =") + FORWARD.replace("(estimator", "(base"),
    ],
)
def test_predictions_hold_the_feature(made: str) -> None:
    text = joined(migrate(HEAD + made + USE))
    assert '"key": features["key"]' in text and "forward_features" not in text and "base" not in text


def test_several_features() -> None:
    text = joined(migrate(HEAD + MADE + FORWARD.replace('"key"', '("key", "part")') + USE))
    assert '"key": features["key"], "part": features["part"]' in text


def test_predictions_of_a_function() -> None:
    helper = 'def named(y):\n    return {"y": y}\n\n\n'
    source = HEAD.replace('{"y": y}', "named(y)").replace("def model_fn", helper + "def model_fn")
    assert '["key"]' in migrate(source + MADE + FORWARD + USE)


def test_predictions_of_a_name_that_is_read_elsewhere_are_joined() -> None:
    source = HEAD.replace("    loss =", "    print(predictions)\n    loss =")
    assert 'features["key"]' in migrate(source + MADE + FORWARD + USE)


@pytest.mark.parametrize(
    ("head", "made"),
    [
        (HEAD, MADE + FORWARD.replace(', "key"', "")),  # all of them
        (HEAD, MADE + FORWARD.replace('"key"', "load()")),
        (HEAD, MADE + FORWARD + "other = tf.estimator.Estimator(model_fn)\n"),
        (HEAD, MADE + "other = estimator\n" + FORWARD),
        (HEAD.replace("    y =", "    features = dict(features)\n    y ="), MADE + FORWARD),
        (HEAD, MADE + FORWARD.replace('"key"', '"key", {"key": 0}')),
    ],
)
def test_what_is_not_followed(head: str, made: str) -> None:
    assert manual_reason(head + made + USE)
