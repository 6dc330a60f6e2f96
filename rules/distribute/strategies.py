"""Distribution strategies of Estimator programs, by their old names and arguments, become those of TensorFlow 2."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Rename, Replace, code, expr, statements, with_arguments
from migrator.vocabulary.diagnostics import Edit

from .horovod import OPTIMIZER

Need = Callable[[str, ast.AST], str]

CONFIG_FIELDS = {"train_distribute": "strategy", "eval_distribute": "eval_strategy"}
"""What the fields of RunConfig that hold a strategy are called now."""

_CONTRIB, _CORE = "tensorflow.contrib.distribute.", "tensorflow.distribute."
_GPUS = ("num_gpus", "num_gpus_per_worker")
_MIRRORED = "devices num_gpus num_gpus_per_worker cross_device_ops auto_shard_dataset cross_tower_ops"
_MOST_LISTED = 8
_REPLICATING = frozenset(
    {"MirroredStrategy", "MultiWorkerMirroredStrategy", "CollectiveAllReduceStrategy", "TPUStrategy"}
)
_TPU = "tpu_cluster_resolver device_assignment"
_OF_TPU = "TPUs need batches of one known shape: give batch() a drop_remainder=True"


def strategy_edits(module: Module, node: ast.expr, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    """Edits for one reference to a strategy, and a remark for its owner. Raises Unsupported."""
    kind = name.rpartition(".")[2]
    if not is_strategy(name):
        if name.startswith(_CONTRIB) and kind != "DistributeConfig":
            raise Unsupported(f"tf.{name.partition('.')[2]} is not migrated yet", node)
        return [], ""
    parent = module.parent(node)
    if not isinstance(parent, ast.Call) or parent.func is not node:
        if name.startswith(_CORE) and kind in ("MirroredStrategy", "OneDeviceStrategy"):
            return [], ""  # stays what it is, wherever it is passed on
        raise Unsupported(f"{kind} is passed on without being called", node)
    return _KINDS[kind](module, parent, name, need, alias)


def _mirrored(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    if name.startswith(_CORE):
        return [], ""
    given = bind(call, _MIRRORED, "MirroredStrategy")
    for ignored in ("auto_shard_dataset", "cross_tower_ops"):
        if ignored in given and not _falsy(given[ignored]):
            raise Unsupported(f"MirroredStrategy({ignored}=…) is not migrated yet", given[ignored])
    number = next((given[field] for field in _GPUS if field in given and not is_none(given[field])), None)
    texts = [f"devices={_devices(module, number)}"] if number is not None else []
    for field in ("devices", "cross_device_ops"):
        if field in given and not is_none(given[field]):
            texts.append(f"{field}={_copied(module, given[field])}")
    return _replaced(module, call, f"{alias}.distribute.MirroredStrategy", texts), ""


def _devices(module: Module, number: ast.expr) -> str:
    """The GPUs that contrib took by their number; without any, it took the CPU."""
    if isinstance(number, ast.Constant) and isinstance(number.value, int) and number.value <= _MOST_LISTED:
        return "[" + ", ".join(f'"/gpu:{i}"' for i in range(number.value)) + "]" if number.value else '["/cpu:0"]'
    return f'[f"/gpu:{{i}}" for i in range({_copied(module, number)})] or ["/cpu:0"]'


def _one_device(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    if name.startswith(_CORE):
        return [], ""
    return module.cst.apply([Replace(call.func, f"{alias}.distribute.OneDeviceStrategy")]), ""


def _multi_worker(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    experimental = "communication cluster_resolver"
    signature = "num_gpus_per_worker communication" if name.startswith(_CONTRIB) else experimental
    if name == f"{_CORE}MultiWorkerMirroredStrategy":
        signature = "cluster_resolver communication_options"
    given = bind(call, signature, "MultiWorkerMirroredStrategy")
    texts = []
    for field in ("communication", "cluster_resolver"):
        value = given.pop(field, None)
        if value is not None and not is_none(value):
            texts.append(("cluster_resolver=" if field == "cluster_resolver" else "") + _copied(module, value))
    for field, value in given.items():
        if not _falsy(value):
            raise Unsupported(f"MultiWorkerMirroredStrategy({field}=…) is not migrated yet", value)
    edits = _replaced(module, call, need("multi_worker_strategy", call), texts)
    return edits, "each worker makes its batches by itself, as under an Estimator: their number grows with the workers"


def _parameter_server(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    signature = "num_gpus_per_worker" if name.startswith(_CONTRIB) else "cluster_resolver"
    given = bind(call, signature, "ParameterServerStrategy")
    resolver = given.pop("cluster_resolver", None)
    for field, value in given.items():
        if not _falsy(value):
            raise Unsupported(f"ParameterServerStrategy({field}=…) is not migrated yet", value)
    edits = module.cst.apply([Replace(_with_condition(module, call), expr("None"))])
    if resolver is not None and not is_none(resolver):
        line = statements("{use}({it})", use=need("use_cluster", call), it=code(_copied(module, resolver)))
        edits += module.cst.apply([Insert(line, before=_own_statement(module, call))])
    remark = "the ParameterServerStrategy is made by make_strategy() from TF_CONFIG; its chief coordinates and no longer trains"
    remark += "; an input_fn gets no input_context, so each worker reads all examples"
    return edits, remark


def _own_statement(module: Module, call: ast.Call) -> ast.stmt:
    """The statement that makes a strategy. Raises Unsupported where the call need not be reached with it."""
    statement = module.statement(call)
    between = list(itertools.takewhile(lambda node: node is not statement, module.ancestors(call)))
    plain = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return))
    inner = all(isinstance(node, (ast.Call, ast.keyword)) for node in between)
    if not plain or module.indent(statement) is None or not inner:
        raise Unsupported("a strategy with a cluster_resolver is migrated where a statement of its own makes it", call)
    return statement


def _with_condition(module: Module, call: ast.Call) -> ast.expr:
    """The outermost ``strategy if test else None`` around a strategy that becomes None, if its tests only read values."""
    node: ast.expr = call
    while True:
        outer = module.parent(node)
        if not isinstance(outer, ast.IfExp) or node is outer.test:
            return node
        other = outer.orelse if node is outer.body else outer.body
        if not is_none(other) or any(isinstance(part, (ast.NamedExpr, ast.Await)) for part in walk(outer.test)):
            return node
        node = outer


def _tpu(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    signature = "tpu_cluster_resolver steps_per_run device_assignment"
    given = bind(call, signature if name.startswith(_CONTRIB) else _TPU, "TPUStrategy")
    for field, value in given.items():
        if field not in ("tpu_cluster_resolver", "steps_per_run") and not is_none(value):
            raise Unsupported(f"TPUStrategy({field}=…) is not migrated yet", value)
    resolver = given.get("tpu_cluster_resolver")
    told = [] if resolver is None or is_none(resolver) else [module.cst.expression(resolver)]
    new = with_arguments(expr("{make}()", make=need("tpu_strategy", call)), insert={0: told})
    return module.cst.apply([Replace(call, new)]), _OF_TPU


def _central(module: Module, call: ast.Call, name: str, need: Need, alias: str) -> tuple[list[Edit], str]:
    raise Unsupported("CentralStorageStrategy is not migrated yet: use MirroredStrategy", call)


_KINDS = {
    "MirroredStrategy": _mirrored,
    "OneDeviceStrategy": _one_device,
    "MultiWorkerMirroredStrategy": _multi_worker,
    "CollectiveAllReduceStrategy": _multi_worker,
    "ParameterServerStrategy": _parameter_server,
    "CentralStorageStrategy": _central,
    "TPUStrategy": _tpu,
}


def trains_on_replicas(modules: Iterable[Module]) -> bool:
    """Whether files name what may train on several devices or workers at once, each with a copy of the model."""
    return any(
        is_strategy(name) and name.rpartition(".")[2] in _REPLICATING
        for module in modules
        if b"Strategy" in module.source
        for _, name in module.references()
    )


def trains_with_horovod(modules: Iterable[Module]) -> bool:
    """Whether files wrap an optimizer in that of Horovod."""
    return any(
        name == OPTIMIZER for module in modules if b"horovod" in module.source for _, name in module.references()
    )


def trains_on_tpu(modules: Iterable[Module]) -> ast.expr | None:
    """Where files name the strategy for TPUs."""
    found = (
        node
        for module in modules
        if b"TPUStrategy" in module.source
        for node, name in module.references()
        if is_strategy(name) and name.endswith(".TPUStrategy")
    )
    return next(found, None)


def is_strategy(name: str) -> bool:
    """Whether a qualified name is that of a strategy."""
    return name.startswith((_CONTRIB, _CORE)) and name.rpartition(".")[2] in _KINDS


def distribute_fields(module: Module, keyword: ast.keyword) -> list[Edit] | None:
    """``train_distribute=s`` or ``experimental_distribute=DistributeConfig(s)`` with its new names; None: to be dropped."""
    if keyword.arg in CONFIG_FIELDS:
        return module.cst.apply([Rename(keyword, CONFIG_FIELDS[keyword.arg])])
    value = keyword.value
    if is_none(value):
        return None
    if not isinstance(value, ast.Call) or not (module.resolve(value.func) or "").endswith(".DistributeConfig"):
        raise Unsupported("experimental_distribute=… is not seen to be a DistributeConfig", value)
    given = bind(value, "train_distribute eval_distribute remote_cluster", "DistributeConfig")
    if "remote_cluster" in given and not is_none(given["remote_cluster"]):
        raise Unsupported(
            "DistributeConfig(remote_cluster=…) is not migrated: start the program in each process", value
        )
    if not set(given) & set(CONFIG_FIELDS):
        return None
    outer = module.parent(keyword)
    assert isinstance(outer, ast.Call)
    at = arguments(outer).index(keyword)
    fields = {CONFIG_FIELDS[name]: module.cst.expression(given[name]) for name in given if name in CONFIG_FIELDS}
    return module.cst.apply([Replace(outer, with_arguments(module.cst.call(outer), spread={at: fields}))])


def _copied(module: Module, node: ast.expr) -> str:
    """The text of an argument, in which no other rule will rewrite anything."""
    for part in walk(node):
        name = module.resolve(part) if isinstance(part, (ast.Name, ast.Attribute)) else None
        if name is not None and name.startswith("tensorflow.") and not f"{name}.".startswith(_CORE):
            raise Unsupported(f"tf.{name.partition('.')[2]} is not migrated yet as an argument of a strategy", part)
    return module.segment(node)


def _replaced(module: Module, call: ast.Call, function: str, texts: list[str]) -> list[Edit]:
    return module.cst.apply([Replace(call, code(f"{function}({', '.join(texts)})"))])


def _falsy(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
