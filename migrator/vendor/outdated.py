"""Helpers of an earlier migration that are others in this version."""

from __future__ import annotations

import ast
import os

from migrator.resolve.parsing import syntax_tree
from migrator.vendor.vendored_library import Library, definitions_of
from migrator.vendor.vendored_runtime import cluster_library, training_library
from migrator.vendor.vendoring import CLUSTER_FILE_NAME, is_vendored

_FEATURES = ("columns", "preprocessing")


def outdated(path: str, text: str) -> list[str]:
    """The definitions of a helper file that are other code now, or were edited; comments and line breaks count for nothing."""
    if not is_vendored(text):
        return []
    try:
        present = definitions_of(text)
        return [name for name, own in present.items() if not _is_known(path, name, own.source)]
    except SyntaxError:
        return []


def _is_known(path: str, name: str, source: str) -> bool:
    """Whether one of the forms of a helper is this code, or there is no helper of that name."""
    known = [library.definitions[name].source for library in _libraries(path) if name in library.definitions]
    return not known or any(source == each or _code(source) == _code(each) for each in known)


def _libraries(path: str) -> list[Library]:
    """All that a file of that name may be made of."""
    if os.path.basename(path) == CLUSTER_FILE_NAME:
        return [cluster_library(features) for features in _FEATURES]
    return [training_library(features, several) for features in _FEATURES for several in (False, True)]


def _code(source: str) -> str:
    return ast.dump(syntax_tree(source))
