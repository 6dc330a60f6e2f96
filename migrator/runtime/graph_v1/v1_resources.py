"""Says of a `model_fn` that its variables were resources, as those of TensorFlow 2 are."""

from __future__ import annotations

import functools
from typing import Any, Callable


def with_resources(model_fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a `model_fn` for a `GraphModel`: what it has read of a variable stays as it is when the variable changes."""

    @functools.wraps(model_fn)
    def marked(*args: Any, **named: Any) -> Any:
        return model_fn(*args, **named)

    marked.resources = True  # type: ignore[attr-defined]
    return marked
