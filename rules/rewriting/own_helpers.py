"""Short helpers, which a program holds itself where no two of its files need the same: then nothing is written beside it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from migrator.resolve.module import Module
from migrator.rewrite import Insert, definitions
from migrator.rewrite.heads import whole_span
from migrator.vendor.short_helpers import short_helpers
from migrator.vocabulary.diagnostics import Edit

from .helpers import Helpers


def settle_helpers(users: Collection[Helpers]) -> None:
    """Says of each file of a program which helpers it holds itself: all that the program needs, or none."""
    users = [helpers for helpers in users if helpers.names]
    texts = {helpers.module.path: _texts(helpers) for helpers in users}
    found = [name for each in texts.values() for name in each or ()]
    if None not in texts.values() and len(found) == len(set(found)):
        for helpers in users:
            helpers.held = dict(texts[helpers.module.path] or {})


def _texts(helpers: Helpers) -> dict[str, str] | None:
    """The texts of the helpers of one file; None if they are long, or the file has others of these names."""
    if helpers.tensorflow() != "tf" or not helpers.may_hold:
        return None
    texts = short_helpers(helpers.names)
    if texts is None or helpers.module.bound_names & texts.keys():
        return None
    return dict(texts)


def held_edits(helpers: Helpers, edits: Iterable[Edit]) -> list[Edit]:
    """The definitions that a file holds itself, above the first statement which needs one of them."""
    texts = helpers.held
    if not texts:
        return []
    module, own = helpers.module, list(edits)
    place = next((node for node in module.tree.body if _needs(module, node, texts, own)), None)
    if place is None:
        place = next(node for node in module.tree.body if not isinstance(node, (ast.Import, ast.ImportFrom)))
    made = definitions("\n\n\n".join(texts.values()))
    return module.cst.apply([Insert(made, before=place, above=True, apart=True)])


def _needs(module: Module, node: ast.stmt, names: Iterable[str], edits: Iterable[Edit]) -> bool:
    """Whether what is written into a statement names one of the helpers."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    start, end = whole_span(module, node)
    end = max(end, module.line_span(node)[1])  # where lines below it are put
    inside = [edit.text for edit in edits if start <= edit.start <= end]
    return any(name in text for text in inside for name in names)
