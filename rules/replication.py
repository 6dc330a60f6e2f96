"""Ways to train on several devices that stand beside the strategies: refused, with what takes their place."""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.module import Module
from migrator.syntax import walk

_HOROVOD = (
    "Horovod trains with sessions here: remove it, and let RunConfig(train_distribute=…) have a MirroredStrategy or "
    "MultiWorkerMirroredStrategy; or move to horovod.tensorflow.keras after the migration"
)
_SYNC = (
    "SyncReplicasOptimizer has no place in TensorFlow 2: parameter servers train asynchronously; for steps in step let "
    "RunConfig(train_distribute=…) have a MultiWorkerMirroredStrategy, and use its inner optimizer"
)
_TOWERS = (
    "replicate_model_fn and TowerOptimizer copy the model themselves: remove both, and let RunConfig(train_distribute=…) "
    "have a MirroredStrategy. It takes a batch for each device, they cut one batch up"
)
_REFUSED = {
    "tensorflow.train.SyncReplicasOptimizer": _SYNC,
    "tensorflow.contrib.estimator.replicate_model_fn": _TOWERS,
    "tensorflow.contrib.estimator.TowerOptimizer": _TOWERS,
}


def refuse_replication(module: Module) -> None:
    """Raises Unsupported where a module of a program trains on several devices in a way that no tier keeps."""
    for node, name in module.references():
        if name in _REFUSED:
            raise Unsupported(_REFUSED[name], node)
    if any(f"{entry.target}.".startswith("horovod.") for entry in module.imports):
        for part in walk(module.tree):
            if isinstance(part, (ast.Name, ast.Attribute)) and (module.resolve(part) or "").startswith("horovod."):
                raise Unsupported(_HOROVOD, part)
