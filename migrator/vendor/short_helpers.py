"""Helpers that are short enough to stand in the program itself: without annotations, as the code around them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from migrator.resolve.parsing import syntax_tree
from migrator.resolve.syntax import walk
from migrator.vendor.vendored_runtime import training_library

if TYPE_CHECKING:
    import libcst as cst

LINES = 40
"""How long all the helpers of a file may be together."""


def short_helpers(names: Collection[str]) -> Mapping[str, str] | None:
    """The texts of helpers, and of those that they refer to, by their names and in running order.

    None where they are long, or need more than TensorFlow.
    """
    return _short_helpers(frozenset(names))


@functools.lru_cache(maxsize=64)
def _short_helpers(names: frozenset[str]) -> Mapping[str, str] | None:
    library = training_library("columns", False)
    if not names <= library.definitions.keys():
        return None
    closure = library.closure(names)
    if sum(len(definition.source.splitlines()) for definition in closure) > 2 * LINES:
        return None  # annotations and line breaks do not make up for it
    texts = {definition.name: without_annotations(definition.source) for definition in closure}
    used = {node.id for text in texts.values() for node in walk(syntax_tree(text)) if isinstance(node, ast.Name)}
    long = sum(len(text.splitlines()) for text in texts.values()) > LINES
    return None if long or used & (library.imports.keys() - {"tf"}) else texts


def without_annotations(source: str) -> str:
    """The text of a class or function without the annotations of parameters, results and variables."""
    import libcst as cst  # with the first change only

    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

    class Plain(cst.CSTTransformer):
        def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
            equal = tight if updated_node.default is not None else cst.MaybeSentinel.DEFAULT
            return updated_node.with_changes(annotation=None, equal=equal)

        def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
            return updated_node.with_changes(returns=None)

        def leave_AnnAssign(
            self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign
        ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
            if updated_node.value is None:
                return cst.RemoveFromParent()
            return cst.Assign([cst.AssignTarget(updated_node.target)], updated_node.value)

    return cst.parse_module(source).visit(Plain()).code
