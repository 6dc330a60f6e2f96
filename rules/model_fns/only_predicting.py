"""Model_fns that have no spec for training and evaluation: their models predict, and do nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module

from ..estimator_calls.estimator_values import Construction

_MORE = frozenset({"train", "evaluate"})
_TOGETHER = "tensorflow.estimator.train_and_evaluate"


def check_only_predicts(
    constructions: Iterable[Construction], reads: Iterable[tuple[Module, ast.expr]], alone: bool
) -> None:
    """Raise Unsupported where an Estimator of such a model_fn may be asked for more, which ended with an error of its own.

    `reads` are all places that read an Estimator. Where the program has others, which are not told apart here (it is not
    `alone`), only those in the file that makes it count.
    """
    files = {construction.module.path for construction in constructions}
    for module, node in reads:
        parent = module.parent(node)
        asked = isinstance(parent, ast.Attribute) and parent.attr in _MORE
        asked |= isinstance(parent, ast.Call) and module.resolve(parent.func) == _TOGETHER
        if files and asked and (alone or module.path in files):
            raise Unsupported("its model_fn only predicts, but the Estimator may be trained or evaluated here", node)
