"""Model_fns that are objects, and partials around methods and around other partials."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, joined, manual_reason, migrate_all, model_fn

HEAD = "import functools\n\nimport tensorflow as tf\n"
BODY = """\
        logits = tf.layers.dense(features["x"], {units})
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.GradientDescentOptimizer({rate}).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)
"""
NET = (
    """

class Net:
    def __init__(self, units):
        self.units = units

    def {name}(self, features, labels, mode, params):
"""
    + BODY
)


def _net(name: str = "__call__", more: str = "") -> str:
    return NET.format(name=name, units="self.units", rate="params['rate']") + more


def _function(before: str = "rate, ") -> str:
    text = f"\n\ndef model_fn({before}features, labels, mode):\n{BODY.format(units=1, rate='rate')}"
    return text.replace("        ", "    ")


def _main(*lines: str) -> str:
    return "\n\ndef main():\n" + "".join(f"    {line}\n" for line in lines) + "\n\nmain()\n"


PARAMS = "params={'rate': 0.1}"


@pytest.mark.parametrize(
    "lines",
    [
        (f"estimator = tf.estimator.Estimator(Net(3), {PARAMS})",),
        (f"estimator = tf.estimator.Estimator(model_fn=Net(units=3), {PARAMS})",),
        ("net = Net(3)", f"estimator = tf.estimator.Estimator(net, {PARAMS})"),
        ("net = Net(3)", f"estimator = tf.estimator.Estimator(net.__call__, {PARAMS})"),
        (f"estimator = tf.estimator.Estimator(functools.partial(Net(3), {PARAMS}))",),
        ("net = Net(3)", f"estimator = tf.estimator.Estimator(functools.partial(net, {PARAMS}), 'folder')"),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_object_that_is_called(lines: tuple[str, ...], elsewhere: bool) -> None:
    """The object held the arguments of the model alone, and nothing is left of it."""
    files = {PATH: HEAD + ("from nets import Net\n" if elsewhere else _net()) + _main(*lines)}
    if elsewhere:
        files["nets.py"] = f"import tensorflow as tf\n{_net()}"
    after = migrate_all(files)
    text = joined(after[PATH])
    folder = ", model_dir='folder'" if "'folder'" in lines[-1] else ""
    assert f"estimator = create_net_model(units=3{folder}, {PARAMS})" in text
    assert "class Net:" not in "".join(after.values()) and "functools.partial" not in text


def test_an_object_that_is_used_for_more_stays() -> None:
    main = _main("net = Net(3)", f"estimator = tf.estimator.Estimator(net, {PARAMS})", "print(net.units, net)")
    text = migrate_all({PATH: HEAD + _net() + main})[PATH]
    assert (
        f"    net = Net(3)\n    estimator = create_net_model(units=net.units, {PARAMS})\n    print(net.units, net)\n"
        in text
    )
    assert "class Net:\n    def __init__(self, units):\n        self.units = units\n" in text


def test_other_methods_of_the_class_stay() -> None:
    more = "\n    def name(self):\n        return str(self.units)\n"
    main = _main("net = Net(3)", f"estimator = tf.estimator.Estimator(net, net.name(), {PARAMS})")
    text = migrate_all({PATH: HEAD + _net(more=more) + main})[PATH]
    assert f"estimator = create_net_model(units=net.units, model_dir=net.name(), {PARAMS})" in text


@pytest.mark.parametrize(
    ("partial", "factory"),
    [
        ("functools.partial(model_fn, 0.1)", "create_model(rate=0.1)"),
        ("functools.partial(functools.partial(model_fn, 0.1))", "create_model(rate=0.1)"),
        ("functools.partial(functools.partial(model_fn, rate=0.2), rate=0.1)", "create_model(rate=0.1)"),
    ],
)
def test_a_partial_that_fills_in_by_position(partial: str, factory: str) -> None:
    text = migrate_all({PATH: f"{HEAD}{_function()}\n\nestimator = tf.estimator.Estimator({partial})\n"})[PATH]
    assert factory in text


def test_a_partial_around_a_bound_method() -> None:
    main = _main("net = Net(3)", f"estimator = tf.estimator.Estimator(functools.partial(net.model_fn, {PARAMS}))")
    assert f"create_model(units=3, {PARAMS})" in migrate_all({PATH: HEAD + _net("model_fn") + main})[PATH]


@pytest.mark.parametrize(
    ("head", "estimator", "reason"),
    [
        (_function(), "functools.partial(model_fn, *rates)", "a partial model_fn with positional arguments"),
        (_function(), "functools.partial(model_fn, 0.1, x)", "a partial model_fn with positional arguments"),
        (_net(), "[Net(3) for _ in range(1)][0]", "the model_fn is not found"),
        (_net("run"), "Net(3)", "the model_fn is not found"),
    ],
)
def test_what_is_not_followed_is_left(head: str, estimator: str, reason: str) -> None:
    source = f"{HEAD}from elsewhere import rates, x\n{head}\n\nestimator = tf.estimator.Estimator({estimator})\n"
    assert reason in manual_reason(source)


NETWORK = """

