"""Private classes of feature columns, by which programs ask what a column is: those of TensorFlow 2 have other names.

`tf.feature_column.numeric_column` makes a `NumericColumn` of `feature_column_v2` there, which is no `_NumericColumn`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.rewrite import Change, Import, Replace, expr

_PACKAGE = "tensorflow.python.feature_column"
_OLD, _NEW = "feature_column", "feature_column_v2"
_CLASSES = frozenset(
    "_BucketizedColumn _CategoricalColumn _CrossedColumn _DenseColumn _EmbeddingColumn "
    "_HashedCategoricalColumn _IdentityCategoricalColumn _IndicatorColumn _NumericColumn _SequenceCategoricalColumn "
    "_SharedEmbeddingColumn _VocabularyFileCategoricalColumn _VocabularyListCategoricalColumn _WeightedCategoricalColumn".split()
)
_BASES = frozenset({"_CategoricalColumn", "_DenseColumn"})
"""Those of which the columns of TensorFlow 2 are, too."""


def column_classes(module: Module) -> Iterator[Change]:
    """Import the classes of TensorFlow 2 in the place of those, where a file reads nothing else of their module."""
    for entry in module.imports if _OLD.encode() in module.source else ():
        statement, alias = entry.statement, entry.alias
        if (
            entry.target != f"{_PACKAGE}.{_OLD}"
            or not isinstance(statement, ast.ImportFrom)
            or len(statement.names) > 1
        ):
            continue
        name = alias.asname or alias.name
        reads = [module.parent(load) for load in module.loads_of(name, module.scope(statement).holder(name))]
        known = [read for read in reads if isinstance(read, ast.Attribute) and read.attr in _CLASSES]
        if known and len(known) == len(reads) and not module.comments_in(*module.span(statement)):
            yield Import(f"from {_PACKAGE} import {_NEW} as {name}", instead=statement)
            for read in known:
                yield Replace(read, expr(f"{name}.{read.attr[1:]}"))


def refuse_column_classes(module: Module) -> None:
    """Raise Unsupported where a program asks for a class that no column of TensorFlow 2 is of."""
    for node, name in module.references() if _OLD.encode() in module.source else ():
        home, _, short = name.rpartition(".")
        if home == f"{_PACKAGE}.{_OLD}" and short in _CLASSES - _BASES:
            raise Unsupported(
                f"no feature column of TensorFlow 2 is a `{short}`: first ask for `{short[1:]}` of {_PACKAGE}.{_NEW}",
                node,
            )
