"""`tf.train.ExponentialMovingAverage` around a train op; the numbers are those of tests/runtime."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
BODY = """
ema = tf.train.ExponentialMovingAverage(params["decay"])
predictions = tf.layers.dense(features["x"], 1)
"""
LOSS = "loss = tf.reduce_mean(tf.square(labels - predictions))"
TRAIN = f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})"
APPLY = "with tf.control_dependencies([train_op]):\n    train_op = ema.apply(tf.trainable_variables())"
SAVED = "tf.train.Scaffold(saver=tf.train.Saver(ema.variables_to_restore()))"


def program(train: str, body: str = BODY, evaluated: str = "", before: str = "", after: str | None = None) -> str:
    evaluation = f"""
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions={{"p": predictions}})
{LOSS}
if mode == tf.estimator.ModeKeys.EVAL:
    return tf.estimator.EstimatorSpec(mode, loss=loss{evaluated})
{train}
return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
    return model_fn(body, end=evaluation, before=before, after=after)


@pytest.mark.parametrize(
    "train",
    [
        f"{TRAIN}\n{APPLY}",
        f"{TRAIN}\nwith tf.control_dependencies([train_op]):\n    train_op = ema.apply()",
        f"{TRAIN}\nwith tf.control_dependencies([train_op]):\n    averages_op = ema.apply(var_list=tf.trainable_variables())\n"
        "train_op = tf.group(averages_op)",
        f"{TRAIN}\nvariables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)\n"
        "with tf.control_dependencies([train_op]):\n    average = ema.apply(variables)\n"
        "with tf.control_dependencies([average]):\n    train_op = tf.no_op()",
        f"optimizer = tf.train.GradientDescentOptimizer(0.1)\ngradients = optimizer.compute_gradients(loss)\n"
        f"train_op = optimizer.apply_gradients(gradients, {STEP})\n{APPLY}",
    ],
)
def test_ways_to_follow_the_step(train: str) -> None:
    text = migrate(program(train))
    step = method(text, "train_step")
    begin, applied = step.index("    self.ema.begin(variables)\n"), step.index("self.optimizer.apply_gradients(")
    assert begin < applied < step.index("    self.ema.update(variables)\n")
    assert 'model.ema = WeightAverages(params["decay"])\n' in method(text, "create_model")
    assert "use_averages" not in text


def test_a_decay_that_the_global_step_makes_smaller() -> None:
    body = BODY.replace('params["decay"]', f"0.5, num_updates={STEP}")
    text = migrate(program(f"{TRAIN}\n{APPLY}", body))
    assert "self.ema.update(variables, self.optimizer.iterations)" in method(text, "train_step")
    assert "WeightAverages(0.5)" in text


def test_evaluations_of_the_averages() -> None:
    text = migrate(program(f"{TRAIN}\n{APPLY}", evaluated=f", scaffold={SAVED}"))
    assert joined(method(text, "create_model")).endswith(
        "    return use_averages(model, model.ema, prediction=False)\n"
    )


def test_a_saver_of_a_name() -> None:
    body = f"{BODY}\nsaver = tf.train.Saver(var_list=ema.variables_to_restore())\nscaffold = tf.train.Scaffold(saver=saver)"
    text = migrate(program(f"{TRAIN}\n{APPLY}", body, ", scaffold=scaffold"))
    assert "use_averages(model, model.ema, prediction=False)" in text


