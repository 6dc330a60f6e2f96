"""Feature columns that are numbers as they are: the names of the features say as much, and Keras needs no more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Remove, Replace, code

_PREFIXES = ("tensorflow.feature_column", "tensorflow.contrib.feature_column", "tensorflow.contrib.layers")
_NUMERIC = "tensorflow.feature_column.numeric_column"
_PARTS = frozenset(
    """key name shape dtype default_value normalizer_fn parse_example_spec variable_shape get_config parents
    create_state get_dense_tensor transform_feature""".split()
)
"""What a column has, and a name has not."""
_GATHERED = frozenset({"append", "add", "list", "set", "tuple"})
_HOLDERS = (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.Return)
_COLLECTIONS = frozenset({"list", "set", "tuple", "sorted", "frozenset"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


def only_numbers(modules: Iterable[Module]) -> bool:
    """Whether files have no feature columns but numbers by a name alone, which nothing looks into."""
    found = False
    for module in modules:
        for node, name in module.references():
            if not name.startswith(_PREFIXES) or name in _PREFIXES:
                continue
            call = call_of(module, node)
            if name != _NUMERIC or call is None or _key(call) is None or not _is_gathered(module, call):
                return False
            found = True
        if any(node.attr in _PARTS for node in module.nodes(ast.Attribute)):
            return False
    return found


def number_changes(module: Module) -> Iterator[tuple[ast.expr, list[Change]]]:
    """Each reference to a function that makes a column, and the changes that leave the name of the feature."""
    for node, name in module.references():
        call = call_of(module, node) if name == _NUMERIC else None
        key = _key(call) if call is not None else None
        if call is None or key is None:
            continue
        loop = _loop(module, call, key)
        outer = module.parent(call)
        if loop is not None:
            start, statement = loop
            assert isinstance(start.value, ast.List)
            every = code(f"list({module.segment(statement.iter)})")
            yield node, [Replace(start.value, every), Remove(statement)]
        elif isinstance(outer, _COMPREHENSIONS) and outer.elt is call and _is_each(outer.generators, key):
            yield node, [Replace(outer, code(_all(module, outer)))]
        else:
            yield node, [Replace(call, module.cst.expression(key))]


def _key(call: ast.Call) -> ast.expr | None:
    """The name of the feature, if a column is made of nothing else."""
    if len(call.args) + len(call.keywords) != 1:
        return None
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return call.keywords[0].value if call.keywords[0].arg == "key" else None


def _is_gathered(module: Module, call: ast.Call) -> bool:
    """Whether a column goes into a collection, a variable or an argument by a name, and nothing else is done with it."""
    outer = module.parent(call)
    if isinstance(outer, ast.Assign):
        return all(isinstance(target, ast.Name) for target in outer.targets)
    if isinstance(outer, ast.Call):
        called = outer.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return call in outer.args and name in _GATHERED
    return isinstance(outer, _HOLDERS)


def _is_each(generators: list[ast.comprehension], key: ast.expr) -> bool:
    """Whether a comprehension has what it goes through as it is."""
    one = generators[0]
    return len(generators) == 1 and not one.ifs and not one.is_async and _same(one.target, key)


def _all(module: Module, outer: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> str:
    """What has all that a comprehension goes through, of its kind where that matters."""
    every, around = outer.generators[0].iter, module.parent(outer)
    text = module.segment(every)
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _COLLECTIONS:
        return text
    if isinstance(outer, ast.ListComp) and isinstance(every, (ast.List, ast.Tuple)) and text[:1] in "([":
        return f"[{text[1:-1].rstrip().rstrip(',')}]"
    return {ast.ListComp: f"list({text})", ast.SetComp: f"set({text})"}.get(type(outer), text)


def _same(target: ast.expr, key: ast.expr) -> bool:
    return isinstance(target, ast.Name) and isinstance(key, ast.Name) and target.id == key.id


def _loop(module: Module, call: ast.Call, key: ast.expr) -> tuple[ast.Assign, ast.For] | None:
    """The empty list and the loop below it that appends a column for each name, and does nothing else."""
    append, loop = module.parent(call), module.parent(module.statement(call))
    if not isinstance(append, ast.Call) or not isinstance(append.func, ast.Attribute) or append.func.attr != "append":
        return None
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or loop.orelse or not _same(loop.target, key):
        return None
    block = block_of(module, loop)
    start = block[block.index(loop) - 1] if block.index(loop) else None
    if not isinstance(start, ast.Assign) or not isinstance(start.value, ast.List) or start.value.elts:
        return None
    inside = {id(node) for node in walk(loop)}
    assert isinstance(key, ast.Name)
    again = any(id(node) not in inside for node in module.loads(key.id))
    if len(start.targets) > 1 or not _same(start.targets[0], append.func.value) or again:
        return None
    return None if module.comments_in(*module.span(loop)) else (start, loop)
