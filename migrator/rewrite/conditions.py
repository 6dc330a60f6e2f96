"""Compound statements that are put together from a head and the rows below it; conditions with the arms that are left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from .bodies import below, block, settled, with_body
from .changes import Row, Statement
from .printing import text_of_nodes
from .suites import rows, text_of, trimmed
from .templates import code

_PLAIN = (cst.IfExp, cst.Lambda, cst.NamedExpr)


def opened(head: Sequence[str], body: Iterable[Row]) -> list[Row]:
    """A compound statement from the lines of its head, comments above it among them, and its body."""
    first = next(line for line in head if line.strip())
    indent = first[: len(first) - len(first.lstrip())]
    *above, statement = rows("\n".join([*head, f"{indent} pass"]))
    if isinstance(statement, cst.EmptyLine):
        raise TypeError(f"{head!r} is no head of a statement")
    found = with_body(statement, [*body])
    return [*above, found.with_changes(body=found.body.with_changes(indent=None))]


def with_else(statement: Row, orelse: Sequence[Row], chain: bool = True) -> Statement:
    """A condition with another arm: ``elif`` where that is one condition without comments above it, and `chain` allows it."""
    assert isinstance(statement, cst.If)
    (other, *more) = orelse
    if chain and not more and isinstance(other, cst.If) and not other.leading_lines:
        return statement.with_changes(orelse=other)
    return statement.with_changes(orelse=cst.Else(block(orelse)))


def without_body(condition: str, orelse: Sequence[Row], indent: str = "") -> list[Row]:
    """``if condition:`` over rows; where a condition is all that stands below it, one of both: ``if a and b:``."""
    (found, *more) = opened([f"{indent}if {condition}:"], orelse)
    (inner, *others) = orelse
    assert isinstance(found, cst.If) and not more
    alone = isinstance(inner, cst.If) and not others and inner.orelse is None and not inner.leading_lines
    if alone and isinstance(inner, cst.If) and isinstance(inner.body, cst.IndentedBlock):
        if inner.body.header.comment is None and _is_factor(found.test) and _is_factor(inner.test):
            none = _none_of(found.test, inner.test)
            return [inner.with_changes(test=none or cst.BooleanOperation(found.test, cst.And(), inner.test))]
    return [found]


def _none_of(first: cst.BaseExpression, second: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x not in ("a", "b")`` for ``x != "a"`` and ``x != "b"``, or ``x not in ("b", …)``; None for other conditions."""
    one, two = _excluded(first), _excluded(second)
    if one is None or two is None or len(one[1]) > 1 or not one[0].deep_equals(two[0]):
        return None
    elements = [cst.Element(value) for value in (*one[1], *two[1])]
    target = cst.ComparisonTarget(cst.NotIn(), cst.Tuple(elements))
    return cst.Comparison(one[0], [target])


def _excluded(test: cst.BaseExpression) -> tuple[cst.BaseExpression, list[cst.BaseExpression]] | None:
    """An expression, and the texts or whole numbers that a condition says it is not."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or test.lpar:
        return None
    (target,) = test.comparisons
    values = [target.comparator]
    if isinstance(target.operator, cst.NotIn) and isinstance(target.comparator, cst.Tuple):
        values = [element.value for element in target.comparator.elements]
    elif not isinstance(target.operator, cst.NotEqual):
        return None
    return (test.left, values) if all(isinstance(v, (cst.SimpleString, cst.Integer)) for v in values) else None


def same(first: Sequence[Row], second: Sequence[Row]) -> bool:
    """Whether two runs of rows are the same text."""
    return len(first) == len(second) and text_of(first, " ") == text_of(second, " ")


def in_scope(head: str, body: Sequence[Row]) -> list[Row]:
    """Rows in a scope of which `head` is the text, below the blank line above them."""
    first = next(iter(_above(body[0])), body[0])
    apart = isinstance(first, cst.EmptyLine) and first.comment is None
    (scope,) = opened([head], trimmed(body))
    return [below([cst.EmptyLine(indent=False)], scope)] if apart and not isinstance(scope, cst.EmptyLine) else [scope]


def without_blanks(found: Sequence[Row]) -> list[Row]:
    """Rows without blank lines between them."""
    kept: list[Row] = []
    for row in found:
        if not isinstance(row, cst.EmptyLine):
            kept.append(row.with_changes(leading_lines=[line for line in row.leading_lines if line.comment]))
        elif row.comment:
            kept.append(row)
    return kept


def without_repeated_scopes(found: Sequence[Row], remark: str) -> list[Row]:
    """Rows in which scopes with a remark behind their heads go on in those right above them that are the same."""
    kept: list[Row] = []
    for row in found:
        last = kept[-1] if kept else None
        if _has_remark(row, remark) and _has_remark(last, remark) and not any(e.comment for e in _above(row)):
            assert isinstance(row, cst.With) and isinstance(last, cst.With)
            body = [*last.body.body, *_above(row), *row.body.body]
            kept[-1] = last.with_changes(body=last.body.with_changes(body=settled(body)[0]))
        else:
            kept.append(row)
    return kept


def _above(row: Row) -> Sequence[cst.EmptyLine]:
    return [] if isinstance(row, cst.EmptyLine) else row.leading_lines


def _has_remark(row: Row | None, remark: str) -> bool:
    body = row.body if isinstance(row, cst.With) else None
    comment = body.header.comment if isinstance(body, cst.IndentedBlock) else None
    return comment is not None and comment.value == remark


def with_first_argument(row: Row, old: str, new: str) -> Row:
    """A statement whose outermost call with `old` before its other arguments has `new` in that place."""
    call = _call_on(row, old)
    if call is None or isinstance(row, cst.EmptyLine):
        return row
    changed = call.with_changes(args=[call.args[0].with_changes(value=code(new)), *call.args[1:]])
    found = row.deep_replace(call, changed)
    assert isinstance(found, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return found


def _call_on(node: cst.CSTNode, old: str) -> cst.Call | None:
    """The first call of several arguments that begin with a text."""
    if isinstance(node, cst.Call) and len(node.args) > 1 and node.args[0].keyword is None and not node.args[0].star:
        if text_of_nodes([node.args[0].value]) == old:
            return node
    return next((found for child in node.children if (found := _call_on(child, old)) is not None), None)


def _is_factor(node: cst.BaseExpression) -> bool:
    """Whether a condition can stand beside `and` without parentheses."""
    if isinstance(node, _PLAIN) and not node.lpar:
        return False
    return not (isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or) and not node.lpar)
