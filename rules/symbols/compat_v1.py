"""`import tensorflow.compat.v1 as tf` becomes `import tensorflow as tf`, with every name of the file looked at."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Optional, Union

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Import, Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Remove, Replace, expr, with_arguments
from migrator.rewrite import Import as NewImport
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .absl_modules import absl_changes, is_absl, short_name
from .kept_names import may_stay
from .symbol_rows import endpoints, find_row, rows
from .symbol_table import rewrite_row
from .tensorflow_names import PLAIN, VERSION_1, root_name

# Families that stand for a TensorFlow 1 program as a whole: with them the file is not ready for the plain import.
_FAMILIES = (
    "estimator", "contrib", "layers", "losses", "metrics", "summary", "train", "nn.rnn_cell", "nn.dynamic_rnn",
    "nn.static_rnn", "nn.bidirectional_dynamic_rnn", "nn.raw_rnn", "saved_model", "initializers.global_variables",
    "initializers.tables_initializer", "keras.estimator", "tpu", "distributions", "profiler", "graph_util",
)  # fmt: skip
_NAMES = frozenset(
    (
        "AUTO_REUSE", "Graph", "GraphKeys", "InteractiveSession", "Session", "Variable", "VariableScope",
        "add_to_collection", "add_to_collections", "all_variables", "assign", "assign_add", "assign_sub",
        "create_partitioned_variables", "data.Iterator", "feature_column.input_layer", "feature_column.linear_model",
        "feature_column.shared_embedding_columns", "get_collection", "get_collection_ref",
        "get_local_variable", "get_variable", "get_variable_scope", "global_variables", "gradients", "local_variables",
        "make_template", "model_variables", "moving_average_variables",
        "trainable_variables", "variable_op_scope", "variable_scope",
        "scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min", "scatter_max", "scatter_update",
        "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "batch_scatter_update",
    )
)  # fmt: skip
_GRAPH_METHODS = frozenset({"make_one_shot_iterator", "make_initializable_iterator", "output_shapes", "output_types"})
SWITCHES = frozenset(
    {
        "disable_v2_behavior", "disable_eager_execution", "enable_eager_execution", "enable_v2_behavior",
        "enable_resource_variables", "disable_resource_variables", "disable_control_flow_v2",
        "enable_control_flow_v2", "disable_tensor_equality", "enable_v2_tensorshape",
    }
)  # fmt: skip


class CompatImport(Rule):
    """Replace the import of `tensorflow.compat.v1` by that of TensorFlow itself.

    ## What it does
    Once a file has no Estimator and no graph-mode name left, `import tensorflow.compat.v1 as tf` becomes
    `import tensorflow as tf`. Names that mean something else in TensorFlow 2 are renamed or prefixed in the same step, and
    `tf.disable_v2_behavior()` and its relatives go.

    ## Why
    With the old import every Keras layer, dataset and file function still is the TensorFlow 1 one.

    ## Example
    ```python
    import tensorflow.compat.v1 as tf
    x = tf.to_float(tf.log(x))
    ```
    becomes
    ```python
    import tensorflow as tf
    x = tf.cast(tf.math.log(x), tf.float32)
    ```

    ## Fix safety
    Safe: all names of the file change together or none does, and what has no equal keeps `tf.compat.v1.`.
    """

    code = "EST005"
    name = "compat-import"
    needs_tensorflow_2 = True

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each way in which the file imports compat.v1, plus one for stray switches."""
        yield from rename_edits(module, self)


@dataclass
class _Plan:
    """All that changes for one alias of compat.v1."""

    changes: list[Change] = field(default_factory=list)
    carried: bool = True
    """Whether every call could be carried over."""


