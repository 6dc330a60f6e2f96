"""Roots of variances."""

from __future__ import annotations

from importlib import import_module

import pytest

from tools import check_noop, check_transformed

RULES = [import_module("migrator.rules.symbols.variance_roots").VarianceRoot()]
PROGRAM = """\
import tensorflow as tf


def normalize(x, epsilon=1e-8):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return {}
"""


@pytest.mark.parametrize(
    "root",
    [
        "((variance + epsilon) ** (.5))",
        "(variance + epsilon) ** 0.5",
        "tf.pow(variance + epsilon, 0.5)",
        "tf.sqrt(variance + epsilon)",
    ],
)
def test_a_division_becomes_a_product(root: str) -> None:
    after = PROGRAM.format("(x - mean) * tf.math.rsqrt(variance + epsilon)")
    check_transformed(PROGRAM.format(f"(x - mean) / {root}"), after, RULES)


def test_the_other_way_round() -> None:
    after = PROGRAM.format("2.0 * x * tf.math.rsqrt(1e-6 + variance)")
    check_transformed(PROGRAM.format("2.0 * x / tf.sqrt(1e-6 + variance)"), after, RULES)


@pytest.mark.parametrize(
    "text",
    [
        "tf.sqrt(variance + epsilon)",
        "(variance + epsilon) ** 0.5 / x",
        "x / (variance + epsilon) ** 2",
        "x / (mean + epsilon) ** 0.5",
        "x / (16 + epsilon) ** 0.5",
        "x / tf.pow(0.5, variance + epsilon)",
        "x / tf.sqrt(variance + epsilon, name='root')",
        "x // tf.sqrt(variance + epsilon)",
    ],
)
def test_left_alone(text: str) -> None:
    check_noop(PROGRAM.format(text), RULES)


def test_a_name_that_is_bound_again_is_left_alone() -> None:
    text = PROGRAM.format("x / (variance + epsilon) ** 0.5")
    check_noop(text.replace("    return", "    variance = 4\n    return"), RULES)
