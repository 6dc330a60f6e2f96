"""What the class of a model and the function that makes it are called: after the model_fn, as far as that says something."""

from __future__ import annotations

import re
from collections.abc import Set


def class_name(model_fn: str, taken: Set[str], origin: str = "") -> str:
    """``WideModel`` for ``wide_model_fn``, ``Model`` for ``my_model_fn``; none of `taken`. Where the model_fn has no name of
    its own, `origin` is the name of the class that it built the network with, or was a method of."""
    camel = "".join(word[:1].upper() + word[1:] for word in _words(model_fn))
    if not camel and origin and origin not in taken:
        return origin
    camel = camel or origin.removesuffix("Model")
    return _free(f"{camel}Model" if camel else "Model", taken, "Keras{}")


def factory_name(model_fn: str, taken: Set[str], origin: str = "") -> str:
    """``create_wide_model`` for ``wide_model_fn``, or ``build_wide_model``; none of `taken`. `origin` as above."""
    words = _words(model_fn) or re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", origin.removesuffix("Model"))
    model = "_".join([*map(str.lower, words), "model"])
    return _free(f"create_{model}" if f"create_{model}" not in taken else f"build_{model}", taken, "{}_")


def _words(model_fn: str) -> list[str]:
    stem = re.sub(r"_?model_?fn$|_?fn$", "", model_fn.strip("_"))
    stem = re.sub(r"^(my|the|build|create|make|get)_?$", "", stem)
    return [word for word in re.split(r"_+", stem) if word and word != "model"]


def _free(wanted: str, taken: Set[str], pattern: str) -> str:
    while wanted in taken:
        wanted = pattern.format(wanted)
    return wanted
