"""Under which package the files of a program import those of a folder."""

from __future__ import annotations

import os

from migrator.module import Module
from migrator.project import Project


def package_prefix(project: Project, folder: str) -> str | None:
    """What stands before the name of a module of `folder` where any file imports it: ``cnn.``, or nothing.

    An import of ``cnn.model`` that finds ``p/cnn/model.py`` tells that Python looks for modules in ``p``. None where the
    program tells nothing about `folder`, or several things.
    """
    found = set()
    for importer in project.modules.values():
        for dotted, target in project.imported(importer):
            root = _root(target.path, dotted)
            if root is not None and os.path.join(folder, "").startswith(os.path.join(root, "")):
                below = os.path.join(folder, "")[len(os.path.join(root, "")) :]
                found.add(below.replace(os.sep, "."))
    return found.pop() if len(found) == 1 else None


def in_package(project: Project, module: Module) -> bool:
    """Whether a relative import leads to a module."""
    return any(
        dotted.startswith(".") and target is module
        for importer in project.modules.values()
        for dotted, target in project.imported(importer)
    )


def _root(path: str, dotted: str) -> str | None:
    """The folder in which an absolute import has found a file."""
    if dotted.startswith("."):
        return None
    place = os.path.dirname(path) if os.path.basename(path) == "__init__.py" else path[: -len(".py")]
    for _ in dotted.split("."):
        place = os.path.dirname(place)
    return place
