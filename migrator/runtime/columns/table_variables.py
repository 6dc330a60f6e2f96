"""What TensorFlow looks up, of a weight of either Keras."""

from __future__ import annotations

from typing import Any


def tensorflow_variable(weight: Any) -> Any:
    """The variable of TensorFlow that a weight of Keras 2 is, and that one of Keras 3 has inside."""
    inner = getattr(weight, "value", None)
    return weight if inner is None or callable(inner) else inner
