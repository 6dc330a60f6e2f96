"""Statements that rules delete by themselves."""

from __future__ import annotations

import ast

from changing import parsed

from migrator.engine.fixes import splice


def test_decorators_go_with_what_they_decorate() -> None:
    module = parsed("a = 1\n@b(a)\n# why\n@c\ndef d():\n    pass\ne = 2\n")
    node = next(node for node in module.tree.body if isinstance(node, ast.FunctionDef))
    assert splice(module.source, [module.delete_statement(node)]) == b"a = 1\ne = 2\n"
