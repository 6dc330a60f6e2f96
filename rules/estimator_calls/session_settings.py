"""Settings of sessions that a program makes for its RunConfig alone: they go with the argument."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional, Union

from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, with_arguments
from migrator.vocabulary.diagnostics import Edit

_SETTINGS = frozenset({"tensorflow.ConfigProto", "tensorflow.GPUOptions", "tensorflow.OptimizerOptions"})
_INSTEAD = {
    "intra_op_parallelism_threads": "tf.config.threading.set_intra_op_parallelism_threads",
    "inter_op_parallelism_threads": "tf.config.threading.set_inter_op_parallelism_threads",
    "allow_growth": "tf.config.experimental.set_memory_growth",
    "per_process_gpu_memory_fraction": "tf.config.set_logical_device_configuration",
    "visible_device_list": "tf.config.set_visible_devices",
    "global_jit_level": "tf.config.optimizer.set_jit",
}
"""What takes the place of a field."""
_PLACED = {
    "allow_soft_placement": ("config.set_soft_device_placement", True),
    "log_device_placement": ("debugging.set_log_device_placement", False),
}
"""Fields that have one function of TensorFlow 2 each, which may be called at any time, with its default."""
_NO_GPU = 'tf.config.set_visible_devices([], "GPU")'
_DEVICES = "tf.config.set_visible_devices, and tf.config.set_logical_device_configuration for several of one CPU"
Argument = Union[ast.expr, ast.keyword]


def drop_settings(module: Module, call: ast.Call, doomed: Sequence[Argument]) -> list[Edit]:
    """Edits that remove arguments of a RunConfig, and statements that only make the settings of sessions in them."""
    replaces = isinstance(call.func, ast.Attribute) and call.func.attr == "replace"
    if (
        replaces and isinstance(call.func, ast.Attribute) and len(doomed) == len(arguments(call))
    ):  # which is nothing now
        edits = module.cst.apply([Replace(call, module.cst.expression(call.func.value))])
    else:
        gone = [place for place, argument in enumerate(arguments(call)) if argument in doomed]
        edits = module.cst.apply([Replace(call, with_arguments(module.cst.call(call), drop=gone))]) if gone else []
    for argument in doomed:
        value = argument.value if isinstance(argument, ast.keyword) else argument
        made = makers(module, value)
        edits += _without(module, made) if made else []
    return edits


def makers(module: Module, value: ast.expr) -> list[ast.stmt]:
    """``settings = tf.ConfigProto()`` and ``settings.x.y = True``, in the block of the one read, and ``options =
    tf.GPUOptions()`` for these alone; none if there is more."""
    found = _makers(module, value) if isinstance(value, ast.Name) else []
    if found is None or not isinstance(value, (ast.Name, ast.Call)):
        return []
    for part in [statement.value for statement in found if isinstance(statement, ast.Assign)] or [value]:
        found += _parts(module, part)
    blocks = {module.parent(statement) for statement in found}
    if not found or len(blocks) != 1:
        return []
    return found if len(getattr(next(iter(blocks)), "body", ())) > len(found) else []


def _makers(module: Module, value: ast.Name) -> list[ast.stmt] | None:
    """The statements for a name; None if there is more."""
    made = module.assignment(value)
    if made is None or not _is_plain(module, made.value):
        return None
    if not isinstance(made.value, ast.Call) or module.resolve(made.value.func) != "tensorflow.ConfigProto":
        return None
    found: list[ast.stmt] = [made]
    for node in module.loads_of(value.id, module.scope(value).lookup(value.id)):
        if node is value:
            continue
        statement = module.statement(node)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            return None
        if _root(target) is not node or not _is_plain(module, statement.value):
            return None
        found.append(statement)
    return found


def _parts(module: Module, value: ast.expr) -> list[ast.stmt]:
    """The statements that make parts of settings for them alone."""
    found: list[ast.stmt] = []
    for node in walk(value) if isinstance(value, ast.Call) and module.resolve(value.func) in _SETTINGS else ():
        made = module.assignment(node) if isinstance(node, ast.Name) else None
        if made is None or not isinstance(node, ast.Name) or not isinstance(made.value, ast.Call):
            continue
        alone = module.loads_of(node.id, module.scope(node).lookup(node.id)) == [node]
        if alone and module.resolve(made.value.func) in _SETTINGS and _is_plain(module, made.value):
            found.append(made)
    return found


def taken_over(module: Module, value: ast.expr) -> str:
    """What takes the place of settings of sessions that are dropped, but for `placements`; empty if there are no others."""
    fields = _fields(module, value)
    left = {name: given for name, given in fields.items() if name not in _PLACED}
    if fields and not left:
        return ""
    told = {n: _INSTEAD.get(n) if n != "device_count" or v is None else _counted(v) for n, v in left.items()}
    texts = [f"{name}: {text}" for name, text in told.items() if text]
    return f"session_config is dropped: {'; '.join(texts) or 'set threads and devices through tf.config'}"


def placements(module: Module, value: ast.expr) -> dict[str, ast.expr]:
    """What settings of sessions say of the places of ops, by the functions of TensorFlow 2 for that: all but defaults."""
    found: dict[str, ast.expr] = {}
    for name, given in _fields(module, value).items():
        function, default = _PLACED.get(name, ("", None))
        if function and given is not None and getattr(given, "value", None) is not default:
            found[function] = given
    return found


def _fields(module: Module, value: ast.expr) -> dict[str, Optional[ast.expr]]:
    """The fields that are set, with their values."""
    gone: list[ast.AST] = [value]
    made = makers(module, value)
    assigned = module.assignment(value) if isinstance(value, ast.Name) else None
    gone += made or ([assigned.value] if assigned is not None else [])
    fields: dict[str, Optional[ast.expr]] = {}
    for node in (node for part in gone for node in walk(part)):
        if isinstance(node, ast.keyword) and node.arg is not None:
            fields[node.arg] = node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            statement = module.parent(node)
            fields[node.attr] = statement.value if isinstance(statement, ast.Assign) else None
    return fields


def _counted(value: ast.expr) -> str:
    """What takes the place of `device_count`: most often it says that there are to be no GPUs."""
    entries = dict(zip(value.keys, value.values)) if isinstance(value, ast.Dict) else {}
    counts = {key.value: count for key, count in entries.items() if isinstance(key, ast.Constant)}
    gpus = counts.get("GPU")
    none = isinstance(gpus, ast.Constant) and gpus.value == 0
    return _NO_GPU if none else _DEVICES


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _is_plain(module: Module, node: ast.expr) -> bool:
    """Whether an expression calls nothing but makers of settings."""
    return all(module.resolve(n.func) in _SETTINGS for n in walk(node) if isinstance(n, ast.Call))


def _without(module: Module, statements: list[ast.stmt]) -> list[Edit]:
    """The removal of statements; of those that are a paragraph by themselves with its comment and the empty line below it."""
    first, last = statements[0], statements[-1]
    block = getattr(module.parent(first), "body", [])
    together = first in block and block[block.index(first) :][: len(statements)] == statements
    whole = together and module.is_paragraph(first, last)
    return module.cst.apply(Remove(statement, apart=whole) for statement in statements)
