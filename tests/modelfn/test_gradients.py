"""Train ops that compute with gradients become a `train_step`."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, PATH, SPEC, manual_reason, method, migrate, migrate_all, model_fn

STEP = "tf.train.get_global_step()"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
OPTIMIZER = "optimizer = tf.train.GradientDescentOptimizer(0.1)"
APPLY = f"train_op = optimizer.apply_gradients(pairs, global_step={STEP})"


def program(train: str, loss: str = LOSS) -> str:
    """A model_fn that trains with the statements `train`, which set `train_op`."""
    return model_fn(DENSE, end=f"{loss}\n{OPTIMIZER}\n{train}\n{SPEC}")


def step(train: str, loss: str = LOSS) -> list[str]:
    """The lines of the train step between the loss and the metrics."""
    lines = method(migrate(program(train, loss)), "train_step").splitlines()
    assert lines[:2] == [
        "def train_step(self, data):",
        "    x, y, sample_weight = tf.keras.utils.unpack_x_y_sample_weight(data)",
    ]
    assert lines[3:5] == [
        "        y_pred = self(x, training=True)",
        "        loss = self.compute_loss(x, y, y_pred, sample_weight)",
    ]
    assert lines[-1] == "    return self.compute_metrics(x, y, y_pred, sample_weight)"
    return [line[4:] for line in lines[5:-1]]


def test_minimize_needs_no_train_step() -> None:
    assert "def train_step" not in migrate(program(f"train_op = optimizer.minimize(loss, {STEP})"))


def test_clipping_by_global_norm() -> None:
    assert step(
        f"""
gradients, variables = zip(*optimizer.compute_gradients(loss))
# keeps the first steps small
gradients, norm = tf.clip_by_global_norm(gradients, params["clip"])  # all at once
tf.summary.scalar("norm", norm)
train_op = optimizer.apply_gradients(zip(gradients, variables), global_step={STEP})
"""
    ) == [
        "variables = self.trainable_variables",
        "gradients = tape.gradient(loss, variables)",
        "# keeps the first steps small",
        'gradients, norm = tf.clip_by_global_norm(gradients, self.params["clip"])  # all at once',
        'tf.summary.scalar("norm", norm)',
        "self.optimizer.apply_gradients(zip(gradients, variables))",
    ]


def test_gradients_of_named_variables() -> None:
    assert step(
        f"""
tvars = tf.trainable_variables()
grads = [g * 2.0 for g in tf.gradients(loss, tvars)]
train_op = optimizer.apply_gradients(zip(grads, tvars), global_step={STEP})
"""
    ) == [
        "tvars = self.trainable_variables",
        "grads = [g * 2.0 for g in tape.gradient(loss, tvars)]",
        "self.optimizer.apply_gradients(zip(grads, tvars))",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "pairs = [(tf.sign(g), v) for g, v in optimizer.compute_gradients(loss)]",
            ["pairs = [(tf.sign(g), v) for g, v in zip(tape.gradient(loss, variables), variables)]"],
        ),
        (
            "pairs = optimizer.compute_gradients(loss, colocate_gradients_with_ops=True)\n"
            "for i, (g, v) in enumerate(pairs):\n    if g is not None:\n        pairs[i] = (g * 2.0, v)",
            [
                "pairs = list(zip(tape.gradient(loss, variables), variables))",
                "for i, (g, v) in enumerate(pairs):",
                "    if g is not None:",
                "        pairs[i] = (g * 2.0, v)",
            ],
        ),
        (
            "pairs = optimizer.compute_gradients(loss)\nfor g, _ in pairs:\n    tf.summary.histogram('gradient', g)",
            [
                "pairs = list(zip(tape.gradient(loss, variables), variables))",
                "for g, _ in pairs:",
                "    tf.summary.histogram('gradient', g)",
            ],
        ),
        (
            "pairs = optimizer.compute_gradients(loss)\nif params['clip']:\n"
            "    pairs = [(tf.clip_by_value(g, -1.0, params['clip']), v) for g, v in pairs]",
            [
                "pairs = list(zip(tape.gradient(loss, variables), variables))",
                "if self.params['clip']:",
                "    pairs = [(tf.clip_by_value(g, -1.0, self.params['clip']), v) for g, v in pairs]",
            ],
        ),
    ],
)
def test_pairs_of_gradient_and_variable(old: str, new: list[str]) -> None:
    found = step(f"{old}\n{APPLY}")
    assert found == ["variables = self.trainable_variables", *new, "self.optimizer.apply_gradients(pairs)"]


def test_static_choice_of_the_update() -> None:
    found = step(
        f"""
