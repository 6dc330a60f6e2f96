"""Which files are Python 2: those that only it parses, those that use what only it has, and what is of one program with them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping

from migrator.discover import sources
from migrator.discover.components import connected, imported_names
from migrator.discover.sources import Unusable
from migrator.python2.converting import is_python_2
from migrator.resolve.parsing import syntax_tree
from migrator.vendor.vendoring import is_vendored
from migrator.vocabulary.conversions import Beside

_NAMES = frozenset(
    """xrange unicode basestring raw_input unichr long reduce execfile reload apply intern coerce cmp file buffer
    StandardError""".split()
)
_METHODS = frozenset({"iteritems", "iterkeys", "itervalues", "has_key"})
_MODULES = frozenset(
    """urllib2 urlparse cPickle StringIO cStringIO ConfigParser Queue __builtin__ httplib HTMLParser Tkinter
    commands thread""".split()
)
_BOTH = re.compile(r"\bversion_info\b|\bPY[23]\b|\bsix\b")
"""What programs ask that run on both."""
_NEWER = (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal, ast.AsyncFunctionDef, ast.MatMult, ast.Await)


def python_2_files(contents: Mapping[str, bytes], graph: Mapping[str, set[str]]) -> dict[str, Beside]:
    """The files to convert, by path, out of a tree of which `graph` says which file imports which.

    With those that cannot be parsed at all, which are to be told so.
    """
    found: set[str] = set()
    neither: set[str] = set()
    either: set[str] = set()
    for path, raw in contents.items():
        if is_vendored(raw):
            continue
        try:
            text = sources.decode(path, raw).text
        except Unusable:  # reported where the file is worked on
            continue
        try:
            tree = syntax_tree(text, path)
        except SyntaxError:
            (found if is_python_2(text) else neither).add(path)
            continue
        except (ValueError, RecursionError, MemoryError):
            continue
        if not _is_newer(tree):
            either.add(path)
            if _shows(tree) and not _BOTH.search(text):
                found.add(path)
    edges = [(path, target) for path, targets in graph.items() for target in targets]
    groups = connected({*found, *either}, edges)
    chosen = [path for group in groups if group & found for path in group]
    packages = _packages(contents, graph)
    modules = _modules(contents)
    return {
        path: Beside(frozenset(modules[folder] - {_name(path)}), folder in packages)
        for path in sorted({*chosen, *neither})
        for folder in [os.path.dirname(path)]
    }


def _is_newer(tree: ast.Module) -> bool:
    """Whether Python 2 would not run it."""
    for node in ast.walk(tree):
        if isinstance(node, _NEWER) or isinstance(node, ast.arguments) and node.kwonlyargs:
            return True
        if isinstance(node, ast.FunctionDef) and (node.returns or any(arg.annotation for arg in node.args.args)):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return True
        if isinstance(node, ast.Raise) and node.cause is not None:
            return True
    return False


def _shows(tree: ast.Module) -> bool:
    """Whether it uses what only Python 2 has."""
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return True
    if "*" not in bound and read & _NAMES - bound:
        return True
    tried = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) and node not in tried]
    return any(_head(name) in _MODULES for node in imports for name in _imported(node))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterable[str]:
    if isinstance(node, ast.ImportFrom):
        return [] if node.level else [node.module or ""]
    return [alias.name for alias in node.names]


def _head(name: str) -> str:
    return name.partition(".")[0]


def _name(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _modules(contents: Iterable[str]) -> dict[str, set[str]]:
    """The modules and packages in each folder."""
    found: dict[str, set[str]] = {}
    for path in contents:
        folder = os.path.dirname(path)
        found.setdefault(folder, set()).add(_name(path))
        if _name(path) == "__init__":
            found.setdefault(os.path.dirname(folder), set()).add(os.path.basename(folder))
    return found


def _packages(contents: Mapping[str, bytes], graph: Mapping[str, set[str]]) -> set[str]:
    """Folders of packages that files elsewhere import, or their own files by its name."""
    found: set[str] = set()
    for path, targets in graph.items():
        here = os.path.dirname(path)
        named = {_head(module) or "." for module, _ in imported_names(contents[path])}
        for target in targets:
            folder = os.path.dirname(target)
            if folder != here or named & {".", os.path.basename(os.path.abspath(folder))}:
                found.add(folder)
    return {folder for folder in found if os.path.join(folder, "__init__.py") in contents}
