"""Lookups that deal the rows of a partitioned table out in turn: in a checkpoint such rows are not in the order of ids."""

from __future__ import annotations

import ast
from pathlib import Path

from migrator.discover.cells import SUFFIX
from migrator.discover.components import connected, import_graph
from migrator.discover.notebooks import script
from migrator.discover.sources import Unusable
from migrator.parity.run.sandbox import program_files
from migrator.resolve.parsing import syntax_tree
from migrator.resolve.syntax import walk

_LOOKUPS = ("embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse")


def lookup_in_turn(folder: Path, start: str = "") -> str | None:
    """``path:line`` of the first lookup without ``partition_strategy="div"`` in a program that names partitioners.

    With `start`, the file that starts it, only files that imports connect with that one count. Errs on the side of finding
    a lookup: whether the table is partitioned is known only when the program runs.
    """
    texts = {path: path.read_bytes() for path in sorted(program_files(folder)) if path.suffix in (".py", SUFFIX)}
    if start:
        mine = _with(str(folder / start), texts)
        texts = {path: text for path, text in texts.items() if str(path) in mine}
    if not any(b"partitioner" in text for text in texts.values()):
        return None
    for path, text in texts.items():
        try:
            tree = syntax_tree(script(text) if path.suffix == SUFFIX else text)
        except (SyntaxError, ValueError, Unusable):
            continue
        layers = _layers(tree)
        for node in walk(tree):
            own = isinstance(node, ast.Call) and ast.unparse(node.func) in layers
            if isinstance(node, ast.Call) and _name(node.func) in _LOOKUPS and not own and not _in_blocks(node):
                return f"{path.relative_to(folder)}:{node.lineno}"
    return None


def _layers(tree: ast.Module) -> set[str]:
    """The attributes that hold what a call made, such as a layer: ``self.embedding_lookup = EmbeddingLookup(…)``."""
    made = [node for node in walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    return {ast.unparse(each) for node in made for each in node.targets if isinstance(each, ast.Attribute)}


def _with(start: str, texts: dict[Path, bytes]) -> set[str]:
    """The files that imports connect with `start`."""
    graph = import_graph({str(path): text for path, text in texts.items()})
    edges = [(path, target) for path, targets in graph.items() for target in targets]
    return next((group for group in connected(set(graph), edges) if start in group), set(graph))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _in_blocks(call: ast.Call) -> bool:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "partition_strategy"]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value == "div"
