"""Hooks that stop by what evaluations gave, and lists of hooks that grow, where a program trains by `fit`."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, run

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"acc": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [1] * 8)).repeat(epochs).batch(2)


"""
EVERY = "estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(save_checkpoints_steps=10))\n"
NEVER = "estimator = tf.estimator.Estimator(model_fn)\n"
TRAIN = """\
train_spec = tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=200, hooks=HOOKS)
tf.estimator.train_and_evaluate(estimator, train_spec, tf.estimator.EvalSpec(input_fn))
"""
CALLBACKS = "tf.keras.callbacks"


def program(hooks: str, estimator: str = EVERY, above: str = "", train: str = TRAIN) -> str:
    return HEAD + estimator + above + train.replace("HOOKS", hooks)


def stop(name: str, arguments: str, family: str = "estimator.experimental") -> str:
    return f"[tf.{family}.stop_if_{name}_hook(estimator, {arguments})]"


@pytest.mark.parametrize(
    ("hooks", "callback"),
    [
        (stop("no_decrease", '"loss", 20'), 'EarlyStopping(monitor="val_loss", mode="min", patience=2)'),
        (
            stop("no_decrease", '"loss", max_steps_without_decrease=25, min_steps=50', "contrib.estimator"),
            'EarlyStopping(monitor="val_loss", mode="min", patience=3, start_from_epoch=4)',
        ),
        (
            stop("no_increase", 'metric_name="acc", max_steps_without_increase=100, run_every_secs=30'),
            'EarlyStopping(monitor="val_acc", mode="max", patience=10)',
        ),
        (
            stop("higher", '"acc", 0.9'),
            "LambdaCallback(on_epoch_end=stop_early)",
        ),
        (
            stop("lower", '"loss", threshold=0.1'),
            "LambdaCallback(on_epoch_end=stop_early)",
        ),
    ],
)
def test_a_stop_by_evaluations(hooks: str, callback: str) -> None:
    text = " ".join(joined(migrate(program(hooks))).split())
    assert f"{CALLBACKS}.{callback}" in text and "model.fit(" in text and "Hook" not in text
    assert "estimator" not in text


@pytest.mark.parametrize(
    ("hooks", "condition"),
    [(stop("higher", '"acc", 0.9'), 'logs["val_acc"] > 0.9'), (stop("lower", '"loss", 0.1'), 'logs["val_loss"] < 0.1')],
)
def test_a_limit_of_a_metric(hooks: str, condition: str) -> None:
    called = f"def stop_early(epoch, logs):\n    if {condition}:\n        model.stop_training = True\n\n\nmodel.fit("
    assert called in joined(migrate(program(hooks)))


def test_a_limit_from_a_step_on() -> None:
    text = joined(migrate(program(stop("higher", '"acc", 0.9, min_steps=25'))))
    assert '    if model.optimizer.iterations.numpy() >= 25 and logs["val_acc"] > 0.9:\n' in text


CANNED = "estimator = tf.estimator.LinearClassifier([x], config=tf.estimator.RunConfig(save_checkpoints_steps=10))\n"


def canned(metric: str) -> str:
    return program(stop("higher", f'"{metric}", 0.9'), 'x = tf.feature_column.numeric_column("x")\n' + CANNED)


def test_a_metric_of_a_canned_estimator() -> None:
    assert 'if logs["val_accuracy"] > 0.9:' in joined(migrate(canned("accuracy")))


@pytest.mark.parametrize("metric", ["acc", "label/mean"])
def test_a_metric_that_a_canned_estimator_has_not(metric: str) -> None:
    assert ".fit(" not in run(canned(metric))["program.py"].after.decode()


def test_steps_that_the_program_computes() -> None:
    above = "patience = 3 * 7\n"
    text = joined(migrate(program(stop("no_decrease", '"loss", patience'), above=above)))
    assert "patience=-(-patience // 10))" in text


@pytest.mark.parametrize("often", ["2 * OFTEN", "OFTEN * 2"])
def test_a_limit_that_is_some_evaluations(often: str) -> None:
    estimator = "OFTEN = load()\n" + EVERY.replace("=10", "=OFTEN")
    assert "patience=2)" in joined(migrate(program(stop("no_decrease", f'"loss", {often}'), estimator)))


def test_it_is_said_when_the_training_ends() -> None:
    outcomes = run(program(stop("no_decrease", '"loss", 20'))).values()
    assert any("the evaluation that says so ends" in d.message for o in outcomes for d in (*o.remaining, *o.applied))


def test_nothing_is_said_of_a_hook_that_looks_at_each_step() -> None:
    arguments = '"loss", 20, run_every_secs=None, run_every_steps=1'
    outcomes = run(program(stop("no_decrease", arguments))).values()
    assert all("the evaluation that says so" not in d.message for o in outcomes for d in (*o.remaining, *o.applied))


def test_a_training_that_is_evaluated_at_its_end_alone_is_stopped_by_nothing() -> None:
    source = program(stop("no_decrease", '"loss", 20'), NEVER)
    assert "model.fit(input_fn(None).take(200), validation_data=input_fn().take(100))" in joined(migrate(source))
    said = [d.message for outcome in run(source).values() for d in (*outcome.remaining, *outcome.applied)]
    assert any("no evaluation stops it early" in message for message in said)


def test_a_long_training_is_evaluated_as_often_as_it_saves() -> None:
    text = joined(migrate(program(stop("no_decrease", '"loss", 20'), NEVER, train=TRAIN.replace("=200", "=20000"))))
    assert "steps_per_epoch=1000, epochs=20," in text
    assert 'EarlyStopping(monitor="val_loss", mode="min", patience=1)' in text


LOG = 'tf.train.StepCounterHook(10, output_dir="speed")'


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (program(stop("no_decrease", '"other", 20')), "no metric"),
        (program(stop("no_decrease", '"loss", 20, eval_dir="elsewhere"')), "other evaluations"),
        (program("[]", train=f"hook = {stop('lower', '0')[1:-1]}\n" + TRAIN), "given to nothing"),
        (program(stop("lower", '"loss", 0'), train="estimator.train(input_fn, hooks=HOOKS)\n"), "no evaluation"),
        (program("hooks", above=f"hooks = []\nif 1 > 0:\n    hooks.append({LOG})\n"), "a condition"),
        (program("hooks", above=f"hooks = []\nfor _ in range(2):\n    hooks.append({LOG})\n"), "a loop"),
        (program("hooks", above=f"hooks = []\nhooks.append({LOG})\nprint(hooks)\n"), "read elsewhere"),
        (program("hooks", above=f"hooks = []\nhooks.insert(0, {LOG})\n"), "not appended"),
        (program("hooks", above="hooks = []\n", train=f"{TRAIN}hooks.append({LOG})\n"), "appended below"),
    ],
)
def test_what_stays_with_helpers(source: str, why: str) -> None:
    assert ".fit(" not in run(source)["program.py"].after.decode(), why


def test_hooks_that_are_appended() -> None:
    above = f"""\
hooks = [{LOG}]
# Ends it.
hooks.append(tf.train.NanTensorHook("loss:0"))
"""
    text = joined(migrate(program("hooks", NEVER, above)))
    assert f'callbacks=[{CALLBACKS}.TerminateOnNaN(), {CALLBACKS}.TensorBoard("speed", update_freq=10, ' in text
    assert "# Ends it.\n" in text and "hooks" not in text
