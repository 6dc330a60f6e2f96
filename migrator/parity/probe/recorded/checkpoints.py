"""The steps at which a program writes checkpoints of the kind `model.ckpt-<step>`."""

from __future__ import annotations

import glob
import importlib
import os
import re
from typing import Any

from . import store

_MODULES = ("tensorflow.python.checkpoint.checkpoint_management", "tensorflow.python.training.checkpoint_management")
_UPDATE = "update_checkpoint_state_internal"


def watch(writer: store.Writer, sandbox: str) -> None:
    """Record every checkpoint, with those that are kept: savers of graphs and managers of objects write one list of them.

    `place` is its folder as seen from `sandbox`, of which `tmp` holds what is temporary.
    """
    for name in _MODULES:
        try:
            module: Any = importlib.import_module(name)
        except ImportError:  # it has moved between versions
            continue
        original = getattr(module, _UPDATE)

        def update(
            save_dir: Any, model_checkpoint_path: Any, *args: Any, original: Any = original, **named: Any
        ) -> None:
            kept = list(named.get("all_model_checkpoint_paths", args[0] if args else None) or ())
            original(save_dir, model_checkpoint_path, *args, **named)
            step = _step(model_checkpoint_path)
            if step is not None:
                if model_checkpoint_path not in kept:  # savers that keep all have no list of them
                    kept = glob.glob(os.path.join(glob.escape(os.fspath(save_dir)), "*.index"))
                steps = [_step(path) for path in kept]
                folder = os.path.realpath(save_dir)
                place = os.path.relpath(folder, os.path.realpath(sandbox))
                writer.event("checkpoint", folder=folder, place=place, step=step, kept=steps)

        setattr(module, _UPDATE, update)
        return


def _step(path: Any) -> int | None:
    found = re.search(r"-(\d+)(?:\.index)?$", path.decode() if isinstance(path, bytes) else str(path))
    return int(found[1]) if found else None
