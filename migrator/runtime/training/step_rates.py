"""The learning rate of a step."""

from __future__ import annotations

from typing import Any


def current_rate(optimizer: Any) -> Any:
    """The scalar learning rate of the step that comes next; Keras 2 itself gives the one of the step before."""
    rate = optimizer._learning_rate
    return rate(optimizer.iterations) if callable(rate) else rate
