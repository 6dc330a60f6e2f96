"""Lets a program written for TensorFlow 1 run on TensorFlow 2.15: `tensorflow` stands for `tensorflow.compat.v1`.

Only imports made by files of the program are answered so; TensorFlow itself, Keras and every other package keep the
TensorFlow they know. That is why this hooks `__import__`, which sees who imports, and not `sys.modules`.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import os
import types
from collections.abc import Iterator, Mapping
from typing import Any

from . import contrib

_MOVED_OF_KERAS = ("applications", "datasets", "preprocessing")
"""Modules of `tensorflow.python.keras` that TensorFlow 2 has in `tf.keras` alone."""


class Facade(types.ModuleType):
    """`tensorflow` as TF1 programs know it."""

    def __init__(self) -> None:
        super().__init__("tensorflow")
        import tensorflow as tf

        self.__dict__["_v1"] = tf.compat.v1
        self.__dict__["_v2"] = tf
        self.__dict__["__path__"] = list(getattr(tf, "__path__", []))
        self.__dict__["__file__"] = getattr(tf, "__file__", None)
        self.__dict__["contrib"] = contrib.Contrib()

    def __getattr__(self, name: str) -> Any:
        if name == "python":
            return importlib.import_module("tensorflow.python")
        if name in ("compat", "core"):
            return getattr(self._v2, name)
        try:
            return getattr(self._v1, name)
        except AttributeError:
            raise AttributeError(
                f"tensorflow.{name} is neither in tensorflow.compat.v1 nor in tf_slim of this interpreter; "
                "give the old side a TensorFlow 1.15 interpreter: --old-python PATH"
            ) from None


def install(root: str) -> None:
    """Switch TF2 behaviour off and answer imports of files below `root` with the facade."""
    import tensorflow as tf

    tf.compat.v1.disable_v2_behavior()
    if not hasattr(tf.keras.layers.Layer, "apply"):  # layers of TensorFlow 1 have it
        tf.keras.layers.Layer.apply = lambda layer, *args, **kwargs: layer(*args, **kwargs)
    facade = Facade()
    original = builtins.__import__
    root = os.path.realpath(root) + os.sep

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level or not (name == "tensorflow" or name.startswith("tensorflow.")) or not _below(globals, root):
            return original(name, globals, locals, fromlist, level)
        if name == "tensorflow.python.data" and fromlist:  # its datasets are those of the behaviour at import time
            return facade.data
        parts = name.split(".")[1:]
        if fromlist and parts[:2] == ["python", "keras"] and parts[2:3] and parts[2] in _MOVED_OF_KERAS:
            parts = parts[1:]
        if parts and parts[0] in ("python", "core", "compat"):
            module = original(name, globals, locals, fromlist, level)
            return module if fromlist else facade
        target: Any = facade
        for part in parts:
            target = getattr(target, part)
        if fromlist:
            for item in fromlist:
                if item != "*" and not hasattr(target, item):
                    getattr(target, item)  # raises the error that says what to do
        return target if fromlist else facade

    builtins.__import__ = import_


def _below(globals: Any, root: str) -> bool:
    file = (globals or {}).get("__file__")
    return isinstance(file, str) and os.path.realpath(file).startswith(root)


def written_for_v1(root: str, start: str = "") -> bool:
    """Whether a program below `root` uses, through a plain `import tensorflow`, names that only TensorFlow 1 has.

    `start` is the file that starts it, or the name of its module: other programs of the folder say something of it only where
    it has no plain import itself.
    """
    import tensorflow as tf

    files = _files_of(root, start)
    names = [name for path in files for name in _tensorflow_names(path)]
    names = names or [name for path in _python_files(root) for name in _tensorflow_names(path)]
    return any(
        name.startswith("contrib") or (not _has(tf, name) and _has(tf.compat.v1, name)) for name in dict.fromkeys(names)
    )


def _has(module: Any, name: str) -> bool:
    for part in name.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
        if isinstance(module, type):  # members of a class are no evidence
            return True
    return True


def _files_of(root: str, start: str) -> list[str]:
    """The files of a program: those that it imports by names, wherever they stand; all where it finds others by texts."""
    files = list(_python_files(root))
    names = {path: tuple(os.path.relpath(path, root)[:-3].split(os.sep)) for path in files}
    found: dict[str, None] = {}
    waiting = _named(names, start)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        imported = _imports(path)
        if imported is None:
            return files
        waiting += (other for name in imported for other in _named(names, name))
    return list(found) or files


def _named(names: Mapping[str, tuple[str, ...]], start: str) -> list[str]:
    """The files that a path or the name of a module may mean: ``b`` and ``a.b`` may both be ``a/b.py``."""
    if os.path.sep in start or start.endswith(".py"):
        return [path for path in names if os.path.realpath(path) == os.path.realpath(start)]
    parts = tuple(start.split("."))
    whole = (parts, (*parts, "__init__"), (*parts, "__main__"))
    return [path for path, own in names.items() if start and any(own[-len(each) :] == each for each in whole)]


_trees: dict[str, ast.AST] = {}


def _tree(path: str) -> ast.AST:
    """What a file says, which is read once; nothing where it does not parse."""
    if path not in _trees:
        try:
            with open(path, "rb") as file:
                _trees[path] = ast.parse(file.read())
        except (SyntaxError, ValueError):
            _trees[path] = ast.Pass()
    return _trees[path]


def _imports(path: str) -> list[str] | None:
    """The names that a file imports, as modules or of them; None where texts say what it imports."""
    found: list[str] = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            head = f"{node.module}." if node.module else ""
            found += [node.module or "", *(head + alias.name for alias in node.names)]
        elif {getattr(node, "id", ""), getattr(node, "attr", "")} & {"__import__", "import_module"}:
            return None
    return found


def _python_files(root: str) -> Iterator[str]:
    for folder, _, files in os.walk(root):
        for file in files:
            if file.endswith(".py"):
                yield os.path.join(folder, file)


def _tensorflow_names(path: str) -> Iterator[str]:
    """Dotted names used through `import tensorflow [as x]` or `from tensorflow import x`, without the root."""
    tree, aliases = _tree(path), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "tensorflow" or (alias.name.startswith("tensorflow.contrib") and not alias.asname):
                    aliases.add(alias.asname or "tensorflow")
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module.split(".")[:2] == ["tensorflow", "contrib"]:
                yield "contrib"
            elif node.module == "tensorflow":
                for alias in node.names:
                    yield alias.name
    for node in ast.walk(tree):
        parts: list[str] = []
        current: Any = node
        while isinstance(current, ast.Attribute):
            parts.insert(0, current.attr)
            current = current.value
        if parts and isinstance(current, ast.Name) and current.id in aliases and parts[0] not in ("compat", "python"):
            yield ".".join(parts)