if params["clip"]:
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, params["clip"])
    train_op = optimizer.apply_gradients(zip(gradients, variables), {STEP})
else:
    train_op = optimizer.minimize(loss, {STEP})
"""
    )
    assert found == [
        "variables = self.trainable_variables",
        'if self.params["clip"]:',
        "    gradients = tape.gradient(loss, variables)",
        '    gradients, _ = tf.clip_by_global_norm(gradients, self.params["clip"])',
        "    self.optimizer.apply_gradients(zip(gradients, variables))",
        "else:",
        "    self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))",
    ]


def test_train_op_behind_control_dependencies() -> None:
    found = step(
        f"""
pairs = [(g * 2.0, v) for g, v in optimizer.compute_gradients(loss)]
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    applied = optimizer.apply_gradients(pairs, {STEP})
with tf.control_dependencies([applied]):
    train_op = tf.no_op(name="train")
"""
    )
    assert found[-1] == "self.optimizer.apply_gradients(pairs)" and len(found) == 3


def test_the_loss_may_have_any_name() -> None:
    loss = "cost = tf.reduce_mean(tf.square(labels - predictions))\nloss = cost"
    found = step(f"pairs = [(g * 2.0, v) for g, v in optimizer.compute_gradients(cost)]\n{APPLY}", loss)
    assert "pairs = [(g * 2.0, v) for g, v in zip(tape.gradient(loss, variables), variables)]" in found


def test_names_of_the_program_win() -> None:
    found = step(
        f"""
pairs = optimizer.compute_gradients(loss)
variables = [v for _, v in pairs[1:]]
pairs = [(g, v) for g, v in pairs if v in variables]
{APPLY}
"""
    )
    assert "pairs = list(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))" in found


def test_a_train_op_made_in_another_file() -> None:
    helper = f"""
import tensorflow as tf


def get_train_op(loss, rate, warmup, clip_norm=1.0):
    global_step = {STEP}
    rate = rate * tf.minimum(1.0, tf.to_float(global_step) / warmup)
    optimizer = tf.train.AdamOptimizer(rate)
    tvars = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm)
    tf.summary.scalar("norm", norm)
    return optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
