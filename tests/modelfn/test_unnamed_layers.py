"""What layers are called that the program gives no name."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import method, migrate, model_fn

TOWER = """

def tower(x, units):
    return tf.layers.dense(tf.layers.dense(x, units), units)
"""


def attributes(body: str, before: str = "") -> list[str]:
    init = method(migrate(model_fn(body, before=before)), "__init__", "Model")
    made = re.findall(r"self\.(\w+) = (?:tf\.keras\.layers|Tower|\[)", init)
    return [name for name in made if name != "predictions"]


END = "predictions = tf.layers.dense(x, 1)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x = tf.layers.dense(features['x'], 2)"], ["dense"]),
        (["x = tf.layers.dense(features['x'], 2)", "x = tf.layers.dense(x, 3)"], ["dense_1", "dense_2"]),
        (
            ["x = tf.layers.dense(tf.layers.dense(features['x'], 2), 3)", "x = tf.layers.dropout(x)"],
            ["dense_1", "dense_2", "dropout"],
        ),
        (
            [
                "x = features['x']",
                "for n in (2, 3):",
                "    x = tf.layers.dense(x, n)",
                "x = tf.exp(tf.layers.dense(x, 4))",
            ],
            ["dense_layers", "dense"],
        ),
    ],
)
def test_one_has_no_number_and_several_count_from_one(lines: list[str], expected: list[str]) -> None:
    assert attributes("\n".join([*lines, END])) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("user_vector", "item_vector", ["user_tower", "item_tower"]),
        ("user", "item", ["user_tower", "item_tower"]),
        ("ctr_logits", "cvr_logits", ["ctr_tower", "cvr_tower"]),
        ("q", "d", ["tower_1", "tower_2"]),
        ("x", "hidden", ["tower_1", "tower_2"]),
        ("vector", "vector", ["tower_1", "tower_2"]),
        ("a_vector", "_vector", ["a_vector_tower", "vector_tower"]),
    ],
)
def test_parts_of_a_network_are_told_apart_by_what_they_give(first: str, second: str, expected: list[str]) -> None:
    body = f"{first} = tower(features['x'], 2)\n{second} = tower({first}, 2)\nx = {first} * {second}\n{END}"
    assert attributes(body, TOWER) == expected


def test_words_stand_for_all_of_them_or_for_none() -> None:
    body = f"user = tower(features['x'], 2)\nitem = tower(user, 2)\nx = tower(user * item, 2)\n{END}"
    assert attributes(body, TOWER) == ["tower_1", "tower_2", "tower_3"]
