"""Classes of the program that derive from `RNNCell`: they become cells that run in the loops of this package.

Such a class is a class of layers (see ../layers/layer_classes.py) with a state: its `call` gives outputs and the new state.
Where it has no `build`, what its `call` applies gets its weights by a step with zeros.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.layerclass import LayerClass
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

BASES = frozenset(
    {
        "tensorflow.nn.rnn_cell.RNNCell",
        "tensorflow.contrib.rnn.RNNCell",
        "tensorflow.contrib.rnn.LayerRNNCell",
        "tensorflow.python.ops.rnn_cell_impl.LayerRNNCell",
    }
)
STATES = frozenset({"tensorflow.nn.rnn_cell.LSTMStateTuple", "tensorflow.contrib.rnn.LSTMStateTuple"})
BASE = "OwnCell"
"""The vendored class that such a class derives from."""


def is_cell(found: LayerClass) -> bool:
    """Whether a class derives from the base of recurrent cells."""
    return any((found.module.resolve(base) or "") in BASES for base in found.node.bases)


def check_cell(found: LayerClass, project: Project) -> None:
    """Refuse a cell that is no function of its inputs and state alone. Raises Unsupported."""
    node = found.node
    if found.method("call") is None:
        raise Unsupported("a recurrent cell without a `call` of its own is not migrated yet", node)
    for name in ("__call__", "zero_state", "get_initial_state"):
        method = found.method(name)
        if method is not None:
            raise Unsupported(f"a recurrent cell with a `{name}` of its own is not migrated yet", method)
    reuse = _reuse_parameter(found)
    if reuse is None:
        return
    for module in project.modules.values():
        for use in project.uses(found.definition, module):
            call = module.parent(use)
            if isinstance(call, ast.Call) and call.func is use:
                if len(call.args) > reuse[1] or any(k.arg in (reuse[0], None) for k in call.keywords):
                    raise Unsupported("a recurrent cell is told whether it shares its variables", call)


def _reuse_parameter(found: LayerClass) -> tuple[str, int] | None:
    """The parameter of `__init__` that says whether variables are shared, and its place among the arguments of a call."""
    constructor = found.method("__init__")
    for node in walk(constructor) if constructor is not None else ():
        if isinstance(node, ast.keyword) and node.arg == "_reuse" and isinstance(node.value, ast.Name):
            names = [a.arg for a in constructor.args.args] if constructor is not None else []
            if node.value.id in names:
                return node.value.id, names.index(node.value.id) - 1
    return None


def says_nothing_of_reuse(found: LayerClass, keyword: ast.keyword) -> bool:
    """Whether ``_reuse=…`` of the constructor of the base is what `check_cell` has looked at, or none."""
    reuse = _reuse_parameter(found)
    value = keyword.value
    if keyword.arg != "_reuse":
        return False
    return (isinstance(value, ast.Name) and reuse is not None and value.id == reuse[0]) or (
        isinstance(value, ast.Constant) and not value.value
    )
