"""`input_layer` and `linear_model` in a model_fn."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, PATH, manual_reason, method, migrate, migrate_all, model_fn, run, units


@pytest.mark.parametrize(
    ("old", "made", "used"),
    [
        (
            'input_layer(features, params["columns"])',
            'InputFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'input_layer(feature_columns=params["columns"], features=features, trainable=False)',
            'InputFeatures(params["columns"], trainable=False)',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"])',
            'LinearFeatures(params["columns"])',
            "self.predictions(features)",
        ),
        (
            'linear_model(features, params["columns"], 2, "mean")',
            'LinearFeatures(params["columns"], units=2, sparse_combiner="mean")',
            "self.predictions(features)",
        ),
    ],
)
def test_layers_on_columns(old: str, made: str, used: str) -> None:
    text = migrate(model_fn(f"predictions = tf.feature_column.{old}"))
    assert made in method(text, "__init__") and used in method(text, "call")


LAYER = "x, lengths = tf.contrib.feature_column.sequence_input_layer({})"
SEQUENCES = f"{LAYER}\npredictions = x[:, 0] * tf.cast(lengths, tf.float32)"


def test_columns_of_sequences() -> None:
    before = """\
    from tensorflow.contrib.feature_column import sequence_numeric_column
    words = tf.contrib.feature_column.sequence_categorical_column_with_vocabulary_file("words", "words.txt", 9)
    COLUMNS = [tf.feature_column.embedding_column(words, 4), sequence_numeric_column("price")]
    """
    text = migrate(model_fn(SEQUENCES.format("features, COLUMNS"), before=before))
    assert 'tf.feature_column.sequence_categorical_column_with_vocabulary_file("words", "words.txt", 9)' in text
    assert 'tf.feature_column.sequence_numeric_column("price")' in text and "contrib" not in text
    assert "self.sequence_input_layer = SequenceInputFeatures(COLUMNS)" in method(text, "__init__")
    assert "x, lengths = self.sequence_input_layer(features)" in method(text, "call")


def test_columns_of_sequences_in_a_graph() -> None:
    text = run(model_fn(SEQUENCES.format("features, params")), "bridge")[PATH].after.decode()
    assert (
        "x, lengths = sequence_input_layer(features, params)" in text and "EstimatorSpec, sequence_input_layer" in text
    )


TEAMS = "COLUMNS = tf.feature_column.shared_embedding_columns([A, B], 3, 'sum', None, 'teams', None, None, 1.0)"


def test_columns_that_share_a_table_in_one_input_layer() -> None:
    text = migrate(model_fn("predictions = tf.feature_column.input_layer(features, COLUMNS)", before=TEAMS))
    assert "shared_embedding_collection_name='teams', max_norm=1.0" in text
    assert "self.predictions = InputFeatures(COLUMNS)" in text
    inside = "columns = tf.feature_column.shared_embedding_columns([A, B], dimension=3)\n"
    text = migrate(model_fn(f"{inside}predictions = tf.feature_column.input_layer(features, columns)"))
    assert "self.columns = shared_embedding_columns([A, B], dimension=3)" in text


TWO_LAYERS = (
    "predictions = tf.feature_column.input_layer(features, COLUMNS[:1])\n"
    "predictions += tf.feature_column.input_layer(features, COLUMNS[1:])"
)
IN_A_LOOP = "predictions = tf.add_n([tf.feature_column.input_layer(features, [c]) for c in COLUMNS])"


IN_A_HELPER = """
def net_of(features, columns):
    return tf.layers.dense(tf.feature_column.input_layer(features, columns), 2)
"""
SPEC_OF_COLUMNS = "tf.feature_column.make_parse_example_spec(COLUMNS)"
OF_HELPER = "predictions = net_of(features, COLUMNS) + net_of(features, COLUMNS[:1])"


@pytest.mark.parametrize(("before", "body"), [("", TWO_LAYERS), ("", IN_A_LOOP), (IN_A_HELPER, OF_HELPER)])
def test_columns_that_share_a_table_of_several_layers(before: str, body: str) -> None:
    """TensorFlow 1 has one table in the graph."""
    text = migrate(model_fn(body, before=f"{TEAMS}\n{before}"))
    (model,) = [part for part in text.split("class ") if part.startswith("Model(")]
    assert "        share_tables(self)\n        self.loss_metric" in model and text.count("share_tables(") == 1


def test_columns_that_share_a_table_in_a_graph() -> None:
    outcomes = run(model_fn(TWO_LAYERS, before=TEAMS), "bridge")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert "COLUMNS = graph_shared_embedding_columns([A, B], 3, " in outcomes[PATH].after.decode()
    assert "with tf.Graph().as_default():" in outcomes[HELPERS].after.decode()


@pytest.mark.parametrize("head", ["import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\n"])
def test_the_spec_of_examples_is_of_the_same_version_as_the_columns(head: str) -> None:
    columns = f"{head}{TEAMS.replace('import tensorflow as tf', '')}"
    files = {
        "columns.py": columns,
        "program.py": model_fn(TWO_LAYERS, before=f"{head}from columns import COLUMNS\nSPEC = {SPEC_OF_COLUMNS}"),
    }
    outcomes = run(files, "bridge")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert "SPEC = graph_make_parse_example_spec(COLUMNS)" in outcomes["program.py"].after.decode()
    assert f"SPEC = {SPEC_OF_COLUMNS}" in migrate_all(files)["program.py"]


def test_the_spec_of_other_columns_stays() -> None:
    before = f"COLUMNS = [tf.feature_column.numeric_column('a')]\nSPEC = {SPEC_OF_COLUMNS}"
    outcomes = run(model_fn(TWO_LAYERS, before=before), "bridge")
    assert f"SPEC = {SPEC_OF_COLUMNS}" in outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("tf.feature_column.shared_embedding_columns([A], 3, ckpt_to_load_from='c', tensor_name_in_ckpt='t')", "ckpt_to_load"),
        ("(lambda make: make([A, B], 3))(tf.feature_column.shared_embedding_columns)", "is more than called"),
    ],
)  # fmt: skip
def test_shared_columns_that_layers_do_not_hold(columns: str, reason: str) -> None:
    body = "predictions = tf.feature_column.input_layer(features, COLUMNS)"
    assert reason in manual_reason(model_fn(body, before=f"COLUMNS = {columns}"))


def test_shared_embeddings_of_tensorflow_2_stay_in_a_graph() -> None:
    body = "teams = tf.feature_column.shared_embeddings([A, B], 3)\npredictions = tf.keras.layers.DenseFeatures(teams)(features)"
    source = model_fn(body)
    assert "tf.feature_column.shared_embeddings is not migrated yet" in manual_reason(source)
    outcomes = run(source.replace("tf.train", "tf.compat.v1.train"), "auto")
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert "teams = tf.feature_column.shared_embeddings([A, B], 3)" in outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('input_layer(features, params["c"], cols_to_vars=V)', "`cols_to_vars` of tf.feature_column.input_layer"),
        ('linear_model(features, params["c"], trainable=False)', "`trainable` of tf.feature_column.linear_model"),
        ("input_layer(features)", "without `feature_columns`"),
        ("input_layer(*features)", "hidden behind * or **"),
    ],
)
def test_refused(call: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"predictions = tf.feature_column.{call}"))


def test_collections_of_columns_of_sequences_are_refused() -> None:
    source = model_fn(SEQUENCES.format("features, params, ['mine']"))
    assert "`weight_collections` of tf.contrib.feature_column.sequence_input_layer" in manual_reason(source)
