"""Write rules/symbols/endpoints.json: where every public name of `tf.compat.v1` is found in TensorFlow 2.

Run with the oldest TensorFlow that migrated code is to run on::

    python tools/build_endpoints.py rules/symbols/endpoints.json

Layout of the file, all names without the leading ``tensorflow.``:

* ``same``: names that mean the very same object in TF2;
* ``moved``: TF1 name -> name of the same object in TF2;
* ``gone``: no TF2 name at all, only ``tf.compat.v1.X``;
* ``changed``: TF2 has the name for a different object;
* ``parameters``: parameters of the names that rows of symbols.toml speak of, TF1 under ``v1``, TF2 under ``v2``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

# `estimator` has no TF2 counterpart and `compat` only repeats the tree.
SKIP = {"compat", "estimator", "version.GIT_VERSION", "version.COMPILER_VERSION"}
_CONSTANTS = (str, bytes, int, float, bool, tuple, list, dict, type(None))


def walk(module: Any, prefix: str = "", seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Public names below `module`, with their objects; submodules that repeat an ancestor are left out."""
    for attribute in sorted(dir(module)):
        name = prefix + attribute
        if attribute.startswith("_") or name in SKIP:
            continue
        try:
            value = getattr(module, attribute)
        except (AttributeError, ImportError):
            continue
        if isinstance(value, types.ModuleType):
            # Public modules are generated, or TensorBoard's; the names of others (`inspect`, `six`) are leaks.
            public = "api" in value.__name__ or value.__name__.startswith(
                ("tensorflow.compat.", "tensorboard.summary.")
            )
            if id(value) not in seen and public:
                yield from walk(value, name + ".", (*seen, id(module)))
        elif not isinstance(value, type(inspect)) and attribute not in (
            "absolute_import",
            "division",
            "print_function",
        ):
            yield name, value


def identity(value: Any) -> int:
    """Same for one object and for wrappers of one function (dispatch and deprecation decorators wrap anew)."""
    bare = inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value
    bare = getattr(bare, "_tf_decorator", None) and bare._tf_decorator.decorated_target or bare
    return id(getattr(bare, "__code__", value))


def parameters(value: Any) -> list[str] | None:
    """Parameter names in order, with ``*`` and ``**``; None for what has no signature."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(parameter.kind, "") + parameter.name for parameter in signature.parameters.values()]


def build(rows: dict[str, str]) -> dict[str, Any]:
    """Compare the two name spaces; `rows` are the TF1 and TF2 names to give parameters of."""
    new = dict(walk(tf))
    homes: dict[int, list[str]] = {}
    for name, value in new.items():
        if not isinstance(value, _CONSTANTS) and not name.startswith("raw_ops."):  # which take keywords only
            homes.setdefault(identity(value), []).append(name)
    same, gone, changed, moved = [], [], [], {}
    for name, value in walk(tf.compat.v1):
        if name in new:
            other = new[name]
            if (
                identity(other) == identity(value)
                or isinstance(value, _CONSTANTS)
                and type(other) is type(value)
                and other == value
            ):
                same.append(name)
            else:
                changed.append(name)
        elif identity(value) in homes and not isinstance(value, _CONSTANTS):
            # Deep copies of one object live in many modules; the shortest name is the one in the guides.
            moved[name] = min(homes[identity(value)], key=lambda home: (home.count("."), len(home), home))
        else:
            gone.append(name)
    table = {"tensorflow": tf.__version__, "same": same, "moved": moved, "gone": gone, "changed": changed}
    old = {name: parameters(find(tf.compat.v1, name)) for name in rows}
    young = {name: parameters(find(tf, name)) for name in rows.values()}
    table["parameters"] = {
        "v1": {name: found for name, found in old.items() if found is not None},
        "v2": {name: found for name, found in young.items() if found is not None},
    }
    return table


def find(module: Any, name: str) -> Any:
    """The object with a dotted name, or None."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def read_rows(path: str) -> dict[str, str]:
    """TF1 name -> TF2 name of every row of symbols.toml."""
    with open(path, "rb") as file:
        data = importlib.import_module("tomllib").load(file)
    rows: dict[str, str] = {}
    for group in data.pop("group"):
        rows.update(group.get("moves", {}))
        rows.update({name: name for name in group.get("names", ())})
    rows.update({name: row.get("to", name) for name, row in data.items()})
    return rows


def main(path: str) -> None:
    """Write the table, one name a line, so that a new TensorFlow shows as a readable diff."""
    table = build(read_rows(os.path.join(os.path.dirname(path), "symbols.toml")))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(table, file, indent=0, sort_keys=True, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
