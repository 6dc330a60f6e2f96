"""What the class of a helper is called, and the layer that is made of it."""

from __future__ import annotations

import re
from collections.abc import Collection

_VERBS = re.compile(r"^_*(build|create|make|get|construct|define|add|apply|compute|model)_+(?=[a-z])")


def stem(name: str) -> str:
    """``build_deep_part`` and ``_deep_part`` without the verb and the underscore."""
    return _VERBS.sub("", name).strip("_") or name


def class_name(function: str, taken: Collection[str]) -> str:
    """``DeepPart`` of ``build_deep_part``, or something like it that is not `taken`."""
    name = "".join(word[:1].upper() + word[1:] for word in stem(function).split("_") if word) or "Part"
    if name == "Model" and name in taken:
        name = "Network"
    while name in taken:
        name += "Layer"
    return name
