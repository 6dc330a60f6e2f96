"""Reading and editing the arguments of a call.

Edits are as small as they can be, so that fixes of nested calls do not overlap.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Optional, Union

from migrator.vocabulary.diagnostics import Edit

from .module import Module, Span

Argument = Union[ast.expr, ast.keyword]


def call_of(module: Module, node: ast.expr) -> Optional[ast.Call]:
    """The call whose function is `node`, or None where the name is only mentioned."""
    parent = module.parent(node)
    return parent if isinstance(parent, ast.Call) and parent.func is node else None


def has_stars(call: ast.Call) -> bool:
    """Whether the call has ``*args`` or ``**kwargs``, so that its arguments are not all visible."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def bind(call: ast.Call, signature: Sequence[str]) -> Optional[dict[str, ast.expr]]:
    """Arguments of the call by parameter name; None when they cannot be seen.

    `signature` lists the positional parameters in order; keywords that it does not list are answered under their own
    names. None for ``*args``, ``**kwargs``, too many positional arguments, and arguments given twice.
    """
    if has_stars(call) or len(call.args) > len(signature):
        return None
    bound = dict(zip(signature, call.args))
    for keyword in call.keywords:
        assert keyword.arg is not None
        if keyword.arg in bound:
            return None
        bound[keyword.arg] = keyword.value
    return bound


def arguments(call: ast.Call) -> list[Argument]:
    """Positional and keyword arguments in source order."""
    every: list[Argument] = [*call.args, *call.keywords]
    return sorted(every, key=lambda a: (a.lineno, a.col_offset))


def parentheses(module: Module, call: ast.Call) -> Span:
    """Offset of the opening and of the closing parenthesis of the call's argument list."""
    position = module.span(call.func)[1]
    while True:
        position = module.skip(position)
        if module.source[position : position + 1] == b"(":
            return position, module.span(call)[1] - 1
        position += 1  # the end of parentheses around the function


def argument_span(module: Module, call: ast.Call, argument: Argument) -> Span:
    """Span of an argument with its keyword and with parentheses of its own."""
    start, end = module.span(argument)
    opening, closing = parentheses(module, call)
    if start <= opening:  # f(x for x in y): the generator borrows the parentheses of the call
        return opening + 1, closing
    if isinstance(argument, ast.keyword):
        inner = module.span(argument.value)
        stop = _widen(module, inner, start, closing)[1]
        return start, max(end, stop)
    return _widen(module, (start, end), opening + 1, closing)


def _widen(module: Module, span: Span, first: int, last: int) -> Span:
    start, end = span
    while True:
        before, after = module.skip_back(start), module.skip(end)
        opened = before - 1 >= first and module.source[before - 1 : before] == b"("
        if opened and after < last and module.source[after : after + 1] == b")":
            start, end = before - 1, after + 1
        else:
            return start, end


def rename_keyword(module: Module, keyword: ast.keyword, name: str) -> Edit:
    """``old=value`` becomes ``name=value``."""
    assert keyword.arg is not None
    start = module.span(keyword)[0]
    return module.edit((start, start + len(keyword.arg.encode())), name)


def name_argument(module: Module, call: ast.Call, value: ast.expr, name: str) -> Edit:
    """Give a positional argument its keyword, in one edit."""
    edits = keyword_insertions(module, call, value, name)
    if len(edits) == 1:
        return edits[0]
    span = argument_span(module, call, value)
    return module.edit(span, f"{edits[0].text}{module.segment(span)}{edits[1].text}")


def keyword_insertions(module: Module, call: ast.Call, value: ast.expr, name: str) -> list[Edit]:
    """The same as insertions, which leave the value free for other edits."""
    start, end = argument_span(module, call, value)
    bare_walrus = isinstance(value, ast.NamedExpr) and (start, end) == module.span(value)
    if bare_walrus or module.span(value)[0] < start:  # the latter is a generator in the parentheses of the call
        return [module.insert(start, f"{name}=("), module.insert(end, ")")]
    return [module.insert(start, f"{name}=")]


