"""Optimizers with a loss each; the numbers are those of tests/runtime."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
BODY = """
first = tf.layers.dense(features["x"], 1, name="first")
second = tf.layers.dense(features["x"], 1, name="second")
predictions = {"first": first, "second": second}
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions)
a_loss = tf.reduce_mean(tf.square(labels - first))
b_loss = tf.reduce_mean(tf.abs(labels - second - first))
loss = a_loss + b_loss
if mode == tf.estimator.ModeKeys.EVAL:
    return tf.estimator.EstimatorSpec(mode, loss=loss)
a_vars = tf.trainable_variables("first")
b_vars = tf.trainable_variables("second")
"""
A = "tf.train.GradientDescentOptimizer(0.1).minimize(a_loss, var_list=a_vars)"
B = f"tf.train.GradientDescentOptimizer(0.1).minimize(b_loss, var_list=b_vars, global_step={STEP})"
SPEC = "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"


def program(train: str, body: str = BODY) -> str:
    return model_fn(f"{body}\n{train}", end=SPEC)


@pytest.mark.parametrize("group", ["tf.group({}, {})", "tf.group([{}, {}])", 'tf.group({}, {}, name="train")'])
def test_steps_of_a_group_are_statements(group: str) -> None:
    step = method(migrate(program(f"train_op = {group.format(A, B)}")), "train_step")
    assert "group" not in step and "train_op" not in step  # Keras 3 has no op for a step
    first, last = re.findall(r'self\.(\w+)\.apply_gradients\(zip\(tape\.gradient\(losses\["[ab]_loss"\]', step)
    assert step.index('losses["a_loss"]') < step.index('losses["b_loss"]') and (first, last)[1] == "optimizer" != first


def test_the_step_is_counted_behind_the_steps_of_both() -> None:
    body = f"""
a = {A}
with tf.control_dependencies([a, {B.split(", global_step")[0]})]):
    train_op = tf.assign_add({STEP}, 1)
