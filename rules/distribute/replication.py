"""Ways to train on several devices that stand beside the strategies: refused, with what takes their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

HOROVOD = "horovod."
SYNC = "tensorflow.train.SyncReplicasOptimizer"
REPLICATE = "tensorflow.contrib.estimator.replicate_model_fn"
TOWERS = "tensorflow.contrib.estimator.TowerOptimizer"

_OF_HOROVOD = (
    "a model_fn that stays a graph cannot keep Horovod: --strategy mirrored or multi_worker has a MirroredStrategy or "
    "MultiWorkerMirroredStrategy in its place"
)
_OF_SYNC = (
    "SyncReplicasOptimizer has no place in TensorFlow 2, whose parameter servers train asynchronously: --strategy "
    "multi_worker has a MultiWorkerMirroredStrategy in its place, which trains in step"
)
_OF_TOWERS = (
    "replicate_model_fn and TowerOptimizer cut each batch up between devices: --strategy none takes it whole on one device, "
    "--strategy mirrored has a MirroredStrategy, for which each device takes a batch of its own"
)
_REFUSED = {SYNC: _OF_SYNC, REPLICATE: _OF_TOWERS, TOWERS: _OF_TOWERS}


def refuse_replication(module: Module) -> None:
    """Raises Unsupported where a module of a program trains on several devices in a way that no tier keeps."""
    for node, name in module.references():
        if name in _REFUSED:
            raise Unsupported(_REFUSED[name], node)


def refuse_horovod(module: Module) -> None:
    """Raises Unsupported where a module reads anything of Horovod."""
    for node, _ in horovod_references(module):
        raise Unsupported(_OF_HOROVOD, node)


def horovod_references(module: Module) -> Iterator[tuple[ast.expr, str]]:
    """References to what Horovod has, as wide as they are written."""
    if not any(f"{entry.target}.".startswith(HOROVOD) for entry in module.imports):
        return
    for part in walk(module.tree):
        if not isinstance(part, (ast.Name, ast.Attribute)) or not isinstance(part.ctx, ast.Load):
            continue
        if not isinstance(module.parent(part), ast.Attribute):
            name = module.resolve(part) or ""
            if name.startswith(HOROVOD):
                yield part, name
