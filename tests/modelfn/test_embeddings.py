"""Tables of which rows are looked up become layers; those of which more is read before stay weights."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

TABLE = 'table = tf.get_variable("table", [40, 3])'
LOOKUP = 'predictions = tf.nn.embedding_lookup(table, features["x"])'


@pytest.mark.parametrize(
    "body",
    [
        f"{TABLE}\n{LOOKUP}",
        f'{TABLE}\n{LOOKUP} + tf.nn.embedding_lookup(table, features["w"])',
        f"{TABLE}\n{LOOKUP}\nloss = tf.nn.l2_loss(table)",
        'predictions = tf.nn.embedding_lookup(tf.get_variable("table", [40, 3]), features["x"])',
        f'{TABLE}\nwith tf.variable_scope("a"):\n    other = tf.get_variable("table", [3, 2])\n'
        f'{LOOKUP} * tf.nn.embedding_lookup(other, features["w"])',
    ],
)
def test_tables(body: str) -> None:
    text = assert_same(model_fn(body))
    assert "tf.keras.layers.Embedding(" in method(text, "__init__") and "embedding_lookup" not in text


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        ('"table", [9, 2]', '9, 2, embeddings_initializer="glorot_uniform", name="table"'),
        ('"table", shape=(9, 2), dtype=tf.float32', '9, 2, embeddings_initializer="glorot_uniform", name="table"'),
        (
            '"table", [9, 2], initializer=tf.zeros_initializer(), trainable=False',
            '9, 2, embeddings_initializer=tf.zeros_initializer(), trainable=False, name="table"',
        ),
    ],
)
def test_what_it_is_made_of(made: str, arguments: str) -> None:
    text = migrate(model_fn(f'table = tf.get_variable({made})\npredictions = tf.gather(table, features["x"])'))
    packed = "".join(text.split()).replace(",)", ")")
    assert f"self.table=tf.keras.layers.Embedding({''.join(arguments.split())})" in packed
    assert 'self.table(features["x"])' in text


@pytest.mark.parametrize(
    "body",
    [
        f"{TABLE}\nnorm = table / 2.0\npredictions = tf.nn.embedding_lookup(norm, features['x'])",
        f"{TABLE}\nscale = tf.reduce_sum(table)\n{LOOKUP} * scale",
        f"{TABLE}\n{LOOKUP}\npredictions = predictions * table[0]",
        f"{TABLE}\npredictions = tf.gather(table, features['x'], axis=1)",
        f"{TABLE}\npredictions = tf.nn.embedding_lookup(table, features['x'], max_norm=1.0)",
        f"{TABLE}\npredictions = tf.nn.embedding_lookup([table, table], features['x'])",
        f"{TABLE}\nlook = lambda ids: tf.nn.embedding_lookup(table, ids)\npredictions = look(features['x'])",
        f"{TABLE}\ntables = [table]\n{LOOKUP} + tf.reduce_sum(tables[0])",
        "table = tf.get_variable('table', [40])\n" + LOOKUP,
        "table = tf.get_variable('table', [40, 2], dtype=tf.float64)\n" + LOOKUP,
        "table = tf.get_variable('table', params['shape'])\n" + LOOKUP,
        f"{TABLE}\n{LOOKUP}\nnames = [v.name.upper() for v in tf.trainable_variables()]",
    ],
)
def test_what_stays_a_weight(body: str) -> None:
    assert "Embedding(" not in migrate(model_fn(body))


def test_a_table_that_stands_with_the_labels_stays_a_weight() -> None:
    body = f'{TABLE}\npredictions = features["x"]\nloss = tf.reduce_sum(tf.nn.embedding_lookup(table, labels))'
    assert "Embedding(" not in migrate(model_fn(body))


LOOP = """
parts = []
for i, size in enumerate(params["sizes"]):
    table = tf.get_variable("table%d" % i, [size, 3])
    parts.append(tf.nn.embedding_lookup(table, features["x"]))
predictions = tf.add_n(parts)
"""


@pytest.mark.parametrize(
    "body",
    [
        LOOP,
        "parts = [tf.nn.embedding_lookup(tf.get_variable('table%d' % i, [size, 3]), features['x'])\n"
        "         for i, size in enumerate(params['sizes'])]\npredictions = tf.add_n(parts)",
    ],
)
def test_tables_of_a_loop(body: str) -> None:
    text = migrate(model_fn(body))
    assert "Embedding(" in method(text, "__init__") and "embedding_lookup" not in text and "get_variable" not in text
    (unit,) = units(run(model_fn(body)))
    assert dict(unit.variables) == {"table*": "table_tables.*.embeddings"}


@pytest.mark.parametrize(
    "body",
    [
        LOOP + "predictions += tf.nn.embedding_lookup(table, features['w'])",  # that of the last turn
        LOOP.replace("parts.append", "norm = tf.nn.l2_loss(table)\n    parts.append"),
    ],
)
def test_tables_of_a_loop_of_which_more_is_read_stay_weights(body: str) -> None:
    source = model_fn(body)
    assert all(unit.tier != "native" for unit in units(run(source))) or "Embedding(" not in migrate(source)


@pytest.mark.parametrize(("text", "layer"), [("bias", True), ("bed", False), ("table", False)])
def test_names_that_tests_tell_apart_stay(text: str, layer: bool) -> None:
    asked = f"loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if '{text}' not in v.name])"
    source = model_fn(f"{TABLE}\n{LOOKUP}\nloss = tf.reduce_mean(tf.square(labels - predictions))\n{asked}")
    assert ("Embedding(" in migrate(source)) is layer