def rename_edits(
    module: Module, rule: Optional[Rule] = None, excused: Callable[[ast.expr], bool] = lambda node: False
) -> list[Diagnostic]:
    """Diagnostics that turn imports of ``tensorflow.compat.v1`` into plain ones; each fix covers all names of an import.

    Where names stand in the way there is one diagnostic of severity INFO without a fix, that counts them. `excused` are
    references that somebody else rewrites in the same fix.
    """
    rule = rule or CompatImport()
    found: list[Diagnostic] = []
    imports = [entry for entry in module.imports if entry.target == VERSION_1 and entry.name != "*"]
    for name in dict.fromkeys(entry.name for entry in imports):
        entries = [entry for entry in imports if entry.name == name]
        result = _plan(module, name, entries, excused)
        where = entries[0].statement
        if isinstance(result, str):
            message = f"{name} stays tensorflow.compat.v1: {result}"
            found.append(rule.diagnostic(module, where, message, severity=Severity.INFO))
        else:
            message = f"import tensorflow instead of tensorflow.compat.v1 as {name}"
            leaves = () if result.carried and _is_all(module, entries) else None
            found.append(
                rule.diagnostic(
                    module,
                    where,
                    message,
                    changes=result.changes,
                    severity=Severity.INFO,
                    leaves=leaves,
                )
            )
    if not imports:
        found += _stray_switches(module, rule)
    return found


@functools.lru_cache(maxsize=8192)
def is_legacy(short: str) -> bool:
    """Whether a name (without ``tensorflow.``) belongs to graph-mode or Estimator code."""
    row = find_row(short)
    if short in _NAMES or row is not None and row[0].kind == "graph":
        return True
    if _listed(short, endpoints().same) or _listed(short, frozenset(endpoints().moved)):
        return False
    if row is not None and row[0].kind == "compat":
        return False
    return any(short == family or short.startswith(family + ".") for family in _FAMILIES) or _listed(short, _NAMES)


def _listed(short: str, names: frozenset[str]) -> bool:
    """Whether the name, or one that it is a member of, is listed."""
    while True:
        if short in names:
            return True
        short, dot, _ = short.rpartition(".")
        if not dot:
            return False


def _plan(module: Module, name: str, entries: list[Import], excused: Callable[[ast.expr], bool]) -> Union[_Plan, str]:
    """What changes for one alias of compat.v1, or why nothing does."""
    holders = {entry.scope for entry in entries}
    for holder in holders:
        if {binding.target for binding in holder.bindings[name]} != {VERSION_1}:
            return "the name is bound to something else as well"
    if any(len(_names(entry.statement)) > 1 for entry in entries):
        return "its import statement binds several names"
    if name in _exported(module):
        return "__all__ lists it"
    methods: set[str] = set()
    if any(method in module.text for method in _GRAPH_METHODS):
        graph = [n for n in module.analysis.parents if isinstance(n, ast.Attribute) and n.attr in _GRAPH_METHODS]
        methods = {node.attr for node in graph if not excused(node)}
    if methods:
        return f"`.{sorted(methods)[0]}` exists only in TensorFlow 1"
    root, plain_exists = _plain_name(module, name, entries)
    if root is None:
        return "the file has no single name for plain TensorFlow"
    references = [
        (node, full)
        for node, full in module.references()
        if VERSION_1 in {raw[: len(VERSION_1)] for raw in module.raw_names(root_name(node))}
    ]
    legacy = {node for node, full in references if is_legacy(full[len("tensorflow.") :]) and excused(node)}
    references = [(node, full) for node, full in references if node not in legacy]
    problem = _obstacle(module, name, references)
    if problem:
        return problem
    plan = _Plan()
    for node, full in references:
        if not _direct(module, node):
            continue
        short = full[len("tensorflow.") :]
        if short in SWITCHES:
            plan.changes.append(Remove(module.statement(node)))
            continue
        absl = is_absl(full)
        changes = absl_changes(module, node, short_name(full), root) if absl else _reference(module, node, full, root)
        plan.carried = plan.carried and changes is not None
        # An argument that another call loses takes the names in it along.
        plan.changes += (
            replace(change, optional=True) if isinstance(change, Replace) else change
            for change in ([_compat(node, short, root)] if changes is None else changes)
        )
    for entry in entries:
        alias = "" if root == "tensorflow" else f" as {root}"
        plain = f"import tensorflow{alias}"
        plan.changes.append(Remove(entry.statement) if plain_exists else NewImport(plain, instead=entry.statement))
    return plan


