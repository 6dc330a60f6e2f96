"""Entry of the child processes that run programs: ``python probe_entry.py WHAT CONFIG.json``.

WHAT is ``old`` (the program before migration, under any Python from 3.7 with TensorFlow 1.15 to 2.15), ``new`` (the one
after it) or ``convert`` (the same, until it can take over a checkpoint), both under Python from 3.9 with TensorFlow 2;
or ``warm``, with one of these instead of a configuration: an interpreter that forks them once it has TensorFlow.
Does not import `migrator`.
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
    sys.exit(load_probe(sys.argv[1]).main(sys.argv[2]))
