"""Other heads for functions."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from changing import changed, parsed

from migrator.rewrite import Replace, with_parameters


def headed(source: str, **head: Any) -> str:
    module = parsed(source)
    (function,) = module.nodes(ast.FunctionDef)
    return changed(module, [Replace(function, with_parameters(module.cst.statement(function), **head))])


@pytest.mark.parametrize(
    ("source", "head", "expected"),
    [
        ("(): pass", {"add": ["a"]}, "(a): pass"),
        ("(a): pass", {"add": ["b", "c"]}, "(a, b, c): pass"),
        ("(a, b=1): pass", {"add": ["c"]}, "(a, b=1, *, c): pass"),
        ("(a, *, b): pass", {"add": ["c"]}, "(a, *, b, c): pass"),
        ("(a): pass", {"add": ["b"], "by_keyword": True}, "(a, *, b): pass"),
        ("(): pass", {"add": ["b"], "by_keyword": True}, "(*, b): pass"),
        ("(a, *b): pass", {"add": ["c"]}, "(a, *b, c): pass"),
        ("(a, **b): pass", {"add": ["c"]}, "(a, c, **b): pass"),
        ("(\n    a,\n    b,\n): pass", {"add": ["c"]}, "(\n    a,\n    b, c,\n): pass"),
        ("(self, a): pass", {"drop": ["self"]}, "(a): pass"),
        ("(self,\n      a): pass", {"drop": ["self"]}, "(a): pass"),
        ("(self, *, a): pass", {"drop": ["self"]}, "(*, a): pass"),
        ("(self, /, a): pass", {"drop": ["self"]}, "(a): pass"),
        ("(a, *, b): pass", {"drop": ["b"]}, "(a): pass"),
        ("(a, /, b): pass", {"drop": ["b"]}, "(a, /): pass"),
        ("(*a, b): pass", {"drop": ["b"]}, "(*a): pass"),
        ("(a, b,): pass", {"drop": ["b"]}, "(a,): pass"),
        ("(self): pass", {"drop": ["self"], "add": ["a"]}, "(a): pass"),
        ("(a, *b): pass", {"drop": ["b"]}, "(a): pass"),
        ("(a, *b, c): pass", {"drop": ["b"]}, "(a, *, c): pass"),
        ("(a, *b, **c): pass", {"drop": ["b", "c"]}, "(a): pass"),
        ("(a, *b, **c): pass", {"drop": ["b", "c"], "add": ["d", "e=None"]}, "(a, d, e=None): pass"),
        ("(a=1): pass", {"add": ["b=None"]}, "(a=1, b=None): pass"),
        ("(a, b=1): pass", {"add": ["**c"]}, "(a, b=1, **c): pass"),
        ("(\n    a,\n): pass", {"add": ["**c"]}, "(\n    a, **c): pass"),
        ("(*a): pass", {"instead": ["b", "c"]}, "(b, c): pass"),
        ("(a) -> None: pass", {"returns": False}, "(a): pass"),
        ("(a  # c\n      ): pass", {"add": ["b"]}, "(a, b  # c\n      ): pass"),
    ],
)
def test_other_parameters(source: str, head: dict[str, Any], expected: str) -> None:
    found = headed(f"def f{source}\n", **head)
    ast.parse(found)
    assert found == f"def f{expected}\n"


def test_another_name_leaves_the_body() -> None:
    source = "# above\n@d\ndef f(a):  # head\n    x  =  a  # c\n\n    # last\n    return x\n"
    assert headed(source, name="g") == source.replace("def f", "def g")


def test_what_is_no_function_has_no_parameters() -> None:
    module = parsed("x = 1\n")
    with pytest.raises(TypeError):
        with_parameters(module.cst.statement(module.tree.body[0]))
    with pytest.raises(ValueError, match="no parameter b"):
        headed("def f(a): pass\n", drop=["b"])
