"""Learning rates that a program computes from the global step become schedules of its own."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, joined, manual_reason, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
TRAIN = f"train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, {STEP})"
OLD_DECAY = "tf.train.exponential_decay(0.1, {}, 100, 0.9)"
SCHEDULE = "tf.keras.optimizers.schedules.LearningRateSchedule"
CONFIG = ["", "    def get_config(self):", "        return {}"]
DECAY = "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)"


def program(train: str) -> str:
    """A model_fn that trains with the statements `train`, which set `train_op`."""
    return model_fn(DENSE, end=f"{LOSS}\n{train}\n{SPEC}")


def factory(train: str) -> list[str]:
    """What the factory does between making the model and compiling it."""
    lines = joined(method(migrate(program(train)), "create_model")).splitlines()
    start = next(i for i, line in enumerate(lines) if "model = Model(" in line)
    end = next(i for i, line in enumerate(lines) if "model.compile(" in line)
    return [line[8:] for line in lines[start + 1 : end + 1]]


def test_warm_up_and_decay() -> None:
    assert factory(
        f"""
global_step = {STEP}
warmup = params["warmup"]
rate = {OLD_DECAY.format("global_step")}
if warmup:
    # linear
    done = tf.cast(global_step, tf.float32) / warmup
    rate = tf.where(global_step < warmup, params["rate"] * done, rate)
{TRAIN.replace(STEP, "global_step")}
"""
    ) == [
        'warmup = params["warmup"]',
        "",
        f"class Rate({SCHEDULE}):",
        "    def __call__(self, global_step):",
        f"        rate = {DECAY}(global_step)",
        "        if warmup:",
        "            # linear",
        "            done = tf.cast(global_step, tf.float32) / warmup",
        '            rate = tf.where(global_step < warmup, params["rate"] * done, rate)',
        "        return rate",
        *CONFIG,
        "",
        "model.compile(optimizer=tf.keras.optimizers.SGD(Rate()), steps_per_execution=100)",
    ]


@pytest.mark.parametrize(
    ("rate", "body"),
    [
        (f"tf.maximum({OLD_DECAY.format(STEP)}, 0.001)", [f"        return tf.maximum({DECAY}(step), 0.001)"]),
        (OLD_DECAY.format(f"{STEP} - 10"), [f"        return {DECAY}(step - 10)"]),
        (
            f"tf.cond({STEP} < 10, lambda: params['rate'], lambda: {OLD_DECAY.format(STEP)})",
            [f"        return tf.cond(step < 10, lambda: params['rate'], lambda: {DECAY}(step))"],
        ),
        (
            f"tf.train.natural_exp_decay(0.1, {STEP}, 10, 0.5) + 0.01",
            ["        return tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, tf.exp(-0.5))(step) + 0.01"],
        ),
    ],
)
def test_expressions_of_the_step(rate: str, body: list[str]) -> None:
    found = factory(TRAIN.replace("rate", rate, 1))
    assert found[1:-2] == [f"class LearningRate({SCHEDULE}):", "    def __call__(self, step):", *body, *CONFIG]
    assert "tf.keras.optimizers.SGD(LearningRate())" in found[-1]


def test_momentum_multiplies_by_the_rate_of_the_step() -> None:
    found = factory(
        f"train_op = tf.train.MomentumOptimizer(0.1 * tf.exp(-tf.to_float({STEP})), 0.9).minimize(loss, {STEP})"
    )
    assert "Momentum(LearningRate(), momentum=0.9)" in found[-1]


def test_one_rate_for_the_optimizer_of_either_arm() -> None:
    found = factory(
        f"""
rate = params["rate"] / tf.sqrt(tf.to_float({STEP}) + 1.0)
if params["adam"]:
    optimizer = tf.train.AdamOptimizer(rate)
else:
    optimizer = tf.train.GradientDescentOptimizer(rate)
train_op = optimizer.minimize(loss, {STEP})
"""
    )
    assert sum("class Rate(" in line for line in found) == 1
    assert found.index(f"class Rate({SCHEDULE}):") < found.index('if params["adam"]:')


def test_a_rate_of_its_own_in_each_arm() -> None:
    found = factory(
        f"""
if params["adam"]:
    rate = params["rate"] / tf.sqrt(tf.to_float({STEP}) + 1.0)
    optimizer = tf.train.AdamOptimizer(rate)
else:
    rate = {OLD_DECAY.format(STEP)}
    optimizer = tf.train.GradientDescentOptimizer(rate)
train_op = optimizer.minimize(loss, {STEP})
"""
    )
    assert f"    class Rate({SCHEDULE}):" in found and f"    class Rate2({SCHEDULE}):" in found
    assert "    optimizer = tf.keras.optimizers.SGD(Rate2())" in found


def test_summaries_read_the_rate_of_the_optimizer() -> None:
    text = migrate(program(f'rate = 0.1 / tf.to_float({STEP} + 1)\ntf.summary.scalar("rate", rate)\n{TRAIN}'))
    assert 'tf.summary.scalar("rate", current_rate(self.optimizer))' in method(text, "compute_loss")


def test_one_schedule_needs_no_function() -> None:
    assert "def " not in "".join(factory(f"rate = {OLD_DECAY.format(STEP)}\n{TRAIN}"))


@pytest.mark.parametrize(
    ("rate", "reason"),
    [
        ("rate = 0.1 * tf.reduce_mean(predictions)  # HERE", "depends on the data"),
        (
            f"rate = {OLD_DECAY.format(STEP)}\ntf.summary.scalar('rate', rate)  # HERE\nrate = rate * 0.5",
            "before it has its last value",
        ),
        ("rate = tf.get_variable('rate', [], trainable=False)  # HERE", "variable that the optimizer depends on"),
    ],
)
def test_left_alone(rate: str, reason: str) -> None:
    assert reason in manual_reason(program(f"{rate}\n{TRAIN}"))


def test_names_of_schedules() -> None:
    """Short ones say nothing, and those of the file stand for something else."""
    rate = f"lr = 0.1 / tf.to_float({STEP} + 1)\n{TRAIN.replace('rate', 'lr', 1)}"
    assert f"class LearningRate({SCHEDULE}):" in factory(rate)
    taken = migrate("import tensorflow as tf\n\n\nclass LearningRate: pass\n" + program(rate).partition("\n")[2])
    assert f"class LearningRate2({SCHEDULE}):" in taken and "LearningRate2()" in taken
