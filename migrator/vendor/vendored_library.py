"""Reads modules into the definitions, imports and order that files of helpers are made of."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from migrator.resolve.parsing import syntax_tree
from migrator.resolve.syntax import walk
from migrator.vendor.vendored_imports import Import, imports_of, internal_modules


@dataclass(frozen=True)
class Definition:
    """A top-level class, function or constant of a runtime module."""

    name: str
    source: str
    """Verbatim text: comments above, decorators, and the string below a constant included."""
    constant: bool
    adjacent: bool
    """Whether it stood directly below the definition before it, without a blank line."""

    @functools.cached_property
    def uses(self) -> frozenset[str]:
        """Every name that it reads."""
        nodes = walk(syntax_tree(self.source))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - {self.name}


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a file, with its decorators: its first and last line, from 1."""

    first: int
    last: int
    name: str | None
    """What it defines, if it is a class, a function or a constant."""
    constant: bool
    string: bool


@dataclass(frozen=True)
class Library:
    """All that may be vendored into one file, in an order in which it may run."""

    definitions: Mapping[str, Definition]
    imports: Mapping[str, Import]
    lent: frozenset[str] = frozenset()
    """Names that another file defines, from which one made of these definitions imports them."""

    def closure(self, names: Iterable[str]) -> list[Definition]:
        """The definitions of `names` and of all that they refer to, in running order. Raises KeyError."""
        wanted: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted.add(name)
                waiting += [used for used in self.definitions[name].uses if used in self.definitions]
        return [definition for name, definition in self.definitions.items() if name in wanted]

    def borrowed(self, definitions: Iterable[Definition]) -> set[str]:
        """Which of the `lent` names some definitions refer to."""
        return {name for definition in definitions for name in definition.uses & self.lent}


def read_library(
    texts: Mapping[str, str], statements: Callable[[str], list[Statement]] | None = None, second: str | None = None
) -> Library:
    """Index modules by their short names; `statements` finds those of a text, by default in its syntax tree.

    Modules whose names begin with `second` may define again what others do, and theirs is what counts.

    Raises ValueError where two modules define or import one name differently, as the merged file could not hold both.
    """
    definitions: dict[str, Definition] = {}
    imports: dict[str, Import] = {}
    found = {module: (statements or parsed_statements)(text) for module, text in texts.items()}
    headers = {module: _imports(text, found[module]) for module, text in texts.items()}
    for module in _running_order(headers):
        for entry in imports_of(headers[module]):
            if imports.setdefault(entry.name, entry) != entry:
                raise ValueError(f"migrator.runtime.{module} imports {entry.name} differently from another module")
        for definition in definitions_of(texts[module], found[module]).values():
            again = definitions.pop(definition.name, None) is not None
            if again and not (second and module.startswith(second)):
                raise ValueError(f"migrator.runtime.{module} defines {definition.name} a second time")
            definitions[definition.name] = definition
    clash = sorted(set(definitions) & set(imports))
    if clash:
        raise ValueError(f"runtime modules both import and define {', '.join(clash)}")
    # Constants that need no definition come first, as in a file written by hand.
    first = {name: entry for name, entry in definitions.items() if entry.constant and not entry.uses & set(definitions)}
    return Library({**first, **definitions}, imports)


def _imports(text: str, statements: Iterable[Statement]) -> ast.Module:
    """The import statements of a file."""
    lines = text.splitlines(keepends=True)
    rest = ["".join(lines[one.first - 1 : one.last]) for one in statements if one.name is None and not one.string]
    return syntax_tree("".join(part for part in rest if part.startswith(("import ", "from "))))


def _running_order(trees: Mapping[str, ast.Module]) -> list[str]:
    """Modules such that each comes after those it imports."""
    order: list[str] = []
    entered: set[str] = set()

    def visit(module: str) -> None:
        if module in entered or module not in trees:
            return
        entered.add(module)
        for needed in sorted(internal_modules(trees[module])):
            visit(needed)
        order.append(module)

    for module in sorted(trees):
        visit(module)
    return order


def definitions_of(text: str, statements: Sequence[Statement] | None = None) -> dict[str, Definition]:
    """What a text defines at its top level."""
    lines = text.splitlines(keepends=True)
    found: dict[str, Definition] = {}
    statements = parsed_statements(text) if statements is None else statements
    last_end = 0
    for index, one in enumerate(statements):
        end = one.last
        if one.name is None or one.name == "__all__":
            last_end = end
            continue
        following = statements[index + 1] if index + 1 < len(statements) else None
        if one.constant and following is not None and following.string:
            end = following.last
        start = one.first
        while start - 1 > last_end and lines[start - 2].startswith("#"):
            start -= 1
        source = "".join(lines[start - 1 : end]).rstrip("\n")
        found[one.name] = Definition(one.name, source, one.constant, adjacent=start - 1 == last_end)
        last_end = end
    return found


def parsed_statements(text: str) -> list[Statement]:
    """The statements at the top level of any file. Raises SyntaxError."""
    found = []
    for node in syntax_tree(text).body:
        first = min([node.lineno] + [decorator.lineno for decorator in getattr(node, "decorator_list", [])])
        constant = isinstance(node, (ast.Assign, ast.AnnAssign))
        found.append(Statement(first, node.end_lineno or node.lineno, _defined_name(node), constant, is_string(node)))
    return found


_OPENING = re.compile(r'(?:(?:async )?(?:def|class) (?P<defined>\w+)|(?P<constant>\w+)(?:: [^=]+)? = |(?P<string>"""))')


def written_statements(text: str) -> list[Statement]:
    """The same of a file that a formatter wrote, such as runtime modules, in a tenth of the time: each begins a line."""
    found: list[Statement] = []
    lines = text.split("\n")
    begun = decorated = 0  # first lines of the statement, and of the decorators above the next one
    inside = False  # of a string of several lines
    opening: re.Match[str] | None = None
    for number, line in enumerate([*lines, "end"], 1):
        if not inside and line and line[0] not in " #)]}":
            if begun:
                last = number - 1 if not decorated else decorated - 1
                while lines[last - 1].strip()[:1] in ("", "#"):
                    last -= 1
                name = opening and (opening["defined"] or opening["constant"])
                constant, string = bool(opening and opening["constant"]), bool(opening and opening["string"])
                found.append(Statement(begun, last, name, constant, string))
                begun = 0
            if line[0] == "@":
                decorated = decorated or number
            else:
                begun, decorated, opening = decorated or number, 0, _OPENING.match(line)
        inside ^= line.count('"""') % 2 == 1
    return found


def _defined_name(node: ast.stmt) -> str | None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
