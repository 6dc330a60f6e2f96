"""Optimizers of `tf.contrib.opt` in a model_fn: what they become, and what is refused."""

from __future__ import annotations

import pytest
from modelfn.own_optimizers import program
from modelfn.programs import joined, manual_reason, method, migrate

MINIMIZE = "train_op = optimizer.minimize(loss, global_step=step)\n"


def made(call: str, before: str = "") -> str:
    """How the factory makes the optimizer."""
    text = migrate(program(before, f"tf.contrib.opt.{call}", MINIMIZE))
    lines = joined(method(text, "create_model")).splitlines()
    [line] = [line for line in lines if line.strip().startswith("optimizer = ")]
    return line.strip()[len("optimizer = ") :]


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("LazyAdamOptimizer(0.1, 0.8)", "tf.keras.optimizers.Adam(0.1, beta_1=0.8, epsilon=1e-8)"),
        ("NadamOptimizer(learning_rate=0.1)", "NadamOptimizer(0.1)"),
        ("AdaMaxOptimizer(epsilon=1e-3)", "tf.keras.optimizers.Adamax(epsilon=1e-3)"),
        ("AdamWOptimizer(0.01, 0.1)", "AdamWOptimizer(weight_decay=0.01, learning_rate=0.1)"),
        ("AdamWOptimizer(weight_decay=params['decay'])", "AdamWOptimizer(weight_decay=params['decay'])"),
        (
            "MomentumWOptimizer(0.01, 0.1, 0.9, use_nesterov=True)",
            "MomentumWOptimizer(weight_decay=0.01, learning_rate=0.1, momentum=0.9, use_nesterov=True)",
        ),
        ("LARSOptimizer(0.1, 0.8, 1e-4, name='lars')", "LARSOptimizer(0.1, momentum=0.8, weight_decay=1e-4)"),
        ("LARSOptimizer(0.1, skip_list=['bias'])", "LARSOptimizer(0.1, skip_list=['bias'])"),
        ("AddSignOptimizer(0.1, 0.9, use_locking=True)", "AddSignOptimizer(0.1, alpha=0.9)"),
        ("PowerSignOptimizer(0.1, beta=0.8)", "PowerSignOptimizer(0.1, beta=0.8)"),
    ],
)
def test_an_optimizer(call: str, written: str) -> None:
    assert made(call) == written


@pytest.mark.parametrize("call", ["AdamWOptimizer(0.01, RATE)", "MomentumWOptimizer(0.01, RATE, 0.9)"])
def test_a_rate_that_falls_behind_the_weight_decay(call: str) -> None:
    decay = "tf.train.exponential_decay(0.1, step, 10, 0.5)"
    assert "learning_rate=tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)" in made(
        call.replace("RATE", decay)
    )
    text = migrate(
        program(
            "", f"tf.contrib.opt.{call.replace('RATE', '0.1 * tf.minimum(1.0, tf.to_float(step) / 5.0)')}", MINIMIZE
        )
    )
    assert "learning_rate=LearningRate(" in text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("AdamWOptimizer(tf.train.exponential_decay(0.1, step, 10, 0.5), 0.1)", "not seen to stay the same"),
        ("AdamWOptimizer(learning_rate=0.1)", "not seen to stay the same"),
        ("AddSignOptimizer(0.1, sign_decay_fn=params['fn'])", "tf.contrib.opt.AddSignOptimizer with sign_decay_fn"),
        ("LARSOptimizer(0.1, skip_list=params['skipped'])", "not a literal list"),
        ("LARSOptimizer(0.1, skip_list=['model'])", "names of variables that differ in Keras"),
        ("LARSOptimizer(0.1, slots=3)", "tf.contrib.opt.LARSOptimizer has no argument"),
    ],
)
def test_what_is_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(program("", f"tf.contrib.opt.{call}", MINIMIZE))


def test_a_choice_of_variables_to_decay_is_refused() -> None:
    apply = "train_op = optimizer.minimize(loss, step, decay_var_list=tvars)\n"
    assert "decay_var_list" in manual_reason(program("", "tf.contrib.opt.AdamWOptimizer(0.01)", apply))


def test_an_optimizer_of_another_module_is_left_alone() -> None:
    assert "a class that is not known" in manual_reason(program("import opt\n", "opt.AdamWOptimizer(0.01)", MINIMIZE))
