"""Modules that go where they are not followed, together with the functions in them that make Estimators.

``getattr(models, name)(params)``, ``globals()[name](params)`` and ``import_module(name).make_estimator(params)`` call what
nothing in the program names as such.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.resolve.calls import prefixed
from migrator.resolve.chosen_members import imported_by, is_followed
from migrator.resolve.module import Module
from migrator.resolve.project import Project

Names = set[tuple[str, str]]
"""Names of modules, with the paths of these."""

_NAMESPACES = frozenset({"globals", "vars", "locals"})
_IMPORTS = frozenset({"importlib.import_module", "importlib.__import__"})
_HARMLESS = frozenset(
    {"print", "str", "repr", "type", "id", "dir", "hasattr", "reload", "importlib.reload", "imp.reload"}
)


def handed_modules(project: Project, functions: Names, variables: Names) -> Iterator[tuple[Module, ast.AST, str]]:
    """The places where a module goes out of sight that has `functions` that make Estimators, or `variables` that hold them."""
    names = functions | variables
    known = {name for _, name in names}
    if not names:
        return
    for module in project.modules.values():
        for owner, node in project.readers.modules(module):
            name = _has(project, owner, functions if _chooses(module, node) else names)
            if name is not None and not _is_harmless(module, node, known):
                yield module, node, f"the module that has `{name}` goes where it is not followed"
        for name in known if module.imports.stars else ():
            loads = module.loads_of(name, None)
            if loads and project.star_source(module, name) is None and _is_starred(project, module, names, name):
                yield module, loads[0], f"which of several `import *` gives `{name}` is not seen"
        name = _has(project, module, functions) if functions else None
        for call in module.nodes(ast.Call):
            if name is not None and _is_namespace(module, call):
                yield module, call, f"`{name}` may be found by a name that is made at run time"
            imported = ((owner, _has(project, owner, names)) for owner in _imported(project, module, call))
            having = [(owner.path, name) for owner, name in imported if name is not None]
            # What a file passes on is not looked for by a name that is put together.
            if having and not (is_followed(module, call) and names.issuperset(having)):
                yield module, call, f"the module that has `{having[0][1]}` is imported by a call: write it as an import"


def _has(project: Project, module: Module, names: Names) -> str | None:
    """The name by which a module has one of `names`, its own or one of those that it passes on; None if it has none."""
    own = next((name for path, name in sorted(names) if path == module.path), None)
    passed = (entry.name for entry in module.imports if entry.top_level and entry.name != "*")
    starred = (name for _, name in sorted(names) if module.imports.stars)
    return own or next((n for n in (*passed, *starred) if project.readers.origin(module, n) in names), None)


def _is_starred(project: Project, module: Module, names: Names, name: str) -> bool:
    """Whether one of several star imports of a file gives it one of `names`."""
    homes = [project.module_named(entry.target, module) for entry in module.imports.stars]
    return any(home is not None and project.readers.origin(home, name) in names for home in homes)


def _is_harmless(module: Module, node: ast.expr, known: set[str]) -> bool:
    """Whether what is done to a module finds no functions in it by names that are not written down."""
    parent = module.parent(node)
    if not isinstance(parent, ast.Call):
        return isinstance(parent, (ast.Expr, ast.FormattedValue, ast.Compare, ast.Delete))
    name = module.resolve(parent.func) or (parent.func.id if isinstance(parent.func, ast.Name) else "")
    wanted = parent.args[1] if name == "getattr" and len(parent.args) > 1 else None
    return name in _HARMLESS or isinstance(wanted, ast.Constant) and wanted.value not in known


def _chooses(module: Module, node: ast.expr) -> bool:
    """Whether a module is what ``getattr`` takes something of, by a name that is made at run time: that of a function."""
    call = module.parent(node)
    plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "getattr"
    return isinstance(call, ast.Call) and plain and not isinstance(call.args[-1], ast.Constant)


def _is_namespace(module: Module, call: ast.Call) -> bool:
    """Whether a call is that of ``globals()``, of which an entry is read that is not written down."""
    plain = isinstance(call.func, ast.Name) and call.func.id in _NAMESPACES and not module.bindings(call.func)
    if not plain or call.args:
        return False
    user = module.parent(call)
    if isinstance(user, ast.Subscript):
        return isinstance(user.ctx, ast.Load) and not isinstance(user.slice, ast.Constant)
    return not isinstance(user, ast.Attribute) or user.attr != "update"


def _imported(project: Project, module: Module, call: ast.Call) -> Iterator[Module]:
    """The modules of the project that a call may import."""
    plain = isinstance(call.func, ast.Name) and call.func.id == "__import__" and not module.bindings(call.func)
    if not call.args or not plain and module.resolve(call.func) not in _IMPORTS:
        return
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        found = project.module_named(first.value, module)
        yield from [found] if found is not None else ()
        return
    parts = prefixed(first)
    yield from imported_by(project, module, call)
    for other in project.modules.values() if parts is not None else ():
        stem = other.path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        if parts is not None and project.module_named(f"{parts[0]}{stem}", module) is other:
            yield other
