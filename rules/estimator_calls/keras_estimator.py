"""`tf.keras.estimator.model_to_estimator`: the model stays a Keras model, compiled as it was."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, expr, with_arguments
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
COPIED = "model_to_estimator copied the Keras model; now the model itself is trained"
_MODELS = frozenset({"tensorflow.keras.Model", "tensorflow.keras.models.Model"})
_LOADED = ("load_model", "model_from_json", "model_from_yaml", "model_from_config", "clone_model")
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_KEPT = ("keras_model", "model_dir", "config")
_REFUSED = ("keras_model_path", "metric_names_map", "export_outputs")


def rewrite(
    construction: Construction, need: Callable[[str, ast.AST], str], remark: Callable[[ast.AST, str], None]
) -> list[Edit]:
    """The edits of one call. Raises Unsupported."""
    module, call = construction.module, construction.call
    given = given_to(construction)
    named: dict[int, str] = {}
    names = {id(value): name for name, value in given.items()}
    doomed: list[int] = []
    for place, argument in enumerate(arguments(call)):
        name = names[id(argument.value if isinstance(argument, ast.keyword) else argument)]
        if name not in _KEPT:
            doomed.append(place)
        elif isinstance(argument, ast.expr) and name != "keras_model":
            named[place] = name
    remark(call, COPIED)
    new = with_arguments(module.cst.call(call), named=named, drop=doomed)
    return module.cst.apply([Replace(call.func, need("configure_keras_model", call)), Replace(call, new)])


def given_to(construction: Construction) -> dict[str, ast.expr]:
    """The arguments of one call, by parameter. Raises Unsupported."""
    call = construction.call
    given = bind(call, _SIGNATURE[construction.dialect], "model_to_estimator")
    for name in _REFUSED:
        if not is_none(given.get(name)):
            raise Unsupported(f"`{name}` of model_to_estimator is not migrated yet", given[name])
    if "keras_model" not in given:
        raise Unsupported("model_to_estimator without `keras_model`", call)
    if _is_copied_again(construction.module, call, given["keras_model"]):
        raise Unsupported("several Estimators of one Keras model, each of which trains a copy of its own", call)
    return given


def _is_copied_again(module: Module, call: ast.Call, model: ast.expr) -> bool:
    """Whether a Keras model, made once, may be copied several times."""
    root = model
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    made = [binding.node for binding in module.bindings(root)]
    for node, name in module.references():
        other = module.parent(node)
        if name == MODEL_TO_ESTIMATOR and isinstance(other, ast.Call) and other is not call and other.func is node:
            given = [*other.args[:1], *(k.value for k in other.keywords if k.arg == "keras_model")]
            reads = [n for value in given for n in ast.walk(value) if isinstance(n, ast.Name) and n.id == root.id]
            if any(module.scope(n).lookup(n.id) is module.scope(root).lookup(n.id) for n in reads):
                return True
    for outer in module.ancestors(call):
        within = any(module.is_inside(node, outer) and not isinstance(node, ast.arg) for node in made)
        if within:
            return False  # where it is copied again, it is made again
        if isinstance(outer, _LOOPS):
            return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            loads = module.loads(outer.name)
            if len(loads) > 1 or any(module.nearest(load, _LOOPS) is not None for load in loads):
                return True
    return False


def name_of_output(project: Project) -> str:
    """How the name of the one output of a ``{model}`` is read; empty where Keras models may have several.

    A sequential model of Keras 3 has no `output_names`.
    """
    if not has_one_output(project):
        return ""
    functional = any(name in _MODELS for module in project.modules.values() for _, name in module.references())
    return "{model}.output_names[0]" if functional else "{model}.layers[-1].name"


def has_one_output(project: Project) -> bool:
    """Whether the Keras models of a project are seen to have one output each."""
    for module in project.modules.values():
        for node, name in module.references():
            if name.startswith("tensorflow.keras.") and name.endswith(_LOADED):
                return False
            if name not in _MODELS:
                continue
            call = module.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                return False  # a class of the program, or something else that is not followed
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            output = given.get("outputs", call.args[1] if len(call.args) > 1 else None)
            statement = module.assignment(output) if isinstance(output, ast.Name) else None
            layer = statement.value if statement is not None else output
            if not isinstance(layer, ast.Call):
                return False
    return True


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
        named = _OPTIMIZERS.get(str(optimizer.value).lower()) if isinstance(optimizer, ast.Constant) else None
        if named is not None and optimizer is not None:
            # Estimators trained with the optimizers that Keras calls legacy now.
            legacy = f"{optimizers.tensorflow(module)}.keras.optimizers.legacy."
            if not optimizers.is_same(named):
                edits += module.cst.apply([Replace(optimizer, expr(f"{legacy}{named}()"))])
        elif optimizer is not None:
            edits += optimizers.edits(module, optimizer, "`optimizer` of compile")
        metrics = given.get("metrics")
        for metric in metrics.elts if dialect == "v1" and isinstance(metrics, (ast.List, ast.Tuple)) else ():
            if isinstance(metric, ast.Constant) and metric.value in _METRICS:
                edits += module.cst.apply([Replace(metric, expr(repr(_METRICS[metric.value])))])
    return edits
