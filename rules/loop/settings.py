"""What the configuration of an Estimator says of its training: expressions of the program, by what they are for."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Optional

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import reaching
from migrator.resolve.reasons import reason_at

from ..distribute import tpu_facts
from ..distribute.task_reads import OF_TASKS
from ..distribute.tpu_facts import Tpu, short_name, tpu_of
from ..estimator_calls.estimator_values import ESTIMATOR, PREFIX, Construction
from ..estimator_calls.session_settings import makers, placements, taken_over
from .data.options import default_of, is_required, may_be_none, options
from .flow.handed import Handed, handed
from .places import moves
from .values import given_to

RUN_CONFIG = PREFIX + "RunConfig"
_SIGNATURE = (
    "model_dir tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs session_config "
    "keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps train_distribute eval_distribute"
)
_WRITTEN = frozenset(
    {
        "model_dir",
        "tf_random_seed",
        "save_summary_steps",
        "save_checkpoints_steps",
        "save_checkpoints_secs",
        "keep_checkpoint_max",
        "keep_checkpoint_every_n_hours",
        "train_distribute",
    }
)
_INTERVALS = frozenset({"save_checkpoints_steps", "save_summary_steps"})
"""Steps that are counted by, which None does not allow."""
_OR_NONE = frozenset({"model_dir", "tf_random_seed", "train_distribute", "eval_distribute"})
"""Fields that say nothing where they are None."""
_NEVER = frozenset({"save_summary_steps", "keep_checkpoint_max"})
"""Those by which None asks for none: no summaries amid an epoch, no limit."""
_OF_WORKERS = frozenset(f"tensorflow.distribute.{name}MultiWorkerMirroredStrategy" for name in ("", "experimental."))
_WITHOUT_EFFECT = frozenset({"session_config", "log_step_count_steps"})
"""Fields that Keras has no use for: its progress bar shows the speed."""


@dataclass(frozen=True)
class Settings:
    """The settings of one Estimator."""

    fields: dict[str, ast.expr] = field(default_factory=dict)
    """Those of RunConfig that say something, by name."""
    calls: tuple[ast.expr, ...] = ()
    """References to RunConfig, and to a strategy for workers, that go."""
    statement: ast.Assign | None = None
    """What held the configuration, and goes."""
    temporary: bool = False
    """Whether the folder may be none: an Estimator makes one then, for the time that it lives."""
    reads: tuple[tuple[ast.Attribute, ast.expr], ...] = ()
    """Places that read a field of the configuration, and what it says."""
    tasks: tuple[ast.Attribute, ...] = ()
    """Places that read a field of it about the cluster, of which TF_CONFIG tells."""
    tpu: Tpu = field(default_factory=Tpu)
    """What a TPUEstimator says beside."""
    sessions: tuple[ast.stmt, ...] = ()
    """What makes settings of sessions, or a strategy for workers, and goes."""
    workers: bool = False
    """Whether it asks for the workers of TF_CONFIG, which keep equal variables."""
    session: Optional[tuple[ast.expr, str]] = None
    """Settings of sessions, and what takes their place."""
    unsaved: bool = False
    """Whether a TPUEstimator is to save nothing."""
    placements: dict[str, ast.expr] = field(default_factory=dict)
    """What they say of the places of ops, by the functions that say so."""
    maybe_unseeded: bool = False
    """Whether its seed may be None, which is none."""
    handed: Optional[Handed] = None
    """The parameter that it is handed to, if its Estimator is made by a function which gets it."""

    @property
    def strategy(self) -> ast.expr | None:
        """The strategy that it trains with."""
        return self.fields.get("train_distribute")

    @property
    def directory(self) -> ast.expr | None:
        """The folder of the checkpoints."""
        return self.fields.get("model_dir")


def settings_of(project: Project, construction: Construction, others: Collection[Construction] = ()) -> Settings | str:
    """The settings of an Estimator, or why they are not understood; `others` may have the same configuration."""
    given = {name: value for name, value in construction.arguments.items() if not is_none(value)}
    more = set(given) - {"model_fn", "params", "config", "model_dir"}
    more -= {"warm_start_from"} if construction.name == ESTIMATOR else set()
    more -= set(tpu_facts.ARGUMENTS.split()) if construction.tpu else set()
    if more:
        return reason_at(f"`{sorted(more)[0]}` of its Estimator", construction.module, given[sorted(more)[0]])
    module = construction.module
    if "config" in given and _is_not_given(project, module, given["config"]):
        del given["config"]
    found = _configured(project, module, given["config"], construction, others) if "config" in given else Settings()
    if isinstance(found, str):
        return found
    if construction.tpu:
        told = tpu_of(module, given, found.fields)
        if isinstance(told, str):
            return told
        own = {name: value for name, value in found.fields.items() if name not in tpu_facts.FIELDS.split()}
        found = replace(found, fields=own, tpu=told)
    if "model_dir" in given and not _is_field(given["model_dir"], given.get("config")):
        if found.directory is not None and ast.dump(found.directory) != ast.dump(given["model_dir"]):
            return "two folders of checkpoints"
        found = replace(found, fields={**found.fields, "model_dir": given["model_dir"]})
    if found.directory is not None and _is_nothing(project, module, found.directory):
        return replace(found, fields={n: v for n, v in found.fields.items() if n != "model_dir"})
    return replace(found, temporary=found.directory is not None and not _is_given(project, module, found.directory))


def _is_field(node: ast.expr, config: ast.expr | None) -> bool:
    """Whether the folder is that of the configuration: ``Estimator(model_fn, config.model_dir, config)``."""
    held = node.value if isinstance(node, ast.Attribute) and node.attr == "model_dir" else None
    return held is not None and config is not None and ast.dump(held) == ast.dump(config)


def _is_not_given(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether nobody gives a configuration: a parameter, or what holds one, is None."""
    if isinstance(node, ast.Attribute):  # `self.config = config`
        stores = [(m, n) for m in project.modules.values() for n in m.nodes(ast.Attribute) if n.attr == node.attr]
        stores = [(m, n) for m, n in stores if not isinstance(n.ctx, ast.Load)]
        statement = stores[0][0].parent(stores[0][1]) if len(stores) == 1 else None
        kept = isinstance(statement, ast.Assign) and isinstance(node.value, ast.Name)
        return kept and isinstance(statement, ast.Assign) and _is_not_given(project, stores[0][0], statement.value)
    handed = given_to(project, module, node)
    return is_none(node) or (bool(handed) and all(is_none(value) for _, value in handed))


