"""Helpers that gather keywords, and hand them on."""

from __future__ import annotations

import pytest
from programs import PATH, joined, manual_reason, method, migrate, migrate_all, model_fn

HELPER = """

def block(x, units, **kwargs):
    x = tf.layers.dense(x, units, **kwargs)
    return tf.layers.dense(x, 2, **kwargs)
"""
CLASS = """

class Net(object):
    def __init__(self, units, **options):
        self.units = units
        self.options = options

    def __call__(self, x):
        return tf.layers.dense(x, self.units, **self.options)
"""


def test_keywords_that_all_calls_give() -> None:
    body = "x = block(features['x'], 3, activation=tf.nn.relu)\npredictions = block(x, 4, activation=tf.nn.tanh)"
    text = joined(migrate(model_fn(body, before=HELPER)))
    assert "def __init__(self, units, activation):" in text and "Dense(units, activation=activation)" in text
    assert "Block(4, activation=tf.nn.tanh)" in text


def test_keywords_that_some_calls_give() -> None:
    body = "x = block(features['x'], 3)\npredictions = block(x, 3, activation=tf.nn.relu, use_bias=False)"
    text = joined(migrate(model_fn(body, before=HELPER)))
    assert "def __init__(self, units, activation=None, use_bias=True):" in text
    assert "Block(3)" in text and "Block(3, activation=tf.nn.relu, use_bias=False)" in text


STACK = """

def stack(x, *sizes):
    for size in sizes:
        x = tf.layers.dense(x, size)
    return x
"""


def test_places_that_a_helper_gathers() -> None:
    body = "x = stack(features['x'], 3, 4)\npredictions = stack(x, 1)"
    text = joined(migrate(model_fn(body, before=STACK)))
    assert "def __init__(self, sizes=()):" in text and "Stack(sizes=(3, 4))" in text and "Stack(sizes=(1,))" in text


@pytest.mark.parametrize(
    "body",
    [
        "predictions = stack(features['x'], *params['sizes'])",
        "predictions = stack(stack(features['x'], 3), 1)",
        "predictions = list(map(stack, [features['x']]))[0]",
        "predictions = stack(features['x'], **params['more'])",
    ],
)
def test_places_that_are_not_seen(body: str) -> None:
    assert manual_reason(model_fn(body, before=STACK))


def test_keywords_that_no_call_gives() -> None:
    text = joined(migrate(model_fn("predictions = block(features['x'], 3)", before=HELPER)))
    assert "Dense(units)" in text and "kwargs" not in text


def test_keywords_that_a_class_keeps_for_its_method() -> None:
    text = joined(migrate(model_fn("net = Net(3)\npredictions = net(features['x'])", before=CLASS)))
    assert "Dense(3)" in text and "options" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "    x = tf.layers.dense(x, units, **kwargs)",
            "    kwargs['activation'] = None\n    x = tf.layers.dense(x, units)",
        ),
        ("    x = tf.layers.dense(x, units, **kwargs)", "    x = tf.layers.dense(x, len(kwargs), **kwargs)"),
        (
            "    x = tf.layers.dense(x, units, **kwargs)",
            "    activation = 1\n    x = tf.layers.dense(x, units, **kwargs)",
        ),
    ],
)
def test_keywords_that_are_used_otherwise(old: str, new: str) -> None:
    source = model_fn("predictions = block(features['x'], 3, activation=None)", before=HELPER.replace(old, new))
    assert "**kwargs" in manual_reason(source)


@pytest.mark.parametrize(
    "body",
    [
        "x = block(features['x'], 3)\npredictions = block(x, 3, name='out')",
        "predictions = block(features['x'], 3, **params['more'])",
        "predictions = list(map(block, [features['x']], [3]))[0]",
    ],
)
def test_calls_that_differ_or_are_not_seen(body: str) -> None:
    assert manual_reason(model_fn(body, before=HELPER))


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("net = Net(3, activation=tf.nn.relu)\npredictions = net(features['x'])", ""),
        ("net = Net(3)\nnet.options['units'] = 3\npredictions = net(features['x'])", ""),
        ("net = Net(3)\npredictions = net(features['x'])", "\n\nclass Other(Net):\n    pass\n"),
    ],
)
def test_a_class_whose_keywords_are_used_otherwise(body: str, more: str) -> None:
    assert manual_reason(model_fn(body, before=CLASS + more))


