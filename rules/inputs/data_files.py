"""`tf.contrib.slim.parallel_reader.get_data_files`, by its names, becomes a vendored function of that name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

_SLIM = "tensorflow.contrib.slim"
_NAMES = frozenset(
    f"{_SLIM}.{module}.get_data_files"
    for module in ("parallel_reader", "data.parallel_reader", "python.slim.data.parallel_reader")
)


def data_files_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate one reference to the function, whether it is called or not; False if it is another name."""
    if name not in _NAMES:
        return False
    driver.replace(node, driver.need("get_data_files", node))
    return True
