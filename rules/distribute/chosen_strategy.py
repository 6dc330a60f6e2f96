"""``--strategy``: the program is told another strategy in its own words, before it is migrated like any other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, code, expr, with_arguments

from ..estimator_calls.task_fields import names_configuration, names_estimator
from ..symbols.tensorflow_names import whole_name
from .replaced_replication import replace_replication
from .strategies import is_strategy
from .tpu_facts import short_name

_STRATEGIES = {
    "none": "get_strategy()",
    "mirrored": "MirroredStrategy()",
    "multi_worker": "experimental.MultiWorkerMirroredStrategy()",
    "parameter_server": "",  # of the cluster, which TF_CONFIG describes
    "tpu": "experimental.TPUStrategy({0})",
}
_CONFIG_THIRD = ("Estimator", "TPUEstimator")
"""Estimators whose third argument is their RunConfig."""
_FIELDS = ("train_distribute", "eval_distribute", "experimental_distribute")


def choose_strategy(drafts: Drafts, group: Iterable[Module], strategy: str, several: bool | None) -> None:
    """Let every RunConfig of a program ask for `strategy`, a value of the option, and every Estimator have a RunConfig.

    A program that gets no helpers for `several` devices has one without being told. Raises Unsupported.
    """
    if strategy == "auto":
        return
    paths = [module.path for module in group]
    told = "" if strategy == "none" and not several else _STRATEGIES[strategy]
    settle = drafts.settle_all
    settle(paths, lambda module: _told(module, told))
    if strategy == "none":
        settle(paths, _off_tpus)
    settle(paths, _idle)
    replace_replication(drafts, paths, strategy, _root)


def _told(module: Module, told: str) -> Iterator[rewrite.Change]:
    for node in walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        name = module.resolve(node.func) or ""
        if names_configuration(name):
            yield from _configured(module, node, told, complete=True)
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
            yield from _configured(module, node, told, complete=False)
        elif names_estimator(name):
            yield from _with_config(module, node, told)


def _off_tpus(module: Module) -> Iterator[rewrite.Change]:
    """What lets each TPUEstimator go without a TPU."""
    for call in module.nodes(ast.Call):
        short = short_name(module.resolve(call.func) or "")
        if short == "TPUEstimator" and not any(k.arg is None for k in call.keywords):
            use = next((k for k in call.keywords if k.arg == "use_tpu"), None)
            off = expr("False")
            new = with_arguments(module.cst.call(call), add={"use_tpu": off}) if use is None else off
            yield Replace(call if use is None else use.value, new)
        elif short == "RunConfig":
            if any(keyword.arg == "cluster" for keyword in call.keywords):
                yield Replace(call, with_arguments(module.cst.call(call), drop=["cluster"]))


def _configured(module: Module, call: ast.Call, told: str, complete: bool) -> Iterator[rewrite.Change]:
    """The edits of a call that makes or changes a RunConfig; where `complete`, it must name the strategy."""
    given = [k.arg for k in call.keywords if k.arg in _FIELDS]
    wanted = _strategy(module, call, told) if given or complete else ""
    if not given and not wanted:
        return
    old, told_now = module.cst.call(call), {"train_distribute": code(wanted)} if wanted else {}
    if given:
        every = [k.arg if isinstance(k, ast.keyword) else None for k in arguments(call)]
        new = with_arguments(old, spread={every.index(given[0]): told_now}, drop=[name for name in given[1:] if name])
    else:
        new = with_arguments(old, add=told_now)
    yield Replace(call, new)


def _with_config(module: Module, call: ast.Call, told: str) -> Iterator[rewrite.Change]:
    """An Estimator that got no RunConfig gets one."""
    wanted = _strategy(module, call, told)
    config: ast.expr | ast.keyword | None = next((k for k in call.keywords if k.arg == "config"), None)
    if (module.resolve(call.func) or "").rsplit(".", 1)[-1] in _CONFIG_THIRD and len(call.args) > 2:
        config = call.args[2]
    hidden = any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)
    value = config.value if isinstance(config, ast.keyword) else config
    if not wanted or hidden or (value is not None and not is_none(value)):
        return
    made = code(f"{_root(module, call)}.estimator.RunConfig(train_distribute={wanted})")
    new = with_arguments(module.cst.call(call), add={"config": made}) if value is None else made
    yield Replace(call if value is None else value, new)


def _strategy(module: Module, at: ast.Call, told: str) -> str:
    """The text of the strategy; none where a program is told nothing. A TPU is the one that a configuration names, if it does."""
    resolver = next((module.segment(k.value) for k in at.keywords if k.arg == "cluster" and not is_none(k.value)), "")
    chosen = told.format(resolver)
    return f"{_root(module, at)}.distribute.{chosen}" if chosen else ""


def _root(module: Module, call: ast.AST) -> str:
    name = whole_name(module)
    if name is None:
        raise Unsupported("--strategy needs a name for TensorFlow as a whole in each file of the program", call)
    return name


def _idle(module: Module) -> Iterator[rewrite.Change]:
    """Deletions of what gives a name to strategies that nothing reads any more."""
    doomed: set[ast.AST] = set()
    for node in walk(module.tree):
        made = isinstance(node, ast.Assign) and (_makes(module, node.value) or _finds(module, node.value))
        if made and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            holder = module.scope(node.targets[0]).holder(name)
            if not module.loads_of(name, holder):
                values = [module.statement(binding.node) for binding in holder.bindings[name]]
                doomed |= {s for s in values if isinstance(s, ast.Assign) and _is_value(module, s.value)}
    gone = {node for node in walk(module.tree) if _is_idle(node, doomed)}
    for node in gone:
        if module.parent(node) not in gone and isinstance(node, ast.stmt):
            yield Remove(node)


def _is_idle(node: ast.AST, doomed: set[ast.AST]) -> bool:
    """Whether a statement is doomed, or a condition around nothing else."""
    if isinstance(node, ast.If) and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(node.test)):
        return all(_is_idle(inner, doomed) for inner in (*node.body, *node.orelse))
    return node in doomed


def _is_value(module: Module, node: ast.expr) -> bool:
    return is_none(node) or _makes(module, node) or _finds(module, node)


def refuse_other_strategies(module: Module) -> None:
    """Raises Unsupported where a program makes a strategy for something else than its RunConfig."""
    for node in walk(module.tree):
        parent = module.parent(node)
        if _makes(module, node) and not (isinstance(parent, ast.keyword) and parent.arg == "train_distribute"):
            raise Unsupported(
                "--strategy replaces what a RunConfig asks for; this strategy is made for more than that", node
            )


def _makes(module: Module, node: ast.AST) -> bool:
    """Whether an expression is a new strategy, or none under some condition."""
    if isinstance(node, ast.IfExp):
        arms = (node.body, node.orelse)
        return all(_is_value(module, arm) for arm in arms) and any(_makes(module, arm) for arm in arms)
    return isinstance(node, ast.Call) and is_strategy(module.resolve(node.func) or "")


def _finds(module: Module, node: ast.AST) -> bool:
    """Whether an expression finds a TPU."""
    return isinstance(node, ast.Call) and (module.resolve(node.func) or "").endswith(".TPUClusterResolver")