"""
    step = method(migrate(program(body)), "train_step")
    assert step.count(".apply_gradients(") == 2 and step.index('losses["a_loss"]') < step.index('losses["b_loss"]')


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("a_op", "a_optimizer"), ("train_a", "a_optimizer"), ("a_train_op", "a_optimizer"), ("first", "optimizer_2"),
     ("train_op", "optimizer_2")],
)  # fmt: skip
def test_an_optimizer_is_called_by_what_it_does(name: str, attribute: str) -> None:
    text = migrate(program(f"{name} = {A}\nb_op = {B}\ntrain_op = tf.group({name}, b_op)"))
    assert (
        f"model.{attribute} = tf.keras.optimizers.SGD(0.1)\n" in text and f"self.{attribute}.apply_gradients(" in text
    )


def test_each_optimizer_takes_the_gradients_of_its_loss() -> None:
    text = migrate(program(f"train_op = tf.group({A}, {B})"))
    step = method(text, "train_step")
    assert "        losses = self.compute_losses(x, y, y_pred)\n" in step and "loss_metric" not in step
    assert 'self.optimizer_2.apply_gradients(zip(tape.gradient(losses["a_loss"], a_vars), a_vars))' in step
    assert 'self.optimizer.apply_gradients(zip(tape.gradient(losses["b_loss"], b_vars), b_vars))' in step
    losses = method(text, "compute_losses")
    update = "    self.loss_metric.update_state(loss)\n"
    assert losses.endswith(f'{update}    return {{"loss": loss, "a_loss": a_loss, "b_loss": b_loss}}\n')
    assert method(text, "compute_loss") == (
        "def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):\n"
        '    return self.compute_losses(x, y, y_pred)["loss"]\n'
    )
    factory = method(text, "create_model")
    assert (
        "model.optimizer_2 = tf.keras.optimizers.SGD(0.1)\n" in factory
        and "model.compile(optimizer=tf.keras." in factory
    )


def test_one_of_them_has_the_loss_of_the_spec() -> None:
    body = BODY.replace("loss=loss", "loss=a_loss").replace("loss = a_loss + b_loss\n", "")
    text = migrate(model_fn(f"{body}\ntrain_op = tf.group({A}, {B})", end=SPEC.replace("=loss", "=a_loss")))
    step = method(text, "train_step")
    assert 'tape.gradient(losses["loss"], a_vars)' in step and 'tape.gradient(losses["b_loss"], b_vars)' in step
    assert method(text, "compute_losses").endswith('    return {"loss": a_loss, "b_loss": b_loss}\n')


def test_a_loss_that_only_the_training_has() -> None:
    late = "b_loss = tf.reduce_mean(tf.abs(labels - second - first))\n"
    body = BODY.replace(late, "").replace("loss = a_loss + b_loss\n", "loss = 2.0 * a_loss\n") + late
    text = migrate(program(f"train_op = tf.group({A}, {B})", body))
    assert 'return {"loss": loss, "a_loss": a_loss, "b_loss": b_loss}' in method(text, "compute_losses")


def test_an_optimizer_that_minimizes_more_than_the_loss_of_the_spec() -> None:
    train = f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(total, {STEP})"
    body = (
        BODY.replace("loss=loss", "loss=a_loss")
        .replace("    loss = a", "    total = a")
        .replace("\nloss = ", "\ntotal = ")
    )
    step = method(migrate(model_fn(f"{body}\n{train}", end=SPEC.replace("=loss", "=a_loss"))), "train_step")
    assert 'self.optimizer.apply_gradients(zip(tape.gradient(losses["total"], variables), variables))' in step


def test_gradients_that_are_edited() -> None:
    train = f"""
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(b_loss, var_list=b_vars)
pairs = [(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs]
b_op = optimizer.apply_gradients(pairs, global_step={STEP})
train_op = tf.group({A}, b_op)
"""
    step = method(migrate(program(train)), "train_step")
    assert 'pairs = list(zip(tape.gradient(losses["b_loss"], b_vars), b_vars))' in step


SAME = f"optimizer = tf.train.AdamOptimizer(0.1)\na = optimizer.minimize(a_loss, {STEP}, a_vars)\n"


@pytest.mark.parametrize(
    ("train", "reason"),
    [
        (f"{SAME}train_op = tf.group(a, optimizer.minimize(b_loss, var_list=b_vars))", "takes several steps at once"),
        (
            f"train_op = tf.group({A}, {B.replace('b_loss', '2.0 * b_loss')})",
            "something else than the loss of the spec",
        ),
        (f"train_op = tf.group({A}, {B})\nb_loss = b_loss * 2.0", "gets another value after its gradients are taken"),
        (
            f"train_op = tf.group({A.replace(', var_list=a_vars', '')}, {B})",
            "several optimizers move the same variables",
        ),
        (f"train_op = tf.group({A}, {B.split(', global_step')[0]}))", "the step never advances"),
    ],
)
def test_what_native_cannot_hold(train: str, reason: str) -> None:
    assert reason in manual_reason(program(train))


@pytest.mark.parametrize(
    "loss", ["a_loss if mode == tf.estimator.ModeKeys.EVAL else a_loss + b_loss", "a_loss + b_loss"]
)
def test_losses_that_differ_in_evaluation(loss: str) -> None:
    end = "loss=loss)" if " if " in loss else "loss=a_loss)"
    body = BODY.replace("loss = a_loss + b_loss\n", f"loss = {loss}\n").replace("mode, loss=loss)", f"mode, {end}")
    text = migrate(program(f"train_op = tf.group({A}, {B})", body))
    losses = method(text, "compute_losses")
    assert losses.startswith("def compute_losses(self, x, y, y_pred, training=True):\n")
    assert "if training" in losses or "if not training" in losses
    assert 'return self.compute_losses(x, y, y_pred, training)["loss"]' in method(text, "compute_loss")
    assert "self.compute_loss(x, y, y_pred, sample_weight, training=False)" in method(text, "test_step")
    assert "losses = self.compute_losses(x, y, y_pred)\n" in method(text, "train_step")


def test_a_loss_of_what_only_the_training_computes() -> None:
    late = "b_loss = tf.reduce_mean(tf.abs(labels - second - first))\n"
    noise = 'noise = tf.layers.dense(features["x"], 1, name="second/noise")\n'
    body = BODY.replace(late, "").replace("loss = a_loss + b_loss\n", "loss = 2.0 * a_loss\n")
    body = body.replace("a_vars =", f"{noise}{late.replace('second', 'noise')}a_vars =")
    losses = method(migrate(program(f"train_op = tf.group({A}, {B})", body)), "compute_losses")
    assert losses.endswith(
        "    if training:\n"
        '        b_loss = tf.reduce_mean(tf.abs(y - y_pred["noise"] - y_pred["first"]))\n'
        "    self.loss_metric.update_state(loss)\n"
        "    if not training:\n"
        '        return {"loss": loss}\n'
        '    return {"loss": loss, "a_loss": a_loss, "b_loss": b_loss}\n'
    )
