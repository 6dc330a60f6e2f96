"""Tables of functions that compute learning rates."""

from __future__ import annotations

import pytest
from programs import LOSS, SPEC, joined, manual_reason, method, migrate, model_fn

RATES = """
import tensorflow as tf


def constant(step, rate):
    return rate


def halved(step, rate):
    return tf.train.exponential_decay(rate, step, 100, 0.5)


def warmed(step, rate):
    return rate * tf.minimum(1.0, tf.cast(step, tf.float32) / 10.0)


RATES = {"constant": constant, "halved": halved, "warmed": warmed}
"""
TRAIN = """
step = tf.train.get_global_step()
rate = RATES[params["rate"]](step, 0.1)
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
"""
DENSE = "predictions = tf.layers.dense(features['x'], 1)"


def program(train: str = TRAIN, before: str = RATES) -> str:
    return model_fn(DENSE, end=f"{LOSS}\n{train}\n{SPEC}", before=before)


def test_each_function_is_followed() -> None:
    text = joined(migrate(program()))
    assert 'if params["rate"] not in ("constant", "halved", "warmed"):' in text
    assert 'raise KeyError(params["rate"])' in text
    rate = method(text, "__call__")
    assert 'elif params["rate"] == "halved":\n        rate = tf.keras.optimizers.schedules.ExponentialDecay(' in rate
    assert "RATES =" not in text and "def halved" not in text and "rate = warmed(step, 0.1)" in rate


def test_a_default() -> None:
    text = joined(migrate(program(TRAIN.replace('RATES[params["rate"]]', 'RATES.get(params["rate"], constant)'))))
    assert "else:\n                    rate = constant(step, 0.1)\n" in text and "KeyError" not in text


def test_places_that_list_the_keys_get_a_list() -> None:
    before = RATES + "\nparser.add_argument('--rate', choices=sorted(RATES), help=', '.join(RATES))\n"
    assert 'RATES = ["constant", "halved", "warmed"]\n' in migrate(program(before=before))


@pytest.mark.parametrize(
    "before",
    [
        RATES + "\nRATES['other'] = make()\n",
        RATES + "\nshow(RATES)\n",
        RATES + "\nfor name, function in RATES.items():\n    print(name, function)\n",
        RATES.replace('"warmed": warmed', "**OTHER"),
        RATES.replace('"warmed": warmed', "NAME: warmed"),
        RATES.replace('"warmed": warmed', '"halved": warmed'),
        RATES.replace('"warmed": warmed', '"warmed": make_rate()'),
    ],
)
def test_other_tables_are_left_alone(before: str) -> None:
    assert manual_reason(program(before=before))


def test_a_key_that_is_computed_by_a_call_is_left_alone() -> None:
    assert manual_reason(program(TRAIN.replace('params["rate"]', "next_rate()")))


def test_a_rate_under_a_condition_that_raises_otherwise() -> None:
    train = """
step = tf.train.get_global_step()
if params["warm"]:
    rate = warmed(step, 0.1)
else:
    raise ValueError("no other rate")
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
"""
    text = joined(migrate(program(train, RATES[: RATES.index("RATES = ")])))
    assert 'if not params["warm"]:\n            raise ValueError("no other rate")\n' in text
    assert "rate = warmed(step, 0.1)" in method(text, "__call__")


LOSSES = """
import tensorflow as tf


def squared(labels, predictions):
    return tf.losses.mean_squared_error(labels, predictions)


def absolute(labels, predictions):
    return tf.losses.absolute_difference(labels, predictions)


LOSSES = {"squared": squared, "absolute": absolute}
"""


def test_losses() -> None:
    end = 'loss = LOSSES[params["loss"]](labels, predictions)\n' + TRAIN.replace(
        'RATES[params["rate"]](step, 0.1)', "0.1"
    )
    text = joined(migrate(model_fn(DENSE, end=f"{end}\n{SPEC}", before=LOSSES)))
    loss = method(text, "compute_loss")
    assert 'if self.params["loss"] == "squared":' in loss and 'elif self.params["loss"] == "absolute":' in loss
    assert "LOSSES" not in text and "compat.v1" not in text


def test_a_table_of_networks_stays_a_table() -> None:
    before = (
        "\n\ndef a(x):\n    return tf.layers.dense(x, 1)\n\n\ndef b(x):\n    return tf.layers.dense(x, 2)\n\n\n"
        "NETS = {'a': a, 'b': b}\n"
    )
    text = migrate(model_fn("predictions = NETS[params['net']](features['x'])", before=before))
    assert "NETS = {'a': A, 'b': B}\n" in text


LAMBDAS = """
import tensorflow as tf


def burnt_in(step, rate, size):
    def later():
        return tf.train.exponential_decay(rate, step - size, 100, 0.5)
    return tf.cond(tf.less(step, size), lambda: tf.constant(rate), later)


def chosen(name, step):
    rates = {
        "constant": lambda: tf.constant(0.1),
        "burnt": lambda: burnt_in(step, 0.1, 5),
        "halved": lambda: tf.train.exponential_decay(0.1, step, 100, 0.5),
    }
    if name not in rates:
        raise ValueError(name)
    return rates[name]()
"""


def test_lambdas_that_get_nothing() -> None:
    train = TRAIN.replace('RATES[params["rate"]](step, 0.1)', 'chosen(params["rate"], step)')
    text = joined(migrate(program(train, LAMBDAS)))
    rate = method(text, "__call__")
    assert 'if name == "constant":\n        rate = tf.constant(0.1)' in rate
    assert "(step - 5)" in rate and rate.count("ExponentialDecay(") == 2 and "compat.v1" not in text


def test_lambdas_of_layers_stay_in_their_table() -> None:
    nets = "nets = {'a': lambda: tf.layers.dense(x, 1), 'b': lambda: tf.layers.dense(x, 2)}\n"
    body = f"x = features['x']\n{nets}predictions = nets[params['net']]()"
    assert "KeyError" not in manual_reason(model_fn(body))
