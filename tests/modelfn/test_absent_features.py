"""Features that predictions do not look up: negatives of a ranking, targets of a decoder."""

from __future__ import annotations

import pytest
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
    assert 'tf.nn.embedding_lookup(self.table, x["negatives"]) * y_pred' in method(text, "compute_loss")
    assert 'x["negatives"]' in method(text, "compute_metrics")


def test_what_follows_the_only_prediction_is_no_part_of_the_forward_pass() -> None:
    text = migrate(model_fn(PREDICTED + WEIGHTS.replace("negatives", "center"), end=END % "negative", after=PREDICTS))
    assert method(text, "call").endswith('    return tf.nn.embedding_lookup(self.table, features["center"])\n')
    assert 'negative = tf.nn.embedding_lookup(self.table, x["center"]) * y_pred' in method(text, "compute_loss")


def test_predictions_return_before_layers_that_they_cannot_feed() -> None:
    text = migrate(model_fn(PREDICTED + LAYERS, end=END % "logits", after=PREDICTS))
    call = method(text, "call")
    assert (
        """
    if "target" not in features:
        return {"center": center}

    logits = self.logits(tf.concat([center, features["target"]], 1))  # HERE
    return {"logits": logits, "center": center}
"""
        in call
    )
    assert "features" not in method(text, "compute_loss")


def test_several_features_that_a_parameter_asks_for() -> None:
    more = """
    loss = tf.reduce_mean(tf.square(labels - center))
    logits = center
    if params["deep"]:
        pair = tf.concat([features["target"], features["other"]], 1)
        aux = tf.layers.dense(pair, 4)
        loss += tf.reduce_mean(tf.square(labels - aux))
"""
    call = method(migrate(model_fn(PREDICTED + more, end=END % "logits", after=PREDICTS)), "call")
    assert (
        """
    if self.params["deep"] and not {"other", "target"} <= features.keys():
        return {"center": center}

    aux = None
    if self.params["deep"]:
        pair = """
        in call
    )
    assert 'return {"aux": aux, "center": center}' in call


REFUSED = {
    'layers need the feature "target", which predictions are made without': (
        """
    if mode != tf.estimator.ModeKeys.PREDICT:
        other = tf.layers.dense(features["target"], 4)  # HERE
"""
        + PREDICTED,
        """
    loss = tf.reduce_mean(tf.square(labels - other * center))
""",
    ),
    "features that predictions are made without are looked up under several conditions": (
        PREDICTED,
        """
    loss = tf.reduce_mean(tf.square(labels - center))
    if params["one"]:
        one = tf.layers.dense(features["target"], 4)  # HERE
        loss += tf.reduce_mean(tf.square(labels - one))
    if params["two"]:
        two = tf.layers.dense(features["other"], 4)
        loss += tf.reduce_mean(tf.square(labels - two))
""",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_layers_that_predictions_cannot_feed_are_refused(reason: str) -> None:
    body, loss = REFUSED[reason]
    assert reason in manual_reason(model_fn(body + loss, end=END % "center", after=PREDICTS))


def test_a_program_that_never_predicts_needs_no_such_features() -> None:
    text = migrate(model_fn(PREDICTED + LAYERS, end=END % "logits", after=AFTER))
    assert 'features["target"]' in method(text, "call")


ITEM = """
def item_tower(batch, units):
    embedded = tf.nn.embedding_lookup(tf.get_variable("items", [10, 4]), batch["item"])
    return tf.layers.dense(tf.concat([embedded, genres(batch)], 1), units)


def genres(found):
    return found["genres"]


"""
HELPER = """
    item = item_tower(features, 4)  # HERE
    loss = tf.reduce_mean(tf.square(labels - item))
"""


def _with_item_tower(text: str) -> str:
    return text.replace("def model_fn(", ITEM.lstrip("\n") + "def model_fn(", 1)


def test_predictions_return_before_a_layer_that_looks_up_what_they_lack_itself() -> None:
    text = migrate(_with_item_tower(model_fn(PREDICTED + HELPER, end=END % "item", after=PREDICTS)))
    assert (
        """
        if not {"genres", "item"} <= features.keys():
            return {"center": center}

        item = self.item_tower(features)  # HERE
"""
        in text
    )


def test_what_predictions_look_up_in_a_function_is_there() -> None:
    predicted = PREDICTED.replace('features["center"])\n', 'features["center"]) + item_tower(features, 4)\n')
    text = migrate(
        _with_item_tower(
            model_fn(
                predicted + HELPER.replace("item_tower(features, 4)", 'tf.layers.dense(features["genres"], 4)'),
                end=END % "item",
                after=PREDICTS,
            )
        )
    )
    assert "features.keys()" not in text
    assert "not in features" not in text


def test_a_function_that_gets_other_features_looks_up_none_of_these() -> None:
    body = HELPER.replace("features, 4", '{"item": features["center"], "genres": center}, 4')
    text = migrate(_with_item_tower(model_fn(PREDICTED + body, end=END % "item", after=PREDICTS)))
    assert "features.keys()" not in text
    assert "not in features" not in text
