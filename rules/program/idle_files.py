"""Files that no program imports: what a library has beside its programs."""

from __future__ import annotations

from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.text import Spans

from ..bridge.reached import reached
from .unused_code import makes_estimator, unused_spans


def idle_spans(project: Project, module: Module) -> Spans:
    """The spans of what nothing in the project names; all of a file that no file reaches which makes an Estimator.

    Nor does one that calls such a file. Code of that kind is as it was for whoever has it.
    """
    modules = tuple(project.modules.values())
    known: tuple[tuple[Module, ...], frozenset[str]] | None = modules[0].memo.get("reached files")
    if known is None or known[0] != modules:
        start = [each for each in modules if makes_estimator(each)]
        files = frozenset(each.path for each in reached(project, start, True))
        known = modules[0].memo["reached files"] = modules, files
    if module.path not in known[1] and module.mentions_tensorflow:
        return Spans([(0, len(module.source))])
    return unused_spans(modules, module)
