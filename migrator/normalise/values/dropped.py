"""Calls that no longer give what a parameter was given."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.normalise.values.callers import Place
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.rewrite import Change, Replace, with_arguments
from migrator.vocabulary.unsupported import Unsupported


def without_arguments(values: Iterable[Place]) -> Iterator[tuple[Module, Change]]:
    """The calls that `values` are arguments of, one of each, without these. Raises Unsupported."""
    for where, value in values:
        outer = where.parent(value)
        call = where.parent(outer) if isinstance(outer, ast.keyword) else outer
        if not isinstance(call, ast.Call):
            raise Unsupported("what is given for the parameter is not seen", value)
        at = arguments(call).index(outer if isinstance(outer, ast.keyword) else value)
        yield where, Replace(call, with_arguments(where.cst.call(call), drop=[at]))