"""
    end = f'{LOSS}\ntrain_op = get_train_op(loss, params["rate"], params["warmup"])\n{SPEC}'
    source = model_fn(DENSE, end=end, before="import tensorflow as tf\nfrom training import get_train_op\n")
    text = migrate_all({PATH: source, "training.py": helper})[PATH]
    step = method(text, "train_step")
    assert "    tvars = self.trainable_variables\n" in step
    assert "tf.clip_by_global_norm(tape.gradient(loss, tvars), 1.0)" in step
    assert "    self.optimizer.apply_gradients(zip(grads, tvars))\n" in step
    made = method(text, "create_model")
    assert "tf.minimum(1.0, tf.cast(global_step, tf.float32) / " in made
    assert "tf.keras.optimizers.Adam(Rate(" in made


@pytest.mark.parametrize(
    ("train", "reason"),
    [
        (f"pairs = optimizer.compute_gradients(tf.square(loss))  # HERE\n{APPLY}", "something else than the loss"),
        (
            f"tvars = tf.trainable_variables()\npairs = zip(tf.gradients(predictions + 1.0, tvars), tvars)  # HERE\n{APPLY}",
            "something else than the loss",
        ),
        ("train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss))  # HERE", "without global_step"),
        (
            f"pairs = optimizer.compute_gradients(loss)\nfor g, v in pairs:\n    tf.print(v.name, g)  # HERE\n{APPLY}",
            "names of variables",
        ),
        (
            f"scale = tf.reduce_mean(predictions)  # HERE\n"
            f"pairs = [(g * scale, v) for g, v in optimizer.compute_gradients(loss)]\n{APPLY}",
            "reads `scale`",
        ),
        (f"pairs = optimizer.compute_gradients(loss, grad_loss=[1.0])  # HERE\n{APPLY}", "grad_loss"),
        (
            f"tvars = tf.trainable_variables('head')  # HERE\npairs = zip(tf.gradients(loss, tvars), tvars)\n{APPLY}",
            "a list of variables is empty",
        ),
        (
            f"pairs = optimizer.compute_gradients(loss)\nother = tf.train.AdamOptimizer()\n"
            f"one = other.apply_gradients(pairs, {STEP})\n"
            f"train_op = tf.group(one, optimizer.apply_gradients(pairs, {STEP}))",
            "several optimizers",
        ),
        (
            f"pairs = optimizer.compute_gradients(loss)\nprint_op = save(pairs)\n{APPLY}\n"
            "train_op = tf.group(train_op, print_op)  # HERE",
            "more than to minimize",
        ),
        (
            f"x = [(g * 2.0, v) for g, v in optimizer.compute_gradients(loss)]  # HERE\n{APPLY.replace('pairs', 'x')}",
            "`x` is a name",
        ),
        (f"pairs = optimizer.compute_gradients(loss)\nsave(pairs)  # HERE\n{APPLY}", "only has an effect"),
        (
            f"pairs = optimizer.compute_gradients(loss)\nfor i in range(2):\n"
            f"    train_op = optimizer.apply_gradients(pairs, {STEP})",
            "not seen to be",
        ),
    ],
)
def test_left_alone(train: str, reason: str) -> None:
    assert reason in manual_reason(program(train))


def test_targets_of_comprehensions_are_no_variables_of_the_forward_pass() -> None:
    body = (
        f'v = tf.layers.dense(features["x"], 4)\npredictions = tf.layers.dense(v, 1)\nloss = {LOSS.split("= ", 1)[1]}'
    )
    train = f"""
capped = [(tf.sign(g), v) for g, v in optimizer.compute_gradients(loss) if g is not None]
train_op = optimizer.apply_gradients(capped, {STEP})
"""
    text = migrate(model_fn(body, end=f"{OPTIMIZER}\n{train}\n{SPEC}"))
    step = method(text, "train_step")
    assert "(tf.sign(g), v)" in step and "for g, v in zip(tape.gradient(loss, variables), variables)" in step
    assert "self.v" not in step


def test_a_lambda_names_its_parameter_like_the_loss() -> None:
    train = f"""
halved = tf.nest.map_structure(lambda loss: loss / 2, [0.1, 0.3])
pairs = [(g * halved[0], v) for g, v in optimizer.compute_gradients(loss)]
train_op = optimizer.apply_gradients(pairs, {STEP})
"""
    assert "lambda loss: loss / 2" in migrate(program(train, LOSS))


SCALED = f"""
scale = params["scale"] * 2
pairs = [(gradient / scale, v) for gradient, v in optimizer.compute_gradients(loss * scale)]
{APPLY}
"""


def test_what_scales_the_loss_stands_before_the_tape() -> None:
    lines = method(migrate(program(SCALED)), "train_step").splitlines()
    at = lines.index('    scale = self.params["scale"] * 2')
    assert lines[at + 1 : at + 6] == [
        "    with tf.GradientTape() as tape:",
        "        y_pred = self(x, training=True)",
        "        loss = self.compute_loss(x, y, y_pred, sample_weight)",
        "        scaled_loss = loss * scale",
        "    variables = self.trainable_variables",
    ]
    assert sum("scale = self" in line for line in lines) == 1


def test_a_choice_of_what_scales_the_loss() -> None:
    chosen = f"""
base = params["base"]
scale = base + 1
if params["scaled"]:
    # keeps them from 0
    gradients = optimizer.compute_gradients(loss * scale)
    pairs = [(gradient / scale, v) for gradient, v in gradients]
    {APPLY}
else:
    train_op = optimizer.minimize(loss, {STEP})
"""
    lines = method(migrate(program(chosen)), "train_step").splitlines()
    tape = next(at for at, line in enumerate(lines) if "GradientTape" in line)
    assert lines[tape - 2 : tape] == ['    base = self.params["base"]', "    scale = base + 1"]
    assert "        scaled_loss = loss * scale" in lines[tape:]
