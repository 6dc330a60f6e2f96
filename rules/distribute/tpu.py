"""TPUEstimator and its relatives, for programs that train without a TPU: what they mean there is kept.

Without a TPU a TPUEstimator is an Estimator that tells `input_fn` and `model_fn` the batch size of the mode.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit

from ..estimator_calls.driver import Driver
from ..optimizers.wrappers import all_unwrapped
from .tpu_facts import short_name

ESTIMATOR = (
    "model_fn model_dir config params use_tpu train_batch_size eval_batch_size predict_batch_size batch_axis eval_on_tpu "
    "export_to_tpu export_to_cpu warm_start_from embedding_config_spec export_saved_model_api_version"
)
_DROPPED = frozenset(
    "batch_axis eval_on_tpu export_to_tpu export_to_cpu embedding_config_spec export_saved_model_api_version".split()
)
_FIELDS = {
    "tpu_config": "it describes a TPU",
    "evaluation_master": "it names a TPU",
    "master": "it names a TPU",
    "cluster": "it names a TPU",
}
ASKS = "the program asks for a TPU: --strategy tpu gives it one, and --strategy none trains without"
NO_HOST_CALL = (
    "host_call is not run: it writes the summaries of a TPU; tf.summary in the model, or TensorBoard, does that now"
)
ADDED_UP = (
    "CrossShardOptimizer(reduction=SUM) added up the gradients of all cores of a TPU; now each step takes their mean: for "
    "the sum, multiply the loss by tf.distribute.get_strategy().num_replicas_in_sync. On one device there is no difference"
)
_WRAPPED = "opt reduction name group_assignment"
_RESOLVER = "tensorflow.contrib.cluster_resolver.TPUClusterResolver"


def configurations_first(references: list[tuple[ast.expr, str]]) -> list[tuple[ast.expr, str]]:
    """References with those to `RunConfig` at their head: what only describes a TPU goes with the arguments that read it."""
    return sorted(references, key=lambda reference: short_name(reference[1]) != "RunConfig")


def construction(driver: Driver, call: ast.Call, given: dict[str, ast.expr]) -> None:
    """``TPUEstimator(model_fn, …)`` becomes ``tpu_graph_model(model_fn, …)``."""
    use = given.get("use_tpu")
    if isinstance(use, ast.Constant) and use.value is True:
        raise Unsupported(ASKS, use)
    if use is None:
        raise Unsupported(f"{ASKS}; use_tpu is True where it is not given", call)
    if is_none(given.get("warm_start_from")):
        driver.graph_model(call, given, "tpu_graph_model", (*_DROPPED, "warm_start_from"))
    else:
        driver.graph_model(call, given, "warm_tpu_graph_model", _DROPPED)


def reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate a reference to a name around TPUs; whether it is one."""
    module, short = driver.module, short_name(name)
    parent = module.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    if name == _RESOLVER:
        driver.replace(node, f"{driver.tensorflow()}.distribute.cluster_resolver.TPUClusterResolver")
    elif short == "TPUEstimatorSpec":
        driver.replace(node, driver.need("tpu_spec", node))
        if call is not None and any(k.arg == "host_call" and not is_none(k.value) for k in call.keywords):
            driver.remarks.append((call, NO_HOST_CALL))
    elif short == "RunConfig" and call is not None:
        for value in driver.run_config(node, call, _FIELDS):
            drop_names(module, driver, value)
    elif short == "CrossShardOptimizer" and call is not None:
        owner = module.parent(module.statement(call))
        beside = [other for other in _cross_shards(module) if module.parent(module.statement(other)) is owner]
        driver.handled.update(other.func for other in beside)
        driver.remarks += [(other, ADDED_UP) for other in beside if adds_up(module, other)]
        driver.edits += cross_shards(module, beside)  # at once, as a branch may hold nothing else
    return node in driver.handled


def _cross_shards(module: Module) -> Iterator[ast.Call]:
    """The calls of a file that wrap optimizers for a TPU."""
    for node, name in module.references():
        call = module.parent(node)
        if short_name(name) == "CrossShardOptimizer" and isinstance(call, ast.Call) and call.func is node:
            yield call


def cross_shards(module: Module, calls: Iterable[ast.Call]) -> list[Edit]:
    """Leaves out each `CrossShardOptimizer` around an optimizer."""
    return all_unwrapped(module, [(call, bind(call, _WRAPPED, "CrossShardOptimizer")["opt"]) for call in calls])


def adds_up(module: Module, call: ast.Call) -> bool:
    """Whether a `CrossShardOptimizer` may take the sum of what the cores give, where a strategy takes their mean."""
    reduction = bind(call, _WRAPPED, "CrossShardOptimizer").get("reduction")
    if reduction is None or (isinstance(reduction, ast.Constant) and reduction.value == "weighted_mean"):
        return False
    return not (module.resolve(reduction) or "").endswith(".Reduction.MEAN")


def drop_names(module: Module, driver: Driver, dropped: ast.expr) -> None:
    """Deletes `is_per_host = tf.contrib.tpu.…` where only a dropped argument reads the name."""
    inside = set(walk(dropped))
    driver.handled |= {
        node for node, name in module.references() if node in inside and (short_name(name) or name == _RESOLVER)
    }
    for node in inside:
        if not isinstance(node, ast.Name):
            continue
        found = module.bindings(node)
        statement = module.statement(found[0].node) if len(found) == 1 else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        told = module.resolve(value.func if isinstance(value, ast.Call) else value) if value is not None else None
        if not isinstance(statement, ast.Assign) or short_name(told or "") is None:
            continue
        readers = [load for load in module.loads(node.id) if module.bindings(load) == found]
        if all(load in inside for load in readers):
            driver.handled.add(statement.value)
            driver.edits.append(module.delete_statement(statement))
            drop_names(module, driver, statement.value)
