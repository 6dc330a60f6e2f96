"""Lookup tables inside a model_fn: made once, with the model."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

LOOKUP = "tf.contrib.lookup."
WORDS = 'tf.constant(["a", "b"])'

LINES = (
    "tf.lookup.TextFileInitializer(params['file'], tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, "
    "tf.lookup.TextFileIndex.LINE_NUMBER"
)


def program(table: str, before: str = "") -> str:
    body = f"""
    {before}
    table = {table}
    predictions = tf.layers.dense(tf.one_hot(table.lookup(features["x"]), 3), 1)
    """
    return model_fn(textwrap.dedent(body))


@pytest.mark.parametrize(
    ("table", "made"),
    [
        (f"{LOOKUP}index_table_from_tensor({WORDS})", f"index_table_from_tensor({WORDS})"),
        (
            f"{LOOKUP}index_table_from_file(params['file'], 1, key_dtype=tf.string)",
            f"tf.lookup.StaticVocabularyTable({LINES}), 1)",
        ),
        (
            f"{LOOKUP}index_table_from_tensor(mapping={WORDS}, num_oov_buckets=2, name='words')",
            f"index_table_from_tensor({WORDS}, num_oov_buckets=2)",
        ),
        (
            f"{LOOKUP}index_table_from_file(params['file'], 1, default_value=0, key_dtype=tf.string)",
            f"tf.lookup.StaticVocabularyTable({LINES}), 1)",
        ),
        (
            f"tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer({WORDS}, tf.constant([0, 1])), 0)",
            f"tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer({WORDS}, tf.constant([0, 1])), 0)",
        ),
    ],
)
def test_a_table_is_made_with_the_model(table: str, made: str) -> None:
    text = migrate(program(table))
    assert f"self.table = {made}\n" in joined(method(text, "__init__"))
    assert 'self.table.lookup(features["x"])' in method(text, "call") and made not in method(text, "call")


def test_a_constant_that_a_table_is_made_of() -> None:
    source = program(f"{LOOKUP}index_table_from_tensor(words)", f"words = {WORDS}\n    other = tf.constant([1.0])")
    text = migrate(source.replace("3), 1)", "3), 1) * other"))
    init = method(text, "__init__")
    assert init.index(f"words = {WORDS}") < init.index("self.table = tf.lookup.StaticHashTable(")
    assert "other = tf.constant([1.0])" in method(text, "call") and "words" not in method(text, "call")


def test_a_constant_that_the_network_reads_as_well() -> None:
    source = program(f"{LOOKUP}index_table_from_tensor(words)", f"words = {WORDS}")
    text = migrate(source.replace("3), 1)", "3), 1) * tf.cast(tf.size(words), tf.float32)"))
    assert f"self.words = {WORDS}" in method(text, "__init__") and "tf.size(self.words)" in method(text, "call")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (f"{LOOKUP}index_table_from_tensor([1, 2], dtype=tf.int64)", "`dtype` of tf.contrib.lookup"),
        (f"{LOOKUP}index_table_from_file('f', key_column_index=COLUMN)", "`key_column_index` of tf.contrib.lookup"),
        (f"{LOOKUP}HashTable(params['i'], 0)", "tf.contrib.lookup.HashTable is not migrated yet"),
    ],
)
def test_refused(table: str, reason: str) -> None:
    assert reason in manual_reason(program(table))


def test_a_table_of_data_is_not_made_with_the_model() -> None:
    table = 'tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(features["k"], features["v"]), 0)'
    text = migrate(program(table))
    assert "StaticHashTable" not in method(text, "__init__") and "StaticHashTable" in method(text, "call")


@pytest.mark.parametrize("early", ["", "    if mode == tf.estimator.ModeKeys.PREDICT:\n        return SPEC\n"])
def test_a_table_of_labels_and_other_values_of_the_loss_are_made_once(early: str) -> None:
    made = f"tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer({WORDS}, tf.constant([0, 1])), 0)"
    body = """
    predictions = tf.layers.dense(features["x"], 3)
    """
    end = f"""{early.replace("SPEC", "tf.estimator.EstimatorSpec(mode, predictions=predictions)")}
    table = {made}
    scale = load(params["file"])
    half = scale / 2
    ids = tf.cast(table.lookup(labels), tf.float32)
    loss = tf.reduce_mean(tf.square(ids - predictions)) * scale * half
    metrics = {{"m": tf.metrics.mean(tf.cast(table.lookup(labels), tf.float32) * scale)}}
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)
    """
    text = migrate(
        model_fn(textwrap.dedent(body), end=textwrap.dedent(end), before="\n\ndef load(file):\n    return 2.0\n")
    )
    assert text.count("StaticHashTable") == 1 and text.count("load(") == 2
    loss, metrics = method(text, "compute_loss"), method(text, "compute_metrics")
    assert "self.table.lookup(y)" in loss and "self.table.lookup(y)" in metrics
    assert "half = self.scale / 2" in loss
