"""SARIF 2.1.0 with fixes, for code scanning services and editors.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from migrator import __version__
from migrator.engine.registry import load
from migrator.report.records import Texts, edit_record
from migrator.vocabulary.diagnostics import Diagnostic, Fix, Outcome, Severity
from migrator.vocabulary.problems import MEANINGS

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.INFO: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}

Object = dict[str, Any]


def render(outcomes: Sequence[Outcome], written: Sequence[str] | None = None) -> str:
    """The log. What was not written yet is a result with its fix; what was written is none any more."""
    texts = Texts(outcomes)
    found = [item for outcome in outcomes for item in outcome.remaining]
    if written is None:
        found = [item for outcome in outcomes for item in outcome.applied] + found
    found.sort(key=lambda item: (item.location, item.code, item.message))
    codes = sorted({item.code for item in found})
    driver = {"name": "migrate", "version": __version__, "rules": [_rule(code, found) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(item, codes, texts, written is None) for item in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, found: Iterable[Diagnostic]) -> Object:
    rule = load().find(code)
    example = next(item for item in found if item.code == code)
    described: Object = {"id": code}
    if rule is not None:
        described["name"] = rule.name
        described["shortDescription"] = {"text": rule.summary()}
        described["help"] = {"text": rule.documentation(), "markdown": rule.documentation()}
    elif code in MEANINGS:
        described["shortDescription"] = {"text": MEANINGS[code]}
    if example.url:
        described["helpUri"] = example.url
    return described


def _result(item: Diagnostic, codes: Sequence[str], texts: Texts, with_fix: bool) -> Object:
    physical: Object = {"artifactLocation": _artifact(item.location.path)}
    location: Object = {"physicalLocation": physical}
    if item.location.cell:  # a region would count lines of the JSON
        location["logicalLocations"] = [
            {"fullyQualifiedName": f"cell {item.location.cell}:{item.location.line}:{item.location.column}"}
        ]
    else:
        physical["region"] = {"startLine": item.location.line, "startColumn": item.location.column}
    result: Object = {
        "ruleId": item.code,
        "ruleIndex": codes.index(item.code),
        "level": _LEVELS[item.severity],
        "message": {"text": item.message},
        "locations": [location],
    }
    fix = _fix(item.fix, texts) if item.fix is not None and with_fix else None
    if fix is not None:
        result["fixes"] = [fix]
    return result


def _fix(fix: Fix, texts: Texts) -> Object | None:
    """None for a fix that SARIF cannot say whole, such as one that makes a file."""
    if not fix.edits or fix.new_files:
        return None
    changes: dict[str, list[Object]] = {}
    for edit in fix.edits:
        record = edit_record(edit, texts)
        if record is None:
            return None
        region = {
            "startLine": record["start"]["line"],
            "startColumn": record["start"]["column"],
            "endLine": record["end"]["line"],
            "endColumn": record["end"]["column"],
        }
        changes.setdefault(edit.path, []).append({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    artifacts = [
        {"artifactLocation": _artifact(path), "replacements": replacements} for path, replacements in changes.items()
    ]
    return {"description": {"text": fix.title}, "artifactChanges": artifacts}


def _artifact(path: str) -> Object:
    pure = PurePath(path)
    if pure.is_absolute():
        return {"uri": pure.as_uri()}
    return {"uri": quote(os.fsencode(pure.as_posix())), "uriBaseId": "%SRCROOT%"}
