"""The RunConfig of `tf.contrib.learn`, which has more fields than that of `tf.estimator`, and others by position."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import arguments, bind, call_of
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr, with_arguments, with_function

from ..symbols.tensorflow_names import tensorflow_root

_CONFIG = "tensorflow.contrib.learn.RunConfig"
_SIGNATURE = (
    "master num_cores log_device_placement gpu_memory_fraction tf_random_seed save_summary_steps save_checkpoints_secs "
    "save_checkpoints_steps keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps protocol "
    "evaluation_master model_dir session_config"
).split()
_GONE = {
    "master": "it names the server of a session",
    "evaluation_master": "it names the server of a session",
    "num_cores": "sessions are gone; set threads through tf.config.threading",
    "log_device_placement": "sessions are gone; use tf.debugging.set_log_device_placement",
    "gpu_memory_fraction": "sessions are gone; set the memory of a device through tf.config",
}


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes it one of `tf.estimator`, without the fields that only this one has.

    ```python
    import tensorflow as tf

    config = tf.contrib.learn.RunConfig(num_cores=4, model_dir="model")
    ```
    becomes
    ```python
    import tensorflow as tf

    config = tf.estimator.RunConfig(model_dir="model")
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"RunConfig" not in module.source or b"contrib" not in module.source:
        return
    for node, name in module.references():
        call, root = (call_of(module, node), tensorflow_root(module, node)) if name == _CONFIG else (None, None)
        given = bind(call, _SIGNATURE) if call is not None else None
        if call is None or root is None or given is None:
            continue
        for field in given.keys() & _GONE.keys():
            drafts.remark(module, given[field], f"RunConfig({field}=…) is dropped: {_GONE[field]}")
        parts = arguments(call)
        named = {at: _SIGNATURE[at] for at, part in enumerate(parts) if isinstance(part, ast.expr)}
        names = [named.get(at) or getattr(part, "arg", None) for at, part in enumerate(parts)]
        new = with_arguments(module.cst.call(call), named=named, drop=[at for at, n in enumerate(names) if n in _GONE])
        yield Change.of(module, *root[1], Replace(call, with_function(new, expr(f"{root[0]}.estimator.RunConfig"))))
