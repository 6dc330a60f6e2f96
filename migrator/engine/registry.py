"""Finds rules: those of `migrator.rules`, and those of installed packages that declare entry points `migrator.rules`.

An entry point names a module or package, such as ``mine = my_package.rules``; its modules are searched for subclasses
of `Rule` and `ProgramRule`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Union

from migrator.engine.rule import ProgramRule, Rule

GROUP = "migrator.rules"
AnyRule = Union[Rule, ProgramRule]


class RegistryError(Exception):
    """Rules cannot be loaded; the message says what to do."""


@dataclass(frozen=True)
class Registry:
    """All rules, sorted by code."""

    file_rules: tuple[Rule, ...] = ()
    program_rules: tuple[ProgramRule, ...] = ()

    @property
    def all(self) -> tuple[AnyRule, ...]:
        """File rules and program rules, by code."""
        return tuple(sorted((*self.file_rules, *self.program_rules), key=lambda rule: rule.code))

    @functools.cached_property
    def only_built_in(self) -> bool:
        """Whether no rule comes from another package."""
        return all(type(rule).__module__.startswith(f"{GROUP}.") for rule in self.all)

    @functools.cached_property
    def clarifying(self) -> frozenset[str]:
        """Codes of the rules whose fixes come before all others."""
        return frozenset(rule.code for rule in self.all if rule.clarifies)

    def find(self, code: str) -> Union[AnyRule, None]:
        """The rule with this code or name."""
        return next((rule for rule in self.all if code.upper() == rule.code or code.lower() == rule.name), None)


@functools.lru_cache(maxsize=1)
def load() -> Registry:
    """Import all rules. Raises RegistryError."""
    try:
        package = importlib.import_module(GROUP)
    except ModuleNotFoundError as error:
        if error.name not in (GROUP, "migrator"):
            raise
        message = "the package migrator.rules is missing: install with `pip install estimator-migrator`, "
        raise RegistryError(message + "or `pip install -e .` in a checkout") from error
    modules = list(_modules(package))
    for target in _entry_points():
        try:
            modules += _modules(importlib.import_module(target))
        except Exception as error:  # a broken rule pack is somebody else's code
            raise RegistryError(f"rule pack {target}: {type(error).__name__}: {error}") from error
    return build(modules)


def build(modules: Iterable[ModuleType]) -> Registry:
    """Collect the rules that `modules` define. Raises RegistryError for a code that is missing or not unique."""
    rules: dict[str, AnyRule] = {}
    for module in modules:
        for value in vars(module).values():
            if not _is_rule(value, module):
                continue
            where = f"{value.__module__}.{value.__qualname__}"
            if not value.code:
                raise RegistryError(f"{where} has no code")
            if value.code in rules:
                other = type(rules[value.code])
                raise RegistryError(f"{where} and {other.__module__}.{other.__qualname__} both have code {value.code}")
            rules[value.code] = value()
    ordered = [rules[code] for code in sorted(rules)]
    return Registry(
        tuple(rule for rule in ordered if isinstance(rule, Rule)),
        tuple(rule for rule in ordered if isinstance(rule, ProgramRule)),
    )


def _is_rule(value: object, module: ModuleType) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, (Rule, ProgramRule))
        and value.__module__ == module.__name__  # defined here, not imported
        and not value.__name__.startswith("_")
        and not inspect.isabstract(value)
    )


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for entry in sorted(pkgutil.iter_modules(getattr(package, "__path__", ())), key=lambda entry: entry.name):
        if not entry.name.startswith("__"):
            module = importlib.import_module(f"{package.__name__}.{entry.name}")
            yield from _modules(module) if entry.ispkg else (module,)


def _entry_points() -> list[str]:
    """Modules that installed distributions declare in the group.

    Reads the `entry_points.txt` files by itself: `importlib.metadata` costs a third of our whole start-up.
    """
    found: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                found.update(_declared(os.path.join(folder, name, "entry_points.txt")))
    return sorted(found)


def _declared(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return
    if GROUP not in text:
        return
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            yield line.partition("=")[2].partition("[")[0].partition(":")[0].strip()
