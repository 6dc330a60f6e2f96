"""Losses that are put together: per mode, from several parts, from the collections of the graph."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

TRAIN = "tf.estimator.ModeKeys.TRAIN"
DENSE = "predictions = tf.layers.dense(features['x'], 1)"
PREDICT = """
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
"""
EVAL_SPEC = "return tf.estimator.EstimatorSpec(mode, loss={})"
TRAIN_SPEC = "return tf.estimator.EstimatorSpec(mode, loss={}, train_op=train_op)"

PER_MODE = {
    "a penalty in training": f"{LOSS}\nif mode == {TRAIN}:\n    loss += 0.1 * tf.square(predictions)\n{TRAIN_OP}\n{SPEC}",
    "one loss for each": f"""
if mode == {TRAIN}:
    loss = tf.reduce_mean(tf.square(labels - predictions))
else:
    loss = tf.reduce_mean(tf.abs(labels - predictions))
{TRAIN_OP}
{SPEC}
""",
    "a factor": f"{LOSS} * (2.0 if mode == {TRAIN} else 1.0)\n{TRAIN_OP}\n{SPEC}",
    "a factor by name": f"weight = 2.0 if mode == {TRAIN} else 1.0\n{LOSS} * weight\n{TRAIN_OP}\n{SPEC}",
    "a condition on more than the mode": f"""
{LOSS}
if mode == {TRAIN} and params["penalty"]:
    loss = loss + 0.1
{TRAIN_OP}
{SPEC}
""",
    "another loss in the spec": f"""
{LOSS}
if mode == tf.estimator.ModeKeys.EVAL:
    {EVAL_SPEC.format("loss")}
total = loss + 0.1 * tf.square(predictions)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(total, global_step=tf.train.get_global_step())
{TRAIN_SPEC.format("total")}
""",
    "the same loss in two branches": f"""
if mode == tf.estimator.ModeKeys.EVAL:
    {LOSS}
    {EVAL_SPEC.format("loss")}
if mode == {TRAIN}:
    {LOSS}
    {TRAIN_OP}
    {TRAIN_SPEC.format("loss")}
""",
    "labels changed in training": f"""
