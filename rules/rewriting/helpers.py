"""How a file gets at the vendored helpers and at TensorFlow 2."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope, normalize
from migrator.resolve.syntax import walk
from migrator.resolve.text import Span, Spans
from migrator.rewrite import Import
from migrator.vendor.vendored_runtime import CLUSTER_MODULE, TRAINING_MODULE

from ..canned.hyperparameters import HPARAMS
from ..program.unused_code import unused_spans
from ..symbols.tensorflow_names import PLAIN, VERSION_1
from .import_roots import in_package, package_prefix, relative_prefix

MODULES = (CLUSTER_MODULE, TRAINING_MODULE)
_SEARCH_PATH = {"sys.path", "site.addsitedir"}


class Helpers:
    """The helpers that one file needs, and the imports that bring them.

    `module_of` tells which file of a folder has a helper, `home` the folder of both. `stays` says that an import of
    ``tensorflow.compat.v1`` is not replaced by one of TensorFlow itself.
    """

    def __init__(
        self, module: Module, project: Project, home: str, module_of: Callable[[str, str], str], stays: bool = False
    ) -> None:
        self.module = module
        self.stays = stays
        self.project = project
        self.names: set[str] = set()
        self.kept: list[Span] = []
        """The functions that become layers, and stay beside them for code that nothing names."""
        self.held: dict[str, str] = {}
        """The texts of those that the file holds itself: all that it needs, or none."""
        self.folder, self.prefix = self._place(home)
        self._module_of = module_of
        targets = [entry.target.split(".") for entry in module.imports]
        self._imported = {parts[-1]: parts[-2] for parts in targets if len(parts) > 1 and parts[-2] in MODULES}
        self._plain: dict[str, set[str]] = {}
        self._qualified: set[str] = set()

    @property
    def modules(self) -> set[str]:
        """The modules beside the program that the file imports."""
        return set() if self.held else {*self._plain, *self._qualified}

    @property
    def vendored(self) -> set[str]:
        """The helpers that stand in a module beside the program."""
        return set() if self.held else self.names

    @property
    def may_hold(self) -> bool:
        """Whether all that it needs may as well stand in the file, which imports nothing of the kind yet."""
        return set(self._plain) <= {TRAINING_MODULE} and not self._qualified and not self._imported

    @property
    def unused(self) -> Spans:
        """The spans of what nothing in the program names, and of what stays for such code."""
        unused = unused_spans(self.project.modules.values(), self.module)
        return Spans([*unused, *self.kept]) if self.kept else unused

    def need(self, name: str, at: ast.AST | None = None) -> str:
        """Asks for a helper where the code at `at` needs it; returns how that code writes it."""
        home = self._module_of(name, self.folder)
        self.names.add(name)
        scope = self.module.scope(at) if at is not None else self.module.analysis.root
        holder = scope.lookup(name)
        bound = holder.bindings.get(name, []) if holder is not None else []
        alias = (
            bound[0].alias if len(bound) == 1 and name == "ModeKeys" and holder is self.module.analysis.root else None
        )
        targets = [self.module.resolve(alias) or ""] if alias is not None else [normalize(b.target) for b in bound]
        old = all(t.startswith("tensorflow.estimator.") or t in HPARAMS for t in targets)  # its import goes
        if self._imported.get(name) == home or holder is None or old:
            self._plain.setdefault(home, set()).add(name)
            return name
        self._check_free(home, scope, at)
        self._qualified.add(home)
        return f"{home}.{name}"

    def _check_free(self, module: str, scope: Scope, at: ast.AST | None) -> None:
        """Raises Unsupported where the name of a module beside the program stands for something else."""
        holder = scope.lookup(module)
        bound = holder.bindings.get(module, []) if holder is not None else []
        if any(b.target.rpartition(".")[2] != module for b in bound):
            raise Unsupported(f"`{module}`, the name of a file of helpers, stands for something else here", at)

    def tensorflow(self) -> str:
        """The file's name for TensorFlow 2 once its imports are migrated."""
        named = [e for e in self.module.imports if e.name != "*" and e.top_level]
        plain = [e for e in named if e.target in PLAIN]
        if plain:
            return plain[0].name
        old = [e for e in named if e.target == VERSION_1]
        if old:
            return f"{old[0].name}.compat.v2" if self.stays else old[0].name
        if "tf" in self.module.bound_names:
            raise Unsupported("the file does not import tensorflow as a whole, and `tf` is taken", None)
        return "tf"

    def imports(self) -> list[Import]:
        """The import statements to add."""
        wanted: list[Import] = []
        module = self.module
        if not any(e.target in PLAIN | {VERSION_1} and e.name != "*" and e.top_level for e in module.imports):
            if self.names and "tf" not in module.bound_names:
                wanted.append(Import("import tensorflow as tf"))
        if self.held:
            return wanted
        statements = [self._plain_import(name, names) for name, names in sorted(self._plain.items())]
        statements = [statement for statement in statements if statement]
        if self._qualified:
            package, names = self.prefix.rstrip("."), ", ".join(sorted(self._qualified))
            if self.prefix.startswith("."):
                statements.append(f"from {self.prefix if package == '' else package} import {names}")
            else:
                statements.append(f"from {package} import {names}" if package else f"import {names}")
        if statements:
            above = self._above()
            apart = above is None or not self._is_local_import(above)
            wanted.append(Import("\n".join(statements), below=above, apart=apart))
        return wanted

    def _plain_import(self, name: str, names: set[str]) -> str:
        """The import of names from a module beside the program that are not imported yet."""
        wanted = sorted(names - set(self._imported))
        line = f"from {self.prefix}{name} import {', '.join(wanted)}"
        if len(line) > 100:
            line = f"from {self.prefix}{name} import (\n" + "".join(f"    {one},\n" for one in wanted) + ")"
        return line if wanted else ""

    def _is_local_import(self, statement: ast.stmt) -> bool:
        """Whether a statement imports a file of the project, so that ours may stand right below it."""
        return any(self._is_local(entry.target) for entry in self.module.imports if entry.statement is statement)

    def _above(self) -> ast.stmt | None:
        """The last import at the head of the file, where local imports stand, or at the head of what follows where the file
        first says where they are to be found."""
        last: ast.stmt | None = None
        for node in self.module.tree.body[self._behind_search_path() :]:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                last = node
            elif isinstance(node, ast.Try) and any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in node.body):
                last = node
            elif last is None and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            elif last is not None:
                break
        return last

    def _behind_search_path(self) -> int:
        """The number of the first local import, if the file changes ``sys.path`` for it; else 0."""
        changed = False
        for number, statement in enumerate(self.module.tree.body):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                mine = [entry for entry in self.module.imports if entry.statement is statement]
                if changed and any(self._is_local(entry.target) for entry in mine):
                    return number
            elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                changed = changed or any(
                    isinstance(node, ast.Attribute) and self.module.resolve(node) in _SEARCH_PATH
                    for node in walk(statement)
                )
        return 0

    def _is_local(self, target: str) -> bool:
        """Whether a name that is imported stands for a file of the project, or for something in one."""
        names = (target, target.rpartition(".")[0])
        return target.startswith(".") or any(
            self.project.module_named(name, self.module) is not None for name in names if name
        )

    def _place(self, home: str) -> tuple[str, str]:
        """The folder of the helper module, `home` if the file can import it from there, and what stands before its name."""
        own = os.path.dirname(self.module.path)
        if own != home:
            prefix = self._prefix_to(home)
            if prefix is None:
                prefix = relative_prefix(self.project, own, home)
            if prefix is None:
                prefix = package_prefix(self.project, home)
            if prefix is not None:
                return home, prefix
        prefix = self._prefix(own)
        if prefix is None:
            prefix = "." if in_package(self.project, self.module) else package_prefix(self.project, own)
        return own, prefix or ""

    def _prefix_to(self, folder: str) -> str | None:
        """The package by which the file imports something out of a folder, with a dot at the end."""
        for dotted, found in self.project.imported(self.module):
            if os.path.dirname(found.path) == folder and not found.path.endswith("__init__.py"):
                head = dotted.rpartition(".")[0]
                return head + "." if head.strip(".") else dotted[: len(dotted) - len(dotted.lstrip("."))] or ""
        return None

    def _prefix(self, own: str) -> str | None:
        """What stands before a sibling's name as the file imports it: nothing, a dot, or the package; None if it imports none."""
        module = self.module
        for entry in module.imports:
            statement = entry.statement
            if isinstance(statement, ast.ImportFrom) and statement.level:
                return "."
        for entry in module.imports:
            if entry.target.startswith("."):
                continue
            parts = entry.target.split(".")
            for stop in range(len(parts), 0, -1):
                dotted = ".".join(parts[:stop])
                found = self.project.module_named(dotted, module)
                if found is not None and os.path.dirname(found.path) == own:
                    package = stop if os.path.basename(found.path) == "__init__.py" else stop - 1
                    return ".".join([*parts[:package], ""])
        return None
