"""What a run found as plain records of strings, numbers and lists: the one model behind the reports for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from migrator import __version__
from migrator.discover.cells import SUFFIX
from migrator.discover.sources import Unusable, decode
from migrator.report.diffs import exact_diff
from migrator.report.text import summary
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Fix, Outcome, ProgramUnit

VERSION = 1
"""Of the records. It grows when a field is removed or changes its meaning, not when one is added."""

Record = dict[str, Any]


class Texts:
    """The original texts of the files, for turning byte offsets into lines and columns."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._raw = {outcome.path: outcome.before for outcome in outcomes if outcome.status != "created"}
        self._modules: dict[str, Module] = {}

    def module(self, path: str) -> Module | None:
        """The original text of a file; None if it cannot be decoded."""
        if path not in self._modules and path in self._raw:
            try:
                self._modules[path] = Module(path, decode(path, self._raw[path]).text, lenient=True)
            except Unusable:
                return None
        return self._modules.get(path)


def records(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> Record:
    """Everything about a run. `written`: the files written, or None where nothing was to be written."""
    texts = Texts(outcomes)
    changed = [outcome for outcome in outcomes if outcome.status in ("changed", "created")]
    return {
        "version": VERSION,
        "tool": {"name": "migrate", "version": __version__},
        "summary": summary(outcomes, written),
        "applied": written is not None,
        "written": sorted(written or ()),
        "files": [_file(outcome, texts) for outcome in outcomes if outcome in changed or _speaks(outcome)],
        "files_looked_at": sum(outcome.status != "created" for outcome in outcomes),
        "programs": [program(unit) for outcome in outcomes for unit in outcome.units],
    }


def _speaks(outcome: Outcome) -> bool:
    return bool(outcome.remaining or outcome.applied)


def _file(outcome: Outcome, texts: Texts) -> Record:
    return {
        "path": outcome.path,
        "status": outcome.status,
        "applied": [diagnostic(item, texts) for item in outcome.applied],
        "remaining": [diagnostic(item, texts) for item in outcome.remaining],
        "diff": "".join(exact_diff(outcome)).encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
    }


def program(unit: ProgramUnit) -> Record:
    """One program."""
    return {
        "name": unit.name,
        "location": place(unit),
        "tier": unit.tier,
        "reason": unit.reason,
        "others": list(unit.others),
        "helpers": unit.helpers,
        "files": list(unit.files),
        "variables": [{"old": old, "new": new} for old, new in unit.variables],
    }


def place(item: Diagnostic | ProgramUnit) -> Record:
    """Where it is; `cell` only in notebooks."""
    location = item.location
    found: Record = {"path": location.path, "line": location.line, "column": location.column}
    return {**found, "cell": location.cell} if location.cell else found


def diagnostic(item: Diagnostic, texts: Texts) -> Record:
    """One finding."""
    return {
        "code": item.code,
        "rule": item.rule,
        "severity": item.severity.name.lower(),
        "message": item.message,
        "location": place(item),
        "url": item.url,
        "fix": None if item.fix is None else _fix(item.fix, texts),
    }


def _fix(fix: Fix, texts: Texts) -> Record:
    edits = [record for edit in fix.edits for record in [edit_record(edit, texts)] if record is not None]
    return {
        "title": fix.title,
        "applicability": fix.applicability.name.lower().replace("_", "-"),
        # All or nothing, as part of a fix may be worse than none of it.
        "edits": edits if len(edits) == len(fix.edits) else [],
        "new_files": [file.path for file in fix.new_files],
    }


def edit_record(edit: Edit, texts: Texts) -> Record | None:
    """One replacement, with the original's lines and columns; None where these are not known, as in notebooks."""
    module = None if edit.path.endswith(SUFFIX) else texts.module(edit.path)
    if module is None or edit.end > len(module.source):
        return None
    start, end = module.location(edit.start), module.location(edit.end)
    return {
        "path": edit.path,
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
        "text": edit.text,
    }
