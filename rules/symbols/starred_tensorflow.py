"""``from tensorflow import *``: the names that a file reads of it, imported by name."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterator
from typing import Optional, Union

from migrator.engine.rule import ProgramRule
from migrator.resolve.module import Import as Entry
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Import, Insert, statements
from migrator.vocabulary.diagnostics import Diagnostic, ProgramUnit, Severity
from migrator.vocabulary.settings import Settings

from .symbol_rows import endpoints, rows

_STARS = re.compile(rb"import[ \t(]+\*")
_ALSO = frozenset({"app", "compat", "contrib", "estimator", "flags", "gfile", "layers", "logging"})
"""Modules of TensorFlow 1 besides those whose members the table has."""
_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__path__", "__builtins__", "WindowsError"}
_AT_RUN_TIME = frozenset({"eval", "exec", "globals", "locals", "vars"})


class StarredTensorFlow(ProgramRule):
    """Import by name what a file reads of `from tensorflow import *`.

    ## What it does
    `from tensorflow import *`, or of a part of TensorFlow, becomes an import of the names that the file reads and does not
    bind itself, and so in files that have them from this one. Where it is not seen whether a name is TensorFlow's, it tells.

    ## Why
    What a star import gives is not written down; nothing that reads it could be migrated.

    ## Example
    ```python
    from tensorflow import *
    x = placeholder(float32, [None])
    ```
    becomes
    ```python
    from tensorflow import float32, placeholder
    x = placeholder(float32, [None])
    ```

    ## Fix safety
    Safe: the names are known, and stand for the same. Where another star import follows, or code reads names at run time
    (`eval`, `globals`), the line stays.
    """

    code = "EST012"
    name = "starred-tensorflow"
    clarifies = True

    @classmethod
    def concerns(cls, module: Module) -> bool:
        """Whether a file imports all names of something."""
        return _STARS.search(module.source) is not None

    @classmethod
    def looks_around(cls, module: Module) -> bool:
        """The files that matter travel together."""
        return False

    def check_program(self, project: Project, settings: Settings) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """One diagnostic for each such import."""
        for path in sorted(project.editable):
            module = project.modules[path]
            for entry in module.imports.stars if _STARS.search(module.source) else ():
                sources = list(_sources(project, module, entry, set()))
                if sources:
                    yield from self._star(project, module, entry, sources)

    def _star(self, project: Project, module: Module, entry: Entry, sources: list[str]) -> Iterator[Diagnostic]:
        statement = entry.statement
        direct = entry.target in sources
        known = {name: source for source in sources for name in given(source)}
        read = _read(project, module, entry, known, direct)
        obstacle = _obstacle(project, module, entry, known)
        if obstacle is not None:
            if obstacle[1] or read:
                where = sources[0].replace("tensorflow", "tf", 1) if not direct else entry.target
                said = f"what `import *` gives of {where} is not followed, {obstacle[0]}: import its names one by one"
                yield self.diagnostic(module, statement, said)
            return
        if not read:
            return
        lines = []
        for source in dict.fromkeys(known[name] for name in sorted(read)):
            names = ", ".join(sorted(name for name in read if known[name] == source))
            lines.append(f"from {source} import {names}")
        text = "\n".join(lines)
        change = Import(text, instead=statement) if direct else Insert(statements(text), after=statement)
        message = f"names of {', '.join(sources)} come with all others: imported by name"
        yield self.diagnostic(module, statement, message, changes=[change], severity=Severity.INFO)


def _sources(project: Project, module: Module, entry: Entry, seen: set[str]) -> Iterator[str]:
    """The parts of TensorFlow all of which a star import gives, itself or by way of other files of the program."""
    if entry.target == "tensorflow" or entry.target.startswith("tensorflow."):
        yield entry.target
        return
    home = project.module_named(entry.target, module)
    if home is None or home.path in seen or "__all__" in home.analysis.root.bindings:
        return
    seen.add(home.path)
    for other in home.imports.stars:
        yield from _sources(project, home, other, seen)


@functools.lru_cache(maxsize=256)
def given(source: str) -> frozenset[str]:
    """The names that a part of TensorFlow 1 gives with all others, as far as they are known."""
    prefix = re.sub(r"^tensorflow\.?", "", re.sub(r"^tensorflow\.compat\.v[12]\b", "tensorflow", source))
    prefix += "." if prefix else ""
    table = endpoints()
    known = {*table.same, *table.moved, *table.gone, *table.changed, *rows()}
    heads = {name[len(prefix) :].partition(".")[0] for name in known if name.startswith(prefix)}
    return frozenset(name for name in heads | (set() if prefix else _ALSO) if not name.startswith("_") and name != "*")


def _read(project: Project, module: Module, entry: Entry, known: dict[str, str], direct: bool) -> set[str]:
    """Those of `known` names that a file has from a star import and reads, or that other files read of it by name."""
    root, start = module.analysis.root, module.span(entry.statement)[0]
    found = set()
    for name in known:
        if module.loads_of(name, None):
            found.add(name)
            continue
        bound = sorted(module.span(binding.node)[0] for binding in root.bindings.get(name, ()))
        if not bound or not direct:
            continue
        between = (load for load in module.loads_of(name, root) if module.scope(load) is root)
        if bound[0] < start and module.loads_of(name, root):
            found.add(name)
        elif any(start < module.span(load)[0] < bound[0] for load in between):
            found.add(name)
    return found | (_read_elsewhere(project, module, known) - set(root.bindings) if direct else set())


def _read_elsewhere(project: Project, module: Module, known: dict[str, str]) -> set[str]:
    """Names of a file that others import of it, or read as its members."""
    found = set()
    for other in project.modules.values():
        if other is module:
            continue
        for entry in other.imports:
            owner = entry.target.rpartition(".")
            if entry.name != "*" and owner[2] in known and isinstance(entry.statement, ast.ImportFrom):
                head = owner[0] if owner[0].strip(".") else f"{owner[0]}."
                if project.module_named(head, other) is module:
                    found.add(owner[2])
        for attribute in other.nodes(ast.Attribute):
            if attribute.attr in known and isinstance(attribute.value, (ast.Name, ast.Attribute)):
                name = other.qualified(attribute.value)
                if name is not None and project.module_named(name, other) is module:
                    found.add(attribute.attr)
    return found


def _obstacle(project: Project, module: Module, entry: Entry, known: dict[str, str]) -> Optional[tuple[str, bool]]:
    """Why it is not seen what a star import gives, and whether that matters even where none of `known` names is read."""
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in _AT_RUN_TIME and not module.bindings(call.func):
            return f"as {call.func.id} reads names at run time ({module.location(call).line_text})", True
    stars = module.imports.stars
    others = [star for star in stars if star is not entry and not list(_sources(project, module, star, set()))]
    foreign = [star for star in others if project.module_named(star.target, module) is None]
    later = [star for star in foreign if module.span(star.statement) > module.span(entry.statement)]
    if later:
        return f"as `from {later[0].target} import *` follows, which may have the same names", False
    if foreign:
        return None  # of the names that are not known, these may be the ones
    every = set(known).union(*(given(s) for star in stars for s in _sources(project, module, star, set())))
    every |= {name for star in others for name in _of_file(project, module, star)}
    for load, scope in module.analysis.loads:
        if load.id not in every | _BUILTINS and scope.lookup(load.id) is None and not load.id.startswith("__"):
            if project.star_source(module, load.id) is None:
                return f"as `{load.id}` is not known as one of its names ({module.location(load).line_text})", True
    return None


def _of_file(project: Project, module: Module, star: Entry) -> set[str]:
    home = project.module_named(star.target, module)
    return set(home.analysis.root.bindings) if home is not None else set()
