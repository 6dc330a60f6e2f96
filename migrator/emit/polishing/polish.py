"""The last look at a generated class: names that were changed for nothing, or say nothing, and the quotes of its file."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Set

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import walk
from migrator.rewrite import Rename

_STRING = re.compile(r"""([rRbBuUfF]*)(["'])([^"'\\\n{}]*)\2""")
_FEW = 4
"""So many strings with single quotes say how a file is written, if they are three out of four."""
_BLOCK = "if True:\n"


def polished(text: str, module: Module, renamed: Mapping[str, str]) -> str:
    """A generated class as the owner of `module` would have written it.

    Args:
      text: the class and its factory, at any depth.
      module: the file that it goes into.
      renamed: new names of local names of functions whose bodies took the place of a call, with those that they had.
    """
    return quoted(_named(text, renamed), module)


def _named(text: str, renamed: Mapping[str, str]) -> str:
    """`text` with the former names where the methods that local names ended in do not use these for anything else."""
    wanted = {new: old for new, old in renamed.items() if new != old and re.search(rf"\b{new}\b", text)}
    if not wanted:
        return text
    head = _BLOCK if re.match(r"\n*[ \t]", text) else ""
    module = Module("class.py", head + text)
    try:
        functions = list(dict.fromkeys(module.analysis.scope_of.values()))
    except SyntaxError:
        return text
    changes: list[Rename] = []
    taken: set[tuple[Scope, str]] = set()
    for scope in functions:
        for new in sorted(scope.bindings if scope.kind == "function" else ()):
            old = wanted.get(new)
            if old is None or (scope, old) in taken:
                continue
            nodes = _renamable(module, scope, new, old)
            changes += [Rename(node, old) for node in nodes]
            taken |= {(scope, old)} if nodes else set()
    return splice(module.source, module.cst.apply(changes)).decode("utf-8", "surrogatepass")[len(head) :]


def _renamable(module: Module, scope: Scope, new: str, old: str) -> list[ast.Name]:
    """All mentions of the local name `new`, if they may say `old` instead; else none."""
    inside = walk(scope.node)
    for node in inside:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return []
        if isinstance(node, ast.JoinedStr) and any(getattr(n, "id", "") in (new, old) for n in walk(node)):
            return []  # their names have no reliable place
    names = [node for node in inside if isinstance(node, ast.Name)]
    mine = [node for node in names if node.id == new]
    stores = [node for node in mine if not isinstance(node.ctx, ast.Load)]
    if any(module.scope(node).lookup(new) is not scope for node in mine) or len(scope.bindings[new]) != len(stores):
        return []
    others: list[ast.AST] = [node for node in names if node.id == old]
    others += [node for node in inside if getattr(node, "name", None) == old or getattr(node, "asname", None) == old]
    arguments = [node for node in inside if isinstance(node, ast.arg) and node.arg == old]
    if not others and not arguments:
        return mine
    # ``x_2 = f(x)``, with nothing behind it that reads the ``x`` from before.
    first = module.statement(min(stores, key=lambda node: (node.lineno, node.col_offset)))
    body = getattr(scope.node, "body", [])
    if not isinstance(first, ast.Assign) or first not in body or old not in scope.bindings:
        return []
    before = {id(node) for statement in body[: body.index(first)] for node in walk(statement)}
    value = {id(node) for node in walk(first.value)}
    read = any(id(node) in value for node in others)
    early = all(id(n) in before | value and isinstance(n, ast.Name) and module.scope(n) is scope for n in others)
    own = all(module.parent(module.parent(argument) or argument) is scope.node for argument in arguments)
    return mine if read and early and own and not any(id(node) in before for node in mine) else []


def quoted(text: str, module: Module) -> str:
    """`text` with single quotes, if `module` is written so; the strings of `module` stay as they are."""
    if "single quotes" not in module.memo:
        module.memo["single quotes"] = _single_quoted(module.text)
    known: Set[str] | None = module.memo["single quotes"]
    if known is None:
        return text
    lines = text.split("\n")
    for token in reversed(list(_strings(text))):
        found = _STRING.fullmatch(token.string)
        if found and found[2] == '"' and found[0] not in known:
            row, start, end = token.start[0] - 1, token.start[1], token.end[1]
            lines[row] = f"{lines[row][:start]}{found[1]}'{found[3]}'{lines[row][end:]}"
    return "\n".join(lines)


def _single_quoted(source: str) -> Set[str] | None:
    """The strings of a file that is written with single quotes; None for others."""
    if source.count("'") < 2 * _FEW:
        return None
    own = [found for found in (_STRING.fullmatch(token.string) for token in _strings(source)) if found]
    single = sum(found[2] == "'" for found in own)
    return None if single < _FEW or 4 * single < 3 * len(own) else {found[0] for found in own}


def _strings(text: str) -> Iterator[tokenize.TokenInfo]:
    """The strings that stand on one line, as far as the text can be read."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and token.start[0] == token.end[0]:
                yield token
    except (tokenize.TokenError, SyntaxError):
        return
