"""`tf.contrib.training.HParams`, by its names, becomes a vendored class of that name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.resolve.module import Module

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

HPARAMS = frozenset(
    {"tensorflow.contrib.training.HParams", "tensorflow.contrib.training.python.training.hparam.HParams"}
)
MODULES = frozenset({"tensorflow.contrib.training", "tensorflow.contrib.training.python.training.hparam"})


def makes_hparams(module: Module) -> bool:
    """Whether a file names the class."""
    return b"HParams" in module.source and any(name in HPARAMS for _, name in module.references())


def hparams_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate one reference to the class, whether it is called or not; False if it is another name."""
    if name not in HPARAMS:
        return False
    driver.replace(node, driver.need("HParams", node))
    return True
