"""Which methods of an optimizer class update variables, and which of them they call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.analyse.training.stateops import state_op
from migrator.resolve.syntax import walk

DENSE = ("_resource_apply_dense", "_apply_dense")
SPARSE = ("_resource_apply_sparse", "_apply_sparse")
PROTOCOL = (*DENSE, *SPARSE, "_create_slots", "_prepare", "_finish")


class AppliedMethods:
    """The methods of a class whose base calls it for each variable."""

    def __init__(self, found: OptimizerClass) -> None:
        self.module = found.module
        self.by_name = {s.name: s for s in found.node.body if isinstance(s, ast.FunctionDef)}

    def method(self, name: str) -> ast.FunctionDef | None:
        return self.by_name.get(name)

    def chosen(self, names: tuple[str, ...]) -> ast.FunctionDef | None:
        """The method for resources, which all variables of TensorFlow 2 are, or else that for references."""
        there = [m for m in map(self.method, names) if m is not None]
        told = [m for m in there if not _only_raises(m)]
        if len(told) > 1 and self._forwards(told[0], told[1]):
            return told[1]
        return next(iter(told or there), None)

    @staticmethod
    def _forwards(method: ast.FunctionDef, other: ast.FunctionDef) -> bool:
        """Whether a method only calls another one with what it got."""
        last = method.body[-1]
        given = ", ".join(a.arg for a in method.args.args[1:])
        this = method.args.args[0].arg
        return (
            isinstance(last, ast.Return)
            and len(method.body) == 1
            and (last.value is not None and ast.unparse(last.value) == f"{this}.{other.name}({given})")
        )

    def _calls(self, method: ast.FunctionDef) -> Iterator[tuple[ast.Attribute, ast.FunctionDef]]:
        """Methods of the class that a method names."""
        this = method.args.args[0].arg
        for node in walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == this:
                if (other := self.method(node.attr)) is not None:
                    yield node, other

    def updating(self, entries: list[ast.FunctionDef]) -> list[ast.FunctionDef]:
        """The methods that update variables: the entries, and those that they return a call of."""
        found = list(entries)
        for method in found:
            for node in walk(method):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
                    for reference, other in self._calls(method):
                        if node.value.func is reference and other not in found:
                            found.append(other)
        return found

    def helpers(self, entries: list[ast.FunctionDef], updating: list[ast.FunctionDef]) -> list[ast.FunctionDef]:
        """All other methods that these need."""
        found: list[ast.FunctionDef] = []
        for method in [*updating, *found]:
            for _, other in self._calls(method):
                if other not in updating and other not in found and other.name not in PROTOCOL:
                    found.append(other)
        for method in found:
            for _, other in self._calls(method):
                if other not in found and other not in updating:
                    found.append(other)
        return found

    def changes(self, method: ast.FunctionDef) -> bool:
        return any(state_op(self.module, node, self.scattering(method)) is not None for node in walk(method))

    def scattering(self, method: ast.FunctionDef) -> list[str]:
        """Functions that change their first argument: parameters that a method calls, and helpers that scatter."""
        names = {a.arg for a in method.args.args[1:]}
        called = {n.func.id for n in walk(method) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        this = method.args.args[0].arg
        own = [
            f"{this}.{reference.attr}"
            for reference, other in self._calls(method)
            if other is not method and other.name not in PROTOCOL and self.scatters(other)
        ]
        return [*sorted(names & called), *own]

    def scatters(self, method: ast.FunctionDef) -> bool:
        """Whether a method changes its first argument, and nothing else."""
        changes = [c for n in walk(method) if (c := state_op(self.module, n)) is not None]
        first = method.args.args[1].arg if len(method.args.args) > 1 else ""
        return bool(changes) and all(isinstance(c.target, ast.Name) and c.target.id == first for c in changes)

    def variable(self, method: ast.FunctionDef) -> str:
        """The parameter that is the variable."""
        parameters = [a.arg for a in method.args.args]
        if method.name in (*DENSE, *SPARSE):
            return parameters[2]
        return next((p for p in parameters[1:] if p in ("var", "variable", "param", "handle")), "")

    def several(self, node: ast.expr) -> list[ast.expr]:
        """The variables that a method of the class returns together."""
        if isinstance(node, ast.Tuple):
            return node.elts
        name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        method = self.method(name)
        returns = [n.value for n in walk(method) if isinstance(n, ast.Return)] if method is not None else []
        if len(returns) == 1 and isinstance(returns[0], ast.Tuple):
            return returns[0].elts
        return []


def _only_raises(method: ast.FunctionDef) -> bool:
    """Whether a method refuses what it is asked for."""
    body = [s for s in method.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return all(isinstance(s, ast.Raise) for s in body)
