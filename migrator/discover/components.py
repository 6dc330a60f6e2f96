"""Groups the files of a tree into components: files to be migrated together, because they import each other.

Reads import statements off the bytes, without parsing. Only files that mention TensorFlow count, and those that import
such a file: a `task.py` may drive a `model.py` and never name TensorFlow itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from migrator.discover.cells import SUFFIX
from migrator.vendor.vendoring import is_vendored

RELEVANT = re.compile(rb"tensorflow")
"""What a file must contain to be looked at for its own sake."""

_ABSTRACT = re.compile(rb"\babstractmethod\b")
"""What files of base classes contain, which lose the abstract methods that models are made of."""

PROGRAM = re.compile(rb"stimator")
"""What a file must contain for its imports to be worth looking into."""

MAX_FILES = 80
"""A larger component is cut at its hubs, the files that most others import or that import most others."""
_HUB = 8
_MAX_CONTEXT = 24

_IMPORT = re.compile(
    rb"^[ \t]*(?:"
    rb"from[ \t]+(?P<module>[.\w]+)[ \t]*import\b[ \t]*(?P<names>\([^)]{0,20000}\)|(?:[^\n#;\\]|\\\n)*)"
    rb"|import[ \t]+(?P<modules>(?:[^\n#;\\]|\\\n)*)"
    rb")",
    re.MULTILINE,
)
_BY_NAME = re.compile(rb"import_module\(\s*[fF]?[\"']([A-Za-z_][\w.]*)\.(?=[\"'%{])([\w.%{}]*)([^\n]*)")
"""An import of a module whose name is made at run time, in a package that is written down: the rest of its name, and of the
line."""
_ADDED = re.compile(rb"\+\s*[\"']\.")
_LOADED = re.compile(rb"(?:import_module|__import__)\(\s*[\"']([A-Za-z_][\w.]*)[\"']\s*[,)]")
"""A call that imports a module whose name is written down."""
ALL = "*modules"
"""Stands for all modules of a package; with a dot for each package below it that they are in."""
_COMMENT = re.compile(rb"#[^\n]*")


@dataclass(frozen=True)
class Component:
    """Paths of files that are migrated together, and of those that their rules may look into."""

    files: tuple[str, ...]
    context: tuple[str, ...] = ()


def imported_names(raw: bytes) -> Iterator[tuple[str, str]]:
    """Pairs of module and member of the import statements in `raw`; the member is empty for ``import module``."""
    if b"import" not in raw:
        return
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for match in _BY_NAME.finditer(raw):
        yield match.group(1).decode("utf-8", "replace"), ALL + "." * _levels(match)
    for match in _LOADED.finditer(raw):
        yield match.group(1).decode("utf-8", "replace"), ""
    for match in _IMPORT.finditer(raw):
        module, names, modules = match.group("module", "names", "modules")
        if modules is not None:
            for entry in _entries(modules):
                yield entry, ""
        else:
            source = module.decode("utf-8", "replace")
            for entry in _entries(names):
                yield source, entry


def _levels(match: re.Match[bytes]) -> int:
    """How many packages below the one that is written down a module made at run time is in."""
    return match.group(2).count(b".") + len(_ADDED.findall(match.group(3)))


def _entries(names: bytes) -> Iterator[str]:
    for entry in _COMMENT.sub(b"", names).replace(b"\\\n", b" ").strip(b"() \t\n").split(b","):
        words = entry.split()
        if words:
            yield words[0].decode("utf-8", "replace")


class Importer:
    """Finds the file behind an import, among the files of the tree."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: dict[str, str] = {}  # by what is imported: the path without `.py` or `/__init__.py`
        for path in paths:
            base, extension = os.path.splitext(_key(path))
            folder, name = os.path.split(base)
            if name == "__init__":
                self._files.setdefault(folder, path)
            elif extension == ".py":
                self._files[base] = path
        self._names = {name for base in self._files for name in base.split(os.sep)}
        self._cache: dict[tuple[str, str], tuple[str, ...]] = {}

    def targets(self, path: str, raw: bytes) -> set[str]:
        """The files of the tree that `path` imports."""
        found: set[str] = set()
        folder = os.path.dirname(_key(path))
        for module, member in imported_names(raw):
            key = (folder, module + (f" {member}" if member else ""))
            if key not in self._cache:
                self._cache[key] = self._resolve(folder, module, member)
            found.update(self._cache[key])
        found.discard(path)
        return found

    def _resolve(self, folder: str, module: str, member: str) -> tuple[str, ...]:
        tail = module.lstrip(".")
        level = len(module) - len(tail)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._at(folder, tail, member)
        head = tail.partition(".")[0]
        if head not in self._names:  # most imports: of the standard library and of packages
            return ()
        package = self._package(folder)
        if os.path.basename(package) == head and (found := self._at(os.path.dirname(package), tail, member)):
            return found  # what the package calls by its own name is no module of this name inside of it
        # The folder of a script is on its path, and so may be any folder above it.
        while True:
            found = self._at(folder, tail, member)
            parent = os.path.dirname(folder)
            if found or parent == folder:
                return found
            folder = parent

    def _package(self, folder: str) -> str:
        """The outermost package that a folder is in; empty if it is in none."""
        package = ""
        while folder in self._files and folder != package:
            package, folder = folder, os.path.dirname(folder)
        return package

    def _at(self, folder: str, dotted: str, member: str) -> tuple[str, ...]:
        base = folder.rstrip(os.sep) + os.sep + dotted.replace(".", os.sep) if dotted else folder
        if member.startswith(ALL):
            depth = base.count(os.sep) + 1 + member.count(".")
            below = (name for name in self._files if name.startswith(base + os.sep) and name.count(os.sep) == depth)
            return tuple(self._files[name] for name in below)
        inner = base + os.sep + member if member and member != "*" else base
        found = self._files.get(inner) or self._files.get(base)
        return (found,) if found else ()


