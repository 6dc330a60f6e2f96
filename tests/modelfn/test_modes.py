"""Branches on the mode, in every style: what trains, evaluates and predicts stays what it was."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

NET = """
x = tf.layers.dense(features["x"], 4, activation=tf.nn.relu)
x = tf.layers.dropout(x, 0.3, training={training})
predictions = tf.layers.dense(x, 1)
"""
TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"

ENDS = {
    "one spec": f"{LOSS}\n{TRAIN_OP}\n{SPEC}",
    "early returns": f"""
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
{LOSS}
if mode == tf.estimator.ModeKeys.EVAL:
    return tf.estimator.EstimatorSpec(mode, loss=loss)
{TRAIN_OP}
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
    "train first": f"""
spec = tf.estimator.EstimatorSpec
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
{LOSS}
if mode == tf.estimator.ModeKeys.TRAIN:
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
return tf.estimator.EstimatorSpec(mode, loss=loss)
""",
    "if, elif, else": f"""
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
elif mode == tf.estimator.ModeKeys.TRAIN:
    {LOSS}
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
else:
    raise ValueError("never evaluated")
""",
    "None by default": f"""
loss = None
train_op = None
if mode != tf.estimator.ModeKeys.PREDICT:
    {LOSS}
if mode == tf.estimator.ModeKeys.TRAIN:
    {TRAIN_OP}
{SPEC}
""",
    "mode in (...)": f"""
loss = train_op = None
if mode in (tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL):
    {LOSS}
if mode == tf.estimator.ModeKeys.TRAIN:
    {TRAIN_OP}
{SPEC}
""",
    "strings": f"""
if mode == "infer":
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
{LOSS}
train_op = None
if mode == "train":
    {TRAIN_OP}
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
    "spec in a variable": f"""
{LOSS}
{TRAIN_OP}
spec = tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
return spec
""",
}
_WITHOUT_EVALUATION = {"if, elif, else"}


@pytest.mark.parametrize("style", sorted(set(ENDS) - _WITHOUT_EVALUATION))
def test_styles_of_returning_specs(style: str) -> None:
    text = assert_same(model_fn(NET.format(training=TRAINING), end=ENDS[style]))
    assert "EstimatorSpec" not in text and "ModeKeys" not in text
    assert "x = self.dropout(x, training=training)" in method(text, "call")


def test_no_evaluation_mode() -> None:
    text = migrate(model_fn(NET.format(training=TRAINING), end=ENDS["if, elif, else"]))
    assert "raise ValueError" not in method(text, "call")
    assert "tf.square(y - y_pred)" in method(text, "compute_loss")


@pytest.mark.parametrize(
    "training",
    [
        TRAINING,
        f"({TRAINING})",
        "mode == 'train'",
        "mode is tf.estimator.ModeKeys.TRAIN",
        "tf.estimator.ModeKeys.TRAIN == mode",
        "not mode != tf.estimator.ModeKeys.TRAIN",
        "mode in (tf.estimator.ModeKeys.TRAIN,)",
        "mode in [tf.estimator.ModeKeys.TRAIN]",
        "mode not in (tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT)",
        f"{TRAINING} and True",
    ],
)
def test_ways_to_say_training(training: str) -> None:
    text = assert_same(model_fn(NET.format(training=training)))
    assert "x = self.dropout(x, training=training)" in text


@pytest.mark.parametrize("name", ["is_training", "training", "train", "is_train"])
def test_a_name_for_training(name: str) -> None:
    text = assert_same(model_fn(f"{name} = {TRAINING}\n" + NET.format(training=name)))
    assert "self.dropout(x, training=training)" in text
    assert f"{name} = " not in method(text, "call").replace("training=training", "").replace("training=False", "")


def test_a_name_for_evaluation_negated() -> None:
    body = "is_eval = mode != tf.estimator.ModeKeys.TRAIN\n" + NET.format(training="not is_eval")
    text = assert_same(model_fn(body))
    assert "self.dropout(x, training=training)" in text


def test_statements_of_training_only_are_guarded() -> None:
    body = f"""
    x = features["x"]
    if {TRAINING}:
        # noise
        x = x + tf.random_normal([4])
        x = x * 2.0
    predictions = tf.layers.dense(x, 1)
    """
    text = migrate(model_fn(body))
    assert "    if training:\n        # noise\n        x = x + tf.random.normal([4])\n" in method(text, "call")


def test_both_branches() -> None:
    body = f"""
    x = features["x"]
    if {TRAINING}:
        x = tf.nn.relu(x)
    else:
        x = tf.nn.tanh(x)
    predictions = tf.layers.dense(x, 1)
    """
    text = assert_same(model_fn(body))
    assert "if training:\n        x = tf.nn.relu(x)\n    else:\n        x = tf.nn.tanh(x)" in method(text, "call")


def test_a_condition_after_both_branches_stands_by_itself() -> None:
    body = f"""
    if {TRAINING}:
        scale = 0.5
    else:
        scale = 2.0
    x = features["x"]
    if {TRAINING}:
        x = tf.nn.relu(x)
    predictions = tf.layers.dense(x * scale, 1)
    """
    text = assert_same(model_fn(body))
    assert method(text, "call").count("if training:") == 2
    body = body.replace('    x = features["x"]\n', "").replace("relu(x)", 'relu(features["x"])')
    assert_same(model_fn(f'    x = features["x"]\n{body}'))


@pytest.mark.parametrize(
    ("predicting", "otherwise"),
    [
        ("training=False", f"training={TRAINING}"),
        (f"training={TRAINING}", "training=False if not is_training else True"),
        ("training=is_training", f"training=({TRAINING})"),
    ],
)
def test_a_call_that_each_branch_spells_its_own_way(predicting: str, otherwise: str) -> None:
    body = f"""
    is_training = {TRAINING}
    x = tf.layers.dense(features["x"], 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        x = tf.layers.dropout(x, {predicting})
        x = tf.identity(x)
    else:
        x = tf.layers.dropout(x, {otherwise})
        x = tf.identity(x)
    predictions = tf.layers.dense(x, 1)
    """
    assert method(assert_same(model_fn(body)), "call").count("dropout(") == 1


def test_not_training() -> None:
    body = f"""
    x = features["x"]
    if not {TRAINING}:
        x = tf.nn.tanh(x)
    predictions = tf.layers.dense(x, 1)
    """
    assert "if not training:" in assert_same(model_fn(body))


def test_conditional_expression() -> None:
    body = f"""
    scale = 0.5 if {TRAINING} else 1.0
    predictions = tf.layers.dense(features["x"] * scale, 1)
    """
    text = assert_same(model_fn(body))
    assert "scale = 0.5 if training else 1.0" in method(text, "call")


def test_a_value_per_mode_stays_in_call() -> None:
    body = f"""
    if {TRAINING}:
        keep = 0.5
    else:
        keep = 1.0
    predictions = tf.layers.dense(tf.nn.relu(features["x"]) * keep, 1)
    """
    text = assert_same(model_fn(body))
    assert "keep" not in method(text, "__init__")


def test_static_and_mode_in_one_condition() -> None:
    body = f"""
    x = features["x"]
    if params["noisy"] and {TRAINING}:
        x = tf.nn.relu(x)
    predictions = tf.layers.dense(x, 1)
    """
    assert_same(model_fn(body), noisy=True)
    text = assert_same(model_fn(body), noisy=False)
    assert 'if self.params["noisy"] and training:' in text


def test_dropout_is_off_unless_training_is_said() -> None:
    text = assert_same(model_fn('predictions = tf.layers.dense(tf.layers.dropout(features["x"]), 1)'))
    assert 'self.dropout(features["x"], training=False)' in text
    assert "Dropout(0.5)" in text


def test_dropout_that_is_always_on_stays_on() -> None:
    assert_same(model_fn('predictions = tf.layers.dense(tf.layers.dropout(features["x"], 0.2, training=True), 1)'))


def test_work_for_prediction_only() -> None:
    end = f"""
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {{"p": tf.nn.softmax(predictions), "raw": predictions}}
        return tf.estimator.EstimatorSpec(mode, predictions=outputs)
    {LOSS}
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    """
    text = assert_same(model_fn(NET.format(training=TRAINING), end=end))
    assert '"p": tf.nn.softmax(predictions)' in text


# -- left alone -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (f"{LOSS}\nif params['a']:  # HERE\n    return None\n{TRAIN_OP}\n{SPEC}", "`return`"),
        (f"{LOSS}\nfor a in params['a']:  # HERE\n    return None\n{TRAIN_OP}\n{SPEC}", "`return` inside a loop"),
        (f"{LOSS}\n{TRAIN_OP}", "no EstimatorSpec is returned"),
        (f"{LOSS}\n{TRAIN_OP}\nreturn make_spec(mode, loss)  # HERE", "not seen to be an EstimatorSpec"),
        (f"{LOSS}\n{TRAIN_OP}\nreturn tf.estimator.EstimatorSpec(mode, **SPEC)  # HERE", "hidden behind * or **"),
    ],
)
def test_what_depends_on_the_mode_otherwise_is_left(end: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(NET.format(training=TRAINING), end=end))


def test_forward_pass_that_tells_evaluation_from_prediction() -> None:
    body = """
    x = features["x"]
    if mode == tf.estimator.ModeKeys.EVAL:
        x = x * 2.0  # HERE
    predictions = tf.layers.dense(x, 1)
    """
    assert "tells evaluation from prediction" in manual_reason(model_fn(body))


def test_mode_as_a_value() -> None:
    body = 'predictions = tf.layers.dense(scaled(features["x"], mode), 1)  # HERE'
    assert "the mode is used as a value" in manual_reason(model_fn(body))


def test_predictions_from_labels() -> None:
    body = """
    x = tf.layers.dense(features["x"], 1)
    predictions = x + labels  # HERE
    """
    assert "predictions depend on the labels" in manual_reason(model_fn(body))


# -- arms that repeat what others say ---------------------------------------------------------------------------------

ARM = """
{head}
    logits = {logits}
    {extra}loss = tf.reduce_mean(tf.square(labels - logits))
    {end}
"""
EVALUATED = "return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'m': tf.metrics.mean(logits)})"
TRAINED = f"{TRAIN_OP}\n    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
PREDICTED = """
if mode == tf.estimator.ModeKeys.PREDICT:
    logits = {logits}
    return tf.estimator.EstimatorSpec(mode, predictions={{"logits": logits}})
"""


def arms(logits: str, training: str, extra: str = "") -> str:
    """A model_fn that says everything again in each mode."""
    return "".join(
        [
            PREDICTED.format(logits=logits),
            ARM.format(head="if mode == tf.estimator.ModeKeys.TRAIN:", logits=training, extra=extra, end=TRAINED),
            ARM.format(head="if mode == tf.estimator.ModeKeys.EVAL:", logits=logits, extra="", end=EVALUATED),
        ]
    )


def test_arms_that_repeat_a_network_make_it_once() -> None:
    dense = 'tf.layers.dense(features["x"], 3)'
    text = assert_same(model_fn("", end=arms(dense, dense)))
    assert text.count("Dense(3)") == 1 and text.count("squared") + text.count("tf.square") == 1
    assert "if training" not in text


def test_arms_that_apply_one_object_for_their_mode() -> None:
    body = "network = tf.keras.layers.Dense(3)"
    text = assert_same(model_fn(body, end=arms('network(features["x"]) * 2.0', 'network(features["x"])')))
    assert text.count("Dense(3)") == 1 and "if training:" in text or "if not training:" in text


def test_arms_that_change_what_they_read() -> None:
    dense = "tf.layers.dense(x, 3)"
    end = arms(dense, dense, "labels = labels * 2.0\n    ")
    assert "labels = labels * 2.0" in assert_same(model_fn("x = features['x']", end=end))


def test_a_value_for_predictions_only() -> None:
    """What the branch for PREDICT computes is computed in `call`; nobody reads it while training."""
    body = """
        logits = tf.layers.dense(features["x"], 3)
        if mode == tf.estimator.ModeKeys.PREDICT:
            scaled = logits * 2.0
            top = tf.nn.top_k(scaled, k=1)
            return tf.estimator.EstimatorSpec(mode, predictions={"top": top})
        predictions = logits
    """
    text = assert_same(model_fn(body))
    assert "top = tf.nn.top_k(scaled, k=1)" in text


def test_what_one_mode_alone_needs_stands_under_its_test() -> None:
    body = """
        predictions = tf.layers.dense(features["x"], 3)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        if mode == tf.estimator.ModeKeys.TRAIN:
            error = labels - predictions
            loss = tf.reduce_mean(tf.abs(error))
        else:
            loss = tf.reduce_mean(tf.square(labels - predictions))
    """
    text = assert_same(model_fn(body, end=f"{TRAIN_OP}\n{SPEC}"))
    assert "        if training:\n            error = y - y_pred\n            loss = " in text


def test_what_follows_the_prediction_is_computed_where_it_is_read() -> None:
    body = """
        net = tf.layers.dense(features["x"], 3)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"net": net})
        logits = tf.sigmoid(net)
        loss = tf.reduce_mean(tf.square(labels - logits))
        metrics = {"mean": tf.metrics.mean(logits)}
    """
    end = f"{TRAIN_OP}\nreturn tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)"
    text = assert_same(model_fn(body, end=end))
    assert "tf.sigmoid" not in method(text, "call")
    assert "logits = tf.sigmoid(y_pred)" in method(text, "compute_loss")
    assert "logits = tf.sigmoid(y_pred)" in method(text, "compute_metrics")


def test_del_of_parameters() -> None:
    body = "del params\nx = features['x']\npredictions = tf.layers.dense(x, 3)\ndel x"
    assert "\n        del " not in assert_same(model_fn(body))


def test_what_predictions_need_in_training_only() -> None:
    body = """
    net = tf.layers.dense(features["x"], 3)
    weights = tf.get_variable("weights", [3, 1])
    if mode == tf.estimator.ModeKeys.TRAIN:
        net = net * 0.5
    predictions = tf.matmul(net, weights)
    """
    text = assert_same(model_fn(body))
    assert "if training:\n            net = net * 0.5" in text and "net" not in method(text, "compute_loss")


def test_flags_that_the_mode_sets_under_a_condition() -> None:
    body = """
    if params["normalize"]:
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_phase = True
        else:
            train_phase = False
    x = tf.layers.dense(features["x"], 4)
    if params["normalize"]:
        x = tf.layers.dropout(x, 0.3, training=train_phase)
    predictions = tf.layers.dense(x, 1)
    """
    text = assert_same(model_fn(body), normalize=True)
    assert "train_phase" not in text and "self.dropout(x, training=training)" in method(text, "call")


def test_flags_that_something_else_sets() -> None:
    body = """
    phase = False
    if params["on"]:
        phase = True
    x = tf.layers.dropout(features["x"], 0.3, training=phase)
    predictions = tf.layers.dense(x, 1)
    """
    assert "set in one place, and under a condition" in manual_reason(model_fn(body))


@pytest.mark.parametrize(
    ("test", "written"),
    [
        (f"params['a'] and {TRAINING}", "params['a']"),
        (f"{TRAINING} and params['a'] and params['b']", "params['a'] and params['b']"),
        (f"not (params['a'] and {TRAINING})", "not (params['a'])"),
        (f"params['b'] or (1 if params['d'] else 0) and {TRAINING}", "params['b'] or (1 if params['d'] else 0)"),
        ("params['a'] and params['b']", "params['a'] and params['b']"),
    ],
)  # fmt: skip
def test_conditions_say_nothing_of_the_mode_where_it_is_known(test: str, written: str) -> None:
    start = f"if {test}:\n    tf.train.init_from_checkpoint(params['from'], {{'/': '/'}})"
    text = migrate(model_fn(f"predictions = tf.layers.dense(features['x'], 1)\n{start}"))
    assert f"        if {written}:\n" in text.replace("self.params", "params").replace('"', "'")
