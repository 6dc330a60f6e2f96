"""Base classes of rules. A rule yields diagnostics; it never touches a file, a terminal or a process.

The class docstring is the rule's documentation: a first line, then the sections ``## What it does``, ``## Why``,
``## Example`` and ``## Fix safety``.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Union

from migrator.resolve.module import Module
from migrator.rewrite import Change, Unprintable
from migrator.vocabulary.diagnostics import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Location,
    NewFile,
    ProgramUnit,
    Severity,
)

if TYPE_CHECKING:
    from migrator.resolve.project import Project
    from migrator.vocabulary.settings import Settings

SECTIONS = ("What it does", "Why", "Example", "Fix safety")


class _Documented:
    """What file rules and program rules share."""

    code: ClassVar[str] = ""
    """Such as ``EST101``; unique over all rules."""
    name: ClassVar[str] = ""
    """Such as ``partitioners``."""
    clarifies: ClassVar[bool] = False
    """Whether names stand for something only once its fixes are applied, so that these come before all others."""
    needs_tensorflow_2: ClassVar[bool] = False
    """Whether what it writes does not run on TensorFlow 1.15: it is left out of what programs import that all stay."""
    url: ClassVar[str] = "https://www.tensorflow.org/guide/migrate"

    @classmethod
    def outdates(cls, name: str) -> bool:
        """Whether the rule knows that code cannot go on with the TensorFlow name, such as ``tensorflow.layers.dense``."""
        return False

    @classmethod
    def documentation(cls) -> str:
        """The docstring, without indentation."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """First line of the docstring."""
        return cls.documentation().partition("\n")[0]

    @classmethod
    def sections(cls) -> dict[str, str]:
        """Docstring sections by title, in order."""
        found: dict[str, list[str]] = {}
        current: list[str] = []
        for line in cls.documentation().splitlines():
            if line.startswith("## "):
                current = found.setdefault(line[3:].strip(), [])
            else:
                current.append(line)
        return {title: "\n".join(lines).strip() for title, lines in found.items()}

    def diagnostic(
        self,
        module: Module,
        node: Union[ast.AST, tuple[int, int]],
        message: str,
        edits: Iterable[Edit] = (),
        *,
        changes: Iterable[Change] = (),
        title: str = "",
        applicability: Applicability = Applicability.SAFE,
        severity: Severity = Severity.WARNING,
        new_files: Iterable[NewFile] = (),
        leaves: Iterable[Diagnostic] | None = None,
    ) -> Diagnostic:
        """A finding of this rule at `node`; with `changes` or `edits` it carries a fix (`title` defaults to the message).

        Changes that cannot be printed are said to be left, and there is no fix.
        """
        files = tuple(new_files)
        rest = None if leaves is None else tuple(leaves)
        try:
            every = tuple(sorted({*edits, *module.cst.apply(changes)}))
        except Unprintable as error:
            return self.unprintable(module.location(node), message, error)
        fix = Fix(title or message, every, applicability, files, rest) if every or files else None
        return Diagnostic(self.code, message, module.location(node), fix, severity, self.name, self.url)

    def unprintable(self, location: Location, message: str, error: Unprintable) -> Diagnostic:
        """What to say of code that should change, but cannot be printed."""
        message = f"{message}; left as it is: {error.reason} (line {error.location.line}), so change it by hand"
        return Diagnostic(self.code, message, location, None, Severity.WARNING, self.name, self.url)


class Rule(_Documented):
    """A rule about single references, fired for each expression that resolves to one of `symbols`."""

    symbols: ClassVar[tuple[str, ...]] = ()
    """Qualified names such as ``tensorflow.fixed_size_partitioner``; a trailing ``.*`` stands for any member."""

    @classmethod
    def concerns(cls, module: Module) -> bool:
        """Whether the rule may have something to say about single references of a file."""
        return True

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """Look at one reference: `node` is the whole dotted expression, `name` what it resolves to."""
        raise NotImplementedError

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """Look at the file as a whole, once per round; for fixes that must change all its places together."""
        return iter(())

    @classmethod
    def matches(cls, name: str) -> bool:
        """Whether a qualified name is one of `symbols`."""
        return any(name == symbol or (symbol.endswith(".*") and name.startswith(symbol[:-1])) for symbol in cls.symbols)


class ProgramRule(_Documented):
    """A rule about a whole program, which may span files. It runs after the file rules of the same round."""

    words: ClassVar[tuple[str, ...]] = ()
    """The rule has nothing to say about files in which none of these words occurs; empty: about any."""

    @classmethod
    def concerns(cls, module: Module) -> bool:
        """Whether the rule may have something to say about a file."""
        return not cls.words or any(word.encode() in module.source for word in cls.words)

    @classmethod
    def looks_around(cls, module: Module) -> bool:
        """Whether, for a file that concerns it, files matter that the file imports or that import it."""
        return True

    def check_program(self, project: Project, settings: Settings) -> Iterator[Diagnostic | ProgramUnit]:
        """Look at all modules of the component; says what to change and, of each program, how far it got."""
        raise NotImplementedError


def run_rules(rules: Iterable[Rule], module: Module) -> list[Diagnostic]:
    """What `rules` say about one file, in source order; empty for a file that does not mention TensorFlow."""
    found: list[Diagnostic] = []
    rules = list(rules)
    if not module.mentions_tensorflow:
        return found
    exact: dict[str, list[Rule]] = {}
    prefixes: list[tuple[str, Rule]] = []
    for rule in rules:
        for symbol in rule.symbols if rule.concerns(module) else ():
            if symbol.endswith(".*"):
                prefixes.append((symbol[:-1], rule))
            else:
                exact.setdefault(symbol, []).append(rule)
    for node, name in module.references():
        for rule in exact.get(name, ()):
            found.extend(_said(rule, rule.check(node, name, module), name))
        for prefix, rule in prefixes:
            if name.startswith(prefix) and rule not in exact.get(name, ()):
                found.extend(_said(rule, rule.check(node, name, module), name))
    for rule in rules:
        found.extend(_said(rule, rule.check_module(module), rule.name))
    found.sort(key=lambda diagnostic: (diagnostic.location, diagnostic.code))
    return found


def _said(rule: Rule, found: Iterable[Diagnostic], name: str) -> Iterator[Diagnostic]:
    """What a rule says, and that it goes no further at code that cannot be printed."""
    try:
        yield from found
    except Unprintable as error:
        yield rule.unprintable(error.location, name, error)


__all__ = ["SECTIONS", "ProgramRule", "Rule", "run_rules"]
