"""TOML, through the standard library where it has a reader (Python 3.11) and `tomli`, the same code, before that."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def loads(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError where it is none."""
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = reader.loads(text)
    return found
