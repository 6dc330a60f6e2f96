"""``tf = importlib.import_module("tensorflow")``: written as the import that it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.engine.rule import Rule
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Import, Replace, statements
from migrator.vocabulary.diagnostics import Diagnostic, Severity

_CALLS = re.compile(rb"import_module|__import__|importorskip|LazyLoader")
_IMPORT_MODULE = "importlib.import_module"
_SKIPS = "pytest.importorskip"
_LAZY = "LazyLoader"
_FOLLOWED = "write `import tensorflow as tf`, or the submodule as `from tensorflow import …`"


class LoadedTensorFlow(Rule):
    """Import TensorFlow by a statement instead of a call.

    ## What it does
    `tf = importlib.import_module("tensorflow")` and `tf = __import__("tensorflow")` become `import tensorflow as tf`, and
    `tf = pytest.importorskip("tensorflow")` gets this import as its next line. Other calls that import TensorFlow, such as
    those of a `LazyLoader`, by a name made at run time or for an attribute, are reported.

    ## Why
    What a name stands for that a call gives is not followed; nothing that reads it could be migrated.

    ## Example
    ```python
    tf = importlib.import_module("tensorflow")
    ```
    becomes
    ```python
    import tensorflow as tf
    ```

    ## Fix safety
    Safe: it is the same module at the same time.
    """

    code = "EST011"
    name = "loaded-tensorflow"
    clarifies = True

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each such call."""
        for call in module.nodes(ast.Call) if _CALLS.search(module.source) else ():
            kind = _kind(module, call)
            if not kind or not _means_tensorflow(module, call) or isinstance(module.parent(call), ast.Expr):
                continue
            statement, name = module.parent(call), _name(module, call)
            target = _target(kind, call)
            if target is None or name is None or not isinstance(statement, ast.Assign):
                said = f"TensorFlow that a call imports is not followed, what reads it stays as it is: {_FOLLOWED}"
                yield self.diagnostic(module, call, said)
                continue
            text = f"import {target}" if target == name else f"import {target} as {name}"
            change: Change = Import(text, instead=statement)
            if kind == _SKIPS:
                if statement not in module.tree.body:
                    said = "TensorFlow that a call imports is not followed, what reads it stays as it is"
                    yield self.diagnostic(module, call, f"{said}: add `{text}` behind it")
                    continue
                change = Replace(statement, statements("{call}\n" + text, call=module.cst.call(call)))
            message = f"{name} is {target}: imported by a statement"
            yield self.diagnostic(module, statement, message, changes=[change], severity=Severity.INFO)


def _kind(module: Module, call: ast.Call) -> str:
    """By what a call imports a module; empty if it does not."""
    function = call.func
    if isinstance(function, ast.Name) and function.id == "__import__" and not module.bindings(function):
        return "__import__"
    name = module.resolve(function) or ""
    if name in (_IMPORT_MODULE, _SKIPS):
        return name
    last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return _LAZY if last == _LAZY else ""


def _means_tensorflow(module: Module, call: ast.Call) -> bool:
    """Whether TensorFlow, or a part of it, is what a call imports, as far as this is written down."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    for value in given:
        assigned = module.assignment(value)
        for node in walk(value if assigned is None else assigned.value):
            if isinstance(node, ast.Constant) and re.match(r"tensorflow(\.|$)", str(node.value)):
                return True
    return False


def _target(kind: str, call: ast.Call) -> Optional[str]:
    """The module that a call gives, if that is written down."""
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str) or kind == _LAZY:
        return None
    if not re.fullmatch(r"tensorflow(\.[A-Za-z_]\w*)*", first.value):
        return None
    if kind != _SKIPS and (len(call.args) > 1 or call.keywords):
        return None
    return "tensorflow" if kind == "__import__" else first.value


def _name(module: Module, call: ast.Call) -> Optional[str]:
    """The name that a call's value gets, and nothing else does."""
    statement = module.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) and not module.comments_in(*module.span(statement)) else None
