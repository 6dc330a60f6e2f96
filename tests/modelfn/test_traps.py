"""Programs that are easy to migrate to something that runs and is wrong: migrated exactly."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn
from modelfn.symbolic import assert_same

TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
PARAMS = {"units": [3, 4, 5], "scale": 2.0, "big": True, "heads": ["a", "b"]}

SAME = {
    "a local called y": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"y = tf.one_hot(labels, 3)\nw = tf.gather(y, labels)\nloss = tf.reduce_mean(y * w)\n{TRAIN_OP}\n{SPEC}".replace(
            "reduce_mean(y * w)", "reduce_mean(y * w * predictions)"
        ),
    ),
    "a local called x": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f'x = tf.one_hot(labels, 3)\nloss = tf.reduce_mean(x * features["w"] * predictions)\n{TRAIN_OP}\n{SPEC}',
    ),
    "a local called y_pred": (
        'predictions = {"p": tf.layers.dense(features["x"], 3)}',
        f'y_pred = tf.one_hot(labels, 3)\nloss = tf.reduce_mean(y_pred * predictions["p"])\n{TRAIN_OP}\n{SPEC}',
    ),
    "names that a lambda or a comprehension binds": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"""
        shifted = (lambda predictions: predictions + 1.0)(labels)
        total = sum([params for params in range(3)])
        loss = tf.reduce_mean(tf.square(shifted - predictions)) * total
        {TRAIN_OP}
        {SPEC}
        """,
    ),
    "a metric under a name that is used again": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"""
        {LOSS}
        m = tf.metrics.mean(labels)
        metrics = {{"one": m}}
        m = tf.metrics.mean(predictions)
        metrics["two"] = m
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        """,
    ),
    "a rate that gets another value after minimize": (
        'rate = 0.1\npredictions = tf.layers.dense(features["x"], 3)',
        f"""
        {LOSS}
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
        rate = 0.9
        metrics = {{"m": tf.metrics.mean(predictions * rate)}}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        """,
    ),
    "an expensive value per mode": (
        f"""
        if {TRAINING}:
            scale = pow(params["scale"], 2)
        else:
            scale = pow(3.0, 2)
        predictions = tf.layers.dense(features["x"] * scale, 1)
        """,
        END,
    ),
    "a list that belongs to the caller": (
        """
        units = list(params["units"])
        units += [3]
        x = features["x"]
        for u in units:
            x = tf.layers.dense(x, u)
        predictions = tf.reshape(x, [-1, len(units)])
        """,
        END,
    ),
    "layers in all arms of a condition in a loop": (
        """
        x = features["x"]
        for i, u in enumerate(params["units"]):
            if i == 0:
                h = tf.layers.dense(x, u)
            elif i == 1:
                h = tf.layers.dense(h, u) + tf.layers.dense(x, u)
            else:
                h = tf.layers.dense(h, 9) * 2.0
        predictions = tf.layers.dense(h, 1)
        """,
        END,
    ),
    "two layers of one name in a loop": (
        """
        x = features["x"]
        for u in params["units"]:
            dense = tf.layers.dense(x, u)
            x = tf.layers.dense(dense, u) + dense
        predictions = x
        """,
        END,
    ),
    "layer objects chosen by a condition": (
        """
        if params["big"]:
            head = tf.layers.Dense(10)
        else:
            head = tf.layers.Dense(2)
        predictions = head(features["x"])
        """,
        END,
    ),
    "one layer name in two arms": (
        """
        if params["big"]:
            predictions = tf.layers.dense(features["x"], 1, name="out")
        else:
            predictions = tf.layers.dense(features["w"], 1, name="out")
        """,
        END,
    ),
    "a function that reads a name given later": (
        """
        def act(value):
            return value * scale
        scale = 1.0
        scale = params["scale"]
        predictions = act(tf.layers.dense(features["x"], 1))
        """,
        END,
    ),
}


@pytest.mark.parametrize("name", sorted(SAME))
def test_computes_the_same(name: str) -> None:
    body, end = SAME[name]
    assert_same(model_fn(body, end=end), **PARAMS)


@pytest.mark.parametrize("name", ["layer objects chosen by a condition", "one layer name in two arms"])
def test_computes_the_same_in_the_other_arm(name: str) -> None:
    body, end = SAME[name]
    assert_same(model_fn(body, end=end), **{**PARAMS, "big": False})


def test_features_are_found_by_name() -> None:
    source = model_fn("predictions = tf.layers.dense(features['x'], 3)")
    text = migrate(source.replace("def model_fn(features, labels, mode,", "def model_fn(mode, labels, features,"))
    assert "def call(self, features):" in text
    assert "tf.square(y - y_pred)" in method(text, "compute_loss")
