"""`--features preprocessing`: feature columns become columns on Keras preprocessing layers, or the program stays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from modelfn.programs import HELPERS, PATH, model_fn, units

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.settings import Settings

IMPORT = "import tensorflow as tf\n"


def run(files: str | Mapping[str, str], features: str = "preprocessing", style: str = "native") -> dict[str, Outcome]:
    files = {PATH: files} if isinstance(files, str) else files
    sources = [decode(path, text.encode()) for path, text in files.items()]
    settings = Settings(style=style, features=features)
    return {outcome.path: outcome for outcome in migrate_component(sources, settings)}


def text(outcomes: dict[str, Outcome], path: str = PATH) -> str:
    return outcomes[path].after.decode()


def canned(columns: str, imports: str = IMPORT) -> str:
    return f"{imports}\nCOLUMNS = {columns}\nestimator = tf.estimator.LinearRegressor(COLUMNS)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tf.feature_column.numeric_column("a", (2,), 0.0)', 'NumericColumn("a", (2,), 0.0)'),
        ("tf.feature_column.indicator_column(X)", "IndicatorColumn(X)"),
        ('tf.feature_column.embedding_column(X, 3, "sum")', 'EmbeddingColumn(X, 3, "sum")'),
        (
            'tf.feature_column.embedding_column(X, 3, "sum", init, None, None, 2.0, False, True)',
            'EmbeddingColumn(X, 3, "sum", initializer=init, max_norm=2.0, trainable=False)',
        ),
        (
            "tf.feature_column.embedding_column(X, dimension=3, ckpt_to_load_from=None, tensor_name_in_ckpt=None)",
            "EmbeddingColumn(X, dimension=3)",
        ),
        (
            'tf.feature_column.categorical_column_with_vocabulary_file("a", "f", 3, 2, None, tf.int64)',
            'VocabularyFileColumn("a", "f", 3, num_oov_buckets=2, default_value=None, dtype=tf.int64)',
        ),
        (
            'tf.compat.v2.feature_column.categorical_column_with_vocabulary_file("a", "f", 3, tf.int64, -1)',
            'VocabularyFileColumn("a", "f", 3, dtype=tf.int64, default_value=-1)',
        ),
        ("list(map(tf.feature_column.numeric_column, KEYS))", "list(map(NumericColumn, KEYS))"),
        ("tf.keras.layers.DenseFeatures(X)", "DenseFeatures(X)"),
        ("tf.keras.experimental.SequenceFeatures(X)", "SequenceFeatures(X)"),
        (
            'tf.feature_column.shared_embedding_columns(X, 3, "sum", None, "table", None, None, 2.0)',
            'shared_table_columns(X, 3, "sum", initializer=None, shared_embedding_collection_name="table", max_norm=2.0)',
        ),
        (
            'tf.contrib.feature_column.sequence_categorical_column_with_identity("a", 5, 0)',
            'IdentitySequence("a", 5, 0)',
        ),
        (
            'tf.feature_column.sequence_categorical_column_with_vocabulary_file("a", "f", 3, 2, None, tf.int64)',
            'VocabularyFileSequence("a", "f", 3, 2, None, tf.int64)',
        ),
        ('tf.contrib.feature_column.sequence_numeric_column("a", shape=2)', 'NumericSequence("a", shape=2)'),
    ],
)
def test_columns(old: str, new: str) -> None:
    assert f"COLUMNS = {new}\n" in text(run(canned(old)))


@pytest.mark.parametrize(
    "imports",
    ["from tensorflow import feature_column as fc\n", "import tensorflow.feature_column as fc\n"],
)
def test_an_import_of_columns_goes_with_them(imports: str) -> None:
    after = text(run(canned('[fc.numeric_column("a")]', IMPORT + imports)))
    assert 'COLUMNS = [NumericColumn("a")]' in after and "feature_column as" not in after


def test_an_import_of_functions_goes_with_them() -> None:
    imports = IMPORT + "from tensorflow.feature_column import numeric_column, bucketized_column\n"
    after = text(run(canned('[bucketized_column(numeric_column("a"), [1, 2])]', imports)))
    assert 'COLUMNS = [BucketizedColumn(NumericColumn("a"), [1, 2])]' in after
    assert "from tensorflow." not in after


def test_a_name_for_all_columns_goes_with_them() -> None:
    after = text(run(canned('[fc.numeric_column("a")]', IMPORT + "fc = tf.feature_column\n")))
    assert 'COLUMNS = [NumericColumn("a")]' in after and "fc = " not in after


@pytest.mark.parametrize(
    "more",
    ["print(fc)", "fc = choose()", "__all__ = ['fc']", "def f(fc):\n    pass\nfc.__name__", "other = fc = 1", "del fc"],
)
def test_a_name_for_all_columns_that_something_else_reads_stays(more: str) -> None:
    before = canned('[tf.feature_column.numeric_column("a")]', f"{IMPORT}fc = tf.feature_column\n{more}\n")
    assert "fc = tf.feature_column\n" in text(run(before))


def test_a_name_of_the_program_is_not_taken() -> None:
    after = text(run(canned('[tf.feature_column.numeric_column("a")]', IMPORT + "class NumericColumn: pass\n")))
    assert 'COLUMNS = [tf2_training.NumericColumn("a")]' in after


def test_layers_of_a_model_fn() -> None:
    body = """
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: tf.log(x))
    deep = tf.feature_column.input_layer(features, [age])
    predictions = tf.feature_column.linear_model(features, [age], units=2) + deep
    """
    outcomes = run(model_fn(body))
    after = text(outcomes)
    assert 'NumericColumn("age", normalizer_fn=lambda x: tf.math.log(x))' in after
    assert "= DenseFeatures([" in after and "= LinearColumns([" in after and "feature_column" not in after
    helpers = text(outcomes, HELPERS)
    assert "class DenseFeatures(" in helpers and "class LinearColumns(" in helpers and "LinearFeatures" not in helpers


def test_an_import_of_columns_of_contrib_goes_with_them() -> None:
    imports = IMPORT + "from tensorflow.contrib import feature_column as contrib_columns\n"
    imports += "from tensorflow.contrib.feature_column import sequence_numeric_column\n"
    columns = '[contrib_columns.sequence_categorical_column_with_hash_bucket("a", 7), sequence_numeric_column("b")]'
    after = text(run(canned(columns, imports)))
    assert 'COLUMNS = [HashedSequence("a", 7), NumericSequence("b")]' in after and "contrib" not in after


def test_sequences_in_a_model_fn() -> None:
    body = """
    words = tf.contrib.feature_column.sequence_categorical_column_with_hash_bucket("words", 9)
    columns = [tf.feature_column.embedding_column(words, 3)]
    net, lengths = tf.contrib.feature_column.sequence_input_layer(features, columns, trainable=False)
    predictions = tf.reduce_sum(net, 1) / tf.to_float(lengths)[:, tf.newaxis]
    """
    outcomes = run(model_fn(body))
    after = text(outcomes)
    assert 'HashedSequence("words", 9)' in after and "SequenceFeatures(" in after and "trainable=False" in after
    assert "feature_column" not in after and "class SequenceFeatures(" in text(outcomes, HELPERS)


@pytest.mark.parametrize("features", ["columns", "preprocessing"])
def test_layers_of_one_model_share_a_table(features: str) -> None:
    body = """
    teams = tf.feature_column.shared_embedding_columns(COLUMNS, 3)
    deep = tf.feature_column.input_layer(features, teams)
    predictions = tf.feature_column.input_layer(features, teams[:1]) + deep[:, :3]
    """
    assert "        share_tables(self)\n" in text(run(model_fn(body), features))
    one = body.replace("tf.feature_column.input_layer(features, teams[:1]) + ", "")
    assert "share_tables" not in text(run(model_fn(one), features))
    other = body.replace("shared_embedding_columns", "embedding_column")
    assert "share_tables" not in text(run(model_fn(other), features))


def test_vendored_models_read_the_new_columns() -> None:
    program = f"""{IMPORT}