def _key(path: str) -> str:
    return os.path.abspath(path)


def components(
    files: Mapping[str, bytes], graph: Mapping[str, set[str]] | None = None, besides: Iterable[str] = ()
) -> list[Component]:
    """Group `files` (path to content), in the order of their first members. Files that do not matter are in none.

    Those `besides` matter whatever they contain.
    """
    if graph is None:
        graph = import_graph(files)
    relevant = {path for path, raw in files.items() if RELEVANT.search(raw) and not is_vendored(raw)} | set(besides)
    members = relevant | {path for path, targets in graph.items() if targets & relevant}
    members |= _by_way(files, relevant, graph)
    imported = {target for path in relevant for target in graph[path]}
    members |= {target for target in imported - members if _ABSTRACT.search(files[target])}
    edges = [(path, target) for path in files if path in members for target in sorted(graph[path] & members)]
    groups = [part for group in connected(members, edges) for part in _small(group, edges)]
    order = {path: number for number, path in enumerate(files)}
    found = []
    for group in groups:
        ordered = tuple(sorted(group, key=order.__getitem__))
        beside: set[str] = set()
        if any(PROGRAM.search(files[path]) for path in ordered):
            beside = {target for path in ordered for target in graph[path]} - set(ordered)
        found.append(Component(ordered, tuple(sorted(beside, key=order.__getitem__)[:_MAX_CONTEXT])))
    return sorted(found, key=lambda component: order[component.files[0]])


def _by_way(files: Mapping[str, bytes], relevant: set[str], graph: Mapping[str, set[str]]) -> set[str]:
    """The files by way of which relevant ones import each other, such as packages that pass names on, and all that get
    at a program by way of others."""
    importers: dict[str, set[str]] = {}
    for path, targets in graph.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    programs = {path for path in relevant if PROGRAM.search(files[path])}
    return reach(relevant, graph) & reach(relevant, importers) | reach(programs, importers)


def reach(start: Iterable[str], graph: Mapping[str, set[str]]) -> set[str]:
    """`start`, and all that can be got to from there."""
    found = set(start)
    waiting = list(found)
    while waiting:
        more = graph.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def import_graph(files: Mapping[str, bytes]) -> dict[str, set[str]]:
    """Which files of the tree each of `files` imports."""
    importer = Importer(files)
    return {path: importer.targets(path, _code(path, raw)) for path, raw in files.items()}


def _code(path: str, raw: bytes) -> bytes:
    """What holds the import statements of a file."""
    if not path.endswith(SUFFIX):
        return raw
    if not RELEVANT.search(raw):
        return b""
    from migrator.discover.notebooks import code  # few trees hold any

    return code(raw)


def _small(group: set[str], edges: Iterable[tuple[str, str]]) -> list[set[str]]:
    """Cut a group that is too large at its hubs, which then stand alone."""
    if len(group) <= MAX_FILES:
        return [group]
    inner = [edge for edge in edges if edge[0] in group and edge[1] in group]
    degree: dict[str, int] = dict.fromkeys(group, 0)
    for edge in inner:
        for path in edge:
            degree[path] += 1
    hubs = {path for path in group if degree[path] > _HUB}
    kept = [edge for edge in inner if not hubs & set(edge)]
    return connected(group, kept)


def connected(members: set[str], edges: Iterable[tuple[str, str]]) -> list[set[str]]:
    """Connected sets of files, by union and find."""
    leader = {path: path for path in members}

    def find(path: str) -> str:
        while leader[path] != path:
            leader[path] = leader[leader[path]]
            path = leader[path]
        return path

    for one, other in edges:
        if one in leader and other in leader:
            leader[find(one)] = find(other)
    groups: dict[str, set[str]] = {}
    for path in members:
        groups.setdefault(find(path), set()).add(path)
    return list(groups.values())
