"""Which files of a component make up one program: those that speak of Estimators and import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.discover.components import connected
from migrator.normalise.objects.methods import class_of
from migrator.normalise.objects.unbox import ancestors
from migrator.normalise.values.possible_values import handed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.vendor import vendoring

from ..estimator_calls.estimator_kinds import KINDS

PREFIX = "tensorflow.estimator."
_FAMILIES = (
    PREFIX,
    "tensorflow.contrib.tpu.",
    "tensorflow.contrib.estimator.",
    "tensorflow.contrib.learn.",
    "tensorflow.keras.estimator.",
    "tensorflow.python.estimator.",
    "tensorflow_estimator.",
)
_ROOTS = frozenset(family[:-1] for family in _FAMILIES)
_LEARN = "tensorflow.contrib.learn."
_LEARNERS = ("Classifier", "Regressor")
_ITERATORS = (b"make_one_shot_iterator", b"make_initializable_iterator")


def program_groups(project: Project) -> list[list[Module]]:
    """Groups of modules, each in the order of their paths.

    A file without a word of Estimators, such as a module of utilities, does not tie two programs together.
    """
    if not any(b"stimator" in module.source or _makes_learners(module) for module in project.modules.values()):
        return []
    heirs = [pair for module in project.modules.values() for pair in _heirs(project, module)]
    relevant = {path for path, module in project.modules.items() if _is_relevant(module)}
    relevant |= {path for pair in heirs for path in pair}
    edges = heirs
    for path in relevant if len(relevant) > 1 else ():
        module = project.modules[path]
        others = {other.path for _, other in project.imported(module)} | project.readers.sources(module)
        edges += [(path, other) for other in others & relevant]
    ways = [pair for module in project.modules.values() for pair in _ways(project, module)]
    relevant |= {path for way in ways for path in way}
    edges += ways
    groups = sorted(sorted(group) for group in connected(relevant, edges))
    return [[project.modules[path] for path in group] for group in groups]


def _heirs(project: Project, module: Module) -> Iterator[tuple[str, str]]:
    """Pairs of the file of a class that is an Estimator and that of one that derives from it."""
    if len(project.modules) > 1 and b"class " in module.source and b"stimator" in module.source:
        for owner in (statement for statement in module.tree.body if isinstance(statement, ast.ClassDef)):
            if any(module.resolve(base) in KINDS for base in owner.bases):
                yield from ((module.path, one.module.path) for one in project.subclasses(Definition(module, owner)))


def _ways(project: Project, module: Module) -> Iterator[tuple[str, str]]:
    """Pairs of an Estimator's file and one on the way on which its model_fn gets there."""
    if b"Estimator(" not in module.source or len(project.modules) == 1:
        return
    for node, name in module.references():
        call = module.parent(node) if name.endswith(".Estimator") or name.endswith(".TPUEstimator") else None
        if not isinstance(call, ast.Call) or call.func is not node:
            continue
        given = [*(k.value for k in call.keywords if k.arg == "model_fn"), *call.args[:1]]
        for owner in _lineage(project, module, given[0]) if given else ():
            yield module.path, owner.module.path
        way = handed(project, module, given[0]) if given else None
        for other, value in way.values if way is not None else ():
            definition = project.definition(other, value)
            yield module.path, other.path
            if definition is not None:
                yield module.path, definition.module.path


def _lineage(project: Project, module: Module, model_fn: ast.expr) -> Iterator[Definition]:
    """For a model_fn that is a method of an object, the class of that, those that it derives from, and those below it, which
    may each get a model_fn of their own."""
    if isinstance(model_fn, ast.Attribute):
        owner, _ = class_of(project, module, model_fn.value)
        if owner is not None:
            yield from ancestors(project, owner)
            yield from project.subclasses(owner)


def _is_relevant(module: Module) -> bool:
    if not module.mentions_tensorflow or vendoring.is_vendored(module.text):
        return False
    if any(word in module.source for word in _ITERATORS):
        return True
    if b"stimator" not in module.source:
        return _makes_learners(module)
    return any(speaks_of_estimators(name) for _, name in module.references())


def is_part(module: Module) -> bool:
    """Whether a file speaks of Estimators, and makes none: it belongs to the programs that use what is in it."""
    return _is_relevant(module) and not any(
        name in KINDS or name.endswith(".TPUEstimator") or name.startswith(_LEARN) for _, name in module.references()
    )


def _makes_learners(module: Module) -> bool:
    """Whether a file makes an Estimator of `tf.contrib.learn`, whose names need not have that word."""
    if not (b"contrib" in module.source and b"learn" in module.source):
        return False
    return any(name.startswith(_LEARN) and name.endswith(_LEARNERS) for _, name in module.references())


def speaks_of_estimators(name: str) -> bool:
    """Whether a qualified name belongs to the Estimator API, wherever TF1 kept it."""
    return name.startswith(_FAMILIES) or name in _ROOTS
