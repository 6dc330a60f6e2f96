"""What the class of a model and the function that makes it are called: after the model_fn, as far as that says something."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence, Set

# What says by itself that it is a model.
_MODELS = frozenset({"classifier", "regressor", "tagger", "ranker", "recommender", "forecaster"})


def names_of(
    model_fn: str,
    path: str,
    bound: Set[str],
    reserved: Set[str],
    origin: str,
    subject: Sequence[str],
    kept: bool = False,
) -> tuple[str, str]:
    """The names of the class and of the factory that take the place of a model_fn of the file `path`, which binds the names
    `bound`; `reserved` are those of other models; `kept` says that it stands where `origin` stood, and takes that name. The
    rest is as below."""
    if kept and origin not in bound | reserved:
        return origin, factory_name(model_fn, bound | reserved)
    if not origin and {class_name(model_fn, bound, "", subject), factory_name(model_fn, bound)} & reserved:
        stem = os.path.splitext(os.path.basename(path))[0]
        model_fn = f"{stem}_{model_fn.lstrip('_')}"  # another file has a model of that name
    wanted = class_name(model_fn, bound | reserved, origin, subject)
    return wanted, factory_name(model_fn, bound | reserved, origin if wanted != origin else "")


def class_name(model_fn: str, taken: Set[str], origin: str = "", subject: Sequence[str] = ()) -> str:
    """``WideModel`` for ``wide_model_fn``, ``IrisClassifier`` for ``iris_classifier``; none of `taken`.

    Where the model_fn has no name of its own, `origin` is the name of the class that it built the network with, or was a
    method of, and `subject` are words for what the program is about; ``Model`` where these say nothing, either.
    """
    words = _words(model_fn)
    if not words and origin and origin not in taken:
        return origin
    camel = _camel(words) or origin.removesuffix("Model")
    for wanted in () if camel else (*_names(subject), *(f"{_camel(subject)}Network" for _ in subject[:1])):
        if wanted not in taken:
            return wanted
    named = [name for name in _names(words) if name not in taken] if words else []
    return named[0] if named else _free(f"{camel}Model" if camel else "Model", taken, "Keras{}")


def _camel(words: Sequence[str]) -> str:
    return "".join(word[:1].upper() + word[1:] for word in words)


def _names(words: Sequence[str]) -> list[str]:
    """What a model of these words may be called, the best name first."""
    name = _camel(words)
    alone = [name] if words and words[-1].lower() in _MODELS else []
    return [*alone, f"{name}Model"] if name else []


def factory_name(model_fn: str, taken: Set[str], origin: str = "") -> str:
    """``create_wide_model`` for ``wide_model_fn``, or ``build_wide_model``; none of `taken`. `origin` as above."""
    words = _words(model_fn) or re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", origin.removesuffix("Model"))
    model = "_".join([*map(str.lower, words), "model"])
    return _free(f"create_{model}" if f"create_{model}" not in taken else f"build_{model}", taken, "{}_")


def _words(model_fn: str) -> list[str]:
    stem = re.sub(r"_?model_?fn$|_?fn$", "", model_fn.strip("_"))
    stem = re.sub(r"^(my|the|build|create|make|get)(_|$)", "", stem)
    return [word for word in re.split(r"_+", stem) if word and word != "model"]


def _free(wanted: str, taken: Set[str], pattern: str) -> str:
    while wanted in taken:
        wanted = pattern.format(wanted)
    return wanted