def test_a_text_is_made_again_where_a_loop_needs_it() -> None:
    body = """
    parts = []
    for column in params["columns"]:
        name = column.replace("_embedding", "")
        parts.append(tf.layers.dense(features[name], 3))
    predictions = tf.concat(parts, axis=1)
    """
    call = method(migrate(model_fn(body)), "call")
    assert 'name = column.replace("_embedding", "")' in call


TAKEN = """

def mlp(x, *units, **kw):
    act = kw.get("activation", tf.nn.relu)
    rate = kw.pop("rate", 0.0)
    for n in units:
        x = tf.layers.dense(x, n, activation=act, use_bias=kw["bias"])
        if rate:
            x = tf.layers.dropout(x, rate)
    return x
"""
CALLS = "x = mlp(features['x'], 4, 3, bias=False)\npredictions = mlp(x, 1, rate=0.1, bias=True, activation=tf.nn.tanh)"


def test_keywords_that_are_taken_one_by_one() -> None:
    text = joined(migrate(model_fn(CALLS, before=TAKEN)))
    assert "Mlp(bias=False, units=(4, 3))" in text and "rate=0.0" in text and "activation=tf.nn.relu" in text
    assert "use_bias=bias" in text and "kw" not in text and " rate = rate\n" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('kw["bias"]', "True if kw else False"),
        ('kw["bias"]', 'kw.get("bias", params)'),
        ('kw["bias"]', 'kw.get("rate", 1.0) > 0'),
        ('    rate = kw.pop("rate", 0.0)\n', '    rate = 1\n    rate = kw.pop("rate", rate)\n'),
        ('    rate = kw.pop("rate", 0.0)\n', '    rate = act is None\n    print(rate)\n    rate = kw.pop("rate", 0.0)\n'),
        ('"activation", tf.nn.relu', '"x", tf.nn.relu'),
    ],
)  # fmt: skip
def test_keywords_that_are_taken_otherwise(old: str, new: str) -> None:
    assert old in TAKEN
    source = model_fn(CALLS.replace("activation=", "x=") if '"x"' in new else CALLS, before=TAKEN.replace(old, new))
    assert "*args or **kwargs" in manual_reason(source)


def test_a_keyword_that_a_call_does_not_give_and_that_has_no_default_is_left() -> None:
    source = model_fn(CALLS.replace(", bias=False", ""), before=TAKEN)
    assert "*args or **kwargs" in manual_reason(source)


OTHER = """
import tensorflow as tf


class Other:
    def __init__(self, units, **options):
        self.units = units
        self.options = options

    def __call__(self, x):
        return tf.layers.dense(x, self.units, **self.options)
"""
BLOCKS = """

def dense(x, units, **kwargs):
    return tf.layers.dense(x, units, **kwargs)


class Net:
    def __init__(self, units, **options):
        self.units = units
        self.options = options

    def __call__(self, x):
        return dense(x, self.units, **self.options)


class Unmade:
    def __init__(self, **options):
        self.options = options

    def __call__(self, x):
        return dense(x, 1, **self.options)
"""


def test_classes_that_call_alike_what_they_keep() -> None:
    source = model_fn("net = Net(3)\npredictions = net(features['x'])", before=BLOCKS)
    text = migrate_all({PATH: source, "other.py": OTHER})[PATH]
    assert "kwargs" not in text and "options" not in text and "Dense(units)" in joined(text)


@pytest.mark.parametrize("more", ["\nprint(Unmade(use_bias=False))\n", "\nprint(net.options)\n"])
def test_what_somebody_else_gives_or_reads_is_left(more: str) -> None:
    source = model_fn("net = Net(3)\npredictions = net(features['x'])", before=BLOCKS)
    assert manual_reason(source + more)