if mode == {TRAIN}:
    labels = labels * 0.9
{LOSS}
{TRAIN_OP}
{SPEC}
""",
}


@pytest.mark.parametrize("name", sorted(PER_MODE))
def test_a_loss_per_mode(name: str) -> None:
    assert_same(model_fn(DENSE, end=PREDICT + PER_MODE[name]), penalty=True)


def test_a_part_of_the_network_that_only_training_uses() -> None:
    body = f"""
    net = tf.layers.dense(features["x"], 3)
    predictions = tf.layers.dense(net, 1)
    if mode == {TRAIN}:
        auxiliary = tf.layers.dense(net, 1)
    """
    end = f"""
    {LOSS}
    if mode == {TRAIN}:
        loss += 0.4 * tf.reduce_mean(tf.square(labels - auxiliary))
    {TRAIN_OP}
    {SPEC}
    """
    text = assert_same(model_fn(body, end=end))
    assert "if training" not in method(text, "call")


def test_evaluation_tells_the_loss_its_mode() -> None:
    text = migrate(model_fn(DENSE, end=PREDICT + PER_MODE["a penalty in training"]))
    assert "sample_weight=None, training=True):" in method(text, "compute_loss")
    assert "if training:\n        loss +=" in method(text, "compute_loss")
    assert "self.compute_loss(x, y, y_pred, sample_weight, training=False)" in method(text, "test_step")


def test_one_loss_needs_no_test_step() -> None:
    text = migrate(model_fn(DENSE, end=PREDICT + PER_MODE["the same loss in two branches"]))
    assert "test_step" not in text and "training" not in method(text, "compute_loss")


def test_a_metric_of_the_loss_takes_that_of_evaluation() -> None:
    end = f"""
    {LOSS}
    if mode == {TRAIN}:
        loss += 0.1
    metrics = {{"mean": tf.metrics.mean(loss)}}
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
    """
    text = assert_same(model_fn(DENSE, end=end))
    assert "0.1" not in method(text, "compute_metrics")


def test_a_loss_that_tells_evaluation_from_prediction_in_the_network() -> None:
    body = """
    x = features["x"]
    if mode == tf.estimator.ModeKeys.EVAL:
        x = x * 2.0  # HERE
    predictions = tf.layers.dense(x, 1)
    """
    assert "tells evaluation from prediction" in manual_reason(model_fn(body))


# -- collections ------------------------------------------------------------------------------------------------------

REGULARIZED = """
net = tf.layers.dense(features["x"], 4, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))
predictions = tf.layers.dense(net, 1)
"""


def collected(statements: str, body: str = REGULARIZED) -> str:
    return model_fn(body, end=f"{PREDICT}\n{statements}\n{TRAIN_OP}\n{SPEC}")


@pytest.mark.parametrize(
    ("statements", "loss"),
    [
        (
            "tf.losses.mean_squared_error(labels, predictions)\nloss = tf.losses.get_total_loss()",
            "loss = tf.add_n([mean_squared_error, *self.losses])",
        ),
        (
            "mse = tf.losses.mean_squared_error(labels, predictions)\nloss = tf.losses.get_total_loss()",
            "loss = tf.add_n([mse, *self.losses])",
        ),
        (
            "tf.losses.mean_squared_error(labels, predictions)\nloss = tf.losses.get_total_loss(False)",
            "loss = mean_squared_error",
        ),
        (
            "tf.losses.log_loss(labels, predictions)\ntf.losses.log_loss(labels, predictions)\n"
            "loss = tf.add_n(tf.losses.get_losses())",
            "loss = tf.add_n([log_loss, log_loss_2])",
        ),
        (
            "tf.add_to_collection('losses', tf.reduce_mean(labels - predictions))\n"
            "loss = tf.add_n(tf.get_collection('losses'), name='total')",
            "loss = tf.add_n([collected_loss], name='total')",
        ),
        (
            "tf.losses.add_loss(tf.reduce_mean(predictions))\ntf.losses.hinge_loss(labels, predictions)\n"
            "loss = tf.losses.get_total_loss(add_regularization_losses=True)",
            "loss = tf.add_n([collected_loss, hinge_loss, *self.losses])",
        ),
        (
            "more = tf.losses.hinge_loss(labels, predictions, loss_collection=None)\n"
            "loss = tf.losses.mean_squared_error(labels, predictions)\ntotal = tf.losses.get_total_loss()\nloss = total + more",
            "total = tf.add_n([loss, *self.losses])",
        ),
        (
            "tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.reduce_mean(predictions))\n"
            "loss = tf.losses.log_loss(labels, predictions) + tf.losses.get_regularization_loss()",
            "tf.add_n([collected_loss, *self.losses])",
        ),
    ],
)
def test_collected_losses(statements: str, loss: str) -> None:
    assert loss in method(migrate(collected(statements)), "compute_loss")


READ = "loss = tf.losses.get_total_loss()"


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            f"for i in range(2):\n    tf.losses.log_loss(labels, predictions)  # HERE\n{READ}",
            "under a condition or in a loop",
        ),
        (
            f"if mode == {TRAIN}:\n    tf.losses.log_loss(labels, predictions)  # HERE\n"
            f"tf.losses.log_loss(labels, predictions)\n{READ}",
            "under a condition or in a loop",
        ),
        (f"loss = 0.5 * tf.losses.log_loss(labels, predictions)  # HERE\n{READ}", "larger expression"),
        (f"a = tf.losses.log_loss(labels, predictions)  # HERE\na = a + 1.0\n{READ}", "another value"),
        (f"tf.losses.log_loss(labels, predictions)\n{READ[:-1]}scope='a')  # HERE", "for one scope"),
        ("tf.losses.log_loss(labels, predictions)\nloss = tf.losses.get_total_loss(MORE)", "not a literal"),
        (f"my_loss(*[labels, predictions])\n{READ}  # HERE", "helper function adds to a collection"),
    ],
)
def test_what_is_collected_otherwise_is_left(statements: str, reason: str) -> None:
    helper = "def my_loss(labels, predictions):\n    return tf.losses.log_loss(labels, predictions)\n\n\n"
    source = collected(statements)
    assert reason in manual_reason(source.replace("def model_fn", helper + "def model_fn"))


def test_terms_of_layers_that_are_made_later_are_not_collected() -> None:
    body = f"penalty = tf.losses.get_regularization_loss()  # HERE\n{REGULARIZED}"
    assert "before all layers are made" in manual_reason(collected(f"{LOSS} + penalty", body))


@pytest.mark.parametrize("double", ["tf.float64", "tf.double"])
def test_a_loss_in_double_precision(double: str) -> None:
    loss = f"loss = tf.reduce_mean(tf.square(tf.cast(labels, {double}) - predictions))"
    end = f"{loss}\n{TRAIN_OP}\n{SPEC}"
    assert "double precision" in manual_reason(model_fn("predictions = tf.layers.dense(features['x'], 1)", end=end))


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ("labels = tf.cast(labels, tf.float32)", ["labels = tf.cast(y, tf.float32)"]),
        ("labels = labels / 2.0\nlabels = labels - 1.0", ["labels = y / 2.0", "labels = labels - 1.0"]),
        ("half = labels / 2.0\nlabels = half - labels", ["half = y / 2.0", "labels = half - y"]),
        ("if params['cast']:\n    labels = labels / 2.0", ["labels = y", "labels = labels / 2.0"]),
        ("read = lambda: labels\nlabels = labels - read()", ["labels = y", "labels = labels - read()"]),
    ],
)
def test_labels_that_get_another_value(above: str, expected: list[str]) -> None:
    body = "predictions = tf.layers.dense(features['x'], 3)\n" + above
    text = method(
        migrate(
            model_fn(
                body, end=f"{LOSS}\n{TRAIN_OP}\nreturn tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
            )
        ),
        "compute_loss",
    )
    lines = [line.strip() for line in text.splitlines()]
    assert [line for line in lines if line in expected] == expected
    assert ("labels = y" in lines) is (expected[0] == "labels = y")


TAUGHT = f"""
if mode == tf.estimator.ModeKeys.EVAL:
    {LOSS}
    {EVAL_SPEC.format("loss")}
distance = tf.reduce_mean(tf.abs(features["{{key}}"] - predictions))
tf.summary.scalar("distance", distance)
loss = 0.5 * distance
{TRAIN_OP}
{TRAIN_SPEC.format("loss")}
"""


@pytest.mark.parametrize(("key", "guarded"), [("taught", True), ("x", False)])
def test_what_only_trainings_are_fed_is_looked_up_by_them_alone(key: str, guarded: bool) -> None:
    """Evaluations may have no such feature: the outputs of a teacher, of which only the loss of a training is computed."""
    text = method(migrate(model_fn(DENSE, end=TAUGHT.format(key=key))), "compute_loss")
    block = text.partition("else:\n")[2].partition("loss = ")[0]
    assert ("distance = " in block and "tf.summary.scalar" in block) is guarded
