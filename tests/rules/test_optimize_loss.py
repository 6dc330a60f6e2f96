"""`tf.contrib.layers.optimize_loss` in native models: what it becomes, and what goes to the bridge instead."""

from __future__ import annotations

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1, name="out")
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.AdagradOptimizer(0.2)
    train_op = tf.contrib.layers.optimize_loss(loss, None, 0.1, "SGD", summaries=[])
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)

estimator = tf.estimator.Estimator(model_fn, params={"clip": 1.0})
"""
DECAY = """\
def decay(rate, step):
    return tf.train.exponential_decay(rate, step, 10, 0.9)

def model_fn"""
CALL = '(loss, None, 0.1, "SGD", summaries=[])'


def migrated(text: str) -> tuple[str, str]:
    """The program after the run, and the tier of its unit with the reason."""
    outcomes = migrate_component([decode("program.py", text.encode())], Settings())
    outcome = next(outcome for outcome in outcomes if outcome.path == "program.py")
    (unit,) = outcome.units
    return outcome.after.decode(), f"{unit.tier}: {unit.reason}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('(loss, None, 0.1, "SGD", summaries=[])', "optimizer=tf.keras.optimizers.SGD(0.1)"),
        ('(loss, None, 0.1, optimizer="Adam", summaries=[])', "optimizer=tf.keras.optimizers.Adam(0.1, epsilon=1e-8)"),
        ('(loss, None, 0.1, "Ftrl", summaries=())', "optimizer=tf.keras.optimizers.Ftrl(0.1)"),
        ('(loss, None, 0.1, "RMSProp", summaries=[])', "optimizer=RMSprop(0.1, epsilon=1e-10)"),
        ('(loss, None, 0.1, "Momentum", summaries=[])', "optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9)"),
        (
            "(loss, None, 0.1, tf.train.AdamOptimizer, summaries=[])",
            "optimizer=tf.keras.optimizers.Adam(0.1, epsilon=1e-8)",
        ),
        (
            "(loss, None, 0.1, lambda r: tf.train.AdamOptimizer(r, 0.8), summaries=[])",
            "Adam(0.1, beta_1=0.8, epsilon=1e-8)",
        ),
        ("(loss, None, None, lambda: tf.train.AdamOptimizer(0.3), summaries=[])", "Adam(0.3, epsilon=1e-8)"),
        ("(loss, None, None, tf.train.AdamOptimizer(0.3), summaries=[])", "Adam(0.3, epsilon=1e-8)"),
        ("(loss, None, 0.1, optimizer, summaries=[])", "Adagrad(0.2, initial_accumulator_value=0.1, epsilon=0.0)"),
        ('(loss, None, params["rate"], "Adam", summaries=[])', 'Adam(params["rate"], epsilon=1e-8)'),
        ('(loss, None, 0.1, "Adam", clip_gradients=5.0, summaries=[])', "epsilon=1e-8, global_clipnorm=5.0)"),
        (
            '(loss, None, 0.1, "Adam", clip_gradients=params["clip"], summaries=[])',
            'epsilon=1e-8, global_clipnorm=params["clip"])',
        ),
        (
            '(loss, None, 0.1, "Adam", name="train")',
            '"train/global_norm/gradient_norm", tf.linalg.global_norm(gradients)',
        ),
        ('(loss, None, 0.1, "Adam", summaries=["loss"])', 'tf.summary.scalar("OptimizeLoss/loss", loss)'),
        (
            '(loss, None, 0.1, "Adam", learning_rate_decay_fn=decay, summaries=[])',
            "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)",
        ),
        (
            '(loss, None, 0.1, "Adam", learning_rate_decay_fn=lambda r, s: tf.train.exponential_decay(r, s, 5, 0.5))',
            'tf.summary.scalar("OptimizeLoss/learning_rate", current_rate(self.optimizer))',
        ),
    ],
)
def test_native(arguments: str, expected: str) -> None:
    program = PROGRAM.replace("def model_fn", DECAY) if "=decay" in arguments else PROGRAM
    text, unit = migrated(program.replace(CALL, arguments))
    assert unit == "native: "
    assert expected in text and "optimize_loss" not in text


def test_the_train_op_may_stand_in_the_spec_or_in_a_helper() -> None:
    call = "tf.contrib.layers.optimize_loss" + CALL
    program = PROGRAM.replace(f"    train_op = {call}\n", "").replace("loss, train_op)", f"loss, train_op={call})")
    text, unit = migrated(program)
    assert unit == "native: " and "optimizer=tf.keras.optimizers.SGD(0.1)" in text
    helper = PROGRAM.replace(call, "make(loss)").replace(
        "def model_fn", f"def make(loss):\n    return {call}\n\ndef model_fn"
    )
    text, unit = migrated(helper)
    assert unit == "native: " and "optimizer=tf.keras.optimizers.SGD(0.1)" in text


@pytest.mark.parametrize(
    "choice",
    [
        '{call} if mode == "train" else None',
        "None if mode != tf.estimator.ModeKeys.TRAIN else {call}",
        'None if mode == "infer" else {call} if mode == "train" else None',
    ],
)
def test_it_may_be_chosen_by_the_mode(choice: str) -> None:
    call = "tf.contrib.layers.optimize_loss" + CALL
    chosen = choice.format(call=call)
    text, unit = migrated(PROGRAM.replace(f"train_op = {call}", f"train_op = {chosen}"))
    assert unit == "native: " and "optimizer=tf.keras.optimizers.SGD(0.1)" in text
    program = PROGRAM.replace(f"    train_op = {call}\n", "").replace("loss, train_op)", f"loss, train_op={chosen})")
    text, unit = migrated(program)
    assert unit == "native: " and "optimizer=tf.keras.optimizers.SGD(0.1)" in text


def test_batch_normalization_needs_no_update_ops() -> None:
    text, unit = migrated(
        PROGRAM.replace("predictions = tf.layers.dense(features", "x = tf.layers.batch_normalization(features").replace(
            ', 1, name="out")', ', training=mode == "train")\n    predictions = tf.layers.dense(x, 1)'
        )
    )
    assert unit == "native: " and "UPDATE_OPS" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        '(loss, None, 0.1, "SGD", gradient_noise_scale=0.1)',
        '(loss, None, 0.1, "SGD", gradient_multipliers={"out/kernel:0": 0.5})',
        '(loss, None, 0.1, "SGD", clip_gradients=lambda pairs: pairs)',
        '(loss, None, 0.1, "SGD", clip_gradients=tf.contrib.layers.adaptive_clipping_fn())',
        '(loss, None, 0.1, "SGD", variables=tf.trainable_variables("out"))',
        '(loss, None, 0.1, "SGD", update_ops=[])',
        '(loss, None, 0.1, "SGD", summaries=["gradients"])',
        '(loss, None, 0.1, "SGD", summaries=params["summaries"])',
        '(loss, None, 0.1, "SGD", name=params["name"])',
        '(loss, None, 0.1, "SGD", increment_global_step=False)',
        '(loss, None, 0.1, params["optimizer"])',
        '(loss, None, None, "SGD")',
        '(loss, None, 0.1, "Lamb")',
        "(loss, None, 0.1, lambda a, b: tf.train.AdamOptimizer(a))",
        '(*everything, optimizer="SGD")',
    ],
)
def test_the_rest_is_not_native(arguments: str) -> None:
    _, unit = migrated(PROGRAM.replace(CALL, arguments))
    assert not unit.startswith("native")


@pytest.mark.parametrize(("test", "native"), [('mode == "train"', True), ("params['clip']", False)])
def test_within_a_choice_it_is_native_where_the_mode_decides(test: str, native: bool) -> None:
    call = "tf.contrib.layers.optimize_loss" + CALL
    _, unit = migrated(PROGRAM.replace(call, f"{call} if {test} else None"))
    assert unit.startswith("native") == native