def _is_nothing(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether an expression is seen to be None or empty."""
    while isinstance(node, ast.Name) and (statement := module.assignment(node)) is not None:
        node = statement.value
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    none = bool(bindings) and all(binding.is_none for binding in bindings)
    handed = given_to(project, module, node)
    none = none or (bool(handed) and all(is_none(value) for _, value in handed))
    return none or (isinstance(node, ast.Constant) and not node.value)


def _configured(
    project: Project, module: Module, node: ast.expr, construction: Construction, others: Collection[Construction]
) -> Settings | str:
    """The settings of a RunConfig that is made for Estimators only."""
    statement, reads = None, []
    call: ast.expr = node
    parameter: Handed | None = None
    if isinstance(node, ast.Name):
        configured = [other.arguments.get("config") for other in (construction, *others)]
        parameter = handed(project, module, node, configured)
        if parameter is not None:
            node, configured = parameter.given[0], [*configured, *parameter.given]
        statement = reaching(module, node)
        loads = {load: reaching(module, load) for load in module.loads_of(node.id, module.scope(node).lookup(node.id))}
        reads = [module.parent(load) for load, made in loads.items() if made is statement and load not in configured]
        reads += parameter.reads if parameter is not None else ()
        if (
            statement is None
            or None in loads.values()
            or project.readers.elsewhere(module, module.scope(statement), node.id)
        ):
            return reason_at("its configuration is used elsewhere", module, node)
        call = statement.value
    made = module.resolve(call.func) if isinstance(call, ast.Call) else None
    for_tpus = short_name(made or "") == "RunConfig"
    if not isinstance(call, ast.Call) or not (made == RUN_CONFIG or for_tpus):
        return "its configuration is not seen"
    beside = tpu_facts.FIELDS.split() if for_tpus else []
    try:
        given = bind(call, " ".join([*beside, _SIGNATURE]), "RunConfig")
    except Unsupported as problem:
        return problem.reason
    kept = {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}
    made_for_workers = of_workers(project, module, call, kept.get("train_distribute"))
    if made_for_workers is not None:
        kept.pop("train_distribute")
        if of_workers(project, module, call, kept.get("eval_distribute")) is not None:
            kept.pop("eval_distribute")
    statements, references = made_for_workers or ([], [])
    told = kept.get("eval_distribute")
    if is_none(told) or (isinstance(told, ast.Name) and ast.dump(told) == ast.dump(kept.get("train_distribute", call))):
        kept.pop("eval_distribute", None)  # a model evaluates with the strategy that it trains with
    if "save_checkpoints_steps" in kept:
        if isinstance(kept.get("save_checkpoints_secs"), ast.IfExp):
            return "a number of steps between checkpoints that may be None"
        kept.pop("save_checkpoints_secs", None)
    nowhere = is_none(kept.get("model_dir")) and is_none(construction.arguments.get("model_dir"))
    unsaved = construction.tpu and nowhere and is_none(kept.get("save_checkpoints_steps", call))
    if unsaved:
        del kept["save_checkpoints_steps"]
    more = sorted(set(kept) - _WRITTEN - set(beside if construction.tpu else ()))
    if more:
        return reason_at(f"`{more[0]}` of its configuration", module, kept[more[0]])
    if any(is_none(value) for name, value in kept.items() if name not in {*_OR_NONE, *_NEVER, *beside}):
        return "a setting that is None"
    if statement is not None and not are_known(module, statement, construction.call, kept.values()):
        return "its configuration is made elsewhere"
    fields = {n: v for n, v in kept.items() if n in _NEVER or not is_none(v)}
    for name in _INTERVALS & set(fields):
        if isinstance(fields[name], (ast.Name, ast.Attribute)) and may_be_none(project, module, fields[name]):
            return reason_at(f"`{name}` of its configuration, which may be None", module, fields[name])
    if parameter is not None and "model_dir" not in fields:
        return reason_at("its configuration is used elsewhere", module, node)
    found, tasks = [], []
    for read in reads:
        if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load) and read.attr in OF_TASKS:
            tasks.append(read)
            continue
        value = fields.get(read.attr) if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load) else None
        if value is None or not isinstance(read, ast.Attribute) or not is_same(module, value, read):
            return reason_at("its configuration is used elsewhere", module, read or node)
        found.append((read, value))
    session = given.get("session_config")
    sessions = makers(module, session) if session is not None else []
    taken = None if is_none(session) or session is None else (session, taken_over(module, session))
    return Settings(
        fields,
        (call.func, *references),
        statement,
        reads=tuple(found),
        tasks=tuple(tasks),
        sessions=(*sessions, *statements),
        workers=made_for_workers is not None,
        session=taken if taken is not None and taken[1] else None,
        unsaved=unsaved,
        placements={} if session is None or is_none(session) else placements(module, session),
        maybe_unseeded="tf_random_seed" in fields and may_be_none(project, module, fields["tf_random_seed"]),
        handed=parameter,
    )


def of_workers(
    project: Project, module: Module, config: ast.Call, strategy: ast.expr | None
) -> tuple[list[ast.stmt], list[ast.expr]] | None:
    """What holds a strategy for the workers of TF_CONFIG for a configuration alone, and its name; None for another strategy."""
    held = module.assignment(strategy) if isinstance(strategy, ast.Name) else None
    made = held.value if held is not None else strategy
    if not isinstance(made, ast.Call) or made.args or made.keywords or module.resolve(made.func) not in _OF_WORKERS:
        return None
    if held is None or not isinstance(strategy, ast.Name):
        return [], [made.func]
    scope = module.scope(held)
    alone = all(module.is_inside(load, config) for load in module.loads_of(strategy.id, scope))
    return ([held], [made.func]) if alone and not project.readers.elsewhere(module, scope, strategy.id) else None


def are_known(module: Module, statement: ast.stmt, call: ast.Call, values: Collection[ast.expr]) -> bool:
    """Whether values that a statement says mean the same where an Estimator is made."""
    if moves(module, statement, call, values):
        return True
    stored = {ast.unparse(node) for node in module.nodes(ast.Attribute) if not isinstance(node.ctx, ast.Load)}
    return all(is_same(module, value, call) and ast.unparse(value) not in stored for value in values)


def is_same(module: Module, node: ast.expr, at: ast.expr) -> bool:
    """Whether an expression may be written at another place."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Constant):
        return root is node
    if not isinstance(root, ast.Name) or len(module.bindings(root)) != 1:
        return False
    return module.scope(root).lookup(root.id) is module.scope(at).lookup(root.id)


def _is_given(project: Project, module: Module, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is seen to be a path, never None or empty."""
    if depth > 4:
        return False
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(node.value)
    if isinstance(node, (ast.JoinedStr, ast.BinOp)):
        return True
    if isinstance(node, ast.Call):
        name = module.resolve(node.func) or ""
        of_text = isinstance(node.func, ast.Attribute) and node.func.attr == "format"
        if of_text and isinstance(node.func.value, ast.Constant):  # type: ignore[attr-defined]
            return _is_given(project, module, node.func.value, depth + 1)  # type: ignore[attr-defined]
        return name.startswith(("os.path.", "tempfile.")) or name == "str"
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _is_given(project, module, node.values[-1], depth + 1)
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        if statement is not None:
            return _is_given(project, module, statement.value, depth + 1)
        given = given_to(project, module, node)
        return bool(given) and all(_is_given(project, where, value, depth + 1) for where, value in given)
    if isinstance(node, ast.Attribute):
        if is_required(project, node.attr):
            return True
        found = options(project, node.attr)
        return bool(found) and all(_has_default(project, m, call, depth) for m, call in found)
    return False


def _has_default(project: Project, module: Module, call: ast.Call, depth: int) -> bool:
    required = next((keyword.value for keyword in call.keywords if keyword.arg == "required"), None)
    if isinstance(required, ast.Constant) and required.value is True:
        return True
    default = default_of(call)
    return default is not None and _is_given(project, module, default, depth + 1)
