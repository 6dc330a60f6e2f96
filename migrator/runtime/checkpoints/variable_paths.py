"""Names of variables, in Keras 2 and 3."""

from __future__ import annotations

from typing import Any


def variable_path(variable: Any) -> str:
    """The name of a variable with the layers around it, such as ``model/dense/kernel:0``."""
    return f"{variable.path}:0" if hasattr(variable, "path") else str(variable.name)
