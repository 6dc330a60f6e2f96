"""Runs the rules of one rule file over a text, without the engine."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import textwrap
import types
from collections.abc import Iterable
from pathlib import Path

from migrator.engine.fixes import splice
from migrator.engine.rule import Rule, run_rules
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Applicability, Diagnostic, Edit

MAX_ROUNDS = 10


def load(name: str) -> types.ModuleType:
    """The module `migrator.rules.<name>`, also in a checkout that is not installed."""
    if "migrator.rules" not in sys.modules and importlib.util.find_spec("migrator.rules") is None:
        package = types.ModuleType("migrator.rules")
        package.__path__ = [str(Path(__file__).resolve().parents[2] / "rules")]
        sys.modules["migrator.rules"] = package
    return importlib.import_module(f"migrator.rules.{name}")


def rules_of(*names: str) -> list[Rule]:
    """One instance of every rule that the named modules define."""
    found = []
    for name in names:
        module = load(name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                found.append(value())
    return found


def check(source: str, rules: Iterable[Rule]) -> list[Diagnostic]:
    """What the rules say in the first round."""
    return run_rules(rules, Module("program.py", textwrap.dedent(source)))


def transform(source: str, rules: Iterable[Rule], least: Applicability = Applicability.SAFE) -> str:
    """The text after all rounds; each round applies the fixes that do not overlap."""
    rules = list(rules)
    text = source
    dialect = None
    for _ in range(MAX_ROUNDS):
        module = Module("program.py", text)
        if dialect is None:
            dialect = module.module_dialect
        module.inherited_dialect = dialect
        chosen: list[Edit] = []
        for diagnostic in run_rules(rules, module):
            fix = diagnostic.fix
            if fix is None or fix.applicability < least:
                continue
            new = [
                edit for edit in fix.edits if edit not in chosen or edit.start == edit.end and edit.text[-1:] != "\n"
            ]
            if not any(_overlap(edit, other) for edit in new for other in chosen):
                chosen += new
        if not chosen:
            return text
        text = splice(module.source, chosen).decode()
        ast.parse(text)
    raise AssertionError(f"no fixpoint after {MAX_ROUNDS} rounds:\n{text}")


def _overlap(one: Edit, other: Edit) -> bool:
    if one.start == one.end == other.start == other.end:
        return not (one.text.endswith("\n") and other.text.endswith("\n"))
    return one.start < other.end and other.start < one.end


def check_noop(source: str, rules: Iterable[Rule], least: Applicability = Applicability.SAFE) -> None:
    """The rules leave the text as it is."""
    source = textwrap.dedent(source)
    assert transform(source, rules, least) == source


def check_transformed(
    before: str, after: str, rules: Iterable[Rule], least: Applicability = Applicability.SAFE
) -> None:
    """The rules turn `before` into `after`, and a second run changes nothing more."""
    before, after = textwrap.dedent(before), textwrap.dedent(after)
    rules = list(rules)
    result = transform(before, rules, least)
    assert result == after
    assert transform(result, rules, least) == result
