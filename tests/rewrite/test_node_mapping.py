"""Each node of `ast` has its node in libcst."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from changing import HOSTILE, parsed

from migrator.resolve.module import Module
from migrator.rewrite import Unprintable
from migrator.rewrite.mapping import kinds

_FORMS = {
    "keywords": "f(*a, b, c=1, **d)\n",
    "imports": "import a.b as c, d\nfrom . import (e, f as g)\n",
    "parameters": "def f(a, /, b: int = 1, *c: int, d=2, **e): global g; h = 1\n",
    "loops": "for a, in b:\n    continue\nelse:\n    pass\nwhile c: break\n",
    "generators": "f(x for x in y)\nf((x for x in y))\nz = (yield)\nz = yield from (a)\n",
    "decorated": "@a.b(c)\n# between\n@ d\nasync def f(): ...\n",
    "parentheses": "a = ((b), ((c, d)), (), (e).f, ((g)(h))[i])\n",
    "long tuples": "a = b, c\na = (b,\n     c,)\nreturn_ = *d, e\n",
    "comments": "a = f(  # g\n    b,  # h\n    # i\n    c=d,  # j\n)  # k\n",
    "text before": "ä = 'ö', ü, f('€')\n",
}


def misses(module: Module) -> Iterator[str]:
    """Nodes without one of their own that should have it, and those that stand for other code."""
    for node in ast.walk(module.tree):
        parent = module.parent(node)
        if kinds(node) is None or isinstance(parent, ast.Subscript) and isinstance(node, ast.Tuple):
            continue  # libcst has none for the tuple of `a[b, c]`
        if any(isinstance(around, ast.JoinedStr) for around in (node, *module.ancestors(node))):
            continue  # these have no places before Python 3.12
        try:
            found = module.cst.node(node)
        except Unprintable as error:
            yield str(error)
            continue
        text = cst.Module([]).code_for_node(found)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and ast.dump(parse(text)) != ast.dump(plain(node)):
            yield f"{module.location(node)}: {text}"


def parse(text: str) -> ast.AST:
    return plain(ast.parse(f"({text}\n)", mode="eval").body)


def plain(node: ast.AST) -> ast.AST:
    """A copy that does not say whether it is assigned to."""
    return ast.parse(ast.unparse(node), mode="eval").body


@pytest.mark.parametrize("source", [*_FORMS.values(), *HOSTILE.values()], ids=[*_FORMS, *HOSTILE])
def test_every_node_has_one(source: str) -> None:
    assert list(misses(parsed(source))) == []


def test_every_node_of_real_files_has_one(root: Path) -> None:
    files = sorted(
        [*root.glob("fixtures/*/*/before.py"), *root.glob("fixtures/*/*/after.py"), *root.glob("rules/**/*.py")]
    )
    for path in random.Random(0).sample(files, 12):
        assert list(misses(Module(str(path), path.read_text("utf-8")))) == []


@pytest.mark.skipif(sys.version_info < (3, 10), reason="match statements came with Python 3.10")
def test_match_statements() -> None:
    source = "match f(x):\n    case [1, 2] if g(y): a = b\n    case {'k': v} | Point(x=0, y=h.i): c\n    case _: d\n"
    assert list(misses(parsed(source))) == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`except*` came with Python 3.11")
def test_exception_groups() -> None:
    assert list(misses(parsed("try:\n    a(b)\nexcept* C as d:\n    e(f)\n"))) == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters() -> None:
    assert list(misses(parsed("type A[T] = list[T]\ndef f[T](a: T): b(a)\nclass C[T]: pass\n"))) == []


def test_what_stands_in_a_format_string_is_found_where_its_place_is_known() -> None:
    module = parsed('x = f"a{bc.d}e"\n')
    name = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Attribute))
    assert isinstance(module.cst.node(name), cst.Attribute)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="places are right since Python 3.12")
def test_a_wrong_place_in_a_format_string_is_not_taken() -> None:
    module = parsed('x = ("a"\n     f"{b}"\n     f"{c}")\n')
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and node.id in "bc":
            try:
                found = module.cst.node(node)
            except Unprintable:
                continue
            assert isinstance(found, cst.Name) and found.value == node.id


@pytest.mark.parametrize(
    "source",
    ["try:\n    a\nexcept X :\n    b(c)\n", "def f(): \\\n  return a(b)\n\x0c\nx = 1\n", "a = b(c)  # d\r"],
)
def test_code_that_does_not_print_itself_is_said_to_be_so(source: str) -> None:
    module = parsed(source)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.stmt):
            try:
                statement = module.cst.statement(node)
            except Unprintable as error:
                assert str(error).startswith("p.py:")
            else:
                assert ast.unparse(ast.parse(cst.Module([statement]).code)) == ast.unparse(node)
