"""Which names a piece of Python reads and binds, in the scope of the function that holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.resolve.syntax import children, is_name, walk

MUTATORS = frozenset(
    "append extend insert update setdefault pop remove clear add discard sort reverse popitem __setitem__".split()
)


def reads(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Names that `nodes` read from their surroundings (names bound inside lambdas and comprehensions do not count)."""
    found: set[str] = set()
    for node in [nodes] if isinstance(nodes, ast.AST) else nodes:
        _reads(node, found, frozenset())
    return found


def _reads(node: ast.AST, found: set[str], bound: frozenset[str]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            found.add(node.id)
    elif isinstance(node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
        args = node.args
        for default in [*args.defaults, *(d for d in args.kw_defaults if d is not None)]:
            _reads(default, found, bound)
        inner = bound | parameters(node)
        if isinstance(node, ast.Lambda):
            _reads(node.body, found, inner)
        else:
            for decorator in node.decorator_list:
                _reads(decorator, found, bound)
            inner |= {node.name} | set().union(*(binds(s) for s in node.body))
            for statement in node.body:
                _reads(statement, found, inner)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        inner = bound
        for generator in node.generators:
            _reads(generator.iter, found, inner)
            inner = inner | targets(generator.target)
            for test in generator.ifs:
                _reads(test, found, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            _reads(part, found, inner)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        _reads(node.iter, found, bound)
        inner = bound | targets(node.target)  # each turn has its own
        _reads(node.target, found, inner)
        for statement in node.body:
            _reads(statement, found, inner)
        for statement in node.orelse:
            _reads(statement, found, bound)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            found.add(node.target.id)
        else:
            _reads(node.target, found, bound)
        _reads(node.value, found, bound)
    else:
        for child in children(node):
            if child.__class__ is not ast.Constant:
                _reads(child, found, bound)


def parameters(node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of all parameters of a function."""
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {a.arg for a in every if a is not None}


def targets(node: ast.expr) -> set[str]:
    """Names that an assignment target binds."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))}


def binds(statement: ast.stmt) -> set[str]:
    """Names that a statement binds, mutates or deletes, nested statements included, nested functions' own names not."""
    found: set[str] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is ast.Name:
            if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                found.add(node.id)  # type: ignore[attr-defined]
            continue
        if kind is ast.Constant:
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if kind is ast.Lambda:
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name.split(".")[0]) for a in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            root = root_name(node)
            if root is not None:
                found.add(root)
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
                root = root_name(function)
                if root is not None:
                    found.add(root)
        stack += _own_children(node)
    return found


def _own_children(node: ast.AST) -> list[ast.AST]:
    """Children of a node that share its scope: comprehension targets do not."""
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return [w for w in walk(node) if isinstance(w, ast.NamedExpr)]
    return children(node)


def wrapped_again(statement: ast.stmt) -> ast.Call | None:
    """The call of ``cell = Wrapper(cell, …)``, which makes a name's new value of its present one, or of
    ``cells = [Wrapper(cell, …) for cell in cells]``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(value, ast.ListComp) and len(value.generators) == 1:
        loop = value.generators[0]
        if loop.ifs or not is_name(loop.iter, getattr(target, "id", None)):
            return None
        target, value = loop.target, value.elt
    wrapped = value.args[0] if isinstance(value, ast.Call) and value.args else None
    if not isinstance(target, ast.Name) or not isinstance(wrapped, ast.Name) or wrapped.id != target.id:
        return None
    return value if isinstance(value, ast.Call) else None


def root_name(node: ast.expr) -> str | None:
    """``x`` of ``x.a[0].b``; None where the chain begins with something else than a name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def rebinds(statement: ast.stmt) -> set[str]:
    """Names that a simple statement gives a wholly new value (not augmented, not mutated)."""
    if isinstance(statement, ast.Assign):
        return set().union(*(_plain(t) for t in statement.targets))
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return _plain(statement.target)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return binds(statement)
    return set()


def _plain(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*(_plain(e) for e in target.elts)) if target.elts else set()
    return _plain(target.value) if isinstance(target, ast.Starred) else set()


def enumerated(node: ast.For | ast.comprehension) -> tuple[ast.expr | None, ast.expr, ast.expr]:
    """Counter, target and iterable of a loop; the counter is None unless the loop is over ``enumerate(iterable)``."""
    iterable = node.iter
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "enumerate":
        if len(iterable.args) == 1 and not iterable.keywords and isinstance(node.target, ast.Tuple):
            if len(node.target.elts) == 2:
                return node.target.elts[0], node.target.elts[1], iterable.args[0]
    return None, node.target, iterable


def is_count(iterable: ast.expr) -> bool:
    """Whether a loop counts from zero: ``range(n)``."""
    if not isinstance(iterable, ast.Call) or not isinstance(iterable.func, ast.Name) or iterable.func.id != "range":
        return False
    return len(iterable.args) == 1 and not iterable.keywords and not isinstance(iterable.args[0], ast.Starred)


def thrown_away(*functions: ast.AST | None) -> set[str]:
    """``_``, where none of the functions reads it."""
    nodes = [node for function in functions if function is not None for node in walk(function)]
    read = any(isinstance(n, ast.Name) and n.id == "_" and isinstance(n.ctx, ast.Load) for n in nodes)
    return set() if read else {"_"}
