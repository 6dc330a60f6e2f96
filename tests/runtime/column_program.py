"""Compares layers on columns, kept or on Keras preprocessing layers, with TensorFlow 1; also a program, for other versions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.columns import feature_columns
from migrator.runtime.columns import preprocessing_categories as categories
from migrator.runtime.columns import preprocessing_columns as columns
from migrator.runtime.columns import preprocessing_sequences as sequences
from migrator.runtime.columns.preprocessing_shared import shared_table_columns
from migrator.runtime.columns.shared_embeddings import shared_embedding_columns

fc, v1 = tf.feature_column, tf.compat.v1
SUMMED = ("buckets of two", "list with buckets", "list of several", "crossed, sparse", "weighted")
WORDS = [["a", "b"], ["c"], [], ["b", "b", "?"]]


class Old:
    """The functions of ``tf.feature_column`` by the names of their replacements."""

    NumericColumn = staticmethod(fc.numeric_column)
    BucketizedColumn = staticmethod(fc.bucketized_column)
    IdentityColumn = staticmethod(fc.categorical_column_with_identity)
    HashedColumn = staticmethod(fc.categorical_column_with_hash_bucket)
    VocabularyListColumn = staticmethod(fc.categorical_column_with_vocabulary_list)
    VocabularyFileColumn = staticmethod(v1.feature_column.categorical_column_with_vocabulary_file)
    WeightedColumn = staticmethod(fc.weighted_categorical_column)
    CrossedColumn = staticmethod(fc.crossed_column)
    IndicatorColumn = staticmethod(fc.indicator_column)
    EmbeddingColumn = staticmethod(fc.embedding_column)
    IdentitySequence = staticmethod(fc.sequence_categorical_column_with_identity)
    HashedSequence = staticmethod(fc.sequence_categorical_column_with_hash_bucket)
    VocabularyListSequence = staticmethod(fc.sequence_categorical_column_with_vocabulary_list)
    VocabularyFileSequence = staticmethod(fc.sequence_categorical_column_with_vocabulary_file)
    NumericSequence = staticmethod(fc.sequence_numeric_column)
    shared_table_columns = staticmethod(v1.feature_column.shared_embedding_columns)


class New:
    """The replacements."""

    NumericColumn = columns.NumericColumn
    BucketizedColumn = columns.BucketizedColumn
    IdentityColumn = categories.IdentityColumn
    HashedColumn = categories.HashedColumn
    VocabularyListColumn = categories.VocabularyListColumn
    VocabularyFileColumn = categories.VocabularyFileColumn
    WeightedColumn = categories.WeightedColumn
    CrossedColumn = categories.CrossedColumn
    IndicatorColumn = columns.IndicatorColumn
    EmbeddingColumn = columns.EmbeddingColumn
    IdentitySequence = sequences.IdentitySequence
    HashedSequence = sequences.HashedSequence
    VocabularyListSequence = sequences.VocabularyListSequence
    VocabularyFileSequence = sequences.VocabularyFileSequence
    NumericSequence = sequences.NumericSequence
    shared_table_columns = staticmethod(shared_table_columns)

    layers = (columns.DenseFeatures, columns.LinearColumns, sequences.SequenceFeatures)
    make_parse_example_spec = staticmethod(columns.make_parse_example_spec)


class Kept(Old):
    """Columns of TensorFlow, read by layers of either Keras."""

    shared_table_columns = staticmethod(shared_embedding_columns)
    layers = (
        feature_columns.InputFeatures,
        feature_columns.LinearFeatures,
        feature_columns.SequenceInputFeatures,
    )
    make_parse_example_spec = staticmethod(fc.make_parse_example_spec)


def features() -> dict[str, Any]:
    words = tf.ragged.constant(WORDS, dtype=tf.string)
    return {
        "words": words.to_sparse(),
        "weights": tf.ragged.constant([[0.5, 2.0], [1.0], [], [1.0, -1.0, 3.0]]).to_sparse(),
        "counts": tf.ragged.constant([[5, 2], [1], [], [1, 3, 3]], dtype=tf.int64).to_sparse(),
        "point": tf.constant([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5], [3.0, 3.0]]),
        "age": tf.constant([0.1, 0.7, 0.5, 0.2], tf.float64),
        "hours": tf.constant([40, 0, 10, -3]),
        "city": tf.constant(["oslo", "", "rome", "x" * 40]),
        "cities": tf.constant([["oslo", "rome"], ["", "rome"], ["", ""], ["?", "oslo"]]),
        "room": tf.constant([3, -1, 0, 9], tf.int64),
        "floors": tf.constant([[3, 7], [-1, 2], [0, 0], [2, 9]]),
        "prices": tf.ragged.constant([[0.5, 2.0, 1.0, 4.0], [3.0], [], [1.0, -1.0]]).to_sparse(),
        "bids": tf.SparseTensor([[0, 0, 0], [0, 1, 1], [3, 0, 1]], tf.constant([5, 6, 7], tf.int64), [4, 2, 2]),
        "tags": tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 1]], ["a", "b", "?", "c"], [4, 3, 2]),
    }


def categorical(make: Any, folder: Path) -> dict[str, Any]:
    """Categorical columns of every kind."""
    (folder / "words.txt").write_bytes(b"b\r\na\n[UNK]\nc\nz\n")
    (folder / "numbers.txt").write_bytes(b"7\n3\n0")
    age = make.NumericColumn("age", dtype=tf.float64)
    point = make.NumericColumn("point", (2,))
    buckets = make.BucketizedColumn(age, [0.1, 0.5])
    identity = make.IdentityColumn("room", 5, default_value=2)
    cities = ["oslo", "rome", "[UNK]"]
    listed = make.VocabularyListColumn("city", cities)
    words = make.VocabularyListColumn("words", ["a", "b", "c"])
    return {
        "buckets": buckets,
        "buckets of two": make.BucketizedColumn(point, (0.0, 1.0)),
        "identity": identity,
        "identity of several": make.IdentityColumn("floors", 12),
        "hash": make.HashedColumn("city", 7),
        "hash of several": make.HashedColumn("cities", 100),
        "hash of sparse": make.HashedColumn("words", hash_bucket_size=10),
        "hash of integers": make.HashedColumn("floors", 10, tf.int32),
        "hash of long integers": make.HashedColumn("room", 10, dtype=tf.int64),
        "list": listed,
        "list with default": make.VocabularyListColumn("city", cities, default_value=1),
        "list with buckets": make.VocabularyListColumn("city", cities, num_oov_buckets=4),
        "list of several": make.VocabularyListColumn("cities", ["[UNK]", "rome", b"oslo"]),
        "list of sparse": words,
        "integers": make.VocabularyListColumn("floors", [3, -5, 0, 2]),
        "integers with buckets": make.VocabularyListColumn("room", (3, 0), tf.int64, num_oov_buckets=3),
        "integers of sparse": make.VocabularyListColumn("counts", [1, 5], default_value=0),
        "file": make.VocabularyFileColumn("words", str(folder / "words.txt")),
        "file, shortened": make.VocabularyFileColumn("words", str(folder / "words.txt"), 2, 3),
        "file, default": make.VocabularyFileColumn("cities", str(folder / "words.txt"), default_value=0),
        "file of integers": make.VocabularyFileColumn("room", str(folder / "numbers.txt"), dtype=tf.int64),
        "weighted": make.WeightedColumn(words, "weights"),
        "weighted by integers": make.WeightedColumn(make.HashedColumn("words", 3), "counts", tf.int64),
        "crossed words": make.CrossedColumn(["city", "cities"], 20),
        "crossed, sparse": make.CrossedColumn(["words", "cities"], 1000, hash_key=17),
        "crossed buckets": make.CrossedColumn([buckets, "city"], 100),
        "crossed three": make.CrossedColumn([buckets, identity, listed], 100),
        "crossed twice": make.CrossedColumn([make.CrossedColumn(["city", buckets], 5), "words", "room"], 1000),
    }


def dense(make: Any, folder: Path) -> dict[str, Any]:
    """Columns of numbers of every kind; those of categories with one table each."""
    age = make.NumericColumn("age", dtype=tf.float64)
    found = {
        "number": make.NumericColumn("hours"),
        "numbers": make.NumericColumn("point", shape=2),
        "normalized": make.NumericColumn("point", shape=[2], normalizer_fn=lambda x: (x - 3.0) / 4.2),
        "normalized as float64": make.NumericColumn("age", dtype=tf.float64, normalizer_fn=lambda x: x / 3),
        "buckets": make.BucketizedColumn(age, [0.1, 0.2, 0.5]),
    }
    for name, column in categorical(make, folder).items():
        if name in SUMMED:
            found[f"indicator of {name}"] = make.IndicatorColumn(column)
        found[f"embedding of {name}"] = make.EmbeddingColumn(column, 3)
        if name in SUMMED[-2:]:
            found[f"sums of {name}"] = make.EmbeddingColumn(column, dimension=2, combiner="sum", max_norm=1.0)
    return found


def shared(make: Any, folder: Path, name: str) -> dict[str, list[Any]]:
    """Lists of columns, each with one table, whose names start with `name`."""
    cities = ["oslo", "rome", "[UNK]"]
    listed = [make.VocabularyListColumn(key, cities) for key in ("city", "cities")]
    identities = [make.IdentityColumn("room", 12), make.WeightedColumn(make.IdentityColumn("floors", 12), "point")]
    return {
        "shared": make.shared_table_columns(listed, 3, shared_embedding_collection_name=f"{name}1"),
        "shared, sums": [
            *make.shared_table_columns(identities, 2, "sum", None, f"{name}2", max_norm=0.7),
            make.NumericColumn("age", dtype=tf.float64),
        ],
    }


def sequence(make: Any, folder: Path) -> dict[str, list[Any]]:
    """Columns of sequences of every kind."""
    listed = make.VocabularyListSequence("words", ["a", "b", "c"])
    return {
        "numbers": [make.NumericSequence("prices")],
        "pairs": [make.NumericSequence("prices", (2,), default_value=-1.0)],
        "of integers": [make.NumericSequence("bids", 2, 0, tf.int64)],
        "normalized": [make.NumericSequence("prices", normalizer_fn=lambda x: x.with_values(x.values * 2.0))],
        "two": [make.EmbeddingColumn(listed, 2), make.IndicatorColumn(listed)],
        "identity": [make.EmbeddingColumn(make.IdentitySequence("counts", 4, default_value=0), 3)],
        "hash": [make.IndicatorColumn(make.HashedSequence("words", 5))],
        "several to a step": [make.EmbeddingColumn(make.VocabularyListSequence("tags", ["a", "b"], None, 1), 2, "sum")],
        "file": [make.EmbeddingColumn(make.VocabularyFileSequence("words", str(folder / "words.txt"), 3, 2), 2)],
    }


class Tables:
    """Makes the tables of columns, as a layer of Keras does."""

    def __init__(self) -> None:
        self.tables: dict[Any, Any] = {}

    def create_variable(self, column: Any, name: str, shape: Any, dtype: Any, *_: Any, **named: Any) -> None:
        self.tables[column] = v1.get_variable(f"{column.name}/{name}", shape, dtype)

    def has_resource(self, column: Any, name: str) -> bool:
        return name in self.tables

    def add_resource(self, column: Any, name: str, resource: Any) -> None:
        self.tables[name] = resource

    def get_resource(self, column: Any, name: str) -> Any:
        return self.tables[name]

    def get_variable(self, column: Any, name: str) -> Any:
        return self.tables[column]


def old_sequences(features: dict[str, Any], columns: list[Any]) -> tuple[Any, Any]:
    """What `sequence_input_layer` computed."""
    tables, cache = Tables(), tf.__internal__.feature_column.FeatureTransformationCache(features)
    parts = []
    for column in sorted(columns, key=lambda column: column.name):
        column.create_state(tables)
        numbers, lengths = column.get_sequence_dense_tensor(cache, tables)
        shape = tf.shape(numbers)
        parts.append(
            tf.cast(tf.reshape(numbers, [shape[0], shape[1], column.variable_shape.num_elements()]), tf.float32)
        )
    return tf.concat(parts, -1), lengths


Results = dict[str, tuple[np.ndarray, list[np.ndarray]]]


def _rows(gradient: Any, shape: Any) -> np.ndarray:
    """A gradient as a dense array."""
    if not hasattr(gradient, "indices"):
        return np.asarray(gradient)
    summed = np.zeros(shape, "float32")
    np.add.at(summed, np.asarray(gradient.indices), np.asarray(gradient.values))
    return summed


def by_shape(variables: Any) -> list[Any]:
    """In an order that does not depend on when tables are made."""
    return sorted(variables, key=lambda variable: str(tuple(variable.shape)))


def _weights(index: int, shape: Any) -> np.ndarray:
    return np.random.RandomState(index).randn(*shape).astype("float32")


def old_results(folder: Path) -> tuple[Results, dict[str, Any]]:
    """Outputs and gradients of `input_layer` and `linear_model` on each column, and the parsing specs."""
    outputs, variables, specs = {}, {}, {}
    with tf.Graph().as_default(), v1.Session() as session:
        for kind, apply in (
            ("dense", v1.feature_column.input_layer),
            ("linear", v1.feature_column.linear_model),
            ("sequence", old_sequences),
        ):
            for name, column in of_kind(kind, Old, folder).items():
                made = column if isinstance(column, list) else [column]
                with v1.variable_scope(None, "column"):
                    before = len(v1.trainable_variables())
                    outputs[f"{kind} {name}"] = apply(features(), made)
                    variables[f"{kind} {name}"] = by_shape(v1.trainable_variables()[before:])
                specs_of = (fc if kind == "sequence" else v1.feature_column).make_parse_example_spec
                specs[f"{kind} {name}"] = specs_of(made)
        lengths = {name: output[1] for name, output in outputs.items() if name.startswith("sequence")}
        outputs = {name: output[0] if name in lengths else output for name, output in outputs.items()}
        every = [variable for made in variables.values() for variable in made]
        total = tf.add_n([tf.reduce_sum(tf.cast(output, tf.float32) ** 2) for output in outputs.values()])
        gradients = dict(zip([id(variable) for variable in every], v1.gradients(total, every)))
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        for made in variables.values():
            for index, variable in enumerate(made):
                variable.load(_weights(index, variable.shape), session)
        given = {name: [gradients[id(variable)] for variable in made] for name, made in variables.items()}
        numbers, rows, ends = session.run((outputs, given, lengths))
        shapes = {name: [variable.shape for variable in made] for name, made in variables.items()}
    found = {name: (numbers[name], list(map(_rows, rows[name], shapes[name]))) for name in outputs}
    return {**found, **{f"lengths, {name}": (length, []) for name, length in ends.items()}}, specs


def new_results(folder: Path, make: Any) -> tuple[Results, dict[str, Any]]:
    """The same of layers, in a graph function."""
    layers, specs = {}, {}
    for kind, layer_class in zip(("dense", "linear", "sequence"), make.layers):
        for name, column in of_kind(kind, make, folder).items():
            made = column if isinstance(column, list) else [column]
            layers[f"{kind} {name}"] = layer = layer_class(made)
            layer.build(None)
            for index, variable in enumerate(by_shape(layer.trainable_variables)):
                variable.assign(_weights(index, variable.shape))
            specs[f"{kind} {name}"] = make.make_parse_example_spec(made)

    @tf.function
    def results(features: dict[str, Any]) -> Any:
        with tf.GradientTape() as tape:
            outputs = {name: layer(features) for name, layer in layers.items()}
            lengths = {name: output[1] for name, output in outputs.items() if name.startswith("sequence")}
            outputs = {name: output[0] if name in lengths else output for name, output in outputs.items()}
            total = tf.add_n([tf.reduce_sum(tf.cast(output, tf.float32) ** 2) for output in outputs.values()])
        every = [by_shape(layer.trainable_variables) for layer in layers.values()]
        return outputs, dict(zip(layers, tape.gradient(total, every))), lengths

    outputs, gradients, ends = results(features())
    shapes = {name: [v.shape for v in by_shape(layer.trainable_variables)] for name, layer in layers.items()}
    found = {name: (outputs[name].numpy(), list(map(_rows, gradients[name], shapes[name]))) for name in layers}
    return {**found, **{f"lengths, {name}": (length.numpy(), []) for name, length in ends.items()}}, specs


def of_kind(kind: str, make: Any, folder: Path) -> dict[str, Any]:
    """Columns, or lists of columns, for `input_layer`, `linear_model` or `sequence_input_layer`."""
    if kind == "sequence":
        return sequence(make, folder)
    return {**(dense if kind == "dense" else both)(make, folder), **shared(make, folder, kind)}


def both(make: Any, folder: Path) -> dict[str, Any]:
    """Columns for `linear_model`."""
    summed = {name: column for name, column in categorical(make, folder).items() if name in SUMMED}
    return {**summed, **{f"numbers: {k}": v for k, v in list(dense(make, folder).items())[:5]}}


def problems(folder: Path) -> list[str]:
    """What differs between the columns of TensorFlow 1 and each kind of the new ones, and what these do not save.

    Graphs run as they were made: to rewrite them takes a third of the time.
    """
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        old = old_results(folder)
        return [
            f"{make.__name__}: {text}"
            for make in (New, Kept)
            for text in (*differences(folder, make, *old), *unsaved(folder, make))
        ]
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def differences(folder: Path, make: Any, old: Results, old_specs: dict[str, Any]) -> list[str]:
    """What differs between the old and the new columns."""
    new, new_specs = new_results(folder, make)
    found = [] if list(old) == list(new) else ["other columns"]
    for name, (output, gradients) in old.items():
        if not np.allclose(new[name][0], output, rtol=1e-6, atol=1e-6) or new[name][0].shape != output.shape:
            found.append(f"{name}: {new[name][0].tolist()}, not {output.tolist()}")
        for one, other in zip(new[name][1], gradients):
            if not np.allclose(one, other, rtol=1e-5, atol=1e-5):
                found.append(f"{name}: gradient {one.tolist()}, not {other.tolist()}")
        if len(gradients) != len(new[name][1]):
            found.append(f"{name}: {len(new[name][1])} weights, not {len(gradients)}")
        if old_specs.get(name) != new_specs.get(name):
            found.append(f"{name}: spec {new_specs[name]}, not {old_specs[name]}")
    return found


def unsaved(folder: Path, make: Any) -> list[str]:
    """Weights of layers that a checkpoint does not hold."""
    words = make.HashedColumn("city", 7)
    layers = [make.layers[0]([make.EmbeddingColumn(words, 2)]), make.layers[1]([words])]
    for layer in layers:
        layer(features())
    saved = [
        shape for _, shape in tf.train.list_variables(tf.train.Checkpoint(layers=layers).save(str(folder / "saved")))
    ]
    return [f"a weight of shape {shape} is not saved" for shape in ([7, 2], [7, 1]) if shape not in saved]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        found = problems(Path(temporary))
    keras = getattr(tf.keras, "__version__", "2")
    print("\n".join([*found, f"{len(found)} differences with Keras {keras}"]))
