"""Optimizers that are chosen out of a dict: an `if` over its keys in the factory."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, manual_reason, method, migrate, migrate_all, model_fn, run, units

STEP = "global_step=tf.train.get_global_step()"
BODY = 'predictions = tf.layers.dense(features["x"], 1)'
CLASSES = 'TABLE = {"adam": tf.train.AdamOptimizer, "adagrad": tf.train.AdagradOptimizer}\n'
LAMBDAS = """
TABLE = {
    "adam": lambda rate: tf.train.AdamOptimizer(rate, beta1=0.5),
    "sgd": lambda r: tf.train.GradientDescentOptimizer(learning_rate=r),
}
"""
MADE = f'optimizer = TABLE[params["name"]](params["rate"])\ntrain_op = optimizer.minimize(loss, {STEP})'
RATE = "rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 10, 0.9)\n"


def program(table: str = CLASSES, train: str = MADE, inside: str = "") -> str:
    text = model_fn(inside + BODY, end=f"{LOSS}\n{train}\n{SPEC}", before=f"import tensorflow as tf\n{table}")
    return text


def test_classes() -> None:
    text = migrate(program())
    factory = method(text, "create_model")
    assert 'if params["name"] == "adam":\n' in factory and 'elif params["name"] == "adagrad":\n' in factory
    assert (
        'tf.keras.optimizers.Adam(params["rate"], epsilon=1e-8)' in factory
        and "initial_accumulator_value=0.1" in factory
    )
    assert 'raise KeyError(params["name"])' in text and "TABLE" not in text
    assert 'if params["name"] not in ("adam", "adagrad"):\n' in text  # in every mode, as before


def test_lambdas_and_schedules() -> None:
    factory = method(migrate(program(LAMBDAS, RATE + MADE.replace('params["rate"]', "rate"))), "create_model")
    assert "ExponentialDecay(0.1, 10, 0.9)" in factory and "beta_1=0.5" in factory
    assert "tf.keras.optimizers.SGD(rate)" in factory


def test_a_call_within_a_call_and_more_arguments() -> None:
    train = f'train_op = TABLE[params["name"]](0.1, use_locking=False).minimize(loss, {STEP})'
    factory = method(migrate(program(train=train)), "create_model")
    assert "optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in factory


def test_in_the_function() -> None:
    assert "TABLE" not in migrate(program("", inside=CLASSES))


def test_a_dict_in_the_call() -> None:
    table = '{"adam": tf.train.AdamOptimizer, "sgd": tf.train.GradientDescentOptimizer}'
    text = migrate(
        program("", f'optimizer = {table}[params["name"]](0.1)\ntrain_op = optimizer.minimize(loss, {STEP})')
    )
    factory = method(text, "create_model")
    assert (
        "optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in factory
        and "optimizer = tf.keras.optimizers.SGD(0.1)" in factory
    )
    assert "{" not in factory


ADAM, SGD = "tf.train.AdamOptimizer(0.1)", "tf.train.GradientDescentOptimizer(0.1)"


@pytest.mark.parametrize(
    "train",
    [
        f'optimizer = {ADAM} if params["deep"] else {SGD}\ntrain_op = optimizer.minimize(loss, {STEP})',
        f'train_op = ({ADAM} if params["deep"] else {SGD}).minimize(loss, {STEP})',
    ],
)
def test_a_condition_in_an_expression(train: str) -> None:
    factory = method(migrate(program("", train)), "create_model")
    chosen = """        if params["deep"]:
            optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
        else:
            optimizer = tf.keras.optimizers.SGD(0.1)
"""
    assert chosen in factory


def test_conditions_one_after_the_other() -> None:
    rest = f'(tf.train.FtrlOptimizer(0.1) if params["wide"] else {SGD})'
    train = f'opt = {ADAM} if params["deep"] else {rest}\ntrain_op = opt.minimize(loss, {STEP})'
    factory = method(migrate(program("", train)), "create_model")
    assert 'elif params["wide"]:\n' in factory and "tf.keras.optimizers.Ftrl(0.1)" in factory


PARTIALS = """
import functools


def make(rate, power, l1=0.0):
    return tf.train.FtrlOptimizer(rate, learning_rate_power=power, l1_regularization_strength=l1)


