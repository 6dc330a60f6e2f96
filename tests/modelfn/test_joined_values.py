"""Helpers of a model_fn that return what they make of features and of labels beside each other."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn, run, units

CALL = """
    x, labels = prepare(features, labels)
    predictions = tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize(
    "helper",
    [
        "def prepare(features, labels):\n    return features['x'], tf.squeeze(labels)\n",
        """
        def prepare(features, labels):
            x = tf.reshape(features["x"], [-1, 2])
            if labels is not None:
                labels = tf.squeeze(labels, 1)
            return x, labels
        """,
        """
        def prepare(inputs, answers=None, *, scale=2.0):
            scaled = inputs["x"] * scale
            return scaled, answers
        """,
    ],
)
def test_the_forward_pass_does_without_the_labels(helper: str) -> None:
    text = migrate(model_fn(CALL, before=helper))
    call = text[text.index("def call(") : text.index("def compute_loss(")]
    assert "labels" not in call and "self.predictions(" in call and "prepare(" not in text.replace("def prepare(", "")


def test_values_that_need_each_other_stay_together() -> None:
    body = """
        x, labels = labels, features["x"]
        predictions = tf.layers.dense(x, 1)
    """
    assert "predictions depend on the labels" in units(run(model_fn(body)))[0].reason


def test_a_helper_whose_values_all_need_the_labels_stays() -> None:
    helper = "def weigh(labels, by):\n    return labels * by, labels + by\n"
    body = """
        predictions = tf.layers.dense(features["x"], 1)
        labels, more = weigh(labels, 2.0)
    """
    assert "y, more = weigh(y, 2.0)" in migrate(model_fn(body, before=helper)).replace("labels", "y")


def test_a_helper_of_features_alone_stays() -> None:
    helper = "def split(features, n):\n    return features['x'][:, :n], features['x'][:, n:]\n"
    body = """
        a, b = split(features, 1)
        predictions = tf.layers.dense(a, 1) + tf.layers.dense(b, 1)
    """
    assert "a, b = split(features, 1)" in migrate(model_fn(body, before=helper))


def test_predictions_that_are_made_of_labels_are_refused() -> None:
    helper = "def prepare(features, labels):\n    return features['x'] + labels, labels\n"
    assert "predictions depend on the labels" in units(run(model_fn(CALL, before=helper)))[0].reason
