"""Tables of a bridged model_fn: looked up while it trains, and in the SavedModel, as under the Estimator."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from test_exporting import read

from migrator.runtime.exports.exporting import ClassificationOutput, export_saved_model
from migrator.runtime.exports.serving import build_parsing_serving_input_receiver_fn
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.layers.vocabulary_tables import index_table_from_tensor, index_to_string_table_from_file
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import train

v1 = tf.compat.v1
WORDS = np.array([["cat", "dog"], ["emu", "fox"], ["dog", "dog"], ["gnu", "cat"]])
SPEC = {"words": tf.io.FixedLenFeature([2], tf.string)}
EXAMPLES = [
    tf.train.Example(
        features=tf.train.Features(
            feature={"words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[w.encode() for w in row]))}
        )
    ).SerializeToString()
    for row in WORDS
]


def input_fn(mode: str = "train") -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"words": WORDS}, np.float32([[0.0], [1.0], [2.0], [3.0]]))).repeat(5)


def model_fn_of(spec: Any, output: Any, folder: Path) -> Any:
    """Columns with vocabularies, tables of lists, tensors and files, one of them within a condition."""
    kinds, classes = str(folder / "kinds.txt"), str(folder / "classes.txt")

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        column = tf.feature_column
        listed = column.categorical_column_with_vocabulary_list("words", ["cat", "dog"], num_oov_buckets=2)
        from_file = column.categorical_column_with_vocabulary_file("kinds", kinds, num_oov_buckets=1)
        columns = [column.indicator_column(listed), column.indicator_column(from_file)]
        inputs = v1.feature_column.input_layer({**features, "kinds": features["words"]}, columns)
        words = tf.convert_to_tensor(["cat", "emu"]), tf.constant([2.0, 3.0])
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*words), 1.0)
        numbers = index_table_from_tensor(tf.strings.join([["c", "d"], ["at", "og"]]), num_oov_buckets=1)
        few = v1.cond(
            tf.size(inputs) < 1, lambda: -table.lookup(features["words"]), lambda: table.lookup(features["words"])
        )
        inputs = tf.concat([inputs, few, tf.cast(numbers.lookup(features["words"]), tf.float32)], 1)
        kernel = v1.get_variable("kernel", [inputs.shape[1], 1], initializer=v1.constant_initializer(0.1))
        outputs = inputs @ kernel
        names = index_to_string_table_from_file(classes, default_value="none").lookup(tf.cast(outputs, tf.int64))
        if mode == "infer":
            exports = {"classes": output(classes=names), "predict": {"output": outputs}}
            if output is not ClassificationOutput:
                exports["predict"] = tf.estimator.export.PredictOutput(exports["predict"])
            exports["serving_default"] = exports["predict"]
            return spec(mode, {"output": outputs, "name": names}, export_outputs=exports)
        loss = v1.losses.mean_squared_error(labels, outputs)
        step = v1.train.get_global_step()
        return spec(mode, loss=loss, train_op=v1.train.AdagradOptimizer(0.05).minimize(loss, step))

    return model_fn


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_tables_are_exported_with_their_files(tmp_path: Path) -> None:
    files = {"kinds.txt": "emu\nfox\ndog\n", "classes.txt": "small\nbig\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    export = tf.estimator.export
    old = tf.estimator.Estimator(
        model_fn_of(tf.estimator.EstimatorSpec, export.ClassificationOutput, tmp_path), str(tmp_path / "old")
    )
    old.train(input_fn, steps=5)
    old_path = old.export_saved_model(
        str(tmp_path / "old_export"), export.build_parsing_serving_input_receiver_fn(SPEC)
    ).decode()
    new = graph_model(model_fn_of(EstimatorSpec, ClassificationOutput, tmp_path), str(tmp_path / "new"))
    train(new, input_fn, steps=5)
    gc.collect()
    rows = list(zip(predict(new, input_fn), list(old.predict(input_fn))))
    for row, expected in rows:
        np.testing.assert_allclose(row["output"], expected["output"], rtol=1e-5)
        assert row["name"] == expected["name"]
    assert len(rows) == 20
    new_path = export_saved_model(
        new, str(tmp_path / "new_export"), build_parsing_serving_input_receiver_fn(SPEC)
    ).decode()
    assert sorted(p.name for p in (Path(new_path) / "assets").iterdir()) == sorted(files)
    moved = Path(new_path).rename(tmp_path / "moved")
    for name in files:  # the model stands by itself
        (tmp_path / name).unlink()
    feed = {"inputs": EXAMPLES, "examples": EXAMPLES}
    (old_shape, old_values), (new_shape, new_values) = read(old_path, feed), read(str(moved), feed)
    assert new_shape == old_shape
    assert set(old_shape) == {"classes", "predict", "serving_default"}
    assert new_values["classes"]["classes"].tolist() == old_values["classes"]["classes"].tolist()
    for key in ("predict", "serving_default"):
        np.testing.assert_allclose(new_values[key]["output"], old_values[key]["output"], rtol=1e-5)
    served = tf.saved_model.load(str(moved)).signatures["predict"](examples=tf.constant(EXAMPLES))
    np.testing.assert_allclose(served["output"], old_values["predict"]["output"], rtol=1e-5)
