"""Whether an expression is an integer, a float, or nobody knows: what Python 2 divides by `/` depends on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

INT, FLOAT = "int", "float"

Scope = Union[ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef]
_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_INT_CALLS = frozenset({"len", "int", "ord"})
_FLOAT_CALLS = frozenset(
    """float time.time time.clock math.sqrt math.exp math.log math.log10 math.sin math.cos math.tan math.tanh math.pow
    random.random random.uniform random.gauss np.sqrt np.exp np.log np.float32 np.float64 np.random.rand np.random.randn
    np.random.uniform np.random.normal numpy.sqrt numpy.exp numpy.log numpy.float32 numpy.float64 tf.to_float tf.to_double
    tf.exp tf.log tf.sqrt tf.rsqrt tf.sigmoid tf.tanh tf.nn.softmax tf.nn.sigmoid tf.nn.tanh tf.random_normal
    tf.truncated_normal""".split()
)
"""As programs spell them."""
_FLOAT_TYPES = frozenset({"float", "float16", "float32", "float64", "double"})
_KEEP = (ast.Add, ast.Sub, ast.Mult, ast.Mod)
_FLAG_KINDS = {"DEFINE_integer": INT, "DEFINE_float": FLOAT}


class Numbers:
    """What is known of the numbers in one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._bound: dict[tuple[Scope, str], list[ast.expr | None]] = {}
        self._flags: dict[str, str] = {}
        self._asked: set[ast.AST] = set()
        for node in ast.walk(tree):
            for target, value in _bindings(node):
                scope = tree if isinstance(node, ast.Global) else self._scope(node)
                self._bound.setdefault((scope, target), []).append(value)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                kind = _FLAG_KINDS.get(_spelled(node.func).rpartition(".")[2])
                if kind is not None and isinstance(node.args[0].value, str):
                    self._flags[node.args[0].value] = kind

    def kind(self, node: ast.expr) -> str | None:
        """INT or FLOAT where that is certain; floats include tensors and arrays of them."""
        if isinstance(node, ast.Constant):
            return FLOAT if isinstance(node.value, float) else INT if isinstance(node.value, int) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            return self.kind(node.operand)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return _called(node)
        if isinstance(node, ast.Attribute):
            return self._flags.get(node.attr) if _spelled(node.value).rpartition(".")[2] == "FLAGS" else None
        if isinstance(node, ast.IfExp):
            kinds = {self.kind(node.body), self.kind(node.orelse)}
            return kinds.pop() if len(kinds) == 1 else None
        return self._named(node) if isinstance(node, ast.Name) else None

    def _operation(self, node: ast.BinOp) -> str | None:
        kinds = (self.kind(node.left), self.kind(node.right))
        arithmetic = isinstance(node.op, (*_KEEP, ast.Div, ast.FloorDiv, ast.Pow))
        if FLOAT in kinds and arithmetic:
            return FLOAT
        return INT if kinds == (INT, INT) and isinstance(node.op, (*_KEEP, ast.FloorDiv)) else None

    def _named(self, node: ast.Name) -> str | None:
        """The kind of all that a name is bound to in the scope that binds it."""
        if node in self._asked:
            return None
        self._asked.add(node)
        try:
            scope: Scope | None = self._scope(node)
            while scope is not None:
                values = self._bound.get((scope, node.id))
                if values is not None:
                    kinds = {self.kind(value) if value is not None else None for value in values}
                    return kinds.pop() if len(kinds) == 1 else None
                scope = self._outer(scope)
            return None
        finally:
            self._asked.discard(node)

    def _scope(self, node: ast.AST) -> Scope:
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, _SCOPES):
                return node
        assert isinstance(node, _SCOPES)
        return node

    def _outer(self, scope: Scope) -> Scope | None:
        if isinstance(scope, ast.Module):
            return None
        outer = self._scope(scope)
        while isinstance(outer, ast.ClassDef):  # names of a class are not seen from its methods
            outer = self._scope(outer)
        return outer


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that a node binds in the scope around it, with what they are bound to; None where that is not told."""
    if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
        for target in node.targets:
            assert isinstance(target, ast.Name)
            yield target.id, node.value
    elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _is_range(node.iter):
        yield node.target.id, ast.Constant(0)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        # as `x = x op value`, of which the first `x` says nothing new
        yield node.target.id, node.value if isinstance(node.op, (*_KEEP, ast.Div, ast.FloorDiv)) else None
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        for name in node.names:
            yield name, None
    elif isinstance(node, ast.arg):
        yield node.arg, None
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name, None
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0], None
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, None
    else:
        yield from ((name.id, None) for name in _other_targets(node))


def _other_targets(node: ast.AST) -> Iterator[ast.Name]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.For, ast.comprehension)):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets = [node.optional_vars]
    for target in targets:
        yield from (part for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _spelled(node.func) == "range"


def _called(call: ast.Call) -> str | None:
    name = _spelled(call.func)
    if name in _INT_CALLS:
        return INT
    if name in _FLOAT_CALLS:
        return FLOAT
    last = name.rpartition(".")[2]
    given = call.args[1:2] if last == "cast" else call.args[:1] if last == "astype" else []
    kinds = {_spelled(arg).rpartition(".")[2] or _constant(arg) for arg in given}
    return FLOAT if kinds & _FLOAT_TYPES else None


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _spelled(node: ast.expr) -> str:
    """A dotted name as it stands; what is not part of one, in front of it, counts as nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))
