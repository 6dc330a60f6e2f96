"""Tables that are looked up by sparse ids: TensorFlow takes none of Keras 3 there, but the variable that it has inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body

LOOKUPS = {
    "tensorflow.nn.embedding_lookup_sparse": "params",
    "tensorflow.nn.safe_embedding_lookup_sparse": "embedding_weights",
}
"""The functions, and the parameter that is the table."""
VARIABLE = "tensorflow_variable"
"""The vendored function that gives the variable of TensorFlow."""


def sparse_tables(body: Body) -> dict[ast.AST, ast.Call]:
    """The arguments of sparse lookups that are weights of the model, each with its call."""
    return {
        table: call for leaf in body.flow.leaves for table, call in _lookups(body, leaf.node) if _is_weight(body, table)
    }


def _lookups(body: Body, statement: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    for call in walk(statement):
        parameter = LOOKUPS.get(body.module.resolve(call.func) or "") if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and parameter is not None:
            named = [keyword.value for keyword in call.keywords if keyword.arg == parameter]
            yield from ((table, call) for table in [*call.args[:1], *named])


def _is_weight(body: Body, node: ast.expr) -> bool:
    """Whether an expression makes a weight, or names nothing else."""
    if isinstance(node, ast.Call):
        site = body.site_of.get(id(node))
        return site is not None and site.layer.weight
    if not isinstance(node, ast.Name):
        return False
    values = [leaf.node.value for leaf in body.definitions(node.id) if isinstance(leaf.node, ast.Assign)]
    return len(values) == len(body.definitions(node.id)) > 0 and all(_is_weight(body, value) for value in values)
