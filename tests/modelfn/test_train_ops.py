"""Optimizers, schedules, regularization and partitioners: what `train_op` said goes to the factory."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, joined, manual_reason, method, migrate, model_fn

DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
STEP = "tf.train.get_global_step()"


def program(train: str, body: str = DENSE, loss: str = LOSS, before: str = "") -> str:
    """A model_fn that trains with the statements `train`, which set `train_op`."""
    return model_fn(body, end=f"{loss}\n{train}\n{SPEC}", before=before)


def factory(train: str, body: str = DENSE) -> str:
    """The factory of a model_fn that trains with the statements `train`."""
    return joined(method(migrate(program(train, body)), "create_model"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GradientDescentOptimizer(0.5)", "tf.keras.optimizers.SGD(0.5)"),
        ("GradientDescentOptimizer(learning_rate=0.5, use_locking=True, name='sgd')", "tf.keras.optimizers.SGD(0.5)"),
        ("AdagradOptimizer(0.1)", "tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)"),
    ],
)
def test_optimizers_with_their_defaults_written_out(old: str, new: str) -> None:
    text = factory(f"train_op = tf.train.{old}.minimize(loss, global_step={STEP})")
    assert f"model.compile(optimizer={new}" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AdagradOptimizer(0.1)", "Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)"),
        ("MomentumOptimizer(0.1, 0.9)", "LazyMomentum(0.1, momentum=0.9)"),
    ],
)
@pytest.mark.parametrize(
    "lookup",
    [
        "def rows(table, ids):\n    return tf.nn.embedding_lookup(table, ids)",
        "def inner(ids, table):\n    return tf.gather(table, ids)\n\n\ndef rows(table, ids):\n    return inner(ids, table)",
        "def inner(ids):\n    return tf.gather([[1.0], [2.0]], ids)\n\n\ndef rows(table, ids):\n"
        "    return table + tf.map_fn(inner, ids, tf.float32)",
    ],
)
def test_rows_that_a_function_of_the_program_looks_up(lookup: str, old: str, new: str) -> None:
    body = """
    table = tf.get_variable("table", [4, 1])
    predictions = rows(table, tf.cast(features["x"][:, 0], tf.int32))
    """
    text = migrate(program(f"train_op = tf.train.{old}.minimize(loss, {STEP})", body, before=lookup))
    assert f"model.compile(optimizer={new}" in joined(method(text, "create_model"))


@pytest.mark.parametrize(
    "train",
    [
        f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})",
        f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss=loss, global_step={STEP}, name='t')",
        f"step = {STEP}\ntrain_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)",
        "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())",
        f"total = loss\ntrain_op = tf.train.GradientDescentOptimizer(0.1).minimize(total, {STEP})",
    ],
)
def test_ways_to_minimize(train: str) -> None:
    assert "tf.keras.optimizers.SGD(0.1)" in factory(train)


def test_an_optimizer_keeps_its_name_and_comment() -> None:
    text = factory(
        f"# the rate was tuned\noptimizer = tf.train.GradientDescentOptimizer(params['rate'])\n"
        f"train_op = optimizer.minimize(loss, global_step={STEP})"
    )
    assert "        # the rate was tuned\n        optimizer = tf.keras.optimizers.SGD(params['rate'])\n" in text
    assert "model.compile(optimizer=optimizer" in text


def test_the_optimizer_is_made_inside_the_strategy() -> None:
    text = factory(f"optimizer = tf.train.GradientDescentOptimizer(0.1)\ntrain_op = optimizer.minimize(loss, {STEP})")
    assert text.index("with make_strategy(config).scope():") < text.index("optimizer = tf.keras")
    assert text.index("model = Model(") < text.index("model.compile(")


def test_an_optimizer_chosen_by_if_and_elif() -> None:
    text = factory(
        f"""
if params["optimizer"] == "adam":
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
elif params["optimizer"] == "adagrad":
    optimizer = tf.train.AdagradOptimizer(params["rate"])
else:
    optimizer = tf.train.GradientDescentOptimizer(1.0)
