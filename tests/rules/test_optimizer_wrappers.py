"""Optimizers of `tf.contrib` around another one: their part of a step stands in the train step; other uses are left."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, joined, manual_reason, method, migrate, model_fn

INNER = "tf.train.AdamOptimizer(0.1)"
STEP = "train_op = opt.minimize(loss, tf.train.get_global_step())"
NET = 'predictions = tf.layers.dense(features["x"], 3)'


def program(train: str, spec: str = SPEC) -> str:
    """A program whose train op `train` makes."""
    return model_fn(NET, end=f"{LOSS}\n{textwrap.dedent(train).strip()}\n{spec}")


@pytest.mark.parametrize(
    "made",
    [
        f"opt = tf.contrib.estimator.clip_gradients_by_norm({INNER}, params['norm'])",
        f"opt = {INNER}\nopt = tf.contrib.estimator.clip_gradients_by_norm(opt, clip_norm=params['norm'])",
        f"inner = {INNER}\nopt = tf.contrib.estimator.clip_gradients_by_norm(inner, params['norm'])",
    ],
)
def test_gradients_are_clipped_by_their_global_norm(made: str) -> None:
    text = migrate(program(f"{made}\n{STEP}"))
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8, global_clipnorm=params['norm'])" in text
    assert "def train_step" not in text and "contrib" not in text


@pytest.mark.parametrize("inner", [INNER, "inner"])
def test_wrappers_without_a_name(inner: str) -> None:
    before = "" if inner == INNER else f"inner = {INNER}\n"
    step = ".minimize(loss, tf.train.get_global_step())"
    made = f"{before}train_op = tf.contrib.estimator.clip_gradients_by_norm({inner}, 1.0){step}"
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8, global_clipnorm=1.0)" in migrate(program(made))
    made = f"{before}train_op = tf.contrib.opt.MovingAverageOptimizer({inner}, 0.9){step}"
    assert "model.averages = WeightAverages(0.9)" in migrate(program(made))


def test_a_list_of_variables_is_kept() -> None:
    made = f"v = tf.trainable_variables()[1:]\nopt = tf.contrib.estimator.clip_gradients_by_norm({INNER}, 1.0)"
    step = method(migrate(program(f"{made}\n{STEP[:-1]}, var_list=v)")), "train_step")
    assert "tape.gradient(loss, v" in step and "tf.clip_by_global_norm(gradients, 1.0)" in step


@pytest.mark.parametrize(
    ("given", "decay", "steps"),
    [
        ("", "0.9999", ""),
        (", 0.9", "0.9", ""),
        (", average_decay=0.9, num_updates=step", "0.9", ", self.optimizer.iterations"),
    ],
)
def test_weights_are_averaged_after_the_step(given: str, decay: str, steps: str) -> None:
    made = f"step = tf.train.get_global_step()\nopt = tf.contrib.opt.MovingAverageOptimizer({INNER}{given})"
    text = migrate(program(f"{made}\ntrain_op = opt.minimize(loss, step)"))
    assert f"model.averages = WeightAverages({decay})" in method(text, "create_model")
    assert method(text, "train_step").splitlines()[-2].strip() == f"self.averages.update(variables{steps})"
    assert "use_averages" not in text


BRANCHES = """
if mode != tf.estimator.ModeKeys.TRAIN:
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss)
opt = tf.contrib.opt.MovingAverageOptimizer({inner}, 0.9)
train_op = opt.minimize(loss, tf.train.get_global_step())
"""
TRAINING = "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold={})"


@pytest.mark.parametrize("named", [False, True])
def test_a_swapping_saver_evaluates_the_averages(named: bool) -> None:
    made = "tf.train.Scaffold(saver=opt.swapping_saver())"
    train = BRANCHES.format(inner=INNER) + (f"s = {made}" if named else "")
    text = migrate(program(train, TRAINING.format("s" if named else made)))
    assert "use_averages(model, model.averages)" in text
    assert "Scaffold" not in text and "swapping" not in text


@pytest.mark.parametrize(
    ("train", "spec"),
    [
        (f"opt = tf.contrib.opt.MovingAverageOptimizer({INNER}, sequential_update=False)\n{STEP}", SPEC),
        (f"opt = tf.contrib.opt.MovingAverageOptimizer({INNER})\nopts = [opt]\n{STEP}", SPEC),
        (
            f"opt = {INNER}\nif params['x']:\n    opt = tf.contrib.opt.MovingAverageOptimizer(opt)\n{STEP}",
            SPEC,
        ),
        (f"opt = tf.contrib.estimator.clip_gradients_by_norm({INNER}, norm())\n{STEP}", SPEC),
        (f"opt = tf.contrib.estimator.clip_gradients_by_norm({INNER}, 1.0)\n{STEP[:-1]}, grad_loss=loss)", SPEC),
        (
            f"opt = {INNER}\ngradients = opt.compute_gradients(loss)\n"
            f"opt = tf.contrib.estimator.clip_gradients_by_norm(opt, 1.0)\n{STEP}",
            SPEC,
        ),
        (
            f"opt = tf.contrib.estimator.clip_gradients_by_norm({INNER}, 1.0)\n"
            "train_op = opt.apply_gradients(opt.compute_gradients(loss), tf.train.get_global_step())",
            SPEC,
        ),
        (BRANCHES.format(inner=INNER), TRAINING.format("tf.train.Scaffold(saver=opt.swapping_saver(name='mine'))")),
        (
            BRANCHES.format(inner=INNER),
            TRAINING.format("tf.train.Scaffold(init_fn=params['f'], saver=opt.swapping_saver())"),
        ),
        (
            f"opt = tf.contrib.opt.MovingAverageOptimizer({INNER})\n{STEP}",
            SPEC[:-1] + ", scaffold=tf.train.Scaffold(saver=opt.swapping_saver()))",
        ),
    ],
)
def test_other_uses_are_left(train: str, spec: str) -> None:
    manual_reason(program(train, spec))


# -- decoupled decay --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        (
            "W = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdamOptimizer)\n"
            "opt = W(weight_decay=0.01, learning_rate=0.1, beta1=0.8)",
            "AdamWOptimizer(weight_decay=0.01, learning_rate=0.1, beta1=0.8)",
        ),
        (
            "opt = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.MomentumOptimizer)(0.01, 0.1, 0.9)",
            "MomentumWOptimizer(weight_decay=0.01, learning_rate=0.1, momentum=0.9)",
        ),
    ],
)
def test_extended_optimizers_are_those_of_contrib(made: str, kept: str) -> None:
    text = migrate(program(f"{made}\n{STEP}"))
    assert kept in joined(text) and "extend" not in text


@pytest.mark.parametrize(
    "made",
    [
        "W = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)\nopt = W(0.01, 0.1)",
        "W = tf.contrib.opt.extend_with_decoupled_weight_decay(params['optimizer'])\nopt = W(0.01, 0.1)",
        "W = tf.contrib.opt.extend_with_decoupled_weight_decay(base=tf.train.AdamOptimizer)\nopt = W(0.01, 0.1)",
    ],
)
def test_other_extensions_are_left(made: str) -> None:
    manual_reason(program(f"{made}\n{STEP}"))


def test_lists_of_what_decays_are_left() -> None:
    made = "opt = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdamOptimizer)(0.01, 0.1)"
    assert "decay_var_list" in manual_reason(program(f"{made}\n{STEP[:-1]}, decay_var_list=[])"))
