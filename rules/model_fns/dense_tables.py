"""Tables with dense gradients: the loss reads all their rows, such as to keep them small, and not only those looked up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.plan import Plan
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import binds, root_name
from migrator.resolve.syntax import walk

_LOOKUPS = frozenset(
    f"tensorflow.{name}"
    for name in ("nn.embedding_lookup", "nn.embedding_lookup_sparse", "nn.safe_embedding_lookup_sparse", "gather")
)
_OF_ALL_ROWS = frozenset(f"tensorflow.{name}" for name in ("nn.l2_loss", "square", "math.square", "norm"))
_PERHAPS = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)


def dense_lookups(plan: Plan) -> set[ast.Call]:
    """The lookups in tables with dense gradients, whatever the parameters of the model are."""
    if "train" not in plan.specs or plan.partial_losses:
        return set()
    loss, end = plan.field("train", "loss"), plan.specs["train"].leaf
    found: set[ast.Call] = set()
    for leaf in plan.flow.leaves:
        for node in walk(leaf.node):
            if isinstance(node, ast.Call) and plan.module.resolve(node.func) in _LOOKUPS:
                table = _table(node)
                if loss is not None and table is not None and _Whole(plan, table, leaf).read_by(loss, end):
                    found.add(node)
    return found


def _table(call: ast.Call) -> ast.expr | None:
    given = [call.args[0]] if call.args else [k.value for k in call.keywords if k.arg == "params"]
    return given[0] if given and isinstance(given[0], (ast.Name, ast.Subscript, ast.Attribute)) else None


class _Whole:
    """Asks whether values are computed from all rows of the table that a lookup in the statement `at` reads."""

    def __init__(self, plan: Plan, table: ast.expr, at: Leaf) -> None:
        self.plan = plan
        self.text = ast.unparse(table)
        self.root = root_name(table) or ""
        self.sources = self._sources(self.root, at)
        self.known: dict[Leaf, bool] = {}

    def _sources(self, name: str, at: Leaf) -> list[Leaf]:
        return self.plan.slicer.reaching(name, at.index, "train", at)

    def read_by(self, value: ast.expr, at: Leaf) -> bool:
        """Whether an expression reads them, or a name whose values all do."""
        if not self.sources:
            return False
        if any(self._is_table(node, at) for node in self._sure(value)):
            return True
        names = {node.id for node in self._sure(value) if isinstance(node, ast.Name)}
        return any(self._held(name, at) for name in names)

    def _held(self, name: str, at: Leaf) -> bool:
        """Whether a name stands for what was computed from all rows, whichever statements ran before `at`."""
        for leaf in self._sources(name, at):  # the latest first
            if _only_adds(leaf.node, name):
                if isinstance(leaf.node, ast.AugAssign) and not leaf.arms and self._given(leaf):
                    return True
            elif not self._given(leaf):
                return False
            elif not leaf.arms:
                return True
        return False

    def _given(self, leaf: Leaf) -> bool:
        """Whether what a statement assigns, or adds, is computed from all rows."""
        if leaf not in self.known:
            self.known[leaf] = False  # in a loop
            node = leaf.node
            plain = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            if isinstance(node, (ast.Assign, ast.AugAssign)) and (plain or isinstance(node, ast.AugAssign)):
                self.known[leaf] = self.read_by(node.value, leaf)
        return self.known[leaf]

    def _is_table(self, node: ast.AST, at: Leaf) -> bool:
        """Whether a node is a call that reads all rows of the table."""
        if not isinstance(node, ast.Call) or self.plan.module.resolve(node.func) not in _OF_ALL_ROWS:
            return False
        whole = bool(node.args) and ast.unparse(node.args[0]) == self.text
        return whole and set(self._sources(self.root, at)) == set(self.sources)

    def _sure(self, value: ast.expr) -> Iterator[ast.AST]:
        """The parts of an expression that are computed whatever holds, and of which gradients are taken."""
        waiting: list[ast.AST] = [value]
        while waiting:
            node = waiting.pop()
            name = self.plan.module.resolve(node.func) if isinstance(node, ast.Call) else None
            if name in ("tensorflow.stop_gradient", "tensorflow.cond") or isinstance(node, _PERHAPS):
                continue
            yield node
            waiting += ast.iter_child_nodes(node)


def _only_adds(node: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name no other value than the sum of its own and another one."""
    plain = [part for part in walk(node) if isinstance(part, ast.stmt) and not isinstance(part, ast.If)]
    return all(
        (isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Add)) or name not in binds(part) for part in plain
    )
