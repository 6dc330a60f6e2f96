"""Objects whose class a program chooses from a table: each class becomes a model, and the table holds what makes them."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate_all

CLASS = '''

class {name}:
    """The {name}."""

    def __init__(self, params):
        self.params = params

    def model_fn(self, features, labels, mode):
        logits = tf.layers.dense(features["x"], self.params["{key}"])
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)
'''
CLASSES = "import tensorflow as tf\n" + CLASS.format(name="Deep", key="deep") + CLASS.format(name="Wide", key="wide")
TABLE = "\n\nNETS = {'deep': Deep, 'wide': Wide}\n"


def _main(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"\n\ndef main(name, params):\n{body}\n\nmain(input(), {{'deep': 3, 'wide': 1}})\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("net = NETS[name](params)", "return tf.estimator.Estimator(net.model_fn, 'folder')"),
        ("net = NETS[name](params=params)", "return tf.estimator.Estimator(model_fn=net.model_fn, model_dir='folder')"),
        ("return tf.estimator.Estimator(NETS[name](params).model_fn, 'folder')",),
        (
            "if name not in NETS:",
            "    raise ValueError(sorted(NETS))",
            "return tf.estimator.Estimator(NETS[name](params).model_fn, 'folder')",
        ),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_each_class_becomes_a_model(lines: tuple[str, ...], elsewhere: bool) -> None:
    files = {PATH: CLASSES + TABLE + _main(*lines)}
    if elsewhere:
        files = {PATH: "import tensorflow as tf\nfrom nets import NETS\n" + _main(*lines), "nets.py": CLASSES + TABLE}
    after = migrate_all(files)
    text = after["nets.py" if elsewhere else PATH]
    assert "NETS = {'deep': create_deep_model, 'wide': create_wide_model}" in text
    assert "class DeepModel(tf.keras.Model):" in text and "class WideModel(tf.keras.Model):" in text
    assert "class Deep:" not in text and "def model_fn" not in text
    assert "return NETS[name](model_dir='folder', params=params)" in after[PATH]


FACTORY = """

def build(name, options):
    if name not in NETS:
        raise ValueError(f"unknown net {name}")
    return NETS[name](options)
"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_function_that_makes_the_object_returns_what_makes_the_model(elsewhere: bool) -> None:
    main = _main("net = build(name, params)", "return tf.estimator.Estimator(net.model_fn, params={})")
    files = {PATH: CLASSES + TABLE + FACTORY + main}
    if elsewhere:
        files = {
            PATH: "import tensorflow as tf\nfrom nets import build\n" + main,
            "nets.py": CLASSES + TABLE + FACTORY,
        }
    after = migrate_all(files)
    text = after["nets.py" if elsewhere else PATH]
    assert "NETS = {'deep': create_deep_model, 'wide': create_wide_model}" in text
    assert 'raise ValueError(f"unknown net {name}")\n    return NETS[name]\n' in text
    assert "return build(name, params)(params=params)" in after[PATH]


@pytest.mark.parametrize("check", ["", "    if not options:\n        raise ValueError('no options')\n"])
def test_a_function_may_make_an_object_of_one_class(check: str) -> None:
    factory = f"\n\ndef build(options):\n{check}    return Deep(options)\n"
    main = _main("net = build(params)", "return tf.estimator.Estimator(net.model_fn)")
    text = migrate_all({PATH: CLASSES + factory + main})[PATH]
    assert "class DeepModel(tf.keras.Model):" in text and "return build(params)" not in text
    assert "net = build(params)" in text and "params=net.params" in text  # with its checks


def test_arguments_of_the_module_stay_there() -> None:
    flags = "FLAGS = {'deep': 3, 'wide': 1}\n"
    main = _main("return tf.estimator.Estimator(NETS[name](FLAGS).model_fn)")
    text = migrate_all({PATH: CLASSES + TABLE + flags + main})[PATH]
    assert "return NETS[name]()" in text and 'Dense(FLAGS["deep"])' in text


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            TABLE + _main("net = NETS[name](params)", "print(net)", "tf.estimator.Estimator(net.model_fn)"),
            "is not found",
        ),
        (TABLE + _main("x = 2 * params", "tf.estimator.Estimator(NETS[name](params, x).model_fn)"), "more than params"),
        (TABLE + _main("tf.estimator.Estimator(NETS[name](*params).model_fn)"), "hidden behind * or **"),
        (
            TABLE + _main("print(NETS)", "tf.estimator.Estimator(NETS[name](params).model_fn)"),
            "used for more than a model",
        ),
        (TABLE + _main("tf.estimator.Estimator(NETS[name](params).build)"), "no method `build`"),
        (
            TABLE + FACTORY + _main("tf.estimator.Estimator(build(name, params).model_fn, params={'deep': 1})"),
            "more than params",
        ),
        (
            TABLE
            + FACTORY.replace("(options)\n", "(dict(options))\n")
            + _main("tf.estimator.Estimator(build(name, params).model_fn)"),
            "what a function computes",
        ),
        (
            TABLE + FACTORY + _main("print(build)", "tf.estimator.Estimator(build(name, params).model_fn)"),
            "is not found",
        ),
        (
            "\n\nNETS = {'deep': Deep, 'none': None}\n" + _main("tf.estimator.Estimator(NETS[name](params).model_fn)"),
            "is not found",
        ),
    ],
)
def test_what_is_not_seen_is_left(source: str, reason: str) -> None:
    assert reason in manual_reason(CLASSES + source)
