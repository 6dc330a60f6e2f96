"""Helpers that make variables and get no tensor, imports that go with them, and loops over one name twice."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, method, migrate, migrate_all, model_fn, run
from modelfn.symbolic import assert_same

PARAMS = {"u": 3, "names": ["a", "b"]}
TABLE = """
def get_table(rows, units, padded=False):
    \"\"\"A table, with a row of zeros in the place of its first one.\"\"\"
    with tf.variable_scope("shared"):
        table = tf.get_variable("table", shape=[rows, units])
        if padded:
            table = tf.concat((tf.zeros(shape=[1, units]), table[1:, :]), 0)
    return table
"""
TIED = """
table = get_table(5, params["u"]{padded})
net = tf.matmul(features["x"], table)
predictions = tf.matmul(net, tf.transpose(table))
"""


@pytest.mark.parametrize("padded", ["", ", padded=True"])
def test_a_table_is_used_twice(padded: str) -> None:
    text = assert_same(model_fn(TIED.format(padded=padded), before=f"\n\n{TABLE}"), **PARAMS)
    assert "self.table = self.add_weight(" in text and "def get_table" not in text


def test_the_import_goes_with_the_function() -> None:
    program = model_fn(TIED.format(padded=""), before="import tensorflow as tf\n\nfrom tables import SIZE, get_table\n")
    files = {"tables.py": f"import tensorflow as tf\n\nSIZE = 3\n\n{TABLE}", PATH: program}
    after = migrate_all(files)
    assert "get_table" not in "".join(after.values())
    assert "from tables import SIZE\n" in after[PATH] and "SIZE = 3" in after["tables.py"]


def test_an_import_that_is_read_stays() -> None:
    before = "import tensorflow as tf\n\nfrom tables import get_table\n\nMAKE = get_table\n"
    program = model_fn(TIED.format(padded=""), before=before)
    outcomes = run({"tables.py": f"import tensorflow as tf\n\n{TABLE}", PATH: program})
    assert "import get_table" in outcomes[PATH].after.decode()


def test_a_helper_that_gets_a_tensor_stays_a_layer() -> None:
    helper = """
def look_up(ids, rows, units):
    table = tf.get_variable("table", [rows, units])
    return tf.gather(table, ids)
"""
    text = migrate(model_fn('predictions = look_up(features["x"], 5, 3)', before=f"\n\n{helper}"))
    assert "class LookUp(tf.keras.layers.Layer)" in text


def test_one_name_for_two_loops() -> None:
    body = """
    outputs = []
    for i, name in enumerate(params["names"]):
        with tf.variable_scope("tower_" + name):
            outputs.append(tf.layers.dense(features["x"], i + 1, name="out"))
    total = 0.0
    for name in params["names"]:
        total = total + len(name)
    predictions = tf.concat(outputs, 1) * total
    """
    text = assert_same(model_fn(body), **PARAMS)
    assert "for out in self.out_layers" in method(text, "call")
