"""`tf.contrib.lookup` in a program."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, migrate
from test_one_shot import MODEL


def table(call: str) -> str:
    """A program that makes a table in its input."""
    return MODEL + f"def read(path):\n    table = {call}\n    return tf.data.Dataset.from_tensors(0)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("index_table_from_file(path)", "index_table_from_file(path)"),
        (
            "index_table_from_file(vocabulary_file=path, num_oov_buckets=2, name='t')",
            "index_table_from_file(vocabulary_file=path, num_oov_buckets=2)",
        ),
        ("index_table_from_file(path, 1, None, -1)", "index_table_from_file(path, 1, None, -1)"),
        ("index_table_from_tensor(words, dtype=tf.string)", "index_table_from_tensor(words)"),
        (
            "index_table_from_tensor(mapping=words, default_value=0)",
            "index_table_from_tensor(mapping=words, default_value=0)",
        ),
        (
            "index_to_string_table_from_tensor(words, default_value='?')",
            "index_to_string_table_from_tensor(words, default_value='?')",
        ),
        ("index_to_string_table_from_file(path)", "index_to_string_table_from_file(path)"),
    ],
)
def test_tables(old: str, new: str) -> None:
    text = migrate(table("tf.contrib.lookup." + old))
    assert f"    table = {new}\n" in text
    assert new.partition("(")[0] in text.split("\n\n\n")[0]  # its import


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("index_table_from_tensor(words, dtype=tf.int64)", "`dtype` of tf.contrib.lookup.index_table_from_tensor"),
        ("index_table_from_file(path, key_dtype=tf.int32)", "`key_dtype` of tf.contrib.lookup.index_table_from_file"),
        ("index_table_from_file(path, delimiter=',')", "`delimiter` of tf.contrib.lookup.index_table_from_file"),
        ("index_table_from_file(**options)", "index_table_from_file"),
        ("MutableHashTable(tf.string, tf.int64, -1)", "tf.contrib.lookup.MutableHashTable"),
    ],
)
def test_what_is_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(table("tf.contrib.lookup." + call) + "\n\nprint(read)\n")


def test_a_program_of_canned_estimators_gives_its_own_reason() -> None:
    program = """\
        import tensorflow as tf

        e = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")])
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        """
    assert "MutableHashTable" in manual_reason(textwrap.dedent(program))
