"""Edits of what exports a model: exporters, receivers and the placeholders in them, `export_saved_model`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.calls import is_literal
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_arguments

if TYPE_CHECKING:
    from migrator.resolve.module import Module

    from .file_edits import FileEdits

_RECEIVERS = ("ServingInputReceiver", "TensorServingInputReceiver")
_BUILDERS = ("build_parsing_serving_input_receiver_fn", "build_raw_serving_input_receiver_fn")
EXPORTS = {"export_saved_model": "experimental_mode", "export_savedmodel": "strip_default_attrs"}
EXPORT_SIGNATURE = "export_dir_base serving_input_receiver_fn assets_extra as_text checkpoint_path"
EXPORT_KEPT = ("export_dir_base", "serving_input_receiver_fn", "assets_extra", "checkpoint_path")
EXPORTERS = {
    "FinalExporter": "name serving_input_receiver_fn assets_extra as_text",
    "LatestExporter": "name serving_input_receiver_fn assets_extra as_text exports_to_keep",
    "BestExporter": (
        "name serving_input_receiver_fn event_file_pattern compare_fn assets_extra as_text exports_to_keep"
    ),
}
OWN = "tensorflow.estimator.Exporter"
"""What exporters of a program derive from."""
_EXPORT = ["export_path", "checkpoint_path", "eval_result", "is_the_final_export"]
"""What their `export` is given, behind the Estimator."""
OUTPUTS = tuple(f"tensorflow.estimator.export.{kind}Output" for kind in ("Predict", "Classification", "Regression"))
"""What a model_fn makes for `export_outputs`."""
_PLACEHOLDERS = ("placeholder", "placeholder_with_default", "sparse_placeholder", "sparse.placeholder")


def own_exporter(module: Module, node: ast.expr) -> str | None:
    """Why a class of the program that derives from `tf.estimator.Exporter` is not followed; None: it is a class like another."""
    owner = module.parent(node)
    if not isinstance(owner, ast.ClassDef) or node not in owner.bases:
        return "it is no base of a class"
    found = [part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == "export"]
    if len(found) != 1 or found[0].decorator_list:
        return "it has no `export`"
    names = [arg.arg for arg in found[0].args.args]
    if names[2:] != _EXPORT:
        return "its `export` has other parameters"
    for load in module.loads_of_parameter(names[1], found[0]):
        call = module.parent(load)
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "export"):
            return f"its `export` uses the Estimator (line {load.lineno})"
    return None


def exporting_reference(driver: FileEdits, node: ast.expr, short: str) -> bool:
    """Migrate one reference to a name under `tensorflow.estimator` that has to do with exports."""
    module = driver.module
    parent = module.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    family, _, last = short.rpartition(".")
    if short in EXPORTERS and call is not None:
        what = f"tf.estimator.{short}"
        driver.replace(node, driver.need(short, node))
        kept = [name for name in EXPORTERS[short].split() if name != "as_text"]
        driver.arguments(call, EXPORTERS[short], kept, what, {"as_text": (False, True)})
        if _is_true(bind(call, EXPORTERS[short], what).get("as_text")):
            as_text = driver.need("exported_as_text", call)
            driver.change(Replace(call, expr("{as_text}({call})", as_text=as_text, call=module.cst.call(call))))
        driver.exports = True
        return True
    if short == "Exporter" and own_exporter(module, node) is None:
        driver.replace(node, "object")
        return True
    if family == "export" and last in (*_RECEIVERS, *_BUILDERS):
        driver.replace(node, driver.need(last, node))
        if last in _RECEIVERS:
            _placeholders(driver, node, "{}.compat.v1.")
        elif last == _BUILDERS[1] and call is not None:
            _placeholders(driver, node, None)
        return True
    return False


def _is_true(value: ast.expr | None) -> bool:
    return value is not None and is_literal(value, True)


def export_function(call: ast.Call, method: str) -> str:
    """The vendored function that does what a method of an Estimator does that exports a model. Raises Unsupported."""
    given = bind(call, f"{EXPORT_SIGNATURE} {EXPORTS[method]}", f"Estimator.{method}")
    return "export_as_text" if _is_true(given.get("as_text")) else "export_saved_model"


def export_output(driver: FileEdits, node: ast.expr, name: str) -> None:
    """Migrate a name of `OUTPUTS` in a model_fn that stays: predictions go without their class, the others keep theirs."""
    module = driver.module
    if name != OUTPUTS[0]:
        driver.replace(node, driver.need(name.rpartition(".")[2], node))
        return
    call = module.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        raise Unsupported("PredictOutput is handed on without a call", node)
    value = bind(call, "outputs", "PredictOutput").get("outputs")
    if value is None:
        raise Unsupported("PredictOutput without outputs", call)
    driver.handled.add(node)
    driver.change(Replace(call, module.cst.expression(value)))


def _placeholders(driver: FileEdits, node: ast.expr, prefix: str | None) -> None:
    """Placeholders around `node`: those of a receiver stay, as it is called in a graph; others become specs."""
    module = driver.module
    functions = (ast.FunctionDef, ast.Lambda)

    def function_of(inner: ast.AST) -> ast.AST:
        return module.nearest(inner, functions) or module.tree

    around = function_of(node)
    for part in walk(around):
        if not isinstance(part, (ast.Name, ast.Attribute)) or part in driver.handled:
            continue
        name = module.resolve(part) or ""
        short = name.replace("tensorflow.", "", 1)
        call = module.parent(part)
        if short not in _PLACEHOLDERS or not isinstance(call, ast.Call) or call.func is not part:
            continue
        if prefix is not None:
            text = prefix.format(driver.tensorflow()) + short
            driver.replace(part, text.replace(".compat.v2.compat.v1.", "."))  # where the import stays that of version 1
        elif function_of(part) is around:
            if short != "placeholder" or not _is_only_kept(driver, call):
                raise Unsupported("a placeholder outside of a receiver must be the entry of a dict", call)
            _as_spec(driver, call)


def _is_only_kept(driver: FileEdits, call: ast.Call) -> bool:
    """Whether a placeholder is an entry of a dict, so that nothing computes with it."""
    parent = driver.module.parent(call)
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Subscript) or _is_only_put(driver.module, parent)
    if isinstance(parent, ast.keyword):
        outer = driver.module.parent(parent)
        return isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "dict"
    return isinstance(parent, (ast.Dict, ast.DictComp))


def _is_only_put(module: Module, statement: ast.Assign) -> bool:
    """Whether the name that is given here is read as an entry of a dict, and nowhere else."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(statement.targets) > 1:
        return False
    scope = module.scope(target)
    loads = module.loads_of(target.id, scope)
    alone = bool(loads) and scope is not module.analysis.root and len(module.bindings(loads[0])) == 1
    return alone and all(isinstance(module.parent(load), ast.Dict) for load in loads)


def _as_spec(driver: FileEdits, call: ast.Call) -> None:
    """``tf.placeholder(dtype, shape, name)`` becomes ``tf.TensorSpec(shape, dtype, name)``."""
    names = dict(zip(("dtype", "shape", "name"), call.args))
    names.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    if "shape" not in names or len(names) != len(call.args) + len(call.keywords):
        raise Unsupported("a placeholder without a shape is not migrated", call)
    given = {name: driver.module.cst.expression(value) for name, value in names.items()}
    driver.handled.update(walk(call))
    spec = expr("{tf}.TensorSpec({shape}, {dtype})", tf=driver.tensorflow(), shape=given["shape"], dtype=given["dtype"])
    driver.change(Replace(call, with_arguments(spec, add={"name": given["name"]} if "name" in given else {})))
