"""Other arguments for a call: each keeps its comments, and the call the way in which its lines are laid out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Union

import libcst as cst

from .precedence import fitted, with_parts
from .printing import text_of_nodes
from .templates import name

Key = Union[int, str]
"""Which argument: its place from 0, or its keyword."""
Value = Union[str, cst.BaseExpression]
"""An expression, or a name as text."""

Spread = Union[Mapping[str, Value], tuple[cst.Call, int]]
_Blanks = cst.BaseParenthesizableWhitespace
_SHORT = 40
_NOTHING = cst.SimpleWhitespace("")
_NO_COMMA = cst.MaybeSentinel.DEFAULT
"""The printer writes ``, `` where another argument follows."""


def with_arguments(
    call: cst.BaseExpression,
    *,
    rename: Mapping[str, str] | None = None,
    named: Mapping[int, str] | None = None,
    values: Mapping[int, Value] | None = None,
    drop: Collection[Key] = (),
    insert: Mapping[int, Union[Value, Sequence[Value]]] | None = None,
    spread: Mapping[int, Spread] | None = None,
    add: Mapping[str, Value] | None = None,
) -> cst.Call:
    """A call with other arguments; what is not mentioned stays. Places are those in the old call.

    Args:
      call: the call.
      rename: new keywords by old ones.
      named: keywords of positional arguments.
      values: new values of arguments, by their places.
      drop: arguments that go, with the comments behind them; a short one that is left alone stands in the line of the call.
      insert: new positional arguments, each before the one that has its place now.
      spread: keyword arguments that stand in the place of others, or another call whose arguments do so as they stand there,
        but for as many of the first ones.
      add: new keyword arguments, behind the others; on lines of their own where the last one has one and ends with a comma.
    """
    if not isinstance(call, cst.Call):
        raise TypeError(f"a {type(call).__name__} has no arguments")
    list_ = _List(call)
    for at, arg in enumerate(call.args):
        keyword = None if arg.keyword is None else arg.keyword.value
        new = (rename or {}).get(keyword or "") or (named or {}).get(at)
        if new is not None:
            list_.name(at, new)
        if at in (values or {}):
            list_.value(at, _argument((values or {})[at]).value)
    inserted = [
        (at, value)
        for at, given in sorted((insert or {}).items(), reverse=True)
        for value in reversed([given] if isinstance(given, (str, cst.BaseExpression)) else given)
    ]
    for at, value in inserted:
        list_.insert(at, _argument(value))
    doomed = [at for at, arg in enumerate(call.args) if at in drop or arg.keyword and arg.keyword.value in drop]
    grown: dict[int, int] = {}
    for at, values_ in sorted((spread or {}).items(), key=lambda pair: pair[0], reverse=True):
        if isinstance(values_, Mapping):
            grown[at] = list_.spread(at, [_named(*pair) for pair in values_.items()])
        else:
            grown[at] = list_.take_over(at, *values_)
    list_.drop(
        {
            at + sum(place <= at for place, _ in inserted) + sum(more for place, more in grown.items() if place < at)
            for at in doomed
        }
    )
    for keyword, value in (add or {}).items():
        list_.append(_named(keyword, value))
    if doomed:
        list_.join()
    return list_.call(call)


def with_function(call: cst.BaseExpression, function: Value) -> cst.Call:
    """The call of another function with the same arguments."""
    if not isinstance(call, cst.Call):
        raise TypeError(f"a {type(call).__name__} has no function")
    new = name(function) if isinstance(function, str) else function
    return call.with_changes(func=fitted(new, [(call, "func")]))


def _named(keyword: str, value: Value) -> cst.Arg:
    return _argument(value).with_changes(keyword=cst.Name(keyword), equal=_equal())


def _argument(value: Value) -> cst.Arg:
    return cst.Arg(name(value) if isinstance(value, str) else value)


def _equal() -> cst.AssignEqual:
    return cst.AssignEqual(_NOTHING, _NOTHING)


class _List:
    """The arguments of a call, with the blanks before the first one."""

    def __init__(self, call: cst.Call) -> None:
        self._before: _Blanks = call.whitespace_before_args
        self._args = list(call.args)

    def call(self, old: cst.Call) -> cst.Call:
        """The call with these arguments."""
        if self._before is old.whitespace_before_args and self._args == list(old.args):
            return old
        new = old.with_changes(whitespace_before_args=self._before)
        args = [a.with_changes(value=fitted(a.value, [(a, "value"), (new, "args")])) for a in self._args]
        return with_parts(new, {"args": args})

    def name(self, at: int, keyword: str) -> None:
        """Give an argument a keyword."""
        arg = self._args[at]
        if arg.keyword is None:
            self._args[at] = arg.with_changes(keyword=cst.Name(keyword), equal=_equal())
        else:
            self._args[at] = arg.with_changes(keyword=arg.keyword.with_changes(value=keyword))

    def value(self, at: int, new: cst.BaseExpression) -> None:
        """Give an argument another value."""
        self._args[at] = self._args[at].with_changes(value=new)

    def insert(self, at: int, new: cst.Arg) -> None:
        """Put an argument before another one, or behind all."""
        if at >= len(self._args):
            self.append(new)
        elif at:
            last = self._args[at - 1]
            self._args[at - 1] = last.with_changes(comma=_NO_COMMA, whitespace_after_arg=_NOTHING)
            new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
            self._args.insert(at, new)
        else:
            packed = len(self._args) > 1 and not _breaks(self._behind(0))
            before = self._before
            if isinstance(before, cst.ParenthesizedWhitespace) and not packed:
                new = new.with_changes(comma=cst.Comma(whitespace_after=before.deep_clone()))
                self._before = before.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
            self._args.insert(0, new)

    def spread(self, at: int, new: Sequence[cst.Arg]) -> int:
        """Put arguments in the place of one; says how many more there are now."""
        if not new:
            self.drop([at])
            return -1
        last = self._args[at]
        behind = new[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        self._args[at : at + 1] = [*new[:-1], behind]
        return len(new) - 1

    def take_over(self, at: int, other: cst.Call, first: int) -> int:
        """The same with arguments of another call, which keep their lines."""
        lead = _List(other)._lead(first)
        if _breaks(lead) and not _breaks(self._lead(at)):
            self._put_before(at, lead)
        return self.spread(at, other.args[first:])

    def append(self, new: cst.Arg) -> None:
        """Put an argument behind all others."""
        if not self._args:
            self._args, self._before = [new], _NOTHING
            return
        lead = self._behind(len(self._args) - 2) if len(self._args) > 1 else self._before
        last = self._args[-1]
        comma = last.comma
        if not isinstance(comma, cst.Comma) and len(self._args) > 1 and all(map(_breaks, self._gaps())):
            assert isinstance(lead, cst.ParenthesizedWhitespace)
            line = cst.ParenthesizedWhitespace(indent=lead.indent, last_line=lead.last_line)  # as each of them has
            new = new.with_changes(whitespace_after_arg=last.whitespace_after_arg)
            last = last.with_changes(comma=cst.Comma(whitespace_after=line), whitespace_after_arg=_NOTHING)
        elif not isinstance(comma, cst.Comma):
            new = new.with_changes(whitespace_after_arg=last.whitespace_after_arg)
            last = last.with_changes(whitespace_after_arg=_NOTHING)
        elif not isinstance(lead, cst.ParenthesizedWhitespace):
            new = new.with_changes(whitespace_after_arg=comma.whitespace_after)
            last = last.with_changes(comma=_NO_COMMA)
        else:  # an argument a line, each with its comma
            behind = comma.whitespace_after
            line = cst.ParenthesizedWhitespace(indent=lead.indent, last_line=lead.last_line)
            if isinstance(behind, cst.ParenthesizedWhitespace):
                line = line.with_changes(first_line=behind.first_line)
                behind = behind.with_changes(first_line=cst.TrailingWhitespace())
            last = last.with_changes(comma=comma.with_changes(whitespace_after=line))
            new = new.with_changes(comma=cst.Comma(whitespace_after=behind))
        self._args[-1:] = [last, new]

    def drop(self, doomed: Collection[int]) -> None:
        """Take arguments away."""
        if doomed and len(doomed) == len(self._args):
            self._args, self._before = [], _NOTHING
        at = len(self._args)
        while at:
            at = last = at - 1
            if at in doomed:
                while at - 1 in doomed:
                    at -= 1
                if last + 1 < len(self._args):
                    self._put_before(at, _joined(self._lead(at), self._behind(last)))
                else:
                    self._args[at - 1] = self._as_last(self._args[at - 1], self._args[last])
                del self._args[at : last + 1]

    def join(self) -> None:
        """Put a short argument that stands alone in the line of the call, where no comment is in the way."""
        arg = self._args[0] if len(self._args) == 1 else None
        text = text_of_nodes([arg.value]) if arg is not None else ""
        if arg is None or "\n" in text or len(text) > _SHORT:
            return
        behind = arg.comma.whitespace_after if isinstance(arg.comma, cst.Comma) else _NOTHING
        blanks = (self._before, arg.whitespace_after_arg, behind)
        if any(map(_breaks, blanks)) and not any(map(_has_comment, blanks)):
            self._before = _NOTHING
            self._args = [arg.with_changes(comma=_NO_COMMA, whitespace_after_arg=_NOTHING)]

    def _lead(self, at: int) -> _Blanks:
        return self._behind(at - 1) if at else self._before

    def _behind(self, at: int) -> _Blanks:
        comma = self._args[at].comma
        return comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")

    def _gaps(self) -> list[_Blanks]:
        """What is between the arguments, and before the first one."""
        return [self._before, *map(self._behind, range(len(self._args) - 1))]

    def _put_before(self, at: int, blanks: _Blanks) -> None:
        if not at:
            self._before = blanks
        elif blanks is not self._lead(at):
            before = self._args[at - 1]
            comma = before.comma if isinstance(before.comma, cst.Comma) else cst.Comma()
            self._args[at - 1] = before.with_changes(comma=comma.with_changes(whitespace_after=blanks))

    @staticmethod
    def _as_last(arg: cst.Arg, gone: cst.Arg) -> cst.Arg:
        """An argument in the place of the last one; what was between both goes, but comments."""
        comma = arg.comma if isinstance(arg.comma, cst.Comma) else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        between = comma.whitespace_after
        if isinstance(gone.comma, cst.Comma):
            if not isinstance(between, cst.ParenthesizedWhitespace):
                return arg.with_changes(comma=gone.comma)
            return arg.with_changes(
                comma=comma.with_changes(whitespace_after=_ended(between, gone.comma.whitespace_after))
            )
        if _has_comment(between):
            return arg.with_changes(
                comma=comma.with_changes(whitespace_after=_ended(between, gone.whitespace_after_arg))
            )
        return arg.with_changes(comma=_NO_COMMA, whitespace_after_arg=gone.whitespace_after_arg)


def _joined(lead: _Blanks, behind: _Blanks) -> _Blanks:
    """What stands before an argument once those before it are gone: as before them, with the comments above it."""
    if not isinstance(behind, cst.ParenthesizedWhitespace) or not any(line.comment for line in behind.empty_lines):
        return lead
    if isinstance(lead, cst.ParenthesizedWhitespace):
        return lead.with_changes(empty_lines=[*lead.empty_lines, *behind.empty_lines])
    return behind.with_changes(first_line=cst.TrailingWhitespace())


def _ended(between: _Blanks, behind: _Blanks) -> _Blanks:
    """The lines between two arguments, the last of which goes, up to where the bracket closes behind it."""
    if not isinstance(between, cst.ParenthesizedWhitespace) or not isinstance(behind, cst.ParenthesizedWhitespace):
        return between if _has_comment(between) else behind
    lines = [*between.empty_lines, *behind.empty_lines]
    return between.with_changes(empty_lines=lines, indent=behind.indent, last_line=behind.last_line)


def _breaks(blanks: _Blanks) -> bool:
    return isinstance(blanks, cst.ParenthesizedWhitespace)


def _has_comment(blanks: _Blanks) -> bool:
    return isinstance(blanks, cst.ParenthesizedWhitespace) and (
        blanks.first_line.comment is not None or any(line.comment for line in blanks.empty_lines)
    )
