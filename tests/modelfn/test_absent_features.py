"""Features that predictions do not look up: negatives of a ranking, targets of a decoder."""

from __future__ import annotations

from modelfn.programs import USE, manual_reason, method, migrate, model_fn

PREDICTED = """
    table = tf.get_variable("table", [10, 4])
    center = tf.nn.embedding_lookup(table, features["center"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"center": center})
"""
WEIGHTS = """
    negative = tf.nn.embedding_lookup(table, features["negatives"]) * center
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, labels) - negative))
"""
LAYERS = """
    logits = tf.layers.dense(tf.concat([center, features["target"]], 1), 4)  # HERE
    loss = tf.reduce_mean(tf.square(labels - logits))
"""
END = """
    metrics = {"error": tf.metrics.mean(tf.square(%s - center))}
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
"""
AFTER = USE.format(params=", params=PARAMS")
PREDICTS = f"{AFTER}estimator.predict(input_fn)\n"


def test_weights_for_the_loss_alone_stay_out_of_the_forward_pass() -> None:
    text = migrate(model_fn(PREDICTED + WEIGHTS, end=END % "negative", after=PREDICTS))
    assert 'features["negatives"]' not in method(text, "call")
    assert 'tf.nn.embedding_lookup(self.table, x["negatives"]) * y_pred["center"]' in method(text, "compute_loss")
    assert 'x["negatives"]' in method(text, "compute_metrics")


def test_what_predictions_look_up_too_is_shared() -> None:
    text = migrate(model_fn(PREDICTED + WEIGHTS.replace("negatives", "center"), end=END % "negative", after=PREDICTS))
    assert "negative = " in method(text, "call") and "negative = " not in method(text, "compute_loss")


def test_layers_that_predictions_cannot_feed_are_refused() -> None:
    source = model_fn(PREDICTED + LAYERS, end=END % "logits", after=PREDICTS)
    assert 'layers need the feature "target", which predictions are made without' in manual_reason(source)


def test_a_program_that_never_predicts_needs_no_such_features() -> None:
    text = migrate(model_fn(PREDICTED + LAYERS, end=END % "logits", after=AFTER))
    assert 'features["target"]' in method(text, "call")
