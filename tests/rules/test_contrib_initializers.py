"""xavier_initializer and variance_scaling_initializer of tf.contrib.layers."""

from __future__ import annotations

import pytest

from migrator.vocabulary.diagnostics import Applicability
from tools import check, check_noop, check_transformed, rules_of

RULES = rules_of("initializers.contrib_initializers")
HEAD = "import tensorflow as tf\n"
OLD = "tf.contrib.layers."
NEW = "tf.keras.initializers."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xavier_initializer()", "GlorotUniform()"),
        ("xavier_initializer(True)", "GlorotUniform()"),
        ("xavier_initializer(uniform=True, seed=s)", "GlorotUniform(seed=s)"),
        ("xavier_initializer(True, 3, tf.float32)", "GlorotUniform(seed=3)"),
        ("xavier_initializer_conv2d()", "GlorotUniform()"),
        (
            "variance_scaling_initializer(uniform=True)",
            'VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform")',
        ),
        (
            "variance_scaling_initializer(1.0, 'FAN_AVG', True, 3)",
            'VarianceScaling(scale=1.0, seed=3, mode="fan_avg", distribution="uniform")',
        ),
        (
            "variance_scaling_initializer(factor=f, mode='FAN_OUT', uniform=True)",
            'VarianceScaling(scale=f, mode="fan_out", distribution="uniform")',
        ),
    ],
)
def test_uniform_is_exact(before: str, after: str) -> None:
    check_transformed(f"{HEAD}x = {OLD}{before}\n", f"{HEAD}x = {NEW}{after}\n", RULES)


@pytest.mark.parametrize("package", ["contrib.layers", "contrib.slim"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "xavier_initializer(False)",
            'VarianceScaling(scale=1.005863695, mode="fan_avg", distribution="truncated_normal")',
        ),
        (
            "xavier_initializer(uniform=False, seed=1)",
            'VarianceScaling(seed=1, scale=1.005863695, mode="fan_avg", distribution="truncated_normal")',
        ),
        (
            "variance_scaling_initializer()",
            'VarianceScaling(scale=2.011727389, mode="fan_in", distribution="truncated_normal")',
        ),
        (
            "variance_scaling_initializer(a + b)",
            'VarianceScaling(scale=1.005863695 * (a + b), mode="fan_in", distribution="truncated_normal")',
        ),
    ],
)
def test_normal_is_a_little_wider(package: str, before: str, after: str) -> None:
    check_transformed(f"{HEAD}x = tf.{package}.{before}\n", f"{HEAD}x = {NEW}{after}\n", RULES)


@pytest.mark.parametrize(
    "source",
    [
        "f(tf.contrib.layers.xavier_initializer)",
        "tf.contrib.layers.xavier_initializer(flag)",
        "tf.contrib.layers.xavier_initializer(*args)",
        "tf.contrib.layers.variance_scaling_initializer(mode=m, uniform=True)",
        "tf.contrib.layers.variance_scaling_initializer(mode='fan', uniform=True)",
        "tf.contrib.layers.xavier_initializer(what=1)",
    ],
)
def test_reported(source: str) -> None:
    check_noop(f"{HEAD}{source}\n", RULES, Applicability.UNSAFE)
    (found,) = check(f"{HEAD}{source}\n", RULES)
    assert found.fix is None


@pytest.mark.parametrize(
    "source",
    [
        "layers.xavier_initializer()",
        "def f(tf): tf.contrib.layers.xavier_initializer()",
        "tf.contrib.layers.flatten(x)",
    ],
)
def test_left_alone(source: str) -> None:
    assert check(f"{HEAD}{source}\n", RULES) == []


def test_import_style() -> None:
    check_transformed(
        f"{HEAD}from tensorflow.contrib.layers import xavier_initializer as xavier\nx = xavier()\n",
        f"{HEAD}from tensorflow.contrib.layers import xavier_initializer as xavier\nx = {NEW}GlorotUniform()\n",
        RULES,
    )


def test_limit_of_the_uniform_distribution() -> None:
    """contrib draws from +-sqrt(3 * factor / n), n being the mean of both fans."""
    tf = pytest.importorskip("tensorflow")
    values = tf.keras.initializers.GlorotUniform()([30, 50])
    limit = (3 * 1.0 / ((30 + 50) / 2)) ** 0.5
    assert float(tf.reduce_max(tf.abs(values))) == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize(("mode", "count"), [("fan_in", 30), ("fan_avg", 40)])
def test_deviation_of_the_normal_distribution(mode: str, count: int) -> None:
    """contrib cuts a normal distribution of the variance 1.3 * factor / n off at two deviations."""
    tf = pytest.importorskip("tensorflow")
    initializer = tf.keras.initializers.VarianceScaling(2.011727389, mode, "truncated_normal", seed=1)
    ours, old = initializer([30, 50]), tf.random.truncated_normal([400, 50], stddev=(1.3 * 2.0 / count) ** 0.5, seed=1)
    edge = 2 * (1.3 * 2.0 / count) ** 0.5
    assert float(tf.reduce_max(tf.abs(ours))) < edge
    assert float(tf.reduce_max(tf.abs(ours))) == pytest.approx(edge, rel=0.01)
    assert float(tf.math.reduce_std(old)) == pytest.approx(float(tf.math.reduce_std(ours)), rel=0.05)
