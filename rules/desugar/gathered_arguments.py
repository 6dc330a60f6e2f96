"""Arguments that a program gathers in a dict before it makes a spec, a configuration or an Estimator.

A dict that nothing else reads is taken apart: its entries become variables, those that some ways leave out None.
"""

from __future__ import annotations

import ast
import keyword as keywords
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.values.asked import is_something
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Remove, Replace, expr, with_arguments

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..estimator_calls.estimator_kinds import KINDS
from ..estimator_calls.estimator_values import METHODS, PREFIX
from ..loop.comments import has_comments
from ..loop.places import moves, whole

if TYPE_CHECKING:
    from migrator.rewrite.arguments import Value

NAMES = frozenset({*KINDS, RUN_CONFIG, *(PREFIX + name for name in ("EstimatorSpec", "TrainSpec", "EvalSpec"))})
_SPEC = PREFIX + "EstimatorSpec"
_NONE = {
    _SPEC: "predictions loss train_op eval_metric_ops export_outputs training_hooks training_chief_hooks scaffold "
    "evaluation_hooks prediction_hooks",
    PREFIX + "Estimator": "model_dir config params warm_start_from",
    PREFIX + "Estimator.train": "steps max_steps hooks saving_listeners",
    PREFIX + "Estimator.evaluate": "steps hooks checkpoint_path name",
    PREFIX + "Estimator.predict": "predict_keys hooks checkpoint_path",
    PREFIX + "TrainSpec": "max_steps hooks saving_listeners",
    PREFIX + "EvalSpec": "name hooks exporters",
    RUN_CONFIG: "model_dir tf_random_seed session_config train_distribute eval_distribute device_fn protocol",
}
_OTHERS = {
    PREFIX + "EvalSpec": {"steps": "100", "start_delay_secs": "120", "throttle_secs": "600"},
    RUN_CONFIG: {"save_summary_steps": "100", "keep_checkpoint_max": "5", "log_step_count_steps": "100"},
}
_DEFAULTS: dict[str, dict[str, str]] = {
    name: dict.fromkeys(names.split(), "None") | _OTHERS.get(name, {}) for name, names in _NONE.items()
}
"""What parameters are where they are not given."""
_OF_CANNED = dict.fromkeys(("model_dir", "config", "weight_column", "label_vocabulary"), "None")


SAVES, BY_CLOCK = "save_checkpoints_steps", "save_checkpoints_secs"
"""How often a RunConfig saves: every 600 seconds where it is given neither."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives calls of the library each of their arguments by its name, where a dict that is seen holds them.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], 1)
        spec = {"predictions": predictions}
        if mode == tf.estimator.ModeKeys.TRAIN:
            spec["train_op"] = train_op(labels, predictions)
        return tf.estimator.EstimatorSpec(mode, **spec)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], 1)
        train_op_ = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op_ = train_op(labels, predictions)
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, train_op=train_op_)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each dict."""
    if b"**" not in module.source or b"stimator" not in module.source:
        return
    for call in module.nodes(ast.Call):
        for spread in call.keywords:
            if spread.arg is None and _called(module, call) and not _is_hidden(call):
                yield _spread(project, module, call, spread)


def _called(module: Module, call: ast.Call) -> str:
    """What a call makes, or which method of an Estimator it calls; empty for others."""
    name = module.resolve(call.func) or ""
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
        made = module.assignment(call.func.value)
        of_estimator = (
            made is not None and isinstance(made.value, ast.Call) and module.resolve(made.value.func) in KINDS
        )
        name = f"{PREFIX}Estimator.{call.func.attr}" if of_estimator else name
    return name if name in NAMES or name in _DEFAULTS else ""


def _is_hidden(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in call.args)


