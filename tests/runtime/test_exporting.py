"""SavedModels against those that the same Estimator writes: signature names, inputs, outputs, dtypes and values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf
from line_program import LineModel, X, create_model, input_fn

from migrator.runtime.callbacks.exporters import FinalExporter
from migrator.runtime.exports.exporting import ClassificationOutput, RegressionOutput, export_saved_model
from migrator.runtime.exports.serving import (
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)
from migrator.runtime.exports.text_exports import export_as_text, exported_as_text
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.training import train

v1 = tf.compat.v1
KERNEL, BIAS = np.float32([[1.0], [-2.0], [3.0]]), np.float32([0.25])
SPEC = {"x": tf.io.FixedLenFeature([3], tf.float32)}
EXAMPLES = [
    tf.train.Example(
        features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=row))})
    ).SerializeToString()
    for row in X[:2]
]


def estimator_export(folder: Path, receiver_fn: Callable[[], Any], outputs: Callable[[Any, Any], Any] | None) -> str:
    """What the TF1 Estimator writes for a model whose weights are KERNEL and BIAS."""
    model_fn = model_fn_of(tf.estimator.EstimatorSpec, tf.estimator.export, outputs)
    estimator = tf.estimator.Estimator(model_fn, str(folder / "old"))
    estimator.train(lambda: tf.data.Dataset.from_tensors({"x": X[:2]}), steps=1)
    return str(estimator.export_saved_model(str(folder / "old_export"), receiver_fn).decode())


def graph_export(folder: Path, receiver_fn: Callable[[], Any], outputs: Callable[[Any, Any], Any] | None) -> str:
    """The same of a model around the model_fn."""
    model = graph_model(model_fn_of(EstimatorSpec, Exports, outputs), str(folder / "graph"))
    train(model, lambda: tf.data.Dataset.from_tensors({"x": X[:2]}), steps=1)
    return export_saved_model(model, str(folder / "graph_export"), receiver_fn).decode()


def model_fn_of(spec: Any, export: Any, outputs: Callable[[Any, Any], Any] | None) -> Any:
    """A model_fn with the classes of one side."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        kernel = v1.get_variable("kernel", initializer=KERNEL)
        bias = v1.get_variable("bias", initializer=BIAS)
        x = features["feature"] if "feature" in features else features["x"]
        result = x @ kernel + bias
        predictions = {"output": result, "twice": 2 * result}
        exports = None if outputs is None else outputs(export, predictions)
        loss = tf.reduce_sum(result)
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.0).minimize(loss, global_step=step)
        return spec(mode, predictions, loss, train_op, export_outputs=exports)

    return model_fn


class Exports:
    """Stands for `tf.estimator.export` on the new side."""

    ClassificationOutput = ClassificationOutput
    RegressionOutput = RegressionOutput

    @staticmethod
    def PredictOutput(outputs: Any) -> Any:
        return outputs


def keras_export(folder: Path, receiver_fn: Callable[[], Any], outputs: Callable[[Any, Any], Any] | None) -> str:
    """The same of the Keras model."""

    class Model(LineModel):
        def call(self, features: Any, training: bool = False) -> Any:
            return super().call({"x": features["feature"] if "feature" in features else features["x"]})

    if outputs is not None:
        Model.serving_outputs = lambda self, features: outputs(Exports, self(features))  # type: ignore[attr-defined]
    model = create_model(folder / "new", model=Model())
    train(model, lambda: input_fn("train"), steps=1)
    model.dense.kernel.assign(KERNEL)
    model.dense.bias.assign(BIAS)
    model.run_state.checkpoints.save()
    return export_saved_model(model, str(folder / "new_export"), receiver_fn).decode()


