"""What a text of Python 2 does not say by itself: where Python 3 may compute something else, each with its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.python2.divisions import doubtful
from migrator.resolve.symbols import dotted
from migrator.vocabulary.conversions import Beside
from migrator.vocabulary.diagnostics import Severity


@dataclass(frozen=True)
class Doubt:
    """Something to look at."""

    node: ast.AST
    message: str
    severity: Severity = Severity.INFO


@dataclass(frozen=True)
class Asked:
    """What is known of a file beside its text."""

    divides: bool = False
    """Whether `/` was that of Python 3 already."""
    beside: Beside = Beside()


_DIVISION = (
    "`/` of two integers was whole in Python 2: if both may be integers, or tensors or arrays of them, write `//`"
)
_ORDER = "Python 2 went through dicts in an order of its own, Python 3 as they were filled: sort if it counts (first of the file)"
_CALLS = {
    "round": "Python 3 rounds halves to the even number, and gives an integer where no digits are asked for",
    "hash": "hashes of strings differ from run to run in Python 3",
    "pickle.load": "strings in what Python 2 pickled need `encoding='latin1'`",
    "pickle.loads": "strings in what Python 2 pickled need `encoding='latin1'`",
}
_DRAWS = frozenset(f"random.{name}" for name in ("shuffle", "sample", "choice", "randint", "randrange", "seed"))
_DRAWN = "Python 3 draws other numbers from the same seed"
_BYTES = "what is read or written here is bytes in Python 3, not a string"
_CODED = "strings were bytes in Python 2: look at which this is"
_CMP = "there is no cmp in Python 3: sort by a key, or by `functools.cmp_to_key`"
_METHODS = {
    "__div__": "Python 3 calls `__truediv__` or `__floordiv__`",
    "__cmp__": "Python 3 compares by `__lt__` and `__eq__`",
    "__getslice__": "Python 3 calls `__getitem__` with a slice",
    "__unicode__": "Python 3 calls `__str__`",
}
_BESIDE = (
    "finds the file beside this one where this is started as a script; for `python -m`, import it from the package"
)
_VIEWS = frozenset({"keys", "values", "items"})
_LEAKED = "Python 2 also bound this name by the list comprehension above, Python 3 does not"


def doubts(tree: ast.Module, asked: Asked) -> Iterator[Doubt]:
    """All of them, for a converted file."""
    yield from _of_imports(tree, asked.beside)
    if not asked.divides:
        yield from (Doubt(node, _DIVISION, Severity.WARNING) for node in doubtful(tree))
    ordered = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in _VIEWS and not (node.args or node.keywords or ordered):
                ordered = True
                yield Doubt(node, _ORDER)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name in _METHODS:
                    yield Doubt(inner, f"{_METHODS[inner.name]}, not `{inner.name}`", Severity.WARNING)
    yield from (Doubt(name, _LEAKED, Severity.WARNING) for name in _leaked(tree))


def _of_imports(tree: ast.Module, beside: Beside) -> Iterator[Doubt]:
    """The first import of a file beside this one, where both are in a package that nobody imports."""
    if beside.is_package or "__init__" not in beside.modules:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        if any(name.partition(".")[0] in beside.modules for name in names):
            yield Doubt(node, _BESIDE)
            return


def _of_call(call: ast.Call) -> Iterator[Doubt]:
    name = dotted(call.func) or ""
    if name in _CALLS:
        yield Doubt(call, _CALLS[name])
    elif name in _DRAWS:
        yield Doubt(call, _DRAWN)
    elif name == "open" and _mode(call):
        yield Doubt(call, _BYTES)
    elif name == "cmp" or any(keyword.arg == "cmp" for keyword in call.keywords):
        yield Doubt(call, _CMP, Severity.WARNING)
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "sort" and call.args:
        yield Doubt(call, _CMP, Severity.WARNING)
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("encode", "decode"):
        yield Doubt(call, _CODED)


def _mode(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and "b" in str(mode.value) for mode in modes)


def _leaked(tree: ast.Module) -> Iterator[ast.Name]:
    """Names that are read where a list comprehension was the last to bind them."""
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, ast.FunctionDef)):
            continue
        comprehensions: list[ast.ListComp] = []
        names: list[ast.Name] = []
        waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.ListComp):
                comprehensions.append(node)
            elif isinstance(node, ast.Name):
                names.append(node)
            if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp)):
                waiting += ast.iter_child_nodes(node)
        bound = {name.id: comp for comp in comprehensions for name in _targets(comp)}
        for name in names:
            last = bound.get(name.id)
            if not isinstance(name.ctx, ast.Load) or last is None or name.lineno <= (last.end_lineno or last.lineno):
                continue
            stores = [other.lineno for other in names if other.id == name.id and isinstance(other.ctx, ast.Store)]
            if not any(last.lineno <= line <= name.lineno for line in stores):
                yield name


def _targets(comp: ast.ListComp) -> Iterator[ast.Name]:
    for generator in comp.generators:
        yield from (part for part in ast.walk(generator.target) if isinstance(part, ast.Name))
