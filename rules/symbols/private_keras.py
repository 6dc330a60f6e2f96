"""Keras as a program has it beside what is written: by its public names, and called as the layers of TensorFlow 2 are.

`tensorflow.python.keras` is the same Keras as `tf.keras` in TensorFlow 1. In TensorFlow 2 it is another one, an old copy
that takes no layers, models and optimizers of `tf.keras`. `tf.contrib.keras`, which had the name before, is gone there.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Import as Entry
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import dotted
from migrator.rewrite import Change, Import, Rename, Replace

from ..layers.keras_layers import is_keras_object
from .symbol_rows import endpoints

_PRIVATE = "tensorflow.python.keras"
_PUBLIC = "tensorflow.keras"
_NAMED = re.compile(r"tensorflow\.(?:contrib\.keras\.(?:python|api)|contrib|python)\.keras(?=\.|$)")
"""What stands for `tf.keras` in names."""
_OBJECTS = ("layers", "models", "engine", "optimizers", "optimizer_v2", "Model", "Sequential")
"""What must be of one Keras."""
_PLACES = {"engine": ("models", "layers"), "optimizer_v2": ("optimizers",)}
"""Where the public names of private packages are, other than in the package of the same name."""
_OTHERS = frozenset({"Adadelta", "Adagrad", "Adamax", "Nadam", "Optimizer", "RMSprop"})
"""Optimizers of `tensorflow.python.keras.optimizers` that are not those of `tf.keras.optimizers`."""
_GONE = frozenset({"get_losses_for", "get_updates_for"})
_BASES = frozenset({f"{_PUBLIC}.layers.Layer", "tensorflow.layers.Layer"})


def settle_keras(drafts: Drafts, paths: list[str]) -> None:
    """Write public names for private ones, and calls for `apply`, in the modules of a program."""
    drafts.settle(paths, _imports)
    drafts.settle(paths, lambda module: _applied(drafts.project, module))


def refuse_private_keras(module: Module) -> None:
    """Raise Unsupported where objects of the private Keras would meet those of `tf.keras`."""
    for node, name in module.references() if b"python" in module.source else ():
        if name.startswith(f"{_PRIVATE}.") and name.split(".")[3] in _OBJECTS:
            raise Unsupported(
                f"{name.replace('tensorflow', 'tf', 1)} is another Keras than tf.keras in TensorFlow 2, and has no public name "
                "that is known: first use that of tf.keras",
                node,
            )


def refuse_gone_methods(project: Project, module: Module) -> None:
    """Raise Unsupported where code that stays calls methods that layers do not have any more."""
    for node in module.nodes(ast.Attribute):
        if node.attr in _GONE and _is_layer(project, module, node.value):
            raise Unsupported(f"layers of TensorFlow 2 have no `{node.attr}`", node)


def _imports(module: Module) -> Iterator[Change]:
    if b"python" not in module.source and b"contrib" not in module.source:
        return
    uses = [name for _, name in module.references() if _NAMED.match(name)]
    statements: dict[ast.stmt, list[Entry]] = {}
    for entry in module.imports:
        if _NAMED.match(entry.target):
            statements.setdefault(entry.statement, []).append(entry)
    for statement, entries in statements.items():
        found = [_public(entry.target, uses) for entry in entries]
        if isinstance(statement, ast.Import):
            for entry, name in zip(entries, found):
                if name is not None and isinstance(entry.alias, ast.alias) and entry.alias.asname:
                    yield Rename(entry.alias, name)
        elif isinstance(statement, ast.ImportFrom) and len(entries) == len(statement.names) and None not in found:
            yield from _from(module, statement, [name for name in found if name is not None])
    for node in module.nodes(ast.Attribute):  # tf.python.keras, tf.contrib.keras
        owner = node.value
        if node.attr == "keras" and isinstance(owner, ast.Attribute) and owner.attr in ("python", "contrib"):
            if module.resolve(owner.value) == "tensorflow" and all(_public(name, uses) for name in uses):
                yield Replace(node, f"{dotted(owner.value)}.keras")


def _from(module: Module, statement: ast.ImportFrom, found: list[str]) -> Iterator[Change]:
    """``from tensorflow.python.keras.layers.core import Dense`` by the public names."""
    homes: dict[str, list[str]] = {}
    for alias, name in zip(statement.names, found):
        home, _, last = name.rpartition(".")
        asname = alias.asname or alias.name
        homes.setdefault(home, []).append(last if last == asname else f"{last} as {asname}")
    if module.comments_in(*module.span(statement)):
        return
    lines = [f"from {home} import {', '.join(names)}" for home, names in homes.items()]
    yield Import("\n".join(lines), instead=statement)


def _public(target: str, uses: list[str]) -> str | None:
    """The public name of a module, class or function of the private Keras; None if not all `uses` below it have one."""
    name = _public_name(target)
    below = [use for use in uses if use.startswith(f"{target}.")]
    return name if all(_public_name(use) is not None for use in below) else None


@functools.lru_cache(maxsize=1024)
def _public_name(name: str) -> str | None:
    named = _NAMED.match(name)
    if named is None or named.end() == len(name):
        return _PUBLIC if named is not None else None
    parts = name[named.end() + 1 :].split(".")
    if any(part.endswith(("_v1", "_v2")) for part in parts[1:]) or parts[0] == "optimizers" and parts[-1] in _OTHERS:
        return None
    known, modules = _known()
    for stop in range(len(parts), 0, -1):  # what follows is a member of a class
        *inner, last = parts[:stop]
        homes = [".".join(inner), *(_PLACES.get(inner[0], (inner[0],)) if inner else ())]
        for home in homes:
            short = ".".join(filter(None, ("keras", home, last)))
            if short in known or stop == len(parts) and short in modules:
                return ".".join(("tensorflow", short, *parts[stop:]))
    return None


@functools.lru_cache(maxsize=1)
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """What `tf.keras` shows in both versions, and its modules, without ``tensorflow.``."""
    table = endpoints()
    names = frozenset(name for name in (*table.same, *table.changed, *table.moved) if name.startswith("keras."))
    return names, frozenset(name.rpartition(".")[0] for name in names) - {"keras"} - names


def _applied(project: Project, module: Module) -> Iterator[Change]:
    """``layer.apply(x)`` is ``layer(x)``, which alone TensorFlow 2 has."""
    for call in module.nodes(ast.Call):
        method = call.func
        if isinstance(method, ast.Attribute) and method.attr == "apply" and _is_layer(project, module, method.value):
            yield Replace(method, module.cst.expression(method.value))


def _is_layer(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether an expression is seen to be a layer or a model: of `tf.keras`, of `tf.layers`, of a class that derives from one."""
    if isinstance(node, ast.Name):
        places = [module.parent(binding.node) for binding in module.bindings(node)]
        return bool(places) and all(isinstance(s, ast.Assign) and _is_made(project, module, s.value) for s in places)
    if isinstance(node, ast.Attribute):
        owner = module.nearest(node, ast.ClassDef)
        targets = [
            other
            for other in (module.nodes(ast.Attribute) if owner is not None else ())
            if other.attr == node.attr and isinstance(other.ctx, ast.Store) and module.is_inside(other, owner)
        ]
        lines = [module.statement(target) for target in targets]
        return bool(lines) and all(isinstance(s, ast.Assign) and _is_made(project, module, s.value) for s in lines)
    return _is_made(project, module, node)


def _is_made(project: Project, module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = module.resolve(node.func) or ""
    if is_keras_object(name) or name.startswith("tensorflow.layers.") and name.split(".")[2][:1].isupper():
        return True
    made = project.definition(module, node.func)
    if made is None or not isinstance(made.node, ast.ClassDef):
        return False
    methods = {part.name for part in made.node.body if isinstance(part, ast.FunctionDef)}
    bases = [made.module.resolve(base) or "" for base in made.node.bases]
    return "apply" not in methods and any(base in _BASES or is_keras_object(base) for base in bases)
