"""SavedModels with the signatures that an Estimator gives them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple

import tensorflow as tf

from migrator.runtime.training.messages import log_info


class ClassificationOutput(NamedTuple):
    """Outputs of a signature for TensorFlow Serving's classify method: `scores` and `classes` (text), or one of them."""

    scores: Any = None
    classes: Any = None


class RegressionOutput(NamedTuple):
    """Output of a signature for TensorFlow Serving's regress method."""

    value: Any


def export_saved_model(
    model: tf.keras.Model,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes the newest checkpoint (or another one) as a SavedModel to a new folder, whose path it returns.

    `serving_input_receiver_fn` is called in a graph, so it may make placeholders. There is a signature for each entry of
    `model.serving_outputs(features)`, or one for the predictions. `assets_extra` are files to copy: {new name: path}.
    """
    received: list[Any] = []
    graph = tf.compat.v1.wrap_function(lambda: received.append(serving_input_receiver_fn()), [])
    receiver = received[0]
    fed = {"": receiver.receiver_tensors}
    fed.update({f"{name}:": tensors for name, tensors in (receiver.receiver_tensors_alternatives or {}).items()})
    signatures, methods = {}, {}
    for prefix, tensors in fed.items():
        tensors = tensors if isinstance(tensors, dict) else {"input": tensors}
        read = graph.prune(list(tensors.values()), receiver.model_features())
        specs = [tf.TensorSpec(tensor.shape, tensor.dtype, name) for name, tensor in tensors.items()]
        outputs = tf.function(lambda *values, read=read: signature_outputs(model, read(*values)))
        with tf.summary.record_if(False):  # a training may be under way
            found = outputs.get_concrete_function(*specs).structured_outputs  # creates the variables
        for key, output in found.items():
            named, name = specs, prefix + key
            if isinstance(output, (ClassificationOutput, RegressionOutput)):
                if len(specs) != 1 or specs[0].dtype != tf.string:
                    tf.get_logger().warning("No signature %s: it takes one input of serialized examples.", name)
                    continue
                named = [tf.TensorSpec(specs[0].shape, tf.string, "inputs")]
                methods[name] = "classify" if isinstance(output, ClassificationOutput) else "regress"
            function = tf.function(lambda *values, f=outputs, key=key: named_outputs(f(*values)[key]))
            signatures[name] = function.get_concrete_function(*named)
    if not (checkpoint_path or tf.train.latest_checkpoint(model.run_config.model_dir)):
        raise ValueError(f"Couldn't find trained model at {model.run_config.model_dir}.")
    model.run_state.checkpoints.restore(checkpoint_path)
    exported, resource = tf.Module(), tf.saved_model.experimental.TrackableResource
    views = map(tf.train.TrackableView, model._flatten_layers())  # of each: with Keras 3 models do not look into lists
    tables = {id(part): part for view in views for part in view.descendants() if isinstance(part, resource)}.values()
    variables = [v if isinstance(v, tf.Variable) else v.value for v in model.variables]  # those inside, with Keras 3
    exported.parts = [*variables, *tables]  # without the optimizer
    export_dir_base = os.fspath(export_dir_base)
    path = os.path.join(export_dir_base, str(int(time.time())))
    while tf.io.gfile.exists(path):
        time.sleep(1)  # each folder is called after the second in which it was made
        path = os.path.join(export_dir_base, str(int(time.time())))
    temporary = os.path.join(export_dir_base, "temp-" + os.path.basename(path))
    tf.saved_model.save(exported, temporary, signatures)
    if methods:
        updater = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(temporary)
        for name, method in methods.items():
            updater.replace_method_name(name, f"tensorflow/serving/{method}")
        updater.save()
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        tf.io.gfile.makedirs(os.path.dirname(target))
        tf.io.gfile.copy(source, target)
    tf.io.gfile.rename(temporary, path)
    log_info("SavedModel written to: %s", path)
    return path.encode()


def signature_outputs(model: tf.keras.Model, features: Any) -> dict[str, Any]:
    """Outputs by signature; a single one is served by default as well."""
    model.run_state.exporting = True
    try:
        if not hasattr(model, "serving_outputs"):
            return {"serving_default": model.predict_step(features)}
        outputs = dict(model.serving_outputs(features))
    finally:
        model.run_state.exporting = False
    if len(outputs) == 1:
        outputs.setdefault("serving_default", *outputs.values())
    if "serving_default" not in outputs:
        raise ValueError(f"Several export_outputs {list(outputs)}, but none of them is called serving_default.")
    return outputs


def named_outputs(output: Any) -> dict[str, Any]:
    """The outputs of one signature by name."""
    if isinstance(output, RegressionOutput):
        return {"outputs": output.value}
    if isinstance(output, ClassificationOutput):
        return {name: value for name, value in output._asdict().items() if value is not None}
    return output if isinstance(output, dict) else {"output": output}
