"""Names that TensorFlow 2 does not have and that no other rule knows: each is told, with all its lines."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Diagnostic

from ..program.library import becomes_string
from .symbol_rows import endpoints, find_row

_PREFIXES = ("compat.v1.", "compat.v2.", "_api.v1.", "_api.v2.")
_ASKED = frozenset({"hasattr", "__version__", "VERSION"})


class AbsentNames(Rule):
    """Tell of names that TensorFlow 2 does not have.

    ## What it does
    Reports, once for each file, every name that only TensorFlow 1 has and that no other rule knows a successor of; it changes
    nothing. Of Estimator programs that are left alone only EST100 tells.

    ## Why
    The line stops with an AttributeError or an ImportError, perhaps late.

    ## Example
    ```python
    rotated = tf.contrib.image.rotate(images, 0.1)
    ```
    is reported, as TensorFlow 2 has no `tf.contrib`.

    ## Fix safety
    There is no fix.
    """

    code = "EST010"
    name = "absent-names"

    @classmethod
    def outdates(cls, name: str) -> bool:
        """Whether TensorFlow 2 lacks it."""
        return lacks(name)

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each such name, at its first place."""
        places: dict[str, list[ast.expr]] = {}
        for node, name in module.references():
            spelled = sorted(module.raw_names(node))
            known = find_row(name.partition(".")[2]) is not None
            if not spelled or known or becomes_string(module, node, name):
                continue
            if all(map(lacks, spelled)) and not _is_guarded(module, node):
                places.setdefault(spelled[0], []).append(node)
        for name, nodes in places.items():
            lines = sorted({module.location(node).line for node in nodes})
            more = f", also in line{'s' * (len(lines) > 2)} {', '.join(map(str, lines[1:]))}" if lines[1:] else ""
            yield self.diagnostic(module, nodes[0], f"{_absent(name)}{more}")


@functools.lru_cache(maxsize=8192)
def lacks(name: str) -> bool:
    """Whether TensorFlow 2.21 with tf_keras has no such name; `name` as the imports of a file spell it."""
    table = endpoints()
    root, _, short = name.partition(".")
    if root != "tensorflow":
        return root == "tensorflow_estimator"
    if short.startswith("python.") or not short:  # private, or the package itself
        return short.startswith("python.estimator")
    old = short.startswith("compat.v1.")
    for prefix in _PREFIXES:
        short = short[len(prefix) :] if short.startswith(prefix) else short
    parts = short.split(".")
    if parts[0] in ("estimator", "contrib") or short.startswith("keras.estimator"):
        return True
    if parts[0] in ("app", "flags", "logging", "gfile"):
        return not old
    for stop in range(len(parts), 0, -1):  # the longest part that is known; what follows is a member of it
        known = ".".join(parts[:stop])
        if known in table.same or known in table.changed:
            return False
        if known in table.gone or known in table.moved:
            return not old
    return False


def _absent(name: str) -> str:
    """What is said of a name that TensorFlow 2 lacks."""
    short = re.sub(r"^tensorflow\.(compat\.v1\.)?", "", name)
    if short.startswith("contrib."):
        return f"TensorFlow 2 has no tf.contrib, of which tf.{short} is"
    gone, parts = endpoints().gone, short.split(".")
    if any(".".join(parts[:stop]) in gone for stop in range(1, len(parts) + 1)):
        return f"TensorFlow 2 has no tf.{short}; tf.compat.v1.{short} is for graphs of TensorFlow 1"
    return f"TensorFlow 2 has no tf.{short}"


def _is_guarded(module: Module, node: ast.AST) -> bool:
    """Whether code asks before if TensorFlow has a name, or goes on where it does not."""
    inner: ast.AST = node
    for outer in module.ancestors(node):
        if isinstance(outer, ast.Try) and inner in outer.body:
            return True
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
            names = (getattr(part, "id", getattr(part, "attr", "")) for part in walk(outer.test))
            if not _ASKED.isdisjoint(names):
                return True
        inner = outer
    return False