w = tf.feature_column.numeric_column("w")
estimator = tf.estimator.DNNClassifier([4], [tf.feature_column.numeric_column("a")], weight_column=w)
"""
    helpers = text(run(program), HELPERS)
    assert 'self.input_layer = DenseFeatures(feature_columns, name="input_layer")' in helpers
    assert "tf.feature_column.numeric_column(" not in helpers and "get_dense_tensor" not in helpers
    assert "column = NumericColumn(column) if isinstance(column, str) else column" in helpers


TRAINED = f"""{IMPORT}
A = [tf.feature_column.categorical_column_with_identity("a", 3)]
estimator = tf.estimator.KIND
estimator.train(lambda: tf.data.Dataset.from_tensor_slices(({{"a": [1, 2]}}, [0, 1])).batch(2))
"""


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("DNNRegressor([4], A)", ["self.input_layer = DenseFeatures(feature_columns)"]),
        (
            "LinearClassifier(A, n_classes=5)",
            ["self.linear_model = LinearColumns(feature_columns, n_classes)", "return self.linear_model(features)"],
        ),
        (
            "DNNLinearCombinedRegressor(linear_feature_columns=A, dnn_feature_columns=A, dnn_hidden_units=[2], "
            'linear_sparse_combiner="mean")',
            [
                "self.linear_model = LinearColumns(linear_feature_columns, sparse_combiner=linear_sparse_combiner)",
                "linear = self.linear_model.trainable_variables",
            ],
        ),
    ],
)
def test_models_of_the_program_read_the_new_columns(kind: str, lines: list[str]) -> None:
    outcomes = run(TRAINED.replace("KIND", kind))
    after = text(outcomes)
    assert ".fit(" in after and all(f"        {line}\n" in after for line in lines) and "column_weights" not in after
    assert "class CannedModel" not in text(outcomes, HELPERS)


def test_weights_that_are_read_by_names_stay_with_helpers() -> None:
    program = TRAINED.replace("KIND", "LinearRegressor(A)")
    assert ".fit(" not in text(run(program + 'estimator.get_variable_value("linear/linear_model/a/weights")\n'))


def test_columns_of_another_file() -> None:
    columns = f'{IMPORT}\ndef make():\n    return [tf.feature_column.numeric_column("a")]\n'
    main = "import tensorflow as tf\nimport features\n\nestimator = tf.estimator.LinearRegressor(features.make())\n"
    outcomes = run({"main.py": main, "features.py": columns})
    assert 'return [NumericColumn("a")]' in text(outcomes, "features.py")


def test_a_second_run_changes_nothing() -> None:
    outcomes = run(canned('[tf.feature_column.numeric_column("a")]'))
    files = {path: outcome.after.decode() for path, outcome in outcomes.items()}
    assert {path: outcome.after.decode() for path, outcome in run(files).items()} == files


def test_columns_stay_without_the_option() -> None:
    outcomes = run(canned('[tf.feature_column.numeric_column("a")]'), features="columns")
    assert "tf.feature_column.numeric_column" in text(outcomes) and "LinearFeatures" in text(outcomes, HELPERS)


def test_columns_stay_in_the_bridge() -> None:
    body = 'predictions = tf.feature_column.input_layer(features, [tf.feature_column.numeric_column("a")])'
    after = text(run(model_fn(body), style="bridge"))
    assert "compat.v1.feature_column.input_layer" in after and "NumericColumn" not in after


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("[tf.feature_column.shared_embeddings(X, 3)]", "no match for tf.feature_column.shared_embeddings"),
        ("tf.feature_column.shared_embedding_columns(X, 3, tensor_name_in_ckpt=N)", "`tensor_name_in_ckpt` of tf."),
        (
            '[tf.feature_column.embedding_column(X, 3, ckpt_to_load_from="c")]',
            "`ckpt_to_load_from` of tf.feature_column",
        ),
        ("[tf.feature_column.embedding_column(*ARGS)]", "hidden behind * or **"),
        ("[f(tf.feature_column.embedding_column)]", "tf.feature_column.embedding_column is more than called"),
        (
            '[tf.compat.v2.feature_column.categorical_column_with_vocabulary_file("a", "f", file_format="tfrecord_gzip")]',
            "`file_format` of tf.feature_column",
        ),
    ],
)
def test_refused(columns: str, reason: str) -> None:
    source = canned(columns)
    outcomes = run(source)
    assert text(outcomes) == source
    (unit,) = units(outcomes)
    assert unit.tier == "manual" and reason in unit.reason, unit.reason


def test_the_inside_of_columns_is_refused() -> None:
    imports = IMPORT + "from tensorflow.python.feature_column import feature_column_v2\n"
    source = canned("[c for c in X if isinstance(c, feature_column_v2.NumericColumn)]", imports)
    (unit,) = units(run(source))
    assert "looks at the inside of feature columns" in unit.reason
