"""Modules of `migrator/runtime`, from their files: the interpreter of a program need not have `migrator` installed."""

from __future__ import annotations

import functools
import glob
import importlib.util
import os
from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "runtime")


@functools.cache
def runtime(name: str) -> Any:
    """The module `name`, which must not import others of its package."""
    (file,) = glob.glob(os.path.join(_FOLDER, "**", name + ".py"), recursive=True)
    spec = importlib.util.spec_from_file_location("_parity_runtime_" + name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
