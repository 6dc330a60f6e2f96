"""The files of a program whose model_fns stay graphs."""

from __future__ import annotations

from collections.abc import Collection

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vendor.vendoring import is_vendored


def reached(project: Project, start: Collection[Module], callers: bool) -> list[Module]:
    """The modules `start` and what they import, as far as it builds on TensorFlow 1, which helpers do not, sorted by path.

    With `callers`, also the modules that import those of `start`, and what they import: the one that calls a training
    loop hands it the model_fn.
    """
    found = {module.path: module for module in start}
    if callers:
        importers = {
            path: [target for _, target in project.imported(module)] for path, module in project.modules.items()
        }
        grown = True
        while grown:
            more = [path for path in importers if path not in found and any(m.path in found for m in importers[path])]
            found.update({path: project.modules[path] for path in more})
            grown = bool(more)
    waiting = list(found.values())
    while waiting:
        for _, other in project.imported(waiting.pop()):
            if other.path not in found and not is_vendored(other.text):  # a package may only pass names on
                found[other.path] = other
                waiting.append(other)
    given = {module.path for module in start}
    return [found[path] for path in sorted(found) if path in given or found[path].mentions_tensorflow]