def _is_all(module: Module, entries: list[Import]) -> bool:
    """Whether all that the file has of TensorFlow starts at these imports, under names that no rule looks at twice.

    An alias of a member may be unused afterwards.
    """
    if any("tensorflow" in entry.target and entry not in entries for entry in module.imports):
        return False
    for node, full in module.references():
        if not full.startswith("tensorflow."):
            continue
        if may_stay(full[len("tensorflow.") :]):  # and then another rule says why
            return False
        if is_absl(full):  # absl is no concern of ours, by whatever name
            continue
        if not _direct(module, node) or isinstance(module.parent(node), (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            return False
        found = find_row(full[len("tensorflow.") :])
        if found is not None and not found[0].plain and (found[0].kind != "rename" or find_row(found[0].to)):
            return False
    return True


def _names(statement: ast.stmt) -> list[ast.alias]:
    return statement.names if isinstance(statement, (ast.Import, ast.ImportFrom)) else []


def _plain_name(module: Module, name: str, entries: list[Import]) -> tuple[Optional[str], bool]:
    """Name of plain TensorFlow after the change, and whether the file imports it already."""
    plain = [e for e in module.imports if e.target in PLAIN and e.name != "*" and e.top_level]
    names = {entry.name for entry in plain}
    if not names:
        return name, False
    if len(names) > 1 or not all(entry.top_level for entry in entries):
        return None, True
    other = names.pop()
    # The plain name must mean TensorFlow everywhere, or a reference could move under a parameter of that name.
    shadowed = any(
        other in scope.bindings and scope is not module.analysis.root for scope in module.analysis.scope_of.values()
    )
    return (None if shadowed else other), True


def _obstacle(module: Module, name: str, references: list[tuple[ast.expr, str]]) -> str:
    """Why some reference cannot take part, or an empty text."""
    blocked = []
    for node, full in references:
        short = full[len("tensorflow.") :]
        if not short or full == "tensorflow":
            return f"`{name}` is passed on as a whole (line {node.lineno})"
        if short in SWITCHES:
            statement = module.statement(node)
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
                return f"line {node.lineno} uses tf.{short} in an expression"
        elif is_legacy(short):
            blocked.append((node, short))
        elif is_absl(full):
            continue
        elif not _direct(module, node) and not _listed(short, endpoints().same):
            return f"line {node.lineno} uses tf.{short} through another name"
        elif not (_known(short) or _is_module_alias(module, node, short) or _is_activation(module, node, short)):
            return f"line {node.lineno} uses tf.{short}, which is not known"
    if blocked:
        first, short = blocked[0]
        more = f" and {len(blocked) - 1} more" if len(blocked) > 1 else ""
        return f"line {first.lineno} uses tf.{short}{more}, which TensorFlow 2 does not have"
    return ""


@functools.lru_cache(maxsize=8192)
def _known(short: str) -> bool:
    table = endpoints()
    if short.startswith("distribute.experimental.partitioners."):  # TensorFlow 2 only, written by the partitioner rule
        return True
    return find_row(short) is not None or any(
        _listed(short, names) for names in (table.same, table.gone, table.changed, frozenset(rows()))
    )


def _direct(module: Module, node: ast.expr) -> bool:
    """Whether the reference starts at the import itself, not at an alias of some member."""
    return module.raw_names(root_name(node)) == {VERSION_1}


def _is_module_alias(module: Module, node: ast.expr, short: str) -> bool:
    """``keras = tf.keras``: fine, as each use through the alias is looked at too."""
    parent = module.parent(node)
    prefix = short + "."
    return isinstance(parent, ast.Assign) and any(name.startswith(prefix) for name in endpoints().same)


def _is_activation(module: Module, node: ast.expr, short: str) -> bool:
    """``getattr(tf.nn, name)``, which asks for an activation; those are the same in TensorFlow 2."""
    call = module.parent(node)
    getter = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "getattr"
    if short != "nn" or not getter or "getattr" in module.bound_names:
        return False
    assert isinstance(call, ast.Call)
    name = call.args[1] if len(call.args) > 1 and call.args[0] is node else None
    return name is not None and (not isinstance(name, ast.Constant) or _listed(f"nn.{name.value!s}", endpoints().same))


def _reference(module: Module, node: ast.expr, full: str, root: str) -> Optional[list[Change]]:
    """None for a call that cannot be carried over: a rule has a remark on what then stays in compat.v1."""
    short = full[len("tensorflow.") :]
    table = endpoints()
    if any(".compat.v2." in name for name in module.raw_names(node)):
        return _respell(module, node, root)
    if short == "nn.softmax_cross_entropy_with_logits":
        return _stop_gradient(module, node, root)
    found = find_row(short)
    if found is not None and (not found[1] or found[0].plain):
        row, levels = found
        target = node
        for _ in range(levels):
            assert isinstance(target, ast.Attribute)
            target = target.value
        if row.neutral:
            return _respell(module, node, root)
        if row.kind in ("compat", "check"):
            return [_compat(node, short, root)]
        rewrite = rewrite_row(module, target, row, root)
        if rewrite is None:
            return _respell(module, node, root)
        return list(rewrite.changes) or None
    if _listed(short, table.changed) or _listed(short, table.gone):
        return [_compat(node, short, root)]
    return _respell(module, node, root)


def _compat(node: ast.expr, short: str, root: str) -> Change:
    return Replace(node, f"{root}.compat.v1.{short}")


def _respell(module: Module, node: ast.expr, root: str) -> list[Change]:
    """Only the name at the head changes, and only if plain TensorFlow has another one."""
    first = root_name(node)
    if any(".compat.v2." in name for name in module.raw_names(node)):
        return [Replace(node, root + (module.resolve(node) or "")[len("tensorflow") :])]
    return [] if first.id == root else [Replace(first, root)]


def _stop_gradient(module: Module, node: ast.expr, root: str) -> list[Change]:
    """TF1 sends no gradient into labels; TF2 does unless told otherwise."""
    call = call_of(module, node)
    bound = bind(call, ("_sentinel", "labels", "logits", "dim", "name", "axis")) if call is not None else None
    if call is None or bound is None or "labels" not in bound or call.args:
        return [_compat(node, "nn.softmax_cross_entropy_with_logits", root)]
    changes, labels = _respell(module, node, root), bound["labels"]
    if "dim" in bound:
        changes.append(Replace(call, with_arguments(module.cst.call(call), rename={"dim": "axis"})))
    if module.resolve(getattr(labels, "func", labels)) != "tensorflow.stop_gradient":
        wrapped = expr("{tf}.stop_gradient({labels})", tf=root, labels=module.cst.expression(labels))
        changes.append(Replace(labels, wrapped))
    return changes


def _exported(module: Module) -> set[str]:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return {c.value for c in walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return set()


def _stray_switches(module: Module, rule: Rule) -> Iterator[Diagnostic]:
    """``tf.enable_eager_execution()`` and the like, in a file that needs none of them any more."""
    calls = []
    for node, full in module.references():
        short = full[len("tensorflow.") :]
        if not full.startswith("tensorflow."):
            continue
        if short in SWITCHES:
            statement = module.statement(node)
            if isinstance(statement, ast.Expr) and call_of(module, node) is statement.value:
                calls.append((node, short, statement))
        elif is_legacy(short):
            return
    for node, short, statement in calls:
        message = f"tf.{short}() has nothing left to switch in this file"
        yield rule.diagnostic(module, node, message, changes=[Remove(statement)], severity=Severity.INFO)
