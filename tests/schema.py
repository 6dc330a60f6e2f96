"""The part of JSON Schema that our own schema uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def errors(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> Iterator[str]:
    """Where and how `value` is not as `schema` says. Raises for a keyword that is not known here."""
    known = "$schema $defs $ref title description type required additionalProperties properties items const enum anyOf minimum"
    assert set(schema) <= set(known.split()), schema
    if "$ref" in schema:
        yield from errors(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    if "anyOf" in schema and all(list(errors(value, part, root, at)) for part in schema["anyOf"]):
        yield f"{at}: fits none of anyOf"
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or kind == "integer" and isinstance(value, bool)):
        yield f"{at}: is no {kind}"
        return
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not allowed"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at}: too small"
    if isinstance(value, dict):
        yield from (f"{at}: lacks {key}" for key in schema.get("required", ()) if key not in value)
        for key, item in value.items():
            if key in schema.get("properties", {}):
                yield from errors(item, schema["properties"][key], root, f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}: does not know {key}"
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from errors(item, schema["items"], root, f"{at}[{number}]")
