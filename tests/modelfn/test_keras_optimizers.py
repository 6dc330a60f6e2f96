"""Optimizers of Keras are written where they compute what TensorFlow 1 computed for the model at hand."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, joined, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
LOOKUP = (
    'table = tf.get_variable("table", [9, 4], initializer=tf.random_uniform_initializer())\n'
    'rows = tf.nn.embedding_lookup(table, features["ids"])\n'
    "predictions = tf.layers.dense(rows, 1)"
)
COLUMNS = 'predictions = tf.layers.dense(tf.feature_column.input_layer(features, params["columns"]), 1)'
DECAY = f"tf.train.exponential_decay(0.1, {STEP}, 100, 0.9)"
SCHEDULE = "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9)"
KERAS = "tf.keras.optimizers."


def optimizer(old: str, body: str = DENSE, **settings: object) -> str:
    """What is compiled with for ``tf.train.<old>``."""
    train = f"train_op = tf.train.{old}.minimize(loss, {STEP})"
    text = migrate(model_fn(body, end=f"{LOSS}\n{train}\n{SPEC}"), **settings)
    lines = joined(method(text, "create_model")).splitlines()
    compiled = next(line for line in lines if "model.compile(" in line)
    return compiled.partition("optimizer=")[2].rpartition(", steps_per_execution")[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AdamOptimizer()", "Adam(epsilon=1e-8)"),
        ("AdamOptimizer(0.1, beta1=0.5, name='a')", "Adam(0.1, beta_1=0.5, epsilon=1e-8)"),
        ("AdamOptimizer(0.1, 0.8, 0.99, 0.1)", "Adam(0.1, beta_1=0.8, beta_2=0.99, epsilon=0.1)"),
        (f"AdamOptimizer({DECAY})", f"Adam({SCHEDULE}, epsilon=1e-8)"),
        ("AdagradOptimizer(0.1)", "Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)"),
        ("MomentumOptimizer(params['rate'], 0.9)", "SGD(params['rate'], momentum=0.9)"),
        ("MomentumOptimizer(params['rate'] * 2, 0.9)", "SGD(params['rate'] * 2, momentum=0.9)"),
        ("MomentumOptimizer(0.1, 0.9, use_nesterov=True)", "SGD(0.1, momentum=0.9, nesterov=True)"),
        ("GradientDescentOptimizer(0.1)", "SGD(0.1)"),
        ("FtrlOptimizer(0.1)", "Ftrl(0.1)"),
        (
            f"FtrlOptimizer({DECAY}, l1_regularization_strength=0.1)",
            f"Ftrl({SCHEDULE}, l1_regularization_strength=0.1)",
        ),
    ],
)
def test_dense_gradients(old: str, new: str) -> None:
    assert optimizer(old) == KERAS + new


def test_momentum_at_a_rate_that_changes() -> None:
    assert optimizer(f"MomentumOptimizer({DECAY}, 0.9)") == f"Momentum({SCHEDULE}, momentum=0.9)"
    assert optimizer(f"MomentumOptimizer({DECAY}, 0.9)", LOOKUP) == f"LazyMomentum({SCHEDULE}, momentum=0.9)"


L1 = "l1_regularization_strength=0.1"


@pytest.mark.parametrize(
    ("old", "dense", "looked_up"),
    [
        ("RMSPropOptimizer(0.1, 0.8)", "RMSprop(0.1, rho=0.8, epsilon=1e-10)", "LazyRMSprop"),
        ("RMSPropOptimizer(0.1, epsilon=1e-3)", "RMSprop(0.1, epsilon=1e-3)", "LazyRMSprop"),
        ("RMSPropOptimizer(0.1, centered=True)", "RMSprop(0.1, epsilon=1e-10, centered=True)", "LazyRMSprop"),
        ("AdadeltaOptimizer(0.1)", f"{KERAS}Adadelta(0.1, epsilon=1e-8)", "LazyAdadelta"),
        (f"ProximalAdagradOptimizer(0.1, {L1})", f"ProximalAdagrad(0.1, {L1})", "ProximalAdagrad"),
        (
            f"ProximalGradientDescentOptimizer(0.1, {L1})",
            f"ProximalGradientDescent(0.1, {L1})",
            "ProximalGradientDescent",
        ),
        (f"AdagradDAOptimizer(0.1, {STEP}, 0.2)", "AdagradDA(0.1, initial_accumulator_value=0.2)", "AdagradDA"),
    ],
)
def test_classes_of_a_small_need(old: str, dense: str, looked_up: str) -> None:
    assert optimizer(old) == dense
    assert optimizer(old, LOOKUP) == looked_up + dense[dense.index("(") :]


@pytest.mark.parametrize(
    ("old", "keras", "lazy"), [("LazyAdam", "Adam", "LazyAdam"), ("AdaMax", "Adamax", "LazyAdamax")]
)
def test_classes_of_contrib(old: str, keras: str, lazy: str) -> None:
    for body, expected in ((DENSE, f"{KERAS}{keras}(0.1, epsilon=1e-8)"), (LOOKUP, f"{lazy}(0.1, epsilon=1e-8)")):
        text = model_fn(
            body, end=f"{LOSS}\ntrain_op = tf.contrib.opt.{old}Optimizer(0.1).minimize(loss, {STEP})\n{SPEC}"
        )
        assert f"optimizer={expected}" in joined(method(migrate(text), "create_model"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GradientDescentOptimizer(0.1)", f"{KERAS}SGD(0.1)"),
        ("AdamOptimizer(0.1)", "Adam(0.1, epsilon=1e-8)"),
        ("AdagradOptimizer(0.1)", "Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)"),
        ("MomentumOptimizer(0.1, 0.9)", "LazyMomentum(0.1, momentum=0.9)"),
        ("FtrlOptimizer(0.1)", "LazyFtrl(0.1)"),
    ],
)
def test_tables_that_are_looked_up(old: str, new: str) -> None:
    """Keras 3 does not sum the gradients of an id, and neither release leaves the other rows as they are."""
    assert optimizer(old, LOOKUP) == new


def test_repeated_ids_matter_to_keras_3_only() -> None:
    assert optimizer("AdamOptimizer(0.1)", LOOKUP, target="2.15") == f"{KERAS}Adam(0.1, epsilon=1e-8)"
    assert optimizer("AdagradOptimizer(0.1)", LOOKUP, target="2.16").startswith(f"{KERAS}Adagrad(0.1, ")


def test_columns_look_up_each_id_once() -> None:
    assert optimizer("AdamOptimizer(0.1)", COLUMNS) == f"{KERAS}Adam(0.1, epsilon=1e-8)"
    assert optimizer("AdagradOptimizer(0.1)", COLUMNS).startswith(f"{KERAS}Adagrad(0.1, ")
    assert optimizer("MomentumOptimizer(0.1, 0.9)", COLUMNS) == "LazyMomentum(0.1, momentum=0.9)"
    assert optimizer("FtrlOptimizer(0.1)", COLUMNS) == "LazyFtrl(0.1)"


def test_columns_of_one_table_look_up_an_id_several_times() -> None:
    made = "def columns(keys): return tf.feature_column.shared_embedding_columns(keys, 4)"
    makes = f"features = dict(features)\n{COLUMNS}\n{made}"
    assert optimizer("AdagradOptimizer(0.1)", makes, features="preprocessing").startswith("Adagrad(0.1, ")
    assert optimizer("AdagradOptimizer(0.1)", makes).startswith("Adagrad(0.1, ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AdamOptimizer(0.1)", "AdamOptimizer(0.1)"),
        ("MomentumOptimizer(0.1, 0.9)", "MomentumOptimizer(0.1, momentum=0.9)"),
        ("FtrlOptimizer(0.1)", "FtrlOptimizer(0.1)"),
        ("RMSPropOptimizer(0.1, 0.8)", "RMSPropOptimizer(0.1, decay=0.8)"),
        ("AdadeltaOptimizer(0.1)", "AdadeltaOptimizer(0.1)"),
        (f"ProximalAdagradOptimizer(0.1, {L1})", f"ProximalAdagradOptimizer(0.1, {L1})"),
        ("GradientDescentOptimizer(0.1)", f"{KERAS}SGD(0.1)"),
        ("AdagradOptimizer(0.1)", f"{KERAS}Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)"),
    ],
)
def test_exact(old: str, new: str) -> None:
    assert optimizer(old, exact=True) == new
