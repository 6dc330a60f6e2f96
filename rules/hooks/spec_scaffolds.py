"""The Scaffold of an EstimatorSpec whose model_fn becomes layers: what a Keras model does anyway, and what is kept."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Resolve, Value, bind, is_none

from ..bridge.graph_specs import SAVER, SAVER_SIGNATURE, SCAFFOLD_SIGNATURE

_TABLES = frozenset({"tensorflow.tables_initializer", "tensorflow.initialize_all_tables"})
_LOCAL = frozenset({"tensorflow.local_variables_initializer", "tensorflow.initialize_local_variables"})
_GLOBAL = frozenset({"tensorflow.global_variables_initializer", "tensorflow.initialize_all_variables"})
# What each argument may be: operations that a session runs of itself.
_DEFAULTS = {
    "init_op": _GLOBAL | {"tensorflow.group"},
    "local_init_op": _LOCAL | _TABLES | {"tensorflow.group"},
    "summary_op": frozenset({"tensorflow.summary.merge_all"}),
}
_ALL_VARIABLES = frozenset({"tensorflow.global_variables", "tensorflow.all_variables"})
# Arguments of a Saver that say how files are written.
_WRITING = frozenset("reshape sharded name defer_build allow_empty pad_step_number save_relative_paths".split())
Follow = Callable[[ast.expr], ast.expr]


def scaffold(node: ast.expr, resolve: Resolve, follow: Follow) -> dict[str, Value]:
    """Fields of the RunConfig that a Scaffold of a training sets. Raises Unsupported where it does more."""
    if not isinstance(node, ast.Call) or resolve(node.func) != "tensorflow.train.Scaffold":
        raise Unsupported("the Scaffold of an EstimatorSpec is not seen", node)
    fields: dict[str, Value] = {}
    for name, value in bind(node, SCAFFOLD_SIGNATURE, "Scaffold").items():
        made = follow(value)
        if is_none(made):
            continue
        if name == "saver":
            fields = _saver(made, resolve, follow)
        elif name not in _DEFAULTS or not _is_default(made, _DEFAULTS[name], resolve, follow):
            raise Unsupported(f"`{name}` of a Scaffold works on the graph", value)
    return fields


def _is_default(node: ast.expr, names: frozenset[str], resolve: Resolve, follow: Follow) -> bool:
    """Whether a value is one of the operations, or a group of them."""
    if not isinstance(node, ast.Call) or resolve(node.func) not in names:
        return False
    if resolve(node.func) == "tensorflow.group":
        return not node.keywords and all(_is_default(follow(part), names, resolve, follow) for part in node.args)
    return not node.args and not node.keywords


def _saver(node: ast.expr, resolve: Resolve, follow: Follow) -> dict[str, Value]:
    """How many checkpoints a Saver keeps."""
    if not isinstance(node, ast.Call) or resolve(node.func) != SAVER:
        raise Unsupported("the Saver of a Scaffold is not seen", node)
    given = bind(node, SAVER_SIGNATURE, "Saver")
    held = follow(given["var_list"]) if "var_list" in given else None
    every = isinstance(held, ast.Call) and resolve(held.func) in _ALL_VARIABLES and not (held.args or held.keywords)
    if not is_none(held) and not every:
        raise Unsupported("a Scaffold whose Saver holds some variables only works on the graph", given["var_list"])
    hours, most = given.pop("keep_checkpoint_every_n_hours", None), given.pop("max_to_keep", None)
    for name, value in given.items():
        if name != "var_list" and name not in _WRITING and not is_none(value):
            raise Unsupported(f"`{name}` of a Saver is not migrated yet", value)
    fields: dict[str, Value] = {"keep_checkpoint_max": "5" if most is None else most}
    if hours is not None:
        fields["keep_checkpoint_every_n_hours"] = hours
    return fields
