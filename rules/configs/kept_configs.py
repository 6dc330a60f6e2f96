"""A RunConfig that an object keeps for the Estimator that another of its methods makes: the object keeps its fields instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.methods import members
from migrator.resolve.calls import call_of, calls_only_tensorflow
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, code, lines

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..estimator_calls.driver import RUN_CONFIG as SIGNATURE
from ..estimator_calls.estimator_kinds import KINDS
from ..loop.comments import has_comments


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes it where the Estimator is made.

    ```python
    import tensorflow as tf


    class Net:
        def __init__(self, folder):
            self.config = tf.estimator.RunConfig(model_dir=folder, keep_checkpoint_max=9)

        def make(self):
            return tf.estimator.Estimator(net, config=self.config)
    ```
    becomes
    ```python
    import tensorflow as tf


    class Net:
        def __init__(self, folder):
            self.model_dir = folder

        def make(self):
            return tf.estimator.Estimator(net, config=tf.estimator.RunConfig(model_dir=self.model_dir, keep_checkpoint_max=9))
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"RunConfig" not in module.source or b"class " not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name == RUN_CONFIG else None
        statement = module.parent(call) if call is not None else None
        if isinstance(statement, ast.Assign) and isinstance(call, ast.Call) and not has_comments(module, statement):
            yield _unkept(project, module, statement, call)


def _unkept(project: Project, module: Module, statement: ast.Assign, call: ast.Call) -> list[Change]:
    """The changes for a configuration in an attribute of an object; none where more is done with it."""
    target, method = statement.targets[0], module.nearest(statement, ast.FunctionDef)
    owner = module.parent(method) if method is not None else None
    if not isinstance(target, ast.Attribute) or not isinstance(method, ast.FunctionDef) or len(statement.targets) > 1:
        return []
    if (
        not isinstance(owner, ast.ClassDef)
        or not method.args.args
        or not is_name(target.value, method.args.args[0].arg)
    ):
        return []
    reads = _reads(project, module, owner, target)
    try:
        fields = bind(call, SIGNATURE, "RunConfig")
    except Unsupported:
        return []
    if reads is None or project.subclasses(Definition(module, owner)):
        return []
    own = {name: value for name, value in fields.items() if not _stays(module, value)}
    known = {name: _kept(module, owner, method, value) for name, value in own.items()}
    new = [name for name in own if not known[name]]
    if set(new) & set(members(owner)):
        return []
    this = method.args.args[0].arg
    made = lines("\n".join(f"{this}.{name} = {module.segment(own[name])}" for name in new))
    changes: list[rewrite.Change] = [Replace(statement, made) if new else Remove(statement)]
    for read in reads:
        here = read.value.id if isinstance(read.value, ast.Name) else this
        told = {
            name: f"{here}.{known.get(name) or name}" if name in own else module.segment(fields[name])
            for name in fields
        }
        outer = module.parent(read)
        if isinstance(outer, ast.Attribute):
            if outer.attr not in told:
                return []
            changes.append(Replace(outer, code(told[outer.attr])))
        else:
            changes.append(Replace(read, code(_call(module, call, told))))
    return Change.of(module, *changes)


def _call(module: Module, call: ast.Call, told: Mapping[str, str]) -> str:
    return f"{module.segment(call.func)}({', '.join(f'{name}={text}' for name, text in told.items())})"


def _reads(project: Project, module: Module, owner: ast.ClassDef, target: ast.Attribute) -> list[ast.Attribute] | None:
    """What reads an attribute: Estimators as their configuration, or its fields; None where something else does, or may."""
    found: list[ast.Attribute] = []
    name = target.attr.encode()
    for other in (each for each in project.modules.values() if name in each.source):
        for node in other.nodes(ast.Attribute):
            if node.attr != target.attr or node is target or _is_of_library(other, node):
                continue
            method = other.nearest(node, ast.FunctionDef)
            while method is not None and other.parent(method) is not owner:
                method = other.nearest(method, ast.FunctionDef)
            this = method.args.args[0].arg if isinstance(method, ast.FunctionDef) and method.args.args else ""
            if other is not module or not is_name(node.value, this) or not isinstance(node.ctx, ast.Load):
                return None
            outer = other.parent(node)
            made = other.parent(outer) if isinstance(outer, ast.keyword) and outer.arg == "config" else None
            of_estimator = isinstance(made, ast.Call) and other.resolve(made.func) in KINDS
            if not of_estimator and not (isinstance(outer, ast.Attribute) and isinstance(outer.ctx, ast.Load)):
                return None
            found.append(node)
    return found


def _is_of_library(module: Module, node: ast.Attribute) -> bool:
    return (module.resolve(node) or "").startswith("tensorflow.")


def _stays(module: Module, value: ast.expr) -> bool:
    """Whether the value of a field means the same in all methods: it reads names of the file at most, and changes nothing."""
    for node in walk(value):
        if isinstance(node, (ast.Lambda, ast.comprehension, ast.Await)):
            return False
        if isinstance(node, ast.Name) and module.scope(node).lookup(node.id) is not module.analysis.root:
            return False
    return calls_only_tensorflow(module, value)


def _kept(module: Module, owner: ast.ClassDef, method: ast.FunctionDef, value: ast.expr) -> str:
    """The attribute that holds the value of a field already; empty where none does."""
    if not isinstance(value, (ast.Name, ast.Attribute)):
        return ""
    this = method.args.args[0].arg
    if isinstance(value, ast.Attribute) and is_name(value.value, this):
        return value.attr if _is_stored_once(owner, value.attr) else ""
    for statement in method.body:
        held = statement.targets[0] if isinstance(statement, ast.Assign) and not statement.targets[1:] else None
        if (
            not isinstance(held, ast.Attribute)
            or not is_name(held.value, this)
            or not isinstance(statement, ast.Assign)
        ):
            continue
        same = isinstance(value, ast.Name) and is_name(statement.value, value.id) and len(module.bindings(value)) == 1
        if same and _is_stored_once(owner, held.attr):
            return held.attr
    return ""


def _is_stored_once(owner: ast.ClassDef, name: str) -> bool:
    """Whether one place of a class gives an attribute of that name a value."""
    found = (node for node in walk(owner) if isinstance(node, ast.Attribute) and node.attr == name)
    return sum(isinstance(node.ctx, ast.Store) for node in found) == 1
