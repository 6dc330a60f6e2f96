"""`add_metrics` and `forward_features` around canned Estimators."""

from __future__ import annotations

import pytest
from modelfn.programs import USE, manual_reason, migrate, model_fn

METRIC = """
def my_rmse(labels, predictions):
    return {"rmse": tf.metrics.root_mean_squared_error(labels, predictions["predictions"])}


"""
HEAD = f"import tensorflow as tf\n\n{METRIC}"
MADE = "e = tf.estimator.LinearRegressor(C, model_dir='dir')\n"


@pytest.mark.parametrize("place", ["tf.contrib.estimator", "tf.estimator"])
def test_metrics_are_those_of_tensorflow_1(place: str) -> None:
    text = migrate(f"{HEAD}{MADE}e = {place}.add_metrics(e, my_rmse)\ne.evaluate(F)\n")
    assert 'return {"rmse": tf.compat.v1.metrics.root_mean_squared_error(labels, predictions["predictions"])}' in text
    assert "\ne = add_metrics(e, my_rmse)\nevaluate(e, F)\n" in text


def test_a_function_that_the_module_defines_again() -> None:
    """As cells of notebooks do that are copied and changed."""
    once = f"{MADE}e = tf.contrib.estimator.add_metrics(e, my_rmse)\ne.evaluate(F)\n"
    text = migrate(f"{HEAD}{once}{METRIC}{once}")
    assert text.count("tf.compat.v1.metrics.root_mean_squared_error(") == 2
    assert text.count("e = add_metrics(e, my_rmse)\nevaluate(e, F)\n") == 2


def test_a_function_that_a_condition_defines_again_is_not_known() -> None:
    again = "if FLAG:\n    my_rmse = None\n"
    program = f"{HEAD}{again}{MADE}e = tf.contrib.estimator.add_metrics(e, my_rmse)\n"
    assert "the function of `add_metrics` is not found" in manual_reason(program)


def test_by_keyword_and_around_the_construction() -> None:
    statements = f"e = tf.contrib.estimator.add_metrics(metric_fn=my_rmse, estimator={MADE[4:-1]})\n"
    text = migrate(HEAD + statements)
    made = "e = add_metrics(metric_fn=my_rmse, model=linear_regressor(feature_columns=C, model_dir='dir', "
    assert "".join(made.split()) in "".join(text.split())


def test_lambda_and_return() -> None:
    program = f"""import tensorflow as tf


def build():
    {MADE}    return tf.contrib.estimator.add_metrics(e, lambda features: {{"x": tf.metrics.mean(features["x"])}})


build().evaluate(F)
"""
    text = migrate(program)
    assert 'return add_metrics(e, lambda features: {"x": tf.compat.v1.metrics.mean(features["x"])})' in text
    assert "evaluate(build(), F)" in text


def test_features_are_forwarded() -> None:
    text = migrate(
        f"import tensorflow as tf\n\n{MADE}e = tf.contrib.estimator.forward_features(e, 'key', sparse_default_values=None)\n"
    )
    assert "e = forward_features(e, 'key')\n" in text


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("other = tf.contrib.estimator.add_metrics(e, my_rmse)  # HERE", "makes a second Estimator of one that stays"),
        ("e = tf.contrib.estimator.add_metrics(e, UNSEEN)  # HERE", "the function of `add_metrics` is not found"),
        ("e = tf.contrib.estimator.add_metrics(e)  # HERE", "`add_metrics` without its arguments"),
        (
            "e = tf.contrib.estimator.forward_features(e, sparse_default_values={'x': 0})  # HERE",
            "`sparse_default_values` of forward_features",
        ),
        (
            "e = tf.contrib.estimator.add_metrics(e, lambda labels: {'a': tf.keras.metrics.Mean()})  # HERE",
            "metrics of Keras in a function of `add_metrics`",
        ),
    ],
)
def test_refused(statements: str, reason: str) -> None:
    assert reason in manual_reason(f"{HEAD}{MADE}{statements}\n")


def test_estimators_with_a_model_fn() -> None:
    after = f"{USE.format(params='')}{METRIC}estimator = tf.estimator.add_metrics(estimator, my_rmse)\n"
    text = migrate(model_fn("predictions = tf.layers.dense(features, 1)", after=after))
    assert "add_metrics" not in text and "my_rmse" not in text


BESIDE = model_fn("predictions = tf.layers.dense(features['x'], 1)", before=HEAD)


@pytest.mark.parametrize("given", ["e", f"tf.contrib.estimator.forward_features({MADE[4:-1]}, 'id')", MADE[4:-1]])
def test_beside_an_estimator_with_a_model_fn(given: str) -> None:
    text = migrate(f"{BESIDE}\n{MADE}e = tf.contrib.estimator.add_metrics({given}, my_rmse)\ne.evaluate(F)\n")
    assert "e = add_metrics(" in text and "tf.compat.v1.metrics.root_mean_squared_error(" in text


@pytest.mark.parametrize("call", ["tf.contrib.estimator.add_metrics(e, my_rmse)", "make(e)"])
def test_one_that_is_not_seen_beside_an_estimator_with_a_model_fn_is_refused(call: str) -> None:
    made = "def make(e):\n    return tf.contrib.estimator.add_metrics(e, my_rmse)\n\n\n"
    made += f"{MADE}if FLAG:\n    e = other()\ne = {call}\n"
    assert "add_metrics" in manual_reason(f"{BESIDE}\n{made}")