class Network:
    def __init__(self, units):
        self.units = units

    def {}(self, x):
        return tf.layers.dense(x, self.units)
"""


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("__call__", 'predictions = Network(3)(features["x"])'),
        ("build", 'predictions = Network(3).build(features["x"])'),
        ("__call__", 'predictions = Network(units=params["units"])(features["x"])'),
    ],
)
def test_an_object_without_a_name_in_a_model_fn(method: str, body: str) -> None:
    text = migrate_all({PATH: model_fn(body, before=NETWORK.format(method))})[PATH]
    assert "class Network(tf.keras.Model):" in text and "self.predictions = tf.keras.layers.Dense(" in text


@pytest.mark.parametrize("name", ["__call__", "model_fn"])
@pytest.mark.parametrize("objects", [("net",), ("net", "other")])
def test_several_estimators_of_one_method(name: str, objects: tuple[str, ...]) -> None:
    """The method moves once, and all of them are given what it becomes."""
    method = "" if name == "__call__" else f".{name}"
    makes = [f"{target} = Net({units})" for units, target in enumerate(objects, 3)]
    estimators = [f"e{n} = tf.estimator.Estimator({objects[n % len(objects)]}{method}, {PARAMS})" for n in range(2)]
    text = migrate_all({PATH: HEAD + _net(name) + _main(*makes, *estimators)})[PATH]
    factory = "create_net_model" if name == "__call__" else "create_model"
    for n in range(2):
        assert f"    e{n} = {factory}(units={3 + n % len(objects)}, {PARAMS})\n" in text
    assert text.count("(tf.keras.Model)") == 1 and "class Net:" not in text


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("__call__", "net(1, 2, 'train', {})"),
        ("model_fn", "net.model_fn(1, 2, 'train', {})"),
        ("model_fn", "print(net.model_fn)"),
    ],
)
def test_a_method_that_is_used_elsewhere_stays(name: str, use: str) -> None:
    method = "" if name == "__call__" else f".{name}"
    main = _main("net = Net(3)", f"estimator = tf.estimator.Estimator(net{method}, {PARAMS})", use)
    reason = manual_reason(HEAD + _net(name) + main)
    assert "is used for more than an Estimator" in reason or "is called elsewhere" in reason


def test_objects_within_one_another_are_all_named_first() -> None:
    """Else the method is gone from the class where the second one calls it."""
    body = 'predictions = tf.layers.dense(Network(4)(Network(3)(features["x"])), 1)'
    text = migrate_all({PATH: model_fn(body, before=NETWORK.format("__call__"))})[PATH]
    assert text.count("tf.keras.layers.Dense(units)") == 1 and "compat.v1" not in text


@pytest.mark.parametrize(
    "body",
    [
        'predictions = Network(3)(features["x"]) if params["deep"] else features["x"]',
        'predictions = sum([Network(3)(features["x"]) for i in range(2)])',
        'predictions = Network(3).__call__(features["x"]) if params["deep"] else features["x"]',
    ],
)
def test_objects_that_get_no_name_keep_the_program(body: str) -> None:
    source = model_fn(body, before=NETWORK.format("__call__"))
    assert "a class makes layers in a method that is not followed" in manual_reason(source)
