"""TensorFlow by way of another file of the program, or of a function that imports it: imported as such."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Optional

from migrator.engine.rule import ProgramRule
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import UNKNOWN, dotted
from migrator.resolve.symbols import Import as SymbolImport
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Import, Insert, Remove, Replace, expr, statements
from migrator.vocabulary.diagnostics import Diagnostic, Severity
from migrator.vocabulary.settings import Settings

from .compat_v1 import SWITCHES
from .tensorflow_names import PLAIN, VERSION_1

_WHOLE = PLAIN | {VERSION_1}
_MESSAGE = "TensorFlow comes by way of another name: imported as such"
_READS = re.compile(rb"\btf\b|tensorflow")


class IndirectTensorFlow(ProgramRule):
    """Import TensorFlow itself instead of taking it from another file, or from a function that imports it.

    ## What it does
    `from compat import tf`, where `compat` is a file of the program that imports TensorFlow, becomes `import tensorflow as
    tf`, or `import tensorflow.compat.v1 as tf` where that is what `compat` has, with the switches that `compat` throws. So do
    `from compat import *`, if the file reads `tf`, and `tf = try_import_tf()` of a function that does nothing but to import.
    `compat.tf` of such a file that is imported as a whole becomes `tf`.

    ## Why
    What a file means by `tf` is seen in the file alone; nothing in it could be migrated else.

    ## Example
    ```python
    from compat import tf
    ```
    becomes
    ```python
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    ```

    ## Fix safety
    Safe: it is the same module. The name must stand for TensorFlow alone, in the other file as in this one.
    """

    code = "EST009"
    name = "indirect-tensorflow"
    clarifies = True

    @classmethod
    def concerns(cls, module: Module) -> bool:
        """Whether a file reads TensorFlow, by its usual name at least."""
        return _READS.search(module.source) is not None

    @classmethod
    def looks_around(cls, module: Module) -> bool:
        """The files that matter travel together."""
        return False

    def check_program(self, project: Project, settings: Settings) -> Iterator[Diagnostic]:
        """One diagnostic for each such import or assignment."""
        for path in sorted(project.editable):
            module = project.modules[path]
            if not _READS.search(module.source):
                continue
            for statement in module.tree.body:
                found = list(_changes(project, module, statement))
                if found:
                    yield self.diagnostic(module, statement, _MESSAGE, changes=found, severity=Severity.INFO)
            for entry in module.imports:
                found = list(_read_changes(project, module, entry))
                if found:
                    yield self.diagnostic(module, entry.statement, _MESSAGE, changes=found, severity=Severity.INFO)


def _changes(project: Project, module: Module, statement: ast.stmt) -> Iterator[Change]:
    if isinstance(statement, ast.ImportFrom):
        yield from _import_changes(project, module, statement)
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        target = statement.targets[0] if len(statement.targets) == 1 else None
        found = _returned(project, module, statement.value)
        if isinstance(target, ast.Name) and found is not None and len(module.bindings(target)) == 1:
            yield Import(_text(found, target.id, []), instead=statement)


def _import_changes(project: Project, module: Module, statement: ast.ImportFrom) -> Iterator[Change]:
    """``from compat import tf``, alone or among others, and a star import of a file that has the name which this one reads."""
    home = project.module_named("." * statement.level + (statement.module or ""), module)
    if home is None or home is module or module.comments_in(*module.span(statement)):
        return
    if statement.names[0].name == "*":
        for name in home.analysis.root.bindings if "__all__" not in home.analysis.root.bindings else ():
            found = _meant(home, name)
            if found is not None and not name.startswith("_") and module.loads_of(name, None):
                yield Insert(statements(_text(found, name, _switches(home, name))), after=statement)
        return
    texts, kept = [], []
    for alias in statement.names:
        name, found = alias.asname or alias.name, _meant(home, alias.name)
        alone = len(module.analysis.root.bindings.get(name, ())) == 1
        if found is not None and alone and project.module_named(_inside(statement, alias), module) is None:
            texts.append(_text(found, name, _switches(home, alias.name)))
        else:
            kept.append(module.segment(alias))
    if texts and kept:
        source = "." * statement.level + (statement.module or "")
        texts.append(f"from {source} import {', '.join(kept)}")
    if texts:
        yield Import("\n".join(texts), instead=statement)


def _read_changes(project: Project, module: Module, entry: SymbolImport) -> Iterator[Change]:
    """``compat.tf`` of a file that is imported as a whole; ``tf = compat.tf`` goes."""
    home = project.module_behind(entry.target, module) if entry.scope is module.analysis.root else None
    if home is None or home is module or len(module.analysis.root.bindings.get(entry.name, ())) != 1:
        return
    reads = [module.parent(load) for load in module.loads_of(entry.name, module.analysis.root)]
    of_home = [read for read in reads if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load)]
    for name in dict.fromkeys(read.attr for read in of_home):
        found, own = _meant(home, name), [read for read in of_home if read.attr == name]
        if found is None:
            continue
        again = [module.parent(read) for read in own]
        aliases = [
            each for each in again if isinstance(each, ast.Assign) and [*map(ast.unparse, each.targets)] == [name]
        ]
        inside = {target for each in aliases for target in each.targets}
        scopes = {module.analysis.root, *module.analysis.scope_of.values()}
        bound = (b.node for scope in scopes for b in scope.bindings.get(name, ()))
        if any(node not in inside and node not in aliases for node in bound):
            continue
        yield Insert(statements(_text(found, name, _switches(home, name))), after=entry.statement)
        yield from (Remove(each) for each in aliases)
        yield from (Replace(read, expr(name)) for read in own if module.parent(read) not in aliases)


def _inside(statement: ast.ImportFrom, alias: ast.alias) -> str:
    dots = "." * statement.level
    return f"{dots}{statement.module}.{alias.name}" if statement.module else f"{dots}{alias.name}"


def _meant(home: Module, name: str) -> Optional[str]:
    """Which TensorFlow a name of a file is: that of version 1 where it may be either; None where it is something else."""
    if not home.mentions_tensorflow or re.search(rb"^(def|class) +%s\b" % name.encode(), home.source, re.MULTILINE):
        return None  # a file that is only looked into need not be parsed for that
    root = home.analysis.root
    bound = root.bindings.get(name, ())
    if any(isinstance(binding.node, ast.Assign) and binding.alias is None and not binding.is_none for binding in bound):
        return None
    names = home.analysis.root_names(name, root)
    if not names or UNKNOWN in names or not names <= _WHOLE:
        return None
    return VERSION_1 if VERSION_1 in names else "tensorflow"


def _switches(home: Module, name: str) -> list[str]:
    """The switches that a file throws when it is imported: ``disable_v2_behavior``."""
    found = []
    for node in home.nodes(ast.Call):
        said = dotted(node.func) or ""
        inside = home.nearest(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)) is not None
        if not inside and not node.args and said.rpartition(".")[0] == name and said.rpartition(".")[2] in SWITCHES:
            found.append(said.rpartition(".")[2])
    return list(dict.fromkeys(found))


def _text(found: str, name: str, switches: list[str]) -> str:
    first = "import tensorflow" if found == name else f"import {found} as {name}"
    return "\n".join([first, *(f"{name}.{switch}()" for switch in switches)])


def _returned(project: Project, module: Module, call: ast.Call) -> Optional[str]:
    """The TensorFlow that a call of a function of the program returns, which does nothing but to import it."""
    definition = project.definition(module, call.func) if not call.args and not call.keywords else None
    function = definition.node if definition is not None else None
    if definition is None or not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    home, plain = definition.module, (ast.Import, ast.ImportFrom, ast.Try, ast.Return, ast.Pass)
    inner = [node for part in function.body for node in walk(part) if isinstance(node, ast.stmt)]
    texts = function.body[:1] if ast.get_docstring(function) else []
    values = [node.value for node in inner if isinstance(node, ast.Return)]
    names: set[str] = set()
    for value in values:
        if not (value is None or isinstance(value, ast.Constant) and value.value is None):
            names |= home.raw_names(value) or {UNKNOWN}
    if not all(isinstance(node, plain) or node in texts for node in inner) or not names or not names <= _WHOLE:
        return None
    return VERSION_1 if VERSION_1 in names else "tensorflow"
