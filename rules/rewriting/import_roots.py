"""Under which package the files of a program import those of a folder."""

from __future__ import annotations

import os

from migrator.resolve.module import Module
from migrator.resolve.project import Project


def package_prefix(project: Project, folder: str) -> str | None:
    """What stands before the name of a module of `folder` where any file imports it: ``cnn.``, or nothing.

    An import of ``cnn.model`` that finds ``p/cnn/model.py`` tells that Python looks for modules in ``p``. None where the
    program tells nothing about `folder`, or several things.
    """
    place, roots = os.path.join(folder, ""), [os.path.join(root, "") for root in project.roots]
    found = {place[len(root) :].replace(os.sep, ".") for root in roots if place.startswith(root)}
    return found.pop() if len(found) == 1 else None


def in_package(project: Project, module: Module) -> bool:
    """Whether a relative import leads to a module."""
    return any(
        dotted.startswith(".") and target is module
        for importer in project.modules.values()
        for dotted, target in project.imported(importer)
    )


def relative_prefix(project: Project, folder: str, above: str) -> str | None:
    """The dots by which files of `folder` name a folder above it, if relative imports show that both are of one package."""
    if not _is_below(folder, above):
        return None
    for importer in project.modules.values():
        for dotted, target in project.imported(importer):
            package = os.path.dirname(importer.path)
            for _ in range(len(dotted) - len(dotted.lstrip(".")) - 1):
                package = os.path.dirname(package)
            known = (os.path.dirname(importer.path), os.path.dirname(target.path))
            inside = any(each == folder or _is_below(each, folder) for each in known)
            if dotted.startswith(".") and inside and (above == package or _is_below(above, package)):
                return "." * (os.path.relpath(folder, above).count(os.sep) + 2)
    return None


def _is_below(folder: str, above: str) -> bool:
    return folder != above and folder.startswith(os.path.join(above, ""))
