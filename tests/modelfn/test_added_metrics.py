"""`add_metrics` around an Estimator with a model_fn: the metrics become those of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, TRAIN_OP, manual_reason, method, migrate, model_fn

NET = 'predictions = tf.layers.dense(features["x"], 3)'
SPEC = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op{})"
MORE = """
def more(labels, predictions):
    return {"mean": tf.metrics.mean(predictions), "label": tf.metrics.mean(labels)}
"""
USE = """
estimator = tf.estimator.Estimator(model_fn, params=PARAMS)
estimator = tf.contrib.estimator.add_metrics(estimator, more)
estimator.evaluate(input_fn)
"""


def program(before: str = MORE, after: str = USE, metrics: str = "", net: str = NET, spec: str = SPEC) -> str:
    """A model_fn, and what is done with its Estimator."""
    return model_fn(net, end=f"{LOSS}\n{TRAIN_OP}\n{spec.format(metrics)}", before=before, after=after)


@pytest.mark.parametrize(
    "after",
    [
        USE,
        USE.replace("tf.contrib.estimator", "tf.estimator"),
        USE.replace("(estimator, more)", "(metric_fn=more, estimator=estimator)"),
        "estimator = tf.estimator.add_metrics(tf.estimator.Estimator(model_fn, params=PARAMS), more)\nestimator.evaluate(f)",
        """
def build():
    made = tf.estimator.Estimator(model_fn, params=PARAMS)
    return tf.estimator.add_metrics(made, more)

build().evaluate(input_fn)
""",
    ],
)
def test_they_are_metrics_of_the_model(after: str) -> None:
    text = migrate(program(after=after))
    metrics = method(text, "compute_metrics")
    assert "self.mean.update_state(y_pred)" in metrics and "self.label.update_state(y)" in metrics
    assert "add_metrics" not in text


def test_beside_those_of_the_spec_and_in_their_place() -> None:
    metrics = ', eval_metric_ops={"mean": tf.metrics.mean(labels), "other": tf.metrics.mean(labels)}'
    written = method(migrate(program(metrics=metrics)), "compute_metrics")
    assert "self.mean.update_state(y_pred)" in written and "self.other.update_state(y)" in written
    assert written.count("update_state") == 3


def test_of_the_features_and_a_head() -> None:
    before = 'def more(features):\n    return {"x": tf.metrics.mean(features["x"])}\n'
    net = 'head = tf.contrib.estimator.regression_head(3)\nlogits = tf.layers.dense(features["x"], 3)'
    end = "return head.create_estimator_spec(features, mode, logits, labels, tf.train.AdamOptimizer())"
    text = migrate(model_fn(net, end=end, before=before, after=USE))
    assert 'self.x.update_state(x["x"])' in method(text, "compute_metrics")
    assert "self.head.update_all(" in text
    text = migrate(model_fn(net.replace("(3)", "()", 1), end=end, before=before, after=USE))
    assert 'self.x.update_state(x["x"])' in method(text, "compute_metrics") and "self.head" not in text


@pytest.mark.parametrize(
    "source",
    [
        program(MORE.replace("labels, predictions)", "labels, predictions, config)", 1)),
        program(MORE.replace("labels, predictions)", "labels, **given)", 1).replace("mean(predictions)", "mean(1.0)")),
        program(net="labels = tf.abs(labels)\n" + NET),
        program(spec=SPEC.replace("predictions=predictions, ", "")),
        program(after=USE.replace("(estimator, more)", "(estimator, make())")),
        program(after=USE.replace("estimator = tf.contrib", "estimator.evaluate(input_fn)\nestimator = tf.contrib")),
        program(after=USE.replace("estimator = tf.contrib", "other = tf.contrib")),
        program(after=USE + "other = tf.estimator.Estimator(model_fn, params=PARAMS)\nother.evaluate(input_fn)"),
    ],
)
def test_left_alone(source: str) -> None:
    manual_reason(source)


HEAD = """head = tf.contrib.estimator.regression_head({})
logits = tf.layers.dense(features["x"], 1)"""
HEADED = "return head.create_estimator_spec(features, mode, logits, labels, tf.train.AdamOptimizer())"
OF_HEAD = """
def more(labels, predictions):
    return {"mean": tf.metrics.mean(predictions["predictions"])}
"""


@pytest.mark.parametrize("given", ["", "name='a'", "weight_column='weight'"])
def test_of_the_predictions_of_a_head(given: str) -> None:
    text = migrate(model_fn(HEAD.format(given), end=HEADED, before=OF_HEAD, after=USE))
    assert "self.mean.update_state(y_pred)" in method(text, "compute_metrics")


OTHER = """
def other(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    step = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=step)


second = tf.estimator.Estimator(other)
second = tf.contrib.estimator.add_metrics(second, {})
second.evaluate(input_fn)
"""
CANNED = """
canned = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
canned.evaluate(input_fn)
"""


def test_of_one_of_several_estimators() -> None:
    for after in (USE + OTHER.format("more"), USE + CANNED, CANNED + USE):
        text = migrate(program(after=after))
        assert "add_metrics" not in text and text.count("self.mean.update_state(") == after.count("add_metrics")


def test_of_each_of_several_estimators() -> None:
    text = migrate(program(after=USE + OTHER.format('lambda labels: {"label": tf.metrics.mean(labels)}')))
    first, _, second = text.partition("class OtherModel")
    second = f"class OtherModel{second}"
    assert "self.mean.update_state(y_pred)" in first and "self.mean" not in second
    assert "self.label.update_state(y)" in method(second, "compute_metrics")


def test_of_an_estimator_that_shares_its_model_fn_or_beside_one_that_is_not_seen() -> None:
    shared = OTHER.replace("Estimator(other)", "Estimator(model_fn, params=PARAMS)").replace(
        "second = tf.contrib.estimator.add_metrics(second, {})", ""
    )
    for after in (shared, shared.replace("Estimator(model_fn, params=PARAMS)", "Estimator(UNSEEN)")):
        manual_reason(program(after=USE + after))


def test_of_a_lambda() -> None:
    use = USE.replace("more)", 'lambda labels, predictions: {"mean": tf.metrics.mean(predictions * 2.0)})')
    assert "self.mean.update_state(y_pred * 2.0)" in method(migrate(program("", use)), "compute_metrics")
    whole = SPEC.replace("predictions=predictions", 'predictions={{"y": predictions}}')
    assert manual_reason(program("", use.replace("predictions * 2.0", 'predictions["y"]'), spec=whole))
