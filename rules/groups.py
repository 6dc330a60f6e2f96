"""Which files of a component make up one program: those that speak of Estimators and import each other."""

from __future__ import annotations

from migrator import vendoring
from migrator.module import Module
from migrator.project import Project

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
_ITERATORS = (b"make_one_shot_iterator", b"make_initializable_iterator")


def program_groups(project: Project) -> list[list[Module]]:
    """Groups of modules, each in the order of their paths.

    A file without a word of Estimators, such as a module of utilities, does not tie two programs together.
    """
    if not any(b"stimator" in module.source for module in project.modules.values()):
        return []
    relevant = {path for path, module in project.modules.items() if _is_relevant(module)}
    root = {path: path for path in relevant}

    def find(path: str) -> str:
        while root[path] != path:
            path = root[path]
        return path

    for path in sorted(relevant) if len(relevant) > 1 else ():
        module = project.modules[path]
        for _, other in project.imported(module):
            if other.path in relevant:
                root[find(other.path)] = find(path)
    groups: dict[str, list[Module]] = {}
    for path in sorted(relevant):
        groups.setdefault(find(path), []).append(project.modules[path])
    return [groups[key] for key in sorted(groups)]


def _is_relevant(module: Module) -> bool:
    if not module.mentions_tensorflow or vendoring.is_vendored(module.text):
        return False
    if any(word in module.source for word in _ITERATORS):
        return True
    return b"stimator" in module.source and any(speaks_of_estimators(name) for _, name in module.references())


def speaks_of_estimators(name: str) -> bool:
    """Whether a qualified name belongs to the Estimator API, wherever TF1 kept it."""
    return name.startswith(_FAMILIES)