train_op = optimizer.minimize(loss, global_step={STEP})
"""
    )
    assert 'if params["optimizer"] == "adam":' in text and 'elif params["optimizer"] == "adagrad":' in text
    assert 'tf.keras.optimizers.Adagrad(params["rate"], initial_accumulator_value=0.1, epsilon=0.0)' in text
    assert "else:\n            optimizer = tf.keras.optimizers.SGD(1.0)" in text
    assert "model.compile(optimizer=optimizer" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"train.AdagradDAOptimizer(0.1, {STEP})", "AdagradDA(0.1)"),
        (
            "train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.5)",
            "ProximalAdagrad(0.1, l1_regularization_strength=0.5)",
        ),
        (
            "train.ProximalGradientDescentOptimizer(0.1, 0.5, name='p')",
            "ProximalGradientDescent(0.1, l1_regularization_strength=0.5)",
        ),
        ("contrib.opt.LazyAdamOptimizer(0.1, epsilon=1e-6)", "tf.keras.optimizers.Adam(0.1, epsilon=1e-6)"),
    ],
)
def test_optimizers_that_keras_lacks(old: str, new: str) -> None:
    text = factory(f"train_op = tf.{old}.minimize(loss, global_step={STEP})")
    assert f"model.compile(optimizer={new}, " in text


def test_a_train_op_chosen_by_if() -> None:
    text = factory(
        f"""
if params["adam"]:
    # quick
    train_op = tf.train.AdamOptimizer(params["rate"]).minimize(loss, {STEP})
else:
    train_op = tf.train.GradientDescentOptimizer(1.0).minimize(loss, {STEP})
"""
    )
    assert (
        '        if params["adam"]:\n            # quick\n'
        '            optimizer = tf.keras.optimizers.Adam(params["rate"], epsilon=1e-8)\n'
        "        else:\n            optimizer = tf.keras.optimizers.SGD(1.0)\n"
        "        model.compile(optimizer=optimizer, " in text
    )


def test_one_optimizer_that_minimizes_in_either_arm() -> None:
    text = migrate(
        program(
            f"""
if params["adam"]:
    optimizer = tf.train.AdamOptimizer(0.1)
    train_op = optimizer.minimize(loss, {STEP})
else:
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    train_op = optimizer.minimize(loss, {STEP})
"""
        )
    )
    assert "def train_step" not in text
    assert "            optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)\n        else:\n" in method(
        text, "create_model"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"tf.train.linear_cosine_decay(0.1, {STEP}, 50, beta=0.1)", "LinearCosineDecay(0.1, 50, beta=0.1)"),
        (f"tf.train.noisy_linear_cosine_decay(0.1, {STEP}, 50)", "LinearCosineDecay(0.1, 50, initial_variance=1.0)"),
        (
            f"tf.train.exponential_decay(0.1, {STEP}, 100, 0.9)",
            "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)",
        ),
        (
            f"tf.train.exponential_decay(0.1, {STEP}, 100, 0.9, staircase=True)",
            "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9, staircase=True)",
        ),
        (
            f"tf.train.piecewise_constant({STEP}, [10], [0.1, 0.01])",
            "tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [0.1, 0.01])",
        ),
        (
            f"tf.train.cosine_decay(0.1, {STEP}, 50)",
            "tf.keras.optimizers.schedules.CosineDecay(0.1, 50)",
        ),
    ],
)
def test_schedules(old: str, new: str) -> None:
    text = factory(f"rate = {old}\ntrain_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, {STEP})")
    assert f"rate = {new}\n" in text and "tf.keras.optimizers.SGD(rate)" in text
    text = factory(f"train_op = tf.train.GradientDescentOptimizer({old}).minimize(loss, {STEP})")
    assert f"tf.keras.optimizers.SGD({new})" in text


def test_momentum_with_a_schedule() -> None:
    text = factory(
        f"rate = tf.train.exponential_decay(0.1, {STEP}, 100, 0.9)\n"
        f"train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, {STEP})"
    )
    assert "optimizer=Momentum(rate, momentum=0.9)" in text


def test_training_branch_only_in_training() -> None:
    end = f"""
    {LOSS}
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        rate = params["rate"] / 2
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, {STEP})
    {SPEC}
    """
    text = migrate(model_fn(DENSE, end=end))
    assert 'rate = params["rate"] / 2' in method(text, "create_model")
    assert "rate" not in method(text, "__init__") + method(text, "call") + method(text, "compute_loss")


def test_regularizers() -> None:
    body = 'predictions = tf.layers.dense(features["x"], 1, kernel_regularizer=tf.keras.regularizers.l2(0.1))'
    for regularization in (
        "tf.losses.get_regularization_loss()",
        "tf.add_n(tf.losses.get_regularization_losses())",
        "tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))",
    ):
        loss = f"loss = tf.reduce_mean(tf.square(labels - predictions)) + {regularization}"
        text = migrate(program(f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})", body, loss))
        assert "kernel_regularizer=tf.keras.regularizers.l2(0.1)" in method(text, "__init__")
        assert "+ tf.add_n(self.losses)" in method(text, "compute_loss")


L2 = "tf.contrib.layers.l2_regularizer(0.1)"


@pytest.mark.parametrize(
    ("body", "total"),
    [
        (f'reg = {L2}\npredictions = tf.layers.dense(features["x"], 1, None, kernel_regularizer=reg)', "add_n"),
        (
            f'with tf.variable_scope("v", regularizer={L2}):\n    predictions = tf.layers.dense(features["x"], 1)',
            "add_n",
        ),
        (
            f'reg = {L2} if params["l2"] else None\npredictions = tf.layers.dense(features["x"], 1, None, '
            "kernel_regularizer=reg)",
            "reduce_sum",
        ),
        (
            'predictions = tf.layers.dense(features["x"], 1)\nif params["deep"]:\n    predictions = '
            f"tf.layers.dense(predictions, 1, kernel_regularizer={L2})",
            "reduce_sum",
        ),
        (
            'predictions = features["x"]\nfor n in params["units"]:\n    predictions = '
            f"tf.layers.dense(predictions, n, kernel_regularizer={L2})",
            "reduce_sum",
        ),
    ],
)
def test_a_sum_of_regularization_terms_may_be_one_of_none(body: str, total: str) -> None:
    loss = "loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()"
    train = f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})"
    assert f"+ tf.{total}(self.losses)" in method(migrate(program(train, body, loss)), "compute_loss")


def test_another_model_of_the_program_is_not_regularized() -> None:
    other = """

