"""The import block of the vendored file: only what is used, merged over runtime modules, sorted as `isort` does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from migrator.resolve.parsing import syntax_tree

_RUNTIME = "migrator.runtime"
_LINE_LENGTH = 120
# Python 3.9 has no list of its standard library; these are what runtime modules may need.
_STANDARD = getattr(
    sys,
    "stdlib_module_names",
    frozenset(
        # fmt: off
        [
            "abc",
            "argparse",
            "base64",
            "bisect",
            "collections",
            "contextlib",
            "copy",
            "dataclasses",
            "datetime",
            "enum",
            "functools",
            "glob",
            "hashlib",
            "inspect",
            "io",
            "itertools",
            "json",
            "logging",
            "math",
            "numbers",
            "operator",
            "os",
            "pathlib",
            "pickle",
            "random",
            "re",
            "shutil",
            "signal",
            "socket",
            "string",
            "struct",
            "subprocess",
            "sys",
            "tempfile",
            "textwrap",
            "threading",
            "time",
            "types",
            "typing",
            "uuid",
            "warnings",
            "weakref",
        ]
        # fmt: on
    ),
)


@dataclass(frozen=True, order=True)
class Import:
    """One imported name. `module` is empty for ``import member``."""

    module: str
    member: str
    name: str
    """What it is called in the file."""

    @property
    def root(self) -> str:
        """The top-level package."""
        return (self.module or self.member).partition(".")[0]


def imports_of(tree: ast.Module, external_only: bool = True) -> list[Import]:
    """Top-level imports of a module; those of other runtime modules are left out with `external_only`.

    Raises ValueError for imports that merged definitions could not keep: of a runtime module as such, or under another
    name.
    """
    found: list[Import] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if external_only and alias.name.startswith(_RUNTIME):
                    raise ValueError(f"import the names of {alias.name} one by one: from {alias.name} import …")
                found.append(Import("", alias.name, alias.asname or alias.name.partition(".")[0]))
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            module = "." * node.level + (node.module or "")
            internal = node.level > 0 or module.startswith(_RUNTIME)
            for alias in node.names:
                if internal and external_only:
                    if alias.asname not in (None, alias.name):
                        raise ValueError(f"{module}.{alias.name} is imported under another name, {alias.asname}")
                    continue
                found.append(Import(module, alias.name, alias.asname or alias.name))
    return found


def internal_modules(tree: ast.Module) -> set[str]:
    """The runtime modules that a runtime module imports, by their names below that package."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(_RUNTIME + ".")):
            found.add(module_name((node.module or "").replace(_RUNTIME + ".", "", 1)))
    return found


def module_name(below: str) -> str:
    """What a runtime module is called, whose place below that package is given: folders only sort them, but for clusters."""
    folder, _, name = below.rpartition(".")
    return f"cluster.{name}" if folder == "cluster" else name


def borrowed(text: str, module: str) -> tuple[set[str], set[str]]:
    """The names that a file imports from a module beside it, and what stands before that: a dot, nothing, or either."""
    nodes = [node for node in ast.walk(syntax_tree(text)) if isinstance(node, ast.ImportFrom) and node.module == module]
    return {alias.name for node in nodes for alias in node.names}, {"." * node.level for node in nodes}


def render_borrowed(names: Iterable[str], module: str, prefixes: Collection[str]) -> list[str]:
    """Lines that import `names` from a module beside the file: of the package where a prefix is a dot."""
    imports = {prefix: _block(Import(prefix + module, name, name) for name in sorted(names)) for prefix in prefixes}
    if len(imports) < 2:
        return [line for block in imports.values() for line in block]
    inside, alone = ([" " * 4 + line for line in "\n".join(imports[prefix]).split("\n")] for prefix in (".", ""))
    return [
        "try:",
        *inside,
        "except ImportError:  # this file is of no package where a program is run beside it",
        *alone,
    ]


def render_imports(imports: Iterable[Import], future: bool = True) -> list[str]:
    """Lines of the import block, with blank lines between ``__future__``, the standard library and the rest."""
    entries = sorted(set(imports))
    standard = [entry for entry in entries if entry.root in _STANDARD]
    other = [entry for entry in entries if entry.root not in _STANDARD]
    blocks = [["from __future__ import annotations"]] if future else []
    blocks += [_block(group) for group in (standard, other) if group]
    lines: list[str] = []
    for block in blocks:
        lines += ([""] if lines else []) + block
    return lines


def _block(entries: Iterable[Import]) -> list[str]:
    lines: list[str] = []
    members: dict[str, list[str]] = {}
    for entry in entries:
        if entry.module:
            shown = entry.member if entry.name == entry.member else f"{entry.member} as {entry.name}"
            members.setdefault(entry.module, []).append(shown)
        elif entry.name == entry.member.partition(".")[0]:
            lines.append(f"import {entry.member}")
        else:
            lines.append(f"import {entry.member} as {entry.name}")
    for module, names in members.items():
        line = f"from {module} import {', '.join(names)}"
        if len(line) > _LINE_LENGTH:
            line = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
        lines.append(line)
    return lines