SCOPED = APPLY.replace("variables()", 'variables("dense")')
BESIDE = "tf.group(train_op, ema.apply(tf.trainable_variables()))"
BEFORE = (
    "average = ema.apply(tf.trainable_variables())\nwith tf.control_dependencies([average]):\n"
    f"    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})"
)
NORM = """
ema = tf.train.ExponentialMovingAverage(0.9)
net = tf.layers.batch_normalization(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN)
predictions = tf.layers.dense(net, 1)
"""
RUN_UPDATES = (
    "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
    f"    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (program(f"{TRAIN}\ntrain_op = {BESIDE}"), "averages of weights are not seen to follow the step"),
        (program(BEFORE), "a control dependency that is more than UPDATE_OPS"),
        (program(f"{TRAIN}\n{APPLY.replace('s())', 's()[:1])')}"), "something else than all trainable variables"),
        (program(f"{TRAIN}\n{SCOPED}"), "something else than all trainable variables"),
        (
            program(f"{TRAIN}\n{APPLY}", BODY.replace('decay"]', 'decay"], zero_debias=True')),
            "`zero_debias` of Exponential",
        ),
        (
            program(f"{TRAIN}\n{APPLY}", BODY.replace('decay"]', 'decay"], name="avg"')),
            "`name` of ExponentialMovingAverage",
        ),
        (
            program(f"{TRAIN}\n{APPLY}", BODY.replace('decay"]', 'decay"], params["n"]')),
            "the decay of averages is not seen",
        ),
        (
            program(f"{RUN_UPDATES}\n{APPLY.replace('tf.trainable_variables()', '')}", NORM),
            "averages of moving statistics are not migrated yet",
        ),
        (program(TRAIN, evaluated=f", scaffold={SAVED}"), "averages are restored that the train op does not keep"),
        (
            program(f"{TRAIN}\n{APPLY}", evaluated=f", scaffold={SAVED[:-2]}, max_to_keep=3))"),
            "a Scaffold whose Saver holds some variables only works on the graph",
        ),
    ],
)
def test_what_native_cannot_hold(text: str, reason: str) -> None:
    assert reason in manual_reason(text)


KEPT = f"{TRAIN}\nif params['ema']:\n    " + APPLY.replace("\n", "\n    ")
EVALUATED = f"""
scaffold = None
if mode == tf.estimator.ModeKeys.EVAL and params['ema']:
    scaffold = {SAVED}
"""


def test_averages_that_an_option_asks_for() -> None:
    text = migrate(program(KEPT))
    step = method(text, "train_step")
    assert (
        "    if self.ema is not None:\n        self.ema.begin(variables)\n    self.optimizer.apply_gradients(" in step
    )
    assert step.count("    if self.ema is not None:\n        self.ema.update(variables)\n") == 1
    assert "model.ema = WeightAverages(params[\"decay\"]) if params['ema'] else None\n" in text
    assert "use_averages" not in text


def test_evaluations_of_averages_that_an_option_asks_for() -> None:
    made = method(migrate(program(KEPT, BODY + EVALUATED, ", scaffold=scaffold")), "create_model")
    end = "    if model.ema is not None:\n        use_averages(model, model.ema, prediction=False)\n    return model\n"
    assert made.endswith(end)


def test_an_option_for_the_step_is_none_for_averages() -> None:
    inner = f"{TRAIN}\n{APPLY}".replace("\n", "\n    ")
    other = f"train_op = tf.train.AdamOptimizer(0.1).minimize(loss, {STEP})"
    assert "several train ops" in manual_reason(program(f"if params['ema']:\n    {inner}\nelse:\n    {other}"))


@pytest.mark.parametrize(
    ("train", "evaluated", "reason"),
    [
        (KEPT, EVALUATED.replace("['ema']", "['other']"), "under another condition than they are kept"),
        (f"{TRAIN}\n{APPLY}", EVALUATED, "under another condition than they are kept"),
        (KEPT.replace("params['ema']", "tf.reduce_sum(labels) > 0"), "", "known only later"),
        (
            KEPT.replace("params['ema']:", "params['ema']:\n    pass\nelse:"),
            "",
            "averages of weights that a condition leaves out",
        ),
    ],
)
def test_conditions_that_are_refused(train: str, evaluated: str, reason: str) -> None:
    given = ", scaffold=scaffold" if evaluated else ""
    assert reason in manual_reason(program(train, BODY + evaluated, given))