TABLE = {
    "ftrl": functools.partial(make, power=-0.5),
    "momentum": functools.partial(tf.train.MomentumOptimizer, momentum=0.9),
    "sgd": lambda rate: tf.train.GradientDescentOptimizer(rate),
}
"""
ARMS = ("Ftrl(0.1, learning_rate_power=-0.5", "SGD(0.1, momentum=0.9)", "SGD(0.1)")
CALL = MADE.replace('params["rate"]', "0.1")


def test_partial_functions() -> None:
    text = migrate(program(PARTIALS, CALL))
    assert all(arm in method(text, "create_model") for arm in ARMS)
    assert "functools" not in text and "TABLE" not in text and "def make" not in text


@pytest.mark.parametrize("importing", ["from tables import TABLE", "import tables", "from package import TABLE"])
def test_a_table_of_another_file(importing: str) -> None:
    name = "tables.TABLE" if importing == "import tables" else "TABLE"
    files = {
        "program.py": importing + "\n" + program("", CALL.replace("TABLE", name)),
        "tables.py": "import tensorflow as tf\n" + PARTIALS,
        "package/__init__.py": "from tables import TABLE\n",
    }
    texts = migrate_all(files)
    assert all(arm in method(texts["program.py"], "create_model") for arm in ARMS)
    assert "partial" not in texts["tables.py"]


@pytest.mark.parametrize(
    "train",
    [
        CALL.replace("TABLE[", "maker = TABLE[")
        .replace("optimizer = maker", "maker")
        .replace("](0.1)", "]\noptimizer = maker(0.1)"),
        CALL.replace('params["name"]', 'params["name"].lower()'),
        CALL.replace("(0.1)", "(rate=0.1)"),
    ],
)
def test_other_ways_to_call_an_entry(train: str) -> None:
    table = PARTIALS + "\nprint(sorted(TABLE.keys()))\n"
    table = table.replace(
        "functools.partial(tf.train.MomentumOptimizer,", "lambda rate: tf.train.MomentumOptimizer(rate,"
    )
    table = table.replace("functools.partial(make,", "lambda rate: make(rate,")
    factory = method(migrate(program(table, train)), "create_model")
    assert all(arm in factory for arm in ARMS)


NAMES = 'TABLE = {"adam": "AdamOptimizer", "sgd": "GradientDescentOptimizer"}\n'
NAMED = MADE.replace('TABLE[params["name"]]', 'getattr(tf.train, TABLE[params["name"]])').replace(
    'params["rate"]', "0.1"
)


def test_names_of_classes() -> None:
    text = migrate(program(NAMES, NAMED))
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in text and "tf.keras.optimizers.SGD(0.1)" in text
    assert "TABLE" not in text and "getattr" not in text


@pytest.mark.parametrize(
    ("table", "train"),
    [
        (NAMES.replace("AdamOptimizer", "Saver"), NAMED),
        (NAMES.replace('"AdamOptimizer"', "NAME"), NAMED),
        (NAMES, NAMED.replace("tf.train,", "other,")),
        (NAMES, NAMED.replace(")(0.1)", ", None)(0.1)")),
        (NAMES + "print(TABLE['adam'])\n", NAMED),
    ],
)
def test_other_names_stay(table: str, train: str) -> None:
    assert "getattr(" in run(program(table, train), style="auto")["program.py"].after.decode()


def test_an_entry_that_a_name_may_hold_later_stays() -> None:
    train = CALL.replace('TABLE[params["name"]](0.1)', "maker(0.1)").replace(
        "optimizer =", 'maker = TABLE[params["name"]]\nprint(maker)\noptimizer ='
    )
    assert "TABLE = {" in run(program(CLASSES, train), style="auto")["program.py"].after.decode()


def test_another_value_in_one_arm_stays() -> None:
    train = f'opt = {ADAM} if params["deep"] else params["optimizer"]\ntrain_op = opt.minimize(loss, {STEP})'
    assert units(run({"program.py": program("", train)}))[0].tier != "native"


@pytest.mark.parametrize(
    ("table", "train"),
    [
        (CLASSES + "TABLE['ftrl'] = tf.train.FtrlOptimizer\n", MADE),
        (CLASSES + "print(TABLE['adam'])\n", MADE),
        (CLASSES + "print(TABLE.values())\n", MADE),
        (CLASSES.replace("}", ", **MORE}"), MADE),
        (CLASSES, MADE.replace('params["name"]', "next(NAMES)")),
        (LAMBDAS, MADE.replace('params["rate"]', "rate=0.1")),
        (LAMBDAS.replace("lambda r:", "lambda r, *m:"), MADE),
        (LAMBDAS.replace("lambda r:", "lambda r, m=N:"), MADE),
        (CLASSES.replace('"adam"', "ADAM"), MADE),
    ],
)
def test_other_tables_stay(table: str, train: str) -> None:
    outcomes = run(program(table, train), style="auto")
    text = outcomes["program.py"].after.decode()
    assert "TABLE = {" in text and "TABLE[" in text
    assert all(unit.tier != "native" or "if params" not in text for unit in units(outcomes))


def test_a_table_that_another_file_reads_stays() -> None:
    files = {"program.py": program(), "other.py": "from program import TABLE\nprint(TABLE)\n"}
    assert "TABLE" in run(files, style="auto")["program.py"].after.decode()
    assert "TABLE" not in migrate_all({"program.py": program()})["program.py"]


BY_NAME = """
def get_optimizer(name="Adam", rate=0.001):
    classes = {"Adam": tf.train.AdamOptimizer, "SGD": tf.train.GradientDescentOptimizer}
    return classes[name](rate)


