"""Batches of `tf.contrib.data`."""

from __future__ import annotations

import pytest

from tools import check_noop, check_transformed, rules_of

RULES = rules_of("inputs.contrib_data")


@pytest.mark.parametrize("size", ["32", "batch_size=32", "(32)"])
def test_applied_at_once(size: str) -> None:
    before = f"import tensorflow as tf\nd = d.apply(tf.contrib.data.batch_and_drop_remainder({size}))\n"
    kept = "(32)" if size == "(32)" else "32"
    check_transformed(before, f"import tensorflow as tf\nd = d.batch({kept}, drop_remainder=True)\n", RULES)


def test_another_import_and_a_chain() -> None:
    before = "from tensorflow.contrib import data\nd = d.apply(data.batch_and_drop_remainder(n + 1)).prefetch(1)\n"
    after = "from tensorflow.contrib import data\nd = d.batch(n + 1, drop_remainder=True).prefetch(1)\n"
    check_transformed(before, after, RULES)


def test_names_of_parameters() -> None:
    before = (
        "import tensorflow as tf\n"
        "d = d.apply(transformation_func = tf.contrib.data.batch_and_drop_remainder(batch_size = size))\n"
    )
    after = "import tensorflow as tf\nd = d.batch(batch_size = size, drop_remainder=True)\n"
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    "use",
    [
        "f = tf.contrib.data.batch_and_drop_remainder(32)",
        "f = tf.contrib.data.batch_and_drop_remainder",
        "d = d.apply(tf.contrib.data.batch_and_drop_remainder(*sizes))",
        "d = d.apply(tf.contrib.data.batch_and_drop_remainder(32), more)",
        "d = apply(tf.contrib.data.batch_and_drop_remainder(32))",
        "d = d.apply(function=tf.contrib.data.batch_and_drop_remainder(32))",
        "d = d.apply(**{'transformation_func': tf.contrib.data.batch_and_drop_remainder(32)})",
        "d = d.apply(tf.contrib.data.batch_and_drop_remainder())",
    ],
)
def test_left_alone(use: str) -> None:
    check_noop(f"import tensorflow as tf\n{use}\n", RULES)
