"""SavedModels whose graph is written as text."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from migrator.runtime.callbacks.exporters import LatestExporter
from migrator.runtime.exports.exporting import export_saved_model


def export_as_text(model: tf.keras.Model, export_dir_base: str, *args: Any, **others: Any) -> bytes:
    """`export_saved_model` with a file ``saved_model.pbtxt`` instead of ``saved_model.pb``."""
    return write_as_text(export_saved_model(model, export_dir_base, *args, **others))


def exported_as_text(exporter: LatestExporter) -> LatestExporter:
    """The exporter, which writes a file ``saved_model.pbtxt`` instead of ``saved_model.pb`` from now on."""
    export: Any = exporter.export

    def export_text(*args: Any) -> bytes | None:
        path = export(*args)
        return None if path is None else write_as_text(path)

    exporter.export = export_text  # type: ignore[assignment, method-assign]
    return exporter


def write_as_text(folder: bytes) -> bytes:
    """Puts the text of ``saved_model.pb`` in its place; returns `folder`."""
    path = os.path.join(folder.decode(), "saved_model.pb")
    with tf.io.gfile.GFile(path, "rb") as file:
        saved_model = SavedModel.FromString(file.read())
    with tf.io.gfile.GFile(path + "txt", "w") as file:
        file.write(str(saved_model))
    tf.io.gfile.remove(path)
    return folder