def read(folder: str, feed: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Signatures without the names of tensors, and the values that each gives, as a TF1 program loads them."""
    shape, values = {}, {}
    with v1.Session(graph=tf.Graph()) as session:
        loaded = v1.saved_model.load(session, ["serve"], folder)
        for key, signature in loaded.signature_def.items():
            if key.startswith("__"):
                continue
            sides = signature.inputs, signature.outputs
            shape[key] = [{n: i.dtype for n, i in side.items()} for side in sides], signature.method_name
            given = {i.name: feed[n] for n, i in signature.inputs.items()}
            values[key] = session.run({n: i.name for n, i in signature.outputs.items()}, given)
    return shape, values


def same(folder: Path, old_fn: Any, new_fn: Any, feed: dict[str, Any], outputs: Any = None) -> dict[str, Any]:
    """Exports all three, compares, and gives the signatures."""
    old_shape, old_values = read(estimator_export(folder, old_fn, outputs), feed)
    for export in (keras_export, graph_export):
        new_shape, new_values = read(export(folder, new_fn, outputs), feed)
        assert new_shape == old_shape
        for key, found in old_values.items():
            for name, value in found.items():
                if value.dtype.kind == "f":
                    np.testing.assert_allclose(new_values[key][name], value, rtol=1e-6)
                else:
                    assert new_values[key][name].tolist() == value.tolist()
    return old_shape


def test_parsing_receiver(tmp_path: Path) -> None:
    shape = same(
        tmp_path,
        tf.estimator.export.build_parsing_serving_input_receiver_fn(SPEC),
        build_parsing_serving_input_receiver_fn(SPEC),
        {"examples": EXAMPLES},
    )
    assert list(shape) == ["serving_default"]


def test_as_text(tmp_path: Path) -> None:
    model, fn = create_model(tmp_path / "model"), build_parsing_serving_input_receiver_fn(SPEC)
    train(model, lambda: input_fn("train"), steps=1)
    binary = os.fsdecode(export_saved_model(model, str(tmp_path / "binary"), fn))
    texts = [os.fsdecode(export_as_text(model, str(tmp_path / "text"), fn))]
    exporter = exported_as_text(FinalExporter("text", fn))
    assert exporter.export(model, str(tmp_path / "exporter"), None, {}, False) is None
    path = exporter.export(model, str(tmp_path / "exporter"), None, {}, True)
    assert path is not None
    texts.append(os.fsdecode(path))
    for text in texts:
        assert {"saved_model.pb", "saved_model.pbtxt"} & set(os.listdir(text)) == {"saved_model.pbtxt"}
        (shape, values), (expected_shape, expected) = (read(path, {"examples": EXAMPLES}) for path in (text, binary))
        assert shape == expected_shape
        assert {k: {n: v.tolist() for n, v in d.items()} for k, d in values.items()} == {
            k: {n: v.tolist() for n, v in d.items()} for k, d in expected.items()
        }


def test_raw_receiver(tmp_path: Path) -> None:
    def old() -> Any:
        x = v1.placeholder(tf.float32, [None, 3])
        return tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})()

    new = build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 3])})
    same(tmp_path, old, new, {"x": X[:2]})


def test_custom_receiver_with_parsing_and_several_outputs(tmp_path: Path) -> None:
    def receiver_fn(receiver_class: Any) -> Any:
        def receiver() -> Any:
            text = v1.placeholder(tf.string, [None], name="lines")
            scale = v1.placeholder_with_default(1.0, [], name="scale")
            rows = tf.io.decode_csv(text, [[0.0]] * 3)
            return receiver_class({"x": scale * tf.stack(rows, axis=1)}, {"csv/row": text, "scale": scale})

        return receiver

    def outputs(export: Any, predictions: Any) -> Any:
        return {
            "serving_default": export.PredictOutput(predictions),
            "tensor": export.PredictOutput(predictions["twice"]),
            "both": export.PredictOutput({"a b": predictions["output"], "c": tf.as_string(predictions["twice"])}),
        }

    shape = same(
        tmp_path,
        receiver_fn(tf.estimator.export.ServingInputReceiver),
        receiver_fn(ServingInputReceiver),
        {"csv/row": ["1,2,3", "4,5,6"], "scale": 2.0},
        outputs,
    )
    assert set(shape) == {"serving_default", "tensor", "both"}


def test_classification_and_regression(tmp_path: Path) -> None:
    def outputs(export: Any, predictions: Any) -> Any:
        return {
            "serving_default": export.ClassificationOutput(
                scores=predictions["output"], classes=tf.as_string(predictions["twice"])
            ),
            "scores": export.ClassificationOutput(scores=predictions["output"]),
            "regression": export.RegressionOutput(value=predictions["output"]),
        }

    shape = same(
        tmp_path,
        tf.estimator.export.build_parsing_serving_input_receiver_fn(SPEC, 2),
        build_parsing_serving_input_receiver_fn(SPEC, 2),
        {"examples": EXAMPLES, "inputs": EXAMPLES},
        outputs,
    )
    assert {key: method for key, (_, method) in shape.items()} == {
        "serving_default": "tensorflow/serving/classify",
        "scores": "tensorflow/serving/classify",
        "regression": "tensorflow/serving/regress",
    }


def test_a_single_output_of_a_single_tensor_is_served_by_default(tmp_path: Path) -> None:
    shape = same(
        tmp_path,
        lambda: tf.estimator.export.ServingInputReceiver(*_single()),
        lambda: ServingInputReceiver(*_single()),
        {"input": X[:2]},
        lambda export, predictions: {"score": export.PredictOutput(predictions)},
    )
    assert set(shape) == {"score", "serving_default"}


def _single() -> tuple[Any, Any]:
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    return x, x


def test_tensor_receiver(tmp_path: Path) -> None:
    x = tf.constant(X[:2])
    assert TensorServingInputReceiver(x, {"x": x}).model_features() is x
    assert list(ServingInputReceiver(x, {"x": x}).model_features()) == ["feature"]


def test_folder_assets_and_errors(tmp_path: Path) -> None:
    model = create_model(tmp_path / "model")
    receiver = build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 3])})
    with pytest.raises(ValueError, match="Couldn't find trained model"):
        export_saved_model(model, str(tmp_path / "export"), receiver)
    train(model, lambda: input_fn("train"), steps=2)
    (tmp_path / "vocabulary.txt").write_text("a\n")
    folder = export_saved_model(
        model, str(tmp_path / "export"), receiver, {"data/words.txt": str(tmp_path / "vocabulary.txt")}
    ).decode()
    assert os.listdir(tmp_path / "export") == [os.path.basename(folder)]
    assert os.path.basename(folder).isdigit()
    assert Path(folder, "assets.extra", "data", "words.txt").read_text() == "a\n"
    first = tf.saved_model.load(folder).signatures["serving_default"](x=X)["output"]
    np.testing.assert_allclose(first, model.predict({"x": X}, verbose=0)["output"], rtol=1e-6)
    train(model, lambda: input_fn("train"), steps=2)
    older = export_saved_model(
        model, str(tmp_path / "export"), receiver, checkpoint_path=str(tmp_path / "model" / "model.ckpt-2")
    ).decode()
    np.testing.assert_allclose(tf.saved_model.load(older).signatures["serving_default"](x=X)["output"], first)
