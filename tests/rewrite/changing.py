"""Applying changes in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeVar

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.rewrite import Change

N = TypeVar("N", bound=ast.AST)

HOSTILE = {
    "one line": "if x: y = 1; z = f(2)  # c\nelif g(y): a; b\nelse:\n\ta(1)\n",
    "no blanks": "x = [f(y) for y in z(1) if y if not(y)]\nassert(x)\ndel(x)\nprint(*(a), **(b))\nz = not(a)or(b)and(c)\n",
    "parameters": 'def f(a=(1), *b, c:int=d[0], **e) -> g(h):\n    """x"""\n    raise(X)from(Y)\n',
    "not ascii": 'é = "ü" + f(ß, "ö")  # ä\nwith(open(é))as(b), c() as d: pass\nfor(x)in(y): pass\n',
    "async": "async def f():\n    async with a() as b: await(c(d))\n    async for x in y(z): await x\n"
    "    return [i async for i in aiter()]\n",
    "try": "try: f(x)\nexcept (A, B) as e: g(e)\nexcept C: h(e); i(e)\nelse: j(e)\nfinally: k(e)\n",
    "class": "@d(1)\n@(e(2))\nclass A(b(3), metaclass=c(4)):\n    y = lambda a=b(1), *c: d(a)\n",
    "lines": "x = (a\n     + b  # c\n     * f(c,\n         d))\ny = a if(b)else(c)\nw = a in(b)is(c)\n",
    "subscripts": 'x = a[b:c, d[e]:f:g]\nx = a[(b, c)]\nx = (y := f(z))\nx = f(y := 3)\nx = {**a, "b": c(d), **(e)}\n',
    "strings": 'x = "a" "b" f"c{d}" "e"\nx = b"a" b"c"\ny = f(x for x in(y))\nz = f((x for x in y), z)\n',
    "operators": "x = -a ** -b\nx = ~(-a)\nx = (a, b)[c]\nx=(a)(b)\nx = 1 .real\nx = a<b<c(d)\na += b@c\n",
    "windows": "if a:\r\n    b(c)\r\n    # x\r\n    d(e, # f\r\n      g)\r\nelse:\r\n    h(i); j(k)\r\n",
    "carriage returns": "if a:\r    b(c)\r    # x\r    d(e, # f\r      g)\relse:\r    h(i); j(k)\r",
    "tabs": "if a:\n\tb(c)\n\tif d:\n\t\te(f,\n\t\t  g)\n",
    "continued": "x = a + \\\n    f(b) \\\n    + c\nassert a, \\\n  b(c)\nif a and \\\n   b(c): pass\n",
    "no newline": "def f(): return a(b)\nclass C: x = a(b); y = c(d)\nif a: pass\n\n\n# c\n\nx = a(b)",
}
"""Programs in forms that are easily broken."""


def parsed(source: str) -> Module:
    """A file, exactly as it is given."""
    return Module("p.py", source)


def first(module: Module, kind: type[N]) -> N:
    """The first node of a kind, the outermost before those in it."""
    return next(node for node in ast.walk(module.tree) if isinstance(node, kind))


def changed(module: Module, changes: Iterable[Change]) -> str:
    """The file afterwards, which parses."""
    text = splice(module.source, module.cst.apply(changes)).decode()
    ast.parse(text)
    return text
