from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from migrator.resolve.syntax import statements, walk

ROOT = Path(__file__).resolve().parent.parent


def test_the_nodes_of_the_standard_library_in_its_order() -> None:
    for path in sorted((ROOT / "fixtures").glob("*/*/before.py"))[:20] + sorted(
        (ROOT / "migrator" / "resolve").glob("*.py")
    ):
        tree = ast.parse(path.read_text("utf-8"))
        assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


def test_a_leaf_is_itself() -> None:
    leaf = ast.parse("x").body[0].value  # type: ignore[attr-defined]
    assert walk(leaf) == [leaf]


def test_all_statements_each_before_its_own() -> None:
    source = """
        def f(a):
            for i in a:
                try:
                    g(lambda: i)
                except E:
                    continue
                else:
                    pass
                finally:
                    h = 1 if a else 2
            with a:
                class C:
                    x: int = 3
            while a:
                if a: break
    """
    tree = ast.parse(textwrap.dedent(source))
    found = statements(tree)
    assert set(found) == {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    assert [node.lineno for node in found] == sorted(node.lineno for node in found)
    assert tree.body[0] not in statements(tree.body[0])
