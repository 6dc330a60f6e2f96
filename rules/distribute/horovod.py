"""Horovod, where a program keeps it: its optimizer and its broadcast move to Horovod's API for Keras.

What only asks for the number of a process stays as it is, but is read from ``horovod.tensorflow.keras``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.calls import call_of, is_literal
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Import, Rename, Replace, statements

from ..symbols.tensorflow_names import whole_name
from .replication import HOROVOD, horovod_references

OPTIMIZER_SIGNATURE = (
    "optimizer name use_locking device_dense device_sparse compression sparse_as_dense backward_passes_per_step op"
)
_OLD, _NEW = "horovod.tensorflow", "horovod.tensorflow.keras"
OPTIMIZER, BROADCAST = f"{_NEW}.DistributedOptimizer", f"{_NEW}.BroadcastGlobalVariablesHook"
_IN_BOTH = frozenset(
    "init shutdown is_initialized size local_size rank local_rank Compression Average DistributedOptimizer "
    "mpi_built gloo_built nccl_built mpi_enabled gloo_enabled mpi_threads_supported".split()
)
"""What stands in both APIs and means the same."""


def keep_horovod(drafts: Drafts, paths: Iterable[str]) -> None:
    """Let a program that trains with Horovod's optimizer for sessions name the one for Keras. Raises Unsupported."""
    drafts.settle_all(paths, _changes)


def _changes(module: Module) -> Iterator[rewrite.Change]:
    found = list(horovod_references(module))
    if not found:
        return
    for node, name in found:
        short = name[len(_OLD) + 1 :].split(".")[0] if name.startswith(f"{_OLD}.") else ""
        if short not in _IN_BOTH and name != f"{_OLD}.BroadcastGlobalVariablesHook":
            text = f"{name} has no counterpart in Horovod's API for Keras that is the same"
            raise Unsupported(f"{text}; --strategy may replace Horovod", node)
        if short == "local_rank":
            yield from _device(module, node)
    yield from _imports(module, found[0][0])


def _imports(module: Module, at: ast.expr) -> Iterator[rewrite.Change]:
    """The file's import, of the other API. Raises Unsupported where it is written in another way than is known here."""
    known = {entry.name for entry in module.imports if entry.target == _OLD}
    for node in walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == _OLD and alias.asname:
                    yield Rename(alias, _NEW)
        elif isinstance(node, ast.ImportFrom) and node.module == "horovod" and not node.level:
            if [alias.name for alias in node.names] == ["tensorflow"]:
                name = node.names[0].asname or "tensorflow"
                yield Import(f"import {_NEW} as {name}", instead=node)
    if {entry.name for entry in module.imports if f"{entry.target}.".startswith(HOROVOD)} != known or not known:
        text = "Horovod is not imported as `import horovod.tensorflow as hvd`"
        raise Unsupported(f"{text}; --strategy may replace it", at)


def _device(module: Module, node: ast.expr) -> Iterator[rewrite.Change]:
    """``….visible_device_list = str(hvd.local_rank())``, which a session was told, for the whole process."""
    statement = module.statement(node)
    if isinstance(statement, ast.Assign) and any(
        isinstance(t, ast.Attribute) and t.attr == "visible_device_list" for t in statement.targets
    ):
        root, call = whole_name(module), call_of(module, node)
        if len(statement.targets) > 1 or root is None or call is None:
            raise Unsupported("which GPU a process takes is not seen", node)
        own = '{tf}.config.set_visible_devices({tf}.config.list_physical_devices("GPU")[{rank}:][:1], "GPU")'
        yield Replace(statement, statements(own, tf=root, rank=module.cst.call(call)))
    elif any(isinstance(above, ast.keyword) and above.arg == "visible_device_list" for above in module.ancestors(node)):
        raise Unsupported("which GPU a process takes is an argument of what sets a session up", node)


def _distributed(call: ast.Call, writing: Writing) -> str:
    """``hvd.DistributedOptimizer(optimizer)``, of the API for Keras, around the new optimizer."""
    given = bind(call, OPTIMIZER_SIGNATURE, "DistributedOptimizer")
    given.pop("use_locking", None)
    once = given.pop("backward_passes_per_step", None)
    if once is not None and not is_literal(once, 1):
        raise Unsupported("DistributedOptimizer(backward_passes_per_step=…) of Horovod is not migrated yet", once)
    op = given.get("op")
    if op is not None and (writing.resolve(op) or "") != f"{_NEW}.Average":
        raise Unsupported("DistributedOptimizer(op=…) of Horovod is not migrated yet", op)
    texts = [(None if name == "optimizer" else name, writing.text(value)) for name, value in given.items()]
    return format_call(writing.text(call.func), texts)


EXPRESSIONS: dict[str, Expression] = {OPTIMIZER: _distributed}
