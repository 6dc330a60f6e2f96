"""`tf.contrib.lookup` in a program."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, manual_reason, migrate
from test_one_shot import MODEL

LINES = (
    "tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, "
    "tf.lookup.TextFileIndex.LINE_NUMBER"
)
WORDS = "tf.lookup.KeyValueTensorInitializer(words, tf.range(tf.size(words, out_type=tf.int64))"


def table(call: str) -> str:
    """A program that makes a table in its input."""
    return MODEL + f"def read(path):\n    table = {call}\n    return tf.data.Dataset.from_tensors(0)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("index_table_from_file(path)", f"StaticHashTable({LINES}), -1)"),
        (
            "index_table_from_file(vocabulary_file=path, num_oov_buckets=2, name='t')",
            f"StaticVocabularyTable({LINES}), 2)",
        ),
        ("index_table_from_file(path, 0, 9, 4)", f"StaticHashTable({LINES}, 9), 4)"),
        ("index_table_from_file(path, 1, None, -1)", f"StaticVocabularyTable({LINES}), 1)"),
        (
            "index_table_from_file(path, vocab_size=None, default_value=0, key_column_index=0, value_column_index=1, "
            "delimiter=',')",
            "StaticHashTable(tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, delimiter=','), 0)",
        ),
        (
            "index_to_string_table_from_file(path, 7, '?', value_column_index=1)",
            "StaticHashTable(tf.lookup.TextFileInitializer(path, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, "
            "tf.string, 1, 7), '?')",
        ),
        ("index_table_from_tensor(words, dtype=tf.string)", f"StaticHashTable({WORDS}), -1)"),
        ("index_table_from_tensor(mapping=words, default_value=0)", f"StaticHashTable({WORDS}), 0)"),
        (
            "index_table_from_tensor(['a', 'b'], 1)",
            "StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.range(2, dtype=tf.int64)), 1)",
        ),
        (
            "index_to_string_table_from_tensor(words, default_value='?')",
            "StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(tf.size(words, out_type=tf.int64)), words), '?')",
        ),
        (
            "index_to_string_table_from_file(path)",
            "StaticHashTable(tf.lookup.TextFileInitializer(path, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, "
            'tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "UNK")',
        ),
    ],
)
def test_tables(old: str, new: str) -> None:
    text = migrate(table("tf.contrib.lookup." + old))
    assert f"    table = tf.lookup.{new}\n" in joined(text) and "index_table" not in text


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("index_table_from_file(path, buckets)", "index_table_from_file(path, buckets)"),
        ("index_table_from_tensor(read_words(), name='t')", "index_table_from_tensor(read_words())"),
        ("index_table_from_tensor([*words], 1)", "index_table_from_tensor([*words], 1)"),
    ],
)
def test_tables_that_a_function_makes(call: str, written: str) -> None:
    """Where it is not seen whether unknown words have buckets, and where words would have to be written twice."""
    text = migrate(table("tf.contrib.lookup." + call))
    assert f"    table = {written}\n" in text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("index_table_from_tensor(words, dtype=tf.int64)", "`dtype` of tf.contrib.lookup.index_table_from_tensor"),
        ("index_table_from_file(path, key_dtype=tf.int32)", "`key_dtype` of tf.contrib.lookup.index_table_from_file"),
        (
            "index_table_from_file(path, buckets, delimiter=',')",
            "`delimiter` of tf.contrib.lookup.index_table_from_file",
        ),
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