def _spread(project: Project, module: Module, call: ast.Call, spread: ast.keyword) -> list[Change]:
    """The changes for one ``**``."""
    beside = {each.arg for each in call.keywords}
    if has_comments(module, spread):
        return []
    entries = entries_of(module, spread.value)
    if entries is not None:
        return Change.of(module, _instead(module, call, spread, entries)) if not beside & entries.keys() else []
    gathered = _gathered(project, module, spread.value)
    if gathered is None or beside & gathered.keys:
        return []
    if not gathered.stores and not gathered.reads and _may_move(module, gathered, call):
        changes = [_instead(module, call, spread, gathered.entries)]
        others = len(gathered.spreads) > 1
        return Change.of(module, *changes, *([] if others else [Remove(gathered.made)]))
    begun = _defaults(module, gathered)
    return [] if begun is None else _apart(module, gathered, begun)


def _defaults(module: Module, gathered: _Gathered) -> dict[str, str] | None:
    """What entries are that a dict may not have where it is spread; None where a call may not leave them out, or is another
    one."""
    found: dict[str, str] = {}
    several = len(gathered.spreads) > 1
    for call, spread in gathered.spreads:
        name = _called(module, call)
        defaults = _DEFAULTS.get(name, _OF_CANNED if name in KINDS else {})
        keys = gathered.keys_at(module, call)
        beside = {each.arg for each in call.keywords}
        looped = several and module.nearest(call, (ast.For, ast.While)) is not None
        if not name or _is_hidden(call) or has_comments(module, spread) or beside & keys.keys() or looped:
            return None
        if module.scope(gathered.made) is not module.scope(call):
            return None
        for key in (key for key, surely in keys.items() if not surely):
            told = all(is_something(module, more[key]) for _, more in gathered.stores if key in more)
            if key == SAVES and name == RUN_CONFIG and told and not several:
                if BY_CLOCK in {*keys, *beside}:
                    return None
                found[key] = "None"
            elif found.setdefault(key, defaults.get(key, "")) != defaults.get(key) or not found[key]:
                return None
    return found