def delete_arguments(module: Module, call: ast.Call, doomed: Sequence[Argument]) -> list[Edit]:
    """Remove several arguments; neighbours go in one edit."""
    every = arguments(call)
    chosen = {id(argument) for argument in doomed}
    runs: list[tuple[int, int]] = []
    for index, argument in enumerate(every):
        if id(argument) in chosen:
            if runs and runs[-1][1] == index - 1:
                runs[-1] = (runs[-1][0], index)
            else:
                runs.append((index, index))
    return [_delete_run(module, call, every, first, last) for first, last in runs]


def _delete_run(module: Module, call: ast.Call, every: list[Argument], first: int, last: int) -> Edit:
    start = argument_span(module, call, every[first])[0]
    end = argument_span(module, call, every[last])[1]
    opening, closing = parentheses(module, call)
    if first == 0 and last + 1 == len(every):
        return module.edit((opening + 1, closing), "")
    comma = module.skip(end)
    follows = module.source[comma : comma + 1] == b","
    if last + 1 < len(every):
        stop = module.skip_inline(comma + 1)
        while module.source[stop : stop + 1] in (b" ", b"\t"):
            stop += 1
        return module.edit((start, min(stop, argument_span(module, call, every[last + 1])[0])), "")
    previous = argument_span(module, call, every[first - 1])[1]
    line = module.line_span((start, start))[0]
    own_line = not module.source[line:start].strip()
    if own_line and follows:  # one argument a line, with a trailing comma
        stop = module.skip_inline(comma + 1)
        return module.edit((line, stop) if comma + 1 < stop <= closing else (start, comma + 1), "")
    if module.comments_in(previous, start):
        return module.edit((start, comma + 1 if follows else end), "")
    return module.edit((previous, end), "")


def add_keyword(module: Module, call: ast.Call, text: str) -> Edit:
    """Append ``name=value`` to the call, on a line of its own where the last argument has one."""
    every = arguments(call)
    opening, closing = parentheses(module, call)
    if not every:
        return module.insert(opening + 1, text)
    last = every[-1]
    start, end = argument_span(module, call, last)
    if isinstance(last, ast.expr) and module.span(last)[0] <= opening:
        return module.edit((opening, closing + 1), f"({module.segment((opening, closing + 1))}, {text})")
    comma = module.skip(end)
    line = module.line_span((start, start))[0]
    indent = module.source[line:start]
    if module.source[comma : comma + 1] == b",":
        if not indent.strip():
            return module.insert(comma + 1, f"{module.newline}{indent.decode()}{text},")
        return module.insert(comma + 1, f" {text}")
    return module.insert(end, f", {text}")


def is_literal(value: ast.expr, *expected: object) -> bool:
    """Whether the value is a literal equal to one of `expected`, of the same type."""
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return any(type(literal) is type(item) and literal == item for item in expected)


def merge_insertions(edits: Sequence[Edit]) -> list[Edit]:
    """Join insertions at one place, in the order in which they are given."""
    merged: dict[tuple[str, int, int], Edit] = {}
    rest: list[Edit] = []
    for edit in edits:
        if edit.start < edit.end or edit.text.endswith("\n"):
            rest.append(edit)
            continue
        key = (edit.path, edit.start, edit.end)
        text = merged[key].text + edit.text if key in merged else edit.text
        merged[key] = Edit(edit.path, edit.start, edit.end, text)
    return [*rest, *merged.values()]


def prefixed(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The text before an expression that ends a string: ``"nets." + name``, ``"nets.%s" % name``, ``f"nets.{name}"``."""
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        if isinstance(node.op, ast.Add):
            return node.left.value, node.right
        if isinstance(node.op, ast.Mod) and node.left.value.endswith("%s") and node.left.value.count("%") == 1:
            return node.left.value[:-2], node.right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value.value if isinstance(node.func.value, ast.Constant) else None
        if isinstance(text, str) and text.endswith("{}") and text.count("{") == 1 and len(node.args) == 1:
            return text[:-2], node.args[0]
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        first, second = node.values
        if isinstance(first, ast.Constant) and isinstance(second, ast.FormattedValue) and second.format_spec is None:
            return str(first.value), second.value
    return None
