from __future__ import annotations

import ast
from pathlib import Path

from migrator.syntax import walk

ROOT = Path(__file__).resolve().parent.parent


def test_the_nodes_of_the_standard_library_in_its_order() -> None:
    for path in sorted((ROOT / "fixtures").glob("*/*/before.py"))[:20] + sorted((ROOT / "migrator").glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


def test_a_leaf_is_itself() -> None:
    leaf = ast.parse("x").body[0].value  # type: ignore[attr-defined]
    assert walk(leaf) == [leaf]