def other_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


other = tf.estimator.Estimator(other_fn, params={})
"""
    body = f'predictions = tf.layers.dense(features["x"], 1, kernel_regularizer={L2})'
    loss = "loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.losses.get_regularization_loss()"
    train = f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})"
    text = migrate(program(train, body, loss) + other)
    assert text.count("self.losses") == 1 and ")) + 0.0" in text


def test_a_regularizer_that_no_loss_reads_is_not_added() -> None:
    body = 'predictions = tf.layers.dense(features["x"], 1, kernel_regularizer=tf.keras.regularizers.l2(0.1))'
    text = migrate(program(f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})", body))
    assert "self.losses" not in text


def test_partitioner() -> None:
    body = """
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(params["shards"])):
        predictions = tf.layers.dense(features["x"], 1)
    """
    text = factory(f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})", body)
    assert 'FixedShardsPartitioner(num_shards=max(1, params["shards"]))' in text
    assert "make_strategy(config, variable_partitioner=partitioner)" in text
    assert text.index("partitioner = ") < text.index("make_strategy(")


def test_defaults_of_the_parameters_stay() -> None:
    text = migrate(
        program(f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP})").replace(
            "params)", "params=None)", 1
        )
    )
    assert "def create_model(params=None, config=None, model_dir=None):" in text


@pytest.mark.parametrize(
    ("train", "reason"),
    [
        (
            f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss * loss, {STEP})  # HERE",
            "something else than the loss",
        ),
        (
            f"train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP}, var_list=[])  # HERE",
            "a list of variables is empty",
        ),
        ("train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)  # HERE", "without global_step"),
        ("train_op = make_train_op(loss)", "not seen to be"),
        (
            f"train_op = tf.train.GradientDescentOptimizer(tf.reduce_mean(predictions)).minimize(loss, {STEP})",
            "depends on the data",
        ),
        (f"train_op = tf.train.AdagradDAOptimizer(0.1, 3).minimize(loss, {STEP})  # HERE", "something else than the"),
        (
            f"if params['adam']:\n    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, {STEP})\n"
            f"else:\n    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss * loss, {STEP})  # HERE",
            "something else than the loss",
        ),
        (
            f"one = tf.train.AdamOptimizer(0.1).minimize(loss, {STEP})  # HERE\n"
            f"train_op = tf.group(one, tf.train.GradientDescentOptimizer(0.1).minimize(loss, {STEP}))",
            "several optimizers",
        ),
        (
            f"train_op = tf.train.RMSPropOptimizer(0.1, unknown=1).minimize(loss, {STEP})  # HERE",
            "no argument `unknown`",
        ),
    ],
)
def test_left_alone(train: str, reason: str) -> None:
    assert reason in manual_reason(program(train))


ADVANCES = {
    "assigned": "train_op = tf.group(train_op, [step.assign(step + 1)])",
    "assigned under a name": "new_step = step + 1\ntrain_op = tf.group(train_op, [step.assign(new_step)])",
    "one first": "train_op = tf.group(step.assign(1 + step), train_op)",
    "counted up": "train_op = tf.group(train_op, step.assign_add(1))",
    "by a function": "train_op = tf.group(train_op, tf.assign_add(step, 1))",
    "by the other function": "train_op = tf.group(*[train_op, tf.assign(ref=step, value=step + 1)])",
    "after the update": "with tf.control_dependencies([train_op]):\n    train_op = tf.assign_add(step, 1)",
}


@pytest.mark.parametrize("name", sorted(ADVANCES))
def test_the_train_op_counts_the_step_itself(name: str) -> None:
    text = factory(f"step = {STEP}\ntrain_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n{ADVANCES[name]}")
    assert "model.compile(optimizer=tf.keras.optimizers.SGD(0.1), steps_per_execution=100)" in text
    assert "step" not in text.replace("steps_per_execution", "")


@pytest.mark.parametrize(
    ("minimized", "more", "reason"),
    [
        ("loss, step", "train_op = tf.group(train_op, step.assign(step + 1))", "advances more than once"),
        ("loss", "train_op = tf.group(train_op, step.assign_add(1), step.assign_add(1))", "advances more than once"),
        ("loss", "train_op = tf.group(train_op, step.assign(step + 2))", "does more than to minimize"),
        ("loss", "train_op = tf.group(train_op, step.assign_add(2))", "does more than to minimize"),
        ("loss", "train_op = tf.group(train_op, tf.assign(step, 7))", "does more than to minimize"),
        ("loss", "train_op = tf.group(train_op, other.assign_add(1))", "the step never advances"),
        ("loss, other", "", "counts something else"),
    ],
)
def test_a_step_that_is_counted_otherwise(minimized: str, more: str, reason: str) -> None:
    made = f"step = {STEP}\nother = tf.get_variable('other', [], tf.int64, trainable=False)\n"
    train = f"{made}train_op = tf.train.GradientDescentOptimizer(0.1).minimize({minimized})\n{more}"
    assert reason in manual_reason(program(train))


@pytest.mark.parametrize(
    "train",
    [
        "ops = [MINIMIZE]\nops.extend(UPDATES)\ntrain_op = tf.group(*ops)",
        "ops = [MINIMIZE]\nops.extend([UPDATES])\ntrain_op = tf.group(ops)",
        "updates = UPDATES\nops = []\nops.append(MINIMIZE)\nops.extend(updates)\ntrain_op = tf.group(*ops)",
        "train_op = tf.group(*([MINIMIZE] + UPDATES))",
        "ops = [MINIMIZE]\ntrain_op = tf.group(ops + UPDATES)",
    ],
)
def test_lists_of_the_step_and_the_updates(train: str) -> None:
    minimize = f"tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step={STEP})"
    train = train.replace("MINIMIZE", minimize).replace("UPDATES", "tf.get_collection(tf.GraphKeys.UPDATE_OPS)")
    body = f"{DENSE}\npredictions = tf.layers.batch_normalization(predictions, training=mode == 'train')"
    assert "model.compile(optimizer=tf.keras.optimizers.SGD(0.5)" in factory(train, body)


@pytest.mark.parametrize(
    "train",
    [
        "ops = [MINIMIZE]\nops.extend(others)\ntrain_op = tf.group(*ops)",
        "ops = [MINIMIZE]\nops.insert(0, other)\ntrain_op = tf.group(*ops)",
        "ops = [MINIMIZE]\nfor op in others:\n    ops.extend([op])\ntrain_op = tf.group(*ops)",
    ],
)
def test_lists_of_more_than_the_step(train: str) -> None:
    minimize = f"tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step={STEP})"
    manual_reason(program(train.replace("MINIMIZE", minimize), before="others = load()\nother = load()\n"))
