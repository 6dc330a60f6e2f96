"""What the SARIF 2.1.0 standard says of the objects that our logs hold, as a schema for `schema.errors`.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, sections 3.13 (log) to 3.57 (replacement).
Only properties that we write are known, so that a new one is looked up there first.
"""

from __future__ import annotations

from typing import Any


def _object(required: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "additionalProperties": False, "properties": properties}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _of(name)}


def _of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


_TEXT: dict[str, Any] = {"type": "string"}
_PLACE: dict[str, Any] = {"type": "integer", "minimum": 1}

SCHEMA: dict[str, Any] = {
    **_object(
        "version runs",
        **{"$schema": _TEXT, "version": {"const": "2.1.0"}, "runs": _list("run")},
    ),
    "$defs": {
        "run": _object(
            "tool",
            tool=_of("tool"),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results=_list("result"),
        ),
        "tool": _object("driver", driver=_of("toolComponent")),
        "toolComponent": _object("name", name=_TEXT, version=_TEXT, rules=_list("reportingDescriptor")),
        "reportingDescriptor": _object(
            "id",
            id=_TEXT,
            name=_TEXT,
            shortDescription=_of("multiformatMessageString"),
            help=_of("multiformatMessageString"),
            helpUri=_TEXT,
        ),
        "multiformatMessageString": _object("text", text=_TEXT, markdown=_TEXT),
        "message": _object("text", text=_TEXT),
        "result": _object(
            "message",
            ruleId=_TEXT,
            ruleIndex={"type": "integer", "minimum": 0},
            level={"enum": ["none", "note", "warning", "error"]},
            message=_of("message"),
            locations=_list("location"),
            fixes=_list("fix"),
        ),
        "location": _object(
            physicalLocation=_of("physicalLocation"),
            logicalLocations={"type": "array", "items": _object(fullyQualifiedName=_TEXT)},
        ),
        "physicalLocation": _object("artifactLocation", artifactLocation=_of("artifactLocation"), region=_of("region")),
        "artifactLocation": _object("uri", uri=_TEXT, uriBaseId=_TEXT),
        "region": _object("startLine", startLine=_PLACE, startColumn=_PLACE, endLine=_PLACE, endColumn=_PLACE),
        "fix": _object("artifactChanges", description=_of("message"), artifactChanges=_list("artifactChange")),
        "artifactChange": _object(
            "artifactLocation replacements",
            artifactLocation=_of("artifactLocation"),
            replacements=_list("replacement"),
        ),
        "replacement": _object(
            "deletedRegion", deletedRegion=_of("region"), insertedContent=_object("text", text=_TEXT)
        ),
    },
}
