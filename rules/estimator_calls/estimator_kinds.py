"""Which calls make Estimators, and whether a name means the class of TensorFlow 1 or that of TensorFlow 2."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module

from ..canned.canned import CANNED
from .estimator_values import ESTIMATOR
from .keras_estimator import MODEL_TO_ESTIMATOR

KINDS = frozenset({ESTIMATOR, MODEL_TO_ESTIMATOR, *CANNED})


def dialect_of(module: Module, node: ast.AST, group: list[Module]) -> tuple[str, str]:
    """``v1`` or ``v2`` for a reference, and the reason as a phrase.

    A file that does not tell is read as the other files of its program; a program that does not tell, as TensorFlow 2,
    which is what `import tensorflow as tf` brings today.
    """
    explicit = module.explicit_dialect(node)
    if explicit is not None:
        return explicit, f"it comes from tensorflow.compat.{explicit}"
    for other in [module, *group]:
        if other.module_dialect is not None:
            where = "" if other is module else f" of {other.path}"
            return other.module_dialect, other.dialect_reason + where
    return "v2", (
        "no name in the program is of TensorFlow 1 alone (if it is for TensorFlow 1, import tensorflow.compat.v1 as tf)"
    )
