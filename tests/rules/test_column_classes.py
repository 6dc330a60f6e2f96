"""Private classes of feature columns, by which programs choose among theirs."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, migrate_all

IMPORT = "from tensorflow.python.feature_column import feature_column\n"
PROGRAM = """import tensorflow as tf
{imported}
COLUMNS = [tf.feature_column.numeric_column("x"), tf.feature_column.categorical_column_with_identity("y", 3)]
dense = list(filter(lambda column: isinstance(column, {test}), COLUMNS))
classifier = tf.estimator.DNNClassifier([4], dense)
"""


def program(test: str, imported: str = IMPORT) -> str:
    return PROGRAM.format(imported=imported, test=test)


@pytest.mark.parametrize(
    ("imported", "name"),
    [(IMPORT, "feature_column"), (IMPORT.replace("column\n", "column as fc\n"), "fc")],
)
def test_the_classes_of_the_columns_that_there_are(imported: str, name: str) -> None:
    test = f"({name}._NumericColumn, {name}._EmbeddingColumn)"
    text = migrate(program(test, imported))
    assert f"from tensorflow.python.feature_column import feature_column_v2 as {name}\n" in text
    assert f"isinstance(column, ({name}.NumericColumn, {name}.EmbeddingColumn))" in text


def test_in_a_file_beside_the_program() -> None:
    columns = IMPORT + "\n\ndef is_dense(column):\n    return isinstance(column, feature_column._NumericColumn)\n"
    task = program("int", "import columns\n").replace("isinstance(column, int)", "columns.is_dense(column)")
    text = migrate_all({"columns.py": columns, "task.py": task})["columns.py"]
    assert "feature_column_v2 as feature_column" in text and "isinstance(column, feature_column.NumericColumn)" in text


def test_bases_stay_where_more_is_read_of_their_module() -> None:
    test = "feature_column._DenseColumn) and feature_column._LazyBuilder({}) is not None and bool(1"
    assert IMPORT in migrate(program(test))


@pytest.mark.parametrize(
    ("test", "imported"),
    [
        ("feature_column._NumericColumn) and feature_column._LazyBuilder({}) is not None and bool(1", IMPORT),
        ("_NumericColumn", "from tensorflow.python.feature_column.feature_column import _NumericColumn\n"),
    ],
)
def test_classes_that_are_not_followed_keep_the_program(test: str, imported: str) -> None:
    reason = manual_reason(program(test, imported))
    assert "no feature column of TensorFlow 2 is a `_NumericColumn`: first ask for `NumericColumn`" in reason


def test_a_module_of_that_name_that_is_the_programs_own() -> None:
    text = migrate(program("feature_column._NumericColumn", "import feature_column\n"))
    assert "feature_column._NumericColumn" in text