"""
NET_BY_NAME = 'optimizer = params.get("optimizer", "SGD")\npredictions = tf.layers.dense(features["x"], 1)'


@pytest.mark.parametrize("name", ["optimizer", "chosen"])
def test_a_function_that_looks_up_the_class(name: str) -> None:
    step = f"train_op = {name}.minimize(loss, tf.train.get_global_step())"
    end = f"{LOSS}\n{name} = get_optimizer(optimizer, 0.5)\n{step}\n{SPEC}"
    text = method(migrate(model_fn(NET_BY_NAME, before=BY_NAME, end=end)), "create_model")
    assert 'if optimizer == "Adam":' in text and "tf.keras.optimizers.SGD(0.5)" in text


@pytest.mark.parametrize(
    "between",
    [
        "if params['again']:\n    optimizer = get_optimizer('SGD', 0.1)\n",  # one or the other
        "for _ in range(2):\n    optimizer = get_optimizer(optimizer, 0.1)\n",
    ],
)
def test_an_optimizer_that_may_be_another_one_is_left(between: str) -> None:
    step = "train_op = optimizer.minimize(loss, tf.train.get_global_step())"
    end = f"{LOSS}\noptimizer = get_optimizer(optimizer, 0.5)\n{between}{step}\n{SPEC}"
    assert manual_reason(model_fn(NET_BY_NAME, before=BY_NAME, end=end))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ('params["name"] + "Optimizer"', "Adam"),
        ("f\"{params['name']}Optimizer\"", "Adam"),
        ('"%sOptimizer" % params["name"]', "Adam"),
        ('"{}Optimizer".format(params["name"])', "Adam"),
        ('params["name"]', "AdamOptimizer"),
    ],
)
def test_a_name_that_nothing_limits_is_one_of_those_with_a_rate_alone(name: str, key: str) -> None:
    train = MADE.replace('TABLE[params["name"]]', f"getattr(tf.train, {name})").replace('params["rate"]', "0.1")
    text = migrate(program("", train))
    factory = method(text, "create_model")
    assert f'if params["name"] == "{key.replace("Adam", "Adadelta")}":' in factory.replace("'", '"')
    assert f'elif params["name"] == "{key}":' in factory.replace("'", '"')
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in factory and "raise KeyError(params[" in text
    assert "getattr" not in text and "Momentum" not in text


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ('params["name"] + "Optimizer"', "0.1, 0.9"),
        ('params["name"] + "Optimizer"', "0.1, name='best'"),
        ('params["name"] + "Saver"', "0.1"),
        ('params["name"].title() + "Optimizer"', "0.1"),
    ],
)
def test_names_of_optimizers_that_stay(name: str, rate: str) -> None:
    train = MADE.replace('TABLE[params["name"]]', f"getattr(tf.train, {name})").replace('params["rate"]', rate)
    assert "getattr(" in run(program("", train), style="auto")["program.py"].after.decode()
