"""Arguments that are carried over to another function."""

from __future__ import annotations

import ast

import pytest

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.resolve.signatures import Signatures, carried_over


def carried(source: str, signatures: Signatures) -> str:
    """The call afterwards, or why it cannot be carried over."""
    module = Module("p.py", source)
    call = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    result = carried_over(module, call, signatures)
    if isinstance(result, str):
        return result
    text = splice(module.source, module.cst.apply(result)).decode()
    ast.parse(text)
    return text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a)", "f(1 - a)"),
        ("f(a.b[0](c))", "f(1 - a.b[0](c))"),
        ("f(0.5)", "f(1 - 0.5)"),
        ("f(-a)", "f(1 - -a)"),
        ("f(a - b)", "f(1 - (a - b))"),
        ("f((a - b))", "f(1 - (a - b))"),
        ("f(a or b)", "f(1 - (a or b))"),
        ("f(lambda: 0)", "f(1 - (lambda: 0))"),
        ("f(await_(x))", "f(1 - await_(x))"),
        ("f((a) + (b))", "f(1 - ((a) + (b)))"),
        ("f(k=a if b else c)", "f(k=1 - (a if b else c))"),
        ("f(\n  a\n  - b  # c\n)", "f(\n  1 - (a\n  - b)  # c\n)"),
        ("f((1 - a))", "f(a)"),
        ("f(x for x in y)", "f(1 - (x for x in y))"),
    ],
)
def test_values_are_wrapped(source: str, expected: str) -> None:
    assert carried(source, Signatures(("k",), ("k",), wrap={"k": "1 - {}"})) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a, b)", "f(a, y=b)"),
        ("f(a, y_old=b)", "f(a, y=b)"),
        ("f(a, b, c)", "f(a, y=b)"),
        ("f(a, gone=c)", "f(a)"),
        ("f(gone=c)", "f()"),
        ("f(a, b, name=n)", "f(a, y=b, name=n)"),
        ("f(*a)", "arguments passed with * or ** cannot be seen"),
        ("f(a, b, y=c)", "`y` is given twice"),
        ("f(a, what=c)", "TensorFlow 2 has no argument `what`"),
        ("f(a, b, c, d, e)", "it has more positional arguments than the TensorFlow 1 function takes"),
    ],
)
def test_parameters_go_and_change_places(source: str, expected: str) -> None:
    signatures = Signatures(("x", "y_old", "gone"), ("x", "name", "y"), {"y_old": "y"}, {"gone": ()})
    assert carried(source, signatures) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a)", "f(a, tf.int32, z=1)"),
        ("f(x=a)", "f(x=a, y=tf.int32, z=1)"),
        ("f(a, n)", "f(a, tf.int32, name=n, z=1)"),
        ("f(a, name=n)", "f(a, tf.int32, name=n, z=1)"),
        ("f(a, z=2)", "f(a, tf.int32, z=2)"),
        ("f()", "f(y=tf.int32, z=1)"),
        ("f(\n    a,  # A\n    n,\n)", "f(\n    a, tf.int32,  # A\n    name=n,\n    z=1,\n)"),
    ],
)
def test_parameters_come(source: str, expected: str) -> None:
    signatures = Signatures(("x", "name"), ("x", "y", "name", "z"), extra={"y": "tf.int32"}, defaults={"z": "1"})
    assert carried(source, signatures) == expected


def test_parameters_that_must_be_named_are() -> None:
    signatures = Signatures(("x", "y"), ("x", "y"), named=("y",))
    assert carried("f(a, b)", signatures) == "f(a, y=b)"
    assert carried("f(*a)", signatures) == "f(*a)"
