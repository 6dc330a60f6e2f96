"""Entry of the child process that converts a checkpoint of TensorFlow 1: ``python probe_convert.py CONFIG.json``.

Runs under any Python from 3.9 with TensorFlow 2 and does not import `migrator`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any


def load_probe(name: str) -> Any:
    """Import ``probe/<name>.py`` under a private package name, whatever `sys.path` is."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe")
    spec = importlib.util.spec_from_file_location(
        "_parity_probe", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_parity_probe"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("_parity_probe." + name)


if __name__ == "__main__":
    sys.exit(load_probe("convert").main(sys.argv[1]))
