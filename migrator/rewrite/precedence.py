"""Where parentheses are needed: decided here, for every expression that gets a new place.

Each kind of expression has a level, that of its operator; each place says how low a level may stand there bare.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import libcst as cst

from .nodes import children, fields, walk
from .printing import text_of_nodes

E = TypeVar("E", bound=cst.BaseExpression)
N = TypeVar("N", bound=cst.CSTNode)

(
    _TUPLE, _YIELD, _NAMED, _LAMBDA, _TERNARY, _OR, _AND, _NOT, _COMPARISON, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT,
    _SUM, _PRODUCT, _SIGN, _POWER, _AWAIT, _PRIMARY, _ATOM,
) = range(20)  # fmt: skip
_EXPRESSION = _LAMBDA
"""What the grammar calls an expression: neither a bare tuple, nor ``yield``, nor ``:=``."""

_LEVELS: Mapping[type[cst.CSTNode], int] = {
    cst.Tuple: _TUPLE,
    cst.GeneratorExp: _TUPLE,
    cst.Yield: _YIELD,
    cst.NamedExpr: _NAMED,
    cst.Lambda: _LAMBDA,
    cst.IfExp: _TERNARY,
    cst.Or: _OR,
    cst.And: _AND,
    cst.Not: _NOT,
    cst.Comparison: _COMPARISON,
    cst.BitOr: _BIT_OR,
    cst.BitXor: _BIT_XOR,
    cst.BitAnd: _BIT_AND,
    cst.LeftShift: _SHIFT,
    cst.RightShift: _SHIFT,
    cst.Add: _SUM,
    cst.Subtract: _SUM,
    cst.Multiply: _PRODUCT,
    cst.MatrixMultiply: _PRODUCT,
    cst.Divide: _PRODUCT,
    cst.FloorDivide: _PRODUCT,
    cst.Modulo: _PRODUCT,
    cst.Power: _POWER,
    cst.Plus: _SIGN,
    cst.Minus: _SIGN,
    cst.BitInvert: _SIGN,
    cst.Await: _AWAIT,
    cst.Attribute: _PRIMARY,
    cst.Call: _PRIMARY,
    cst.Subscript: _PRIMARY,
}
_PLACES: Mapping[tuple[type[cst.CSTNode], str], int] = {
    (cst.Comparison, "left"): _BIT_OR,
    (cst.ComparisonTarget, "comparator"): _BIT_OR,
    (cst.IfExp, "body"): _OR,
    (cst.IfExp, "test"): _OR,
    (cst.Await, "expression"): _PRIMARY,
    (cst.Attribute, "value"): _PRIMARY,
    (cst.Call, "func"): _PRIMARY,
    (cst.Subscript, "value"): _PRIMARY,
    (cst.StarredElement, "value"): _BIT_OR,
    (cst.StarredDictElement, "value"): _BIT_OR,
    (cst.CompFor, "iter"): _OR,
    (cst.CompIf, "test"): _OR,
    (cst.FormattedStringExpression, "expression"): _TERNARY,
    (cst.Expr, "value"): _YIELD,
    (cst.Assign, "value"): _YIELD,
    (cst.AugAssign, "value"): _YIELD,
    (cst.AnnAssign, "value"): _YIELD,
    (cst.If, "test"): _NAMED,
    (cst.While, "test"): _NAMED,
    (cst.Match, "subject"): _NAMED,
    (cst.MatchCase, "guard"): _NAMED,
}
"""Those at which not any expression may stand bare, or more than that."""
_BARE_TUPLES = frozenset(
    {
        (cst.Expr, "value"), (cst.Assign, "value"), (cst.AugAssign, "value"), (cst.AnnAssign, "value"),
        (cst.AssignTarget, "target"), (cst.Return, "value"), (cst.Yield, "value"), (cst.Del, "target"),
        (cst.For, "target"), (cst.For, "iter"), (cst.CompFor, "target"), (cst.Match, "subject"),
    }
)  # fmt: skip
_IN_BRACKETS = (
    cst.Arg, cst.Element, cst.StarredElement, cst.DictElement, cst.StarredDictElement, cst.Index, cst.Slice,
    cst.ListComp, cst.SetComp, cst.DictComp,
)  # fmt: skip
"""Nodes whose parts may stand on several lines as they are."""
_WITH_BRACKETS = (cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp)
_INSIDE: Mapping[type[cst.CSTNode], frozenset[str]] = {
    cst.Call: frozenset({"whitespace_before_args", "args"}),
    cst.Subscript: frozenset({"slice", "lbracket", "rbracket"}),
    cst.FormattedString: frozenset({"parts"}),
}
"""Fields between brackets that a node has itself."""


def fitted(node: cst.BaseExpression, around: Sequence[tuple[cst.CSTNode, str]]) -> cst.BaseExpression:
    """An expression with the parentheses that it needs at a place; those that it has stay.

    `around` are the nodes around it, the innermost first, each with its field that leads there; at least one of them.
    """
    return node if node.lpar or not _needs(node, around) else parenthesized(node)


def _needs(node: cst.BaseExpression, around: Sequence[tuple[cst.CSTNode, str]]) -> bool:
    parent, field = around[0]
    if isinstance(node, cst.GeneratorExp) and isinstance(parent, cst.Arg):
        call = around[1][0] if len(around) > 1 else None  # its parentheses do for an only argument
        return bool(parent.star or parent.keyword) or isinstance(call, cst.Call) and len(call.args) > 1
    lowest = _lowest(parent, field)
    if lowest == _YIELD and isinstance(node, cst.NamedExpr):
        return True  # the grammar has `x = yield`, and no `x = y := z`
    if _level(node) < lowest:
        return not (isinstance(node, cst.Tuple) and (type(parent), field) in _BARE_TUPLES)
    if isinstance(parent, cst.Attribute):
        return isinstance(node, cst.Integer) or _breaks(node)  # `1.real` begins a number
    if isinstance(parent, cst.FormattedStringExpression):
        return text_of_nodes([node]).startswith("{")
    return not isinstance(parent, _IN_BRACKETS) and not _lpar(parent) and _breaks(node)


def parenthesized(node: E) -> E:
    """An expression in parentheses."""
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def in_place_of(new: cst.CSTNode, old: cst.CSTNode) -> cst.CSTNode:
    """A node with the parentheses of the expression whose place it takes, unless it has its own, or holds that expression."""
    if not (isinstance(new, cst.BaseExpression) and isinstance(old, cst.BaseExpression)):
        return new
    if new.lpar or not old.lpar or any(part is old for part in walk(new)):
        return new
    if isinstance(new, cst.Name) and not any(isinstance(part, cst.ParenthesizedWhitespace) for part in _around(old)):
        return new
    return new.with_changes(lpar=old.lpar, rpar=old.rpar)


def _around(node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    return (blank for bracket in (*node.lpar, *node.rpar) for _, blank in children(bracket))


def core(node: cst.BaseExpression) -> tuple[object, ...]:
    """What makes an expression the one that it is, in other parentheses as well."""
    inner = [getattr(node, name) for name in fields(node) if name not in ("lpar", "rpar")]
    if not any(isinstance(part, cst.CSTNode) for part in inner):
        return (id(node),)
    return (type(node), *map(id, inner))


def with_parts(node: N, parts: Mapping[str, object]) -> N:
    """A node with new parts, in the parentheses that they need there: ``f(x for x in y, 1)`` is no call.

    libcst refuses a node in which a blank is missing, as in ``not(x)`` once it is ``not x``; printing puts it in.
    """
    new = unchecked(
        node,
        {
            name: fitted(part, [(node, name)]) if isinstance(part, cst.BaseExpression) else part
            for name, part in parts.items()
        },
    )
    if isinstance(new, cst.Call) and "args" in parts:
        around = (new, "args")
        args = [a.with_changes(value=fitted(a.value, [(a, "value"), around])) if _is_bare(a) else a for a in new.args]
        return unchecked(new, {"args": args})
    return new


def unchecked(node: N, parts: Mapping[str, object]) -> N:
    """A copy with other parts, whether libcst takes them for valid or not."""
    new = copy.copy(node)
    for name, part in parts.items():
        object.__setattr__(new, name, part)
    return new


def _is_bare(argument: cst.Arg) -> bool:
    return isinstance(argument.value, cst.GeneratorExp) and not argument.value.lpar


def _level(node: cst.CSTNode) -> int:
    if isinstance(node, (cst.BooleanOperation, cst.BinaryOperation, cst.UnaryOperation)):
        node = node.operator
    return _LEVELS.get(type(node), _ATOM)


def _lowest(parent: cst.CSTNode, field: str) -> int:
    """The lowest level that may stand somewhere without parentheses."""
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Power):
        return _AWAIT if field == "left" else _SIGN
    if isinstance(parent, cst.UnaryOperation):
        return _level(parent)
    if isinstance(parent, (cst.BooleanOperation, cst.BinaryOperation)):
        return _level(parent) + (field == "right")
    if isinstance(parent, cst.Arg) and not parent.star and parent.keyword is None:
        return _NAMED
    return _PLACES.get((type(parent), field), _EXPRESSION)


def _lpar(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    found: object = getattr(node, "lpar", ())
    return found if isinstance(found, (list, tuple)) else ()


def _breaks(node: cst.CSTNode) -> bool:
    """Whether lines break in a node outside of all brackets that it has."""
    if isinstance(node, _WITH_BRACKETS) or _lpar(node):
        return False
    inside = _INSIDE.get(type(node), frozenset())
    return any(
        isinstance(child, cst.ParenthesizedWhitespace) or _breaks(child)
        for field, child in children(node)
        if field not in inside
    )
