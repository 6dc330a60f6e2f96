"""`tf.keras.estimator.model_to_estimator`: the model stays a Keras model, compiled as it was."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.calls import arguments, delete_arguments, name_argument
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

from ..canned.canned_optimizers import OptimizerArguments
from .estimator_values import Construction

MODEL_TO_ESTIMATOR = "tensorflow.keras.estimator.model_to_estimator"
_SIGNATURE = {
    "v1": "keras_model keras_model_path custom_objects model_dir config checkpoint_format metric_names_map",
    "v2": "keras_model keras_model_path custom_objects model_dir config checkpoint_format metric_names_map export_outputs",
}
_OPTIMIZERS = {
    name.lower(): name for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl")
}
# What the Keras of TensorFlow 1 called metrics that are given by these names.
_METRICS = {
    "accuracy": "acc",
    "crossentropy": "ce",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
}
_KEPT = ("keras_model", "model_dir", "config")
_REFUSED = ("keras_model_path", "metric_names_map", "export_outputs")


def rewrite(
    construction: Construction, need: Callable[[str, ast.AST], str], remark: Callable[[ast.AST, str], None]
) -> list[Edit]:
    """The edits of one call. Raises Unsupported."""
    module, call = construction.module, construction.call
    given = bind(call, _SIGNATURE[construction.dialect], "model_to_estimator")
    for name in _REFUSED:
        if not is_none(given.get(name)):
            raise Unsupported(f"`{name}` of model_to_estimator is not migrated yet", given[name])
    if "keras_model" not in given:
        raise Unsupported("model_to_estimator without `keras_model`", call)
    edits = [module.edit(call.func, need("configure_keras_model", call))]
    names = {id(value): name for name, value in given.items()}
    doomed: list[ast.expr | ast.keyword] = []
    for argument in arguments(call):
        name = names[id(argument.value if isinstance(argument, ast.keyword) else argument)]
        if name not in _KEPT:
            doomed.append(argument)
        elif isinstance(argument, ast.expr) and name != "keras_model":
            edits.append(name_argument(module, call, argument, name))
    remark(call, "model_to_estimator copied the Keras model; now the model itself is trained")
    return edits + delete_arguments(module, call, doomed)


def compile_edits(module: Module, dialect: str, optimizers: OptimizerArguments) -> list[Edit]:
    """Edits of the calls of `compile` in a file: optimizers and names of metrics as they were. Raises Unsupported."""
    edits: list[Edit] = []
    for call in module.nodes(ast.Call):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "compile":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        given.update(zip(("optimizer", "loss", "metrics"), call.args))
        if not {"optimizer", "loss"} & set(given):
            continue
        optimizer = given.get("optimizer")
        if isinstance(optimizer, ast.Constant) and str(optimizer.value).lower() in _OPTIMIZERS:
            # Estimators trained with the optimizers that Keras calls legacy now.
            legacy = f"{optimizers.tensorflow(module)}.keras.optimizers.legacy."
            edits.append(module.edit(optimizer, f"{legacy}{_OPTIMIZERS[str(optimizer.value).lower()]}()"))
        elif optimizer is not None:
            edits += optimizers.edits(module, optimizer, "`optimizer` of compile")
        metrics = given.get("metrics")
        for metric in metrics.elts if dialect == "v1" and isinstance(metrics, (ast.List, ast.Tuple)) else ():
            if isinstance(metric, ast.Constant) and metric.value in _METRICS:
                edits.append(module.edit(metric, repr(_METRICS[metric.value])))
    return edits
