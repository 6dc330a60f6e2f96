"""Names of variables, in Keras 2 and 3."""

from __future__ import annotations

from typing import Any


def variable_path(variable: Any) -> str:
    """The name of a variable with the layers around it, such as ``model/dense/kernel:0``; Keras 3 gives no ``:0``."""
    return str(getattr(variable, "path", variable.name))
