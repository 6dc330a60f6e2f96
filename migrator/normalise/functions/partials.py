"""Names for functions with arguments filled in (`functools.partial`, a lambda): their calls are written out."""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove
from migrator.vocabulary.unsupported import Unsupported

PARTIAL = "functools.partial"
_FIXED = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp, ast.keyword)
_CONTEXTS = (ast.Load, ast.operator, ast.unaryop)
# What TF1 keeps of these is how they were made: another one with the same arguments is as good.
_MAKERS = ("initializer", "regularizer", "constraint")


def filled_in(module: Module, call: ast.Call) -> ast.Call | None:
    """The ``functools.partial(…)`` that the called name stands for."""
    statement = module.assignment(call.func)
    value = statement.value if statement is not None else None
    if isinstance(value, ast.Call) and module.resolve(value.func) == PARTIAL and value.args:
        return value
    return None


def idle_import(module: Module, *functions: ast.expr) -> list[rewrite.Change]:
    """Removes the import of a library if nothing but these names of its functions used it."""
    roots = [each.value if isinstance(each, ast.Attribute) else each for each in functions]
    for entry in module.imports if roots else ():
        single = len(getattr(entry.statement, "names", ())) == 1
        if single and is_name(roots[0], entry.name) and set(module.loads(entry.name)) == set(roots):
            return [Remove(entry.statement, apart=True)]
    return []


def check_lasting(home: Module, value: ast.expr, module: Module, call: ast.Call) -> None:
    """Refuse a value of a file that may be another one when the function is called. Raises Unsupported."""
    for node in walk(value):
        if isinstance(node, ast.Call):
            name = home.resolve(node.func) or ""
            if not name.lower().endswith(_MAKERS):
                raise Unsupported("a partial function with a computed argument is not followed", node)
        elif not isinstance(node, (*_FIXED, *_CONTEXTS)):
            raise Unsupported("a partial function with a computed argument is not followed", value)
        elif isinstance(node, ast.Name):
            here = module.scope(call).lookup(node.id)
            other = home is module and here is not module.scope(node).lookup(node.id)
            if len(home.bindings(node)) > 1 or other:
                raise Unsupported(f"`{node.id}`, which a partial function holds, may have another value later", node)
