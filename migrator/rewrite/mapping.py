"""Finds the libcst node of an `ast` node: the one of the same kind with the same bytes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import Union

import libcst as cst

from .nodes import Kinds as NodeKinds
from .printing import Printed, Span

Kinds = Union[type[cst.CSTNode], tuple[type[cst.CSTNode], ...]]

_STRINGS = (cst.SimpleString, cst.ConcatenatedString)
_KINDS: dict[type[ast.AST], Kinds] = {
    ast.Name: cst.Name,
    ast.Attribute: cst.Attribute,
    ast.Call: cst.Call,
    ast.Subscript: cst.Subscript,
    ast.Constant: (cst.Name, cst.BaseNumber, cst.Ellipsis, *_STRINGS),
    ast.JoinedStr: (cst.FormattedString, cst.ConcatenatedString),
    ast.FormattedValue: cst.FormattedStringExpression,
    ast.UnaryOp: cst.UnaryOperation,
    ast.BinOp: cst.BinaryOperation,
    ast.BoolOp: cst.BooleanOperation,
    ast.Compare: cst.Comparison,
    ast.IfExp: cst.IfExp,
    ast.Lambda: cst.Lambda,
    ast.NamedExpr: cst.NamedExpr,
    ast.Await: cst.Await,
    ast.Yield: cst.Yield,
    ast.YieldFrom: cst.Yield,
    ast.Tuple: cst.Tuple,
    ast.List: cst.List,
    ast.Set: cst.Set,
    ast.Dict: cst.Dict,
    ast.ListComp: cst.ListComp,
    ast.SetComp: cst.SetComp,
    ast.DictComp: cst.DictComp,
    ast.GeneratorExp: cst.GeneratorExp,
    ast.Starred: (cst.StarredElement, cst.Arg, cst.Index),
    ast.Slice: cst.Slice,
    ast.keyword: cst.Arg,
    ast.arg: cst.Param,
    ast.alias: cst.ImportAlias,
    ast.Expr: cst.Expr,
    ast.Assign: (cst.Assign, cst.AnnAssign),
    ast.AnnAssign: cst.AnnAssign,
    ast.AugAssign: cst.AugAssign,
    ast.Return: cst.Return,
    ast.Delete: cst.Del,
    ast.Raise: cst.Raise,
    ast.Assert: cst.Assert,
    ast.Import: cst.Import,
    ast.ImportFrom: cst.ImportFrom,
    ast.Global: cst.Global,
    ast.Nonlocal: cst.Nonlocal,
    ast.Pass: cst.Pass,
    ast.Break: cst.Break,
    ast.Continue: cst.Continue,
    ast.FunctionDef: cst.FunctionDef,
    ast.AsyncFunctionDef: cst.FunctionDef,
    ast.ClassDef: cst.ClassDef,
    ast.If: cst.If,
    ast.For: cst.For,
    ast.AsyncFor: cst.For,
    ast.While: cst.While,
    ast.With: cst.With,
    ast.AsyncWith: cst.With,
    ast.Try: cst.Try,
}
if sys.version_info >= (3, 10):
    _KINDS.update(
        {
            ast.Match: cst.Match,
            ast.MatchValue: cst.MatchValue,
            ast.MatchSingleton: cst.MatchSingleton,
            ast.MatchSequence: cst.MatchSequence,
            ast.MatchMapping: cst.MatchMapping,
            ast.MatchClass: cst.MatchClass,
            ast.MatchStar: cst.MatchStar,
            ast.MatchAs: cst.MatchAs,
            ast.MatchOr: cst.MatchOr,
        }
    )
if sys.version_info >= (3, 11):
    _KINDS[ast.TryStar] = cst.TryStar
if sys.version_info >= (3, 12):
    _KINDS.update({ast.TypeAlias: cst.TypeAlias, ast.TypeVar: cst.TypeVar})


def kinds(node: ast.AST) -> Kinds | None:
    """The classes that stand for a node in libcst; None for what is no code by itself, as handlers and `ast.arguments`."""
    return next((_KINDS[kind] for kind in type(node).__mro__ if kind in _KINDS), None)


_IS_BLANK = NodeKinds(cst.BaseParenthesizableWhitespace)


class Index:
    """The nodes of one tree by their bytes."""

    def __init__(self, printed: Printed) -> None:
        self._by_span: dict[Span, list[cst.CSTNode]] = {}
        extents, spans = printed.extents, printed.spans
        for node in printed.nodes:
            if _IS_BLANK[node.__class__]:
                continue
            for one, span in _spans(node, spans.get(id(node), extents[id(node)]), extents):
                self._by_span.setdefault(span, []).append(one)

    def find(self, node: ast.AST, span: Span) -> cst.CSTNode | None:
        """The node that stands for one of `ast` at these bytes."""
        wanted = kinds(node)
        if wanted is None:
            return None
        found = [one for one in self._by_span.get(span, ()) if isinstance(one, wanted)]
        # Of several, all but the outermost are parts of it that print the same: an element of a pattern, say.
        return found[-1] if found else None


_OTHERWISE = frozenset({cst.Param, cst.Tuple, cst.GeneratorExp, cst.Call})
"""Kinds of nodes whose bytes `ast` counts in another way, or those of one in them."""


def _spans(node: cst.CSTNode, span: Span, extents: Mapping[int, Span]) -> Iterator[tuple[cst.CSTNode, Span]]:
    """What `ast` takes for the bytes of a node, and of one in it."""
    kind = node.__class__  # asked by itself, as `isinstance` takes long for what libcst has abstract classes of
    if kind not in _OTHERWISE:
        yield node, span
        return
    if isinstance(node, cst.Param):  # without its stars, with its annotation
        last = node.annotation or node.name
        yield node, (extents[id(node.name)][0], extents[id(last)][1])
        return
    yield node, span
    if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:  # with its innermost parentheses
        yield node, (extents[id(node.lpar[-1])][0], extents[id(node.rpar[0])][1])
    elif isinstance(node, cst.Call) and len(node.args) == 1:
        only = node.args[0].value
        if isinstance(only, cst.GeneratorExp) and not only.lpar:  # with the parentheses of the call
            yield only, (extents[id(node.whitespace_after_func)][1], span[1])