def entries_of(module: Module, node: ast.expr) -> dict[str, ast.expr] | None:
    """The entries of a dict that is written out, by name; None where it is anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        if node.args or module.bindings(node.func):
            return None
        pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]
    elif isinstance(node, ast.Dict):
        names = [k.value if isinstance(k, ast.Constant) and isinstance(k.value, str) else None for k in node.keys]
        pairs = list(zip(names, node.values))
    else:
        return None
    found = {str(key): value for key, value in pairs}
    plain = all(isinstance(key, str) and key.isidentifier() and not keywords.iskeyword(key) for key, _ in pairs)
    return found if plain and len(found) == len(pairs) else None


def _instead(module: Module, call: ast.Call, spread: ast.keyword, entries: dict[str, ast.expr]) -> rewrite.Change:
    """Entries of a dict as arguments."""
    values = {name: module.cst.expression(value) for name, value in entries.items()}
    return Replace(call, with_arguments(module.cst.call(call), spread={arguments(call).index(spread): values}))


@dataclass
class _Gathered:
    """A dict in a variable, and all that is done with it."""

    made: ast.Assign
    name: str
    entries: dict[str, ast.expr]
    """What it is made with."""
    stores: list[tuple[ast.stmt, dict[str, ast.expr]]] = field(default_factory=list)
    """Statements that put more into it."""
    reads: list[tuple[ast.Subscript, str]] = field(default_factory=list)
    """Places that read an entry."""
    spreads: list[tuple[ast.Call, ast.keyword]] = field(default_factory=list)
    """The calls that spread it."""

    @property
    def keys(self) -> set[str]:
        return {*self.entries, *(name for _, more in self.stores for name in more)}

    def keys_at(self, module: Module, call: ast.Call) -> dict[str, bool]:
        """The entries that it may have at one of several calls that spread it, and whether it surely has them."""
        found = dict.fromkeys(self.entries, True)
        for statement, more in self.stores:
            above = len(self.spreads) == 1 or module.span(statement) < module.span(call)
            for key in more if above else ():
                found[key] = found.get(key, False) or _together(module, self.made, statement)
        return found


def _gathered(project: Project, module: Module, node: ast.expr) -> _Gathered | None:
    """The dict of a name; None where not all that is done with it is seen."""
    made = module.assignment(node) if isinstance(node, ast.Name) else None
    if made is None or not isinstance(node, ast.Name):
        return None
    entries, scope = entries_of(module, made.value), module.scope(made)
    if entries is None or has_comments(module, made) or project.readers.elsewhere(module, scope, node.id):
        return None
    found = _Gathered(made, node.id, entries)
    for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
        outer = module.parent(load)
        call = module.parent(outer) if isinstance(outer, ast.keyword) and outer.arg is None else None
        if isinstance(outer, ast.keyword) and isinstance(call, ast.Call):
            found.spreads.append((call, outer))
            continue
        if isinstance(outer, ast.Subscript) and outer.value is load and isinstance(outer.ctx, ast.Load):
            key = outer.slice.value if isinstance(outer.slice, ast.Constant) else None
            if not isinstance(key, str):
                return None
            found.reads.append((outer, key))
            continue
        more = _stored(module, load, outer)
        statement = module.statement(load)
        if not more or module.scope(statement) is not module.scope(made) or has_comments(module, statement):
            return None
        found.stores.append((statement, more))
    return found if {key for _, key in found.reads} <= found.keys else None


def _stored(module: Module, load: ast.Name, outer: ast.AST | None) -> dict[str, ast.expr] | None:
    """What a statement puts into a dict: ``spec["loss"] = loss``, ``spec.update(loss=loss)``."""
    statement = module.statement(load)
    if isinstance(outer, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [outer]:
        key = outer.slice.value if isinstance(outer.slice, ast.Constant) else None
        return {key: statement.value} if isinstance(key, str) and key.isidentifier() else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(outer, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not outer:
        return None
    if outer.attr != "update" or len(call.args) > 1 or (call.args and call.keywords):
        return None
    if call.args:
        return entries_of(module, call.args[0])
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    return named if len(named) == len(call.keywords) else None


def _together(module: Module, made: ast.stmt, statement: ast.stmt) -> bool:
    """Whether a statement runs wherever the one that makes the dict does."""
    return module.parent(statement) is module.parent(made) and moves(module, made, statement, ())


def _may_move(module: Module, gathered: _Gathered, call: ast.Call) -> bool:
    """Whether the values of a dict may be written into a call instead."""
    values = list(gathered.entries.values())
    if all(_is_constant(value) for value in values):
        return True
    simple = all(isinstance(value, (ast.Constant, ast.Name, ast.Attribute)) for value in values)
    return (simple or len(gathered.spreads) == 1) and moves(module, gathered.made, call, values)


def _is_constant(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return all(isinstance(part, ast.Constant) for part in parts)


def _apart(module: Module, gathered: _Gathered, some: dict[str, str]) -> list[Change]:
    """The changes that make variables of the entries; those that `some` ways leave out begin with what they are there."""
    names, begun = {}, set()
    of_mode = all(module.resolve(call.func) == _SPEC for call, _ in gathered.spreads)
    for key in dict.fromkeys((*gathered.entries, *(key for _, more in gathered.stores for key in more))):
        known = _known(module, gathered, key)
        unsure = key in some and not (of_mode and _is_by_mode(module, gathered, key))
        if unsure and not (known == "after" and _is_bound_with(module, gathered, key)):
            known = ""
        names[key] = key if known else module.unused_name(key, gathered.made)
        begun |= {key} if known == "before" else set()
    fixed = {key: value for key, value in gathered.entries.items() if _is_fixed(gathered, key, value)}
    written = {key: module.cst.expression(fixed[key]) if key in fixed else name for key, name in names.items()}
    made = _assignments(module, {k: v for k, v in gathered.entries.items() if k not in fixed}, names)
    made += [f"{names[key]} = {some[key]}" for key in names if key in some and key not in begun]
    changes = [_lines(gathered.made, made)]
    for call, spread in gathered.spreads:
        given: dict[str, Value] = {key: written[key] for key in gathered.keys_at(module, call)}
        if SAVES in some:
            given[BY_CLOCK] = expr("600 if {name} is None else None", name=names[SAVES])
        new = with_arguments(module.cst.call(call), spread={arguments(call).index(spread): given})
        changes.append(Replace(call, new))
    for statement, more in gathered.stores:
        lines = _assignments(module, more, names)
        if lines and isinstance(statement, ast.Assign):
            changes.append(Replace(statement.targets[0], names[next(iter(more))]))
            continue
        inside = {key for read, key in gathered.reads if module.is_inside(read, statement)}
        if inside:  # one by one first, so that values stay where they are
            entries = [f"{gathered.name}[{key!r}] = {whole(module, value)}" for key, value in more.items()]
            return Change.of(module, _lines(statement, entries)) if not inside & more.keys() else []
        changes.append(_lines(statement, lines))
    return Change.of(module, *changes, *(Replace(read, written[key]) for read, key in gathered.reads))


def _is_fixed(gathered: _Gathered, key: str, value: ast.expr) -> bool:
    """Whether an entry is a literal and stays it, so that it needs no variable."""
    return isinstance(value, ast.Constant) and all(key not in more for _, more in gathered.stores)


def _is_by_mode(module: Module, gathered: _Gathered, key: str) -> bool:
    """Whether nothing but the mode decides whether a dict has an entry."""
    outer = {gathered.made, *module.ancestors(gathered.made)}
    for statement, more in gathered.stores:
        for around in module.ancestors(statement) if key in more else ():
            if around in outer:
                break
            if not isinstance(around, ast.If) or not _asks_mode(module, around.test):
                return False
    return True


def _is_bound_with(module: Module, gathered: _Gathered, key: str) -> bool:
    """Whether the variable of an entry is bound only where it is stored."""
    for statement, more in gathered.stores:
        value = more.get(key)
        if isinstance(value, ast.Name):
            bound = module.statement(module.bindings(value)[0].node)
            if not moves(module, bound, statement, ()):
                return False
    return True


def _asks_mode(module: Module, test: ast.expr) -> bool:
    """``mode == tf.estimator.ModeKeys.TRAIN``, and what is made of such."""
    if isinstance(test, ast.BoolOp):
        return all(_asks_mode(module, value) for value in test.values)
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return False
    names = [module.resolve(node) or "" for node in test.comparators]
    return all("ModeKeys." in name for name in names)


def _assignments(module: Module, entries: dict[str, ast.expr], names: dict[str, str]) -> list[str]:
    texts = ((names[key], whole(module, value)) for key, value in entries.items())
    return [f"{name} = {text}" for name, text in texts if name != text]


def _known(module: Module, gathered: _Gathered, key: str) -> str:
    """Whether an entry is never anything but the variable of its name: one that is bound before the dict, or after it."""
    values = [entries[key] for entries in (gathered.entries, *(more for _, more in gathered.stores)) if key in entries]
    first = values[0]
    if not isinstance(first, ast.Name) or any(not isinstance(v, ast.Name) or v.id != key for v in values):
        return ""
    bindings = module.bindings(first)
    node = bindings[0].node if len(bindings) == 1 else None
    scope = module.scope(first)
    if node is None or scope.lookup(key) is not scope:
        return ""
    if isinstance(node, ast.arg):
        return "before"
    statement = module.statement(node)
    if module.span(statement)[0] > module.span(gathered.made)[0]:
        return "after"
    return "before" if module.parent(statement) in [*module.ancestors(gathered.made)] else ""


def _lines(statement: ast.stmt, lines: list[str]) -> rewrite.Change:
    """Statements in the place of one."""
    return Replace(statement, rewrite.lines("\n".join(lines))) if lines else Remove(statement)
