"""TPUEstimator and its relatives, for programs that train without a TPU: what they mean there is kept.

Without a TPU a TPUEstimator is an Estimator that tells `input_fn` and `model_fn` the batch size of the mode.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrator.calls import arguments, delete_arguments, name_argument
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import bind, is_none
from migrator.module import Module

from .driver import RUN_CONFIG, SESSION_FIELDS, Driver

_FAMILIES = ("tensorflow.contrib.tpu.", "tensorflow.estimator.tpu.")
ESTIMATOR = (
    "model_fn model_dir config params use_tpu train_batch_size eval_batch_size predict_batch_size batch_axis eval_on_tpu "
    "export_to_tpu export_to_cpu warm_start_from embedding_config_spec export_saved_model_api_version"
)
_KEPT = frozenset(
    "model_fn model_dir config params use_tpu train_batch_size eval_batch_size predict_batch_size".split()
)
_FIELDS = {
    "tpu_config": "it describes a TPU",
    "evaluation_master": "it names a TPU",
    "master": "it names a TPU",
    "cluster": "it names a TPU",
}
_RESOLVER = "tensorflow.contrib.cluster_resolver.TPUClusterResolver"


def short_name(name: str) -> Optional[str]:
    """``TPUEstimator`` for any of the places where TensorFlow 1 kept it; None for names of other families."""
    return name.rsplit(".", 1)[1] if name.startswith(_FAMILIES) else None


def construction(module: Module, driver: Driver, call: ast.Call, given: dict[str, ast.expr]) -> None:
    """``TPUEstimator(model_fn, …)`` becomes ``tpu_graph_model(model_fn, …)``."""
    names = {id(value): name for name, value in given.items()}
    doomed: list[ast.expr | ast.keyword] = []
    for argument in arguments(call):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        name = names[id(value)]
        if name == "warm_start_from" and not is_none(value):
            raise Unsupported("warm_start_from is not migrated yet", value)
        if name not in _KEPT:
            doomed.append(argument)
        elif isinstance(argument, ast.expr) and name != "model_fn":
            driver.edits.append(name_argument(module, call, argument, name))
    use = given.get("use_tpu")
    if isinstance(use, ast.Constant) and use.value is True:
        raise Unsupported("the program asks for a TPU", use)
    if use is None:
        raise Unsupported("the program asks for a TPU: use_tpu is True where it is not given", call)
    driver.replace(call.func, driver.need("tpu_graph_model", call))
    driver.edits += delete_arguments(module, call, doomed)


def reference(module: Module, driver: Driver, node: ast.expr, name: str) -> None:
    """Migrate a reference to a name around TPUs, if it is one."""
    short = short_name(name)
    parent = module.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    if name == _RESOLVER:
        driver.replace(node, f"{driver.tensorflow()}.distribute.cluster_resolver.TPUClusterResolver")
    elif short == "TPUEstimatorSpec":
        driver.replace(node, driver.need("tpu_spec", node))
        if call is not None and any(k.arg == "host_call" and not is_none(k.value) for k in call.keywords):
            driver.remarks.append((call, "host_call is not run: it writes the summaries of a TPU"))
    elif short == "RunConfig" and call is not None:
        _run_config(module, driver, node, call)
    elif short == "CrossShardOptimizer" and call is not None:
        given = bind(call, "opt reduction name group_assignment", "CrossShardOptimizer")
        start, end = module.span(call)
        inner = module.span(given["opt"])
        driver.handled.add(node)
        statement = module.parent(call)
        same = isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [
            ast.unparse(given["opt"])
        ]
        if same:  # `optimizer = CrossShardOptimizer(optimizer)`
            driver.edits.append(module.delete_statement(module.statement(call)))
        else:
            driver.edits += [module.edit((start, inner[0]), ""), module.edit((inner[1], end), "")]


def _run_config(module: Module, driver: Driver, node: ast.expr, call: ast.Call) -> None:
    driver.replace(node, driver.need("RunConfig", node))
    given = bind(call, f"{' '.join(_FIELDS)} {RUN_CONFIG}", "RunConfig")
    doomed: list[ast.expr | ast.keyword] = []
    for argument in arguments(call):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        name = next(n for n, v in given.items() if v is value)
        reason = {**_FIELDS, **SESSION_FIELDS}.get(name)
        if reason is not None:
            doomed.append(argument)
            _drop_names(module, driver, value)
            if not is_none(value):
                driver.remarks.append((value, f"RunConfig({name}=…) is dropped: {reason}"))
        elif isinstance(argument, ast.expr):
            driver.edits.append(name_argument(module, call, argument, name))
    driver.edits += delete_arguments(module, call, doomed)


def _drop_names(module: Module, driver: Driver, value: ast.expr) -> None:
    """Deletes `is_per_host = tf.contrib.tpu.…` where only a dropped argument reads the name."""
    inside = set(ast.walk(value))
    driver.handled |= {node for node, name in module.references() if node in inside and short_name(name)}
    for node in inside:
        if not isinstance(node, ast.Name):
            continue
        found = module.bindings(node)
        statement = module.statement(found[0].node) if len(found) == 1 else None
        if not isinstance(statement, ast.Assign) or short_name(module.resolve(statement.value) or "") is None:
            continue
        readers = [load for load, _ in module.analysis.loads if load.id == node.id and module.bindings(load) == found]
        if all(load in inside for load in readers):
            driver.handled.add(statement.value)
            driver.edits.append(module.delete_statement(statement))
