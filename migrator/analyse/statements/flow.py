"""A function body as a list of simple statements, each with the modes in which it runs and the control around it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.modes import ALL_MODES, Modes
from migrator.analyse.statements.names import binds, reads, rebinds, targets
from migrator.resolve.syntax import walk

Set = frozenset[str]


@dataclass(frozen=True)
class Frame:
    """One arm of a compound statement that stays in the generated code."""

    node: ast.For | ast.If | ast.With
    arm: str
    """``body`` or ``orelse``."""
    silent: bool = False
    """A scope that leaves no trace in the generated code, so that nobody needs what its head reads."""

    def reads(self) -> Set:
        """Names that the head of the statement reads."""
        return self._reads

    @cached_property
    def _reads(self) -> Set:
        if self.silent:
            return frozenset()
        if isinstance(self.node, ast.If):
            return frozenset(reads(self.node.test))
        if isinstance(self.node, ast.For):
            return frozenset(reads(self.node.iter))
        return frozenset(reads([item.context_expr for item in self.node.items]))

    def binds(self) -> set[str]:
        """Names that the head of the statement binds."""
        if isinstance(self.node, ast.For):
            return targets(self.node.target)
        if isinstance(self.node, ast.With):
            return set().union(*(targets(i.optional_vars) for i in self.node.items if i.optional_vars is not None))
        return set()


def _in_head(node: ast.For | ast.If | ast.With, inner: ast.AST) -> bool:
    """Whether a node is a part of the head of a compound statement."""
    if isinstance(node, ast.With):
        return any(inner in walk(item) for item in node.items)
    return inner in walk(node.test if isinstance(node, ast.If) else node.iter)


@dataclass(eq=False)
class Leaf:
    """A statement that is moved as a whole."""

    index: int
    node: ast.stmt
    modes: frozenset[str]
    guard: frozenset[str]
    """Like `modes`, without what conditions in `frames` say about the mode."""
    frames: tuple[Frame, ...]
    mode_only: bool = False
    """Only names a mode test, such as ``is_training = mode == TRAIN``."""
    lead: tuple[ast.stmt, ...] = ()
    """Statements that open here and leave no trace but the comments above them, such as ``if mode == EVAL:``."""
    starting: bool = False
    """Only serves to give variables first values."""
    defs: frozenset[str] = field(init=False)
    uses: frozenset[str] = field(init=False)
    kills: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.become(self.node)

    def become(self, node: ast.stmt) -> None:
        """Be this statement."""
        self.node = node
        self.defs = frozenset(binds(self.node))
        self.kills = frozenset(rebinds(self.node))
        mutated = self.defs - self.kills if not isinstance(self.node, ast.FunctionDef) else frozenset()
        self.uses = frozenset(reads(self.node)) | mutated

    @cached_property
    def loops(self) -> tuple[ast.For, ...]:
        """The loops around the statement, outermost first."""
        return tuple(f.node for f in self.frames if isinstance(f.node, ast.For))

    @property
    def scopes(self) -> list[ast.With]:
        """The ``with`` statements around the statement, outermost first."""
        return [f.node for f in self.frames if isinstance(f.node, ast.With)]

    @property
    def arms(self) -> list[Frame]:
        """The conditions and loops around the statement, outermost first."""
        return [f for f in self.frames if not isinstance(f.node, ast.With)]


class Flow:
    """The leaves of a body in source order. `whole` says which compound statements are kept in one piece, `silent`
    which scopes go."""

    def __init__(
        self,
        body: Iterable[ast.stmt],
        modes: Modes,
        whole: Callable[[ast.stmt], bool],
        silent: Callable[[ast.With], bool] = lambda node: False,
        imported: Set = frozenset(),
        early_returns: bool = False,
    ) -> None:
        self.leaves: list[Leaf] = []
        self.modes = modes
        self._whole = whole
        self._silent = silent
        self._imported = imported
        self._early_returns = early_returns
        self._opened: list[ast.stmt] = []
        self._leaf_of: dict[ast.AST, Leaf] | None = None
        self._giving: dict[str, tuple[list[int], list[Leaf]]] | None = None
        self.joined: list[ast.stmt] = []
        """Statements in whose place another one stands, which another mode repeats."""
        self.heads: dict[ast.stmt, tuple[ast.stmt, ...]] = {}
        """What `Leaf.lead` is, for compound statements."""
        body = list(body)
        self._flags = _flags(body)
        self.falls_through = self._walk(body, ALL_MODES, ALL_MODES, ())
        self._join_repeated()
        self._forget_turns()

    def leaf_of(self, node: ast.AST) -> Leaf | None:
        """The statement that a node stands in."""
        if self._leaf_of is None:
            self._leaf_of = {}
            for leaf in self.leaves:
                for inner in walk(leaf.node):
                    self._leaf_of.setdefault(inner, leaf)
        return self._leaf_of.get(node)

    def first_of(self, node: ast.AST) -> Leaf | None:
        """The statement that a node stands in, or the first one behind the head of a loop or condition that it stands in."""
        leaf = self.leaf_of(node)
        if leaf is not None:
            return leaf
        return next((one for one in self.leaves if any(_in_head(frame.node, node) for frame in one.frames)), None)

    def giving(self, name: str) -> tuple[list[int], list[Leaf]]:
        """The statements that give `name` a value, in order, with their numbers."""
        if self._giving is None:
            self._giving = {}
            for leaf in self.leaves:
                for given in leaf.defs:
                    numbers, leaves = self._giving.setdefault(given, ([], []))
                    numbers.append(leaf.index)
                    leaves.append(leaf)
        return self._giving.get(name, ([], []))

    @cached_property
    def scope_names(self) -> Set:
        """Names of scopes that leave no trace."""
        frames = {frame for leaf in self.leaves for frame in leaf.frames if frame.silent}
        return frozenset(name for frame in frames for name in frame.binds())

    def renumber(self) -> None:
        """To be called where statements were put in, or became others."""
        for index, leaf in enumerate(self.leaves):
            leaf.index = index
        self._leaf_of = self._giving = None
        self.__dict__.pop("scope_names", None)

    def _walk(self, body: Sequence[ast.stmt], modes: Set, guard: Set, frames: tuple[Frame, ...]) -> Set:
        for index, statement in enumerate(body):
            if not modes:
                break
            if self._early_returns and self._returns_early(statement, modes):
                assert isinstance(statement, ast.If)
                self._walk(statement.body, modes, guard, (*frames, Frame(statement, "body")))
                rest = [*statement.orelse, *body[index + 1 :]]  # what follows runs in the other case only
                return self._walk(rest, modes, guard, (*frames, Frame(statement, "orelse")))
            after = self._statement(statement, modes, guard, frames)
            modes, guard = after, guard - (modes - after)
        return modes

    def _returns_early(self, node: ast.stmt, modes: Set) -> bool:
        """Whether a condition that is not about the mode ends the function in its first arm."""
        if not isinstance(node, ast.If) or not isinstance(node.body[-1], ast.Return):
            return False
        return all(self.modes.evaluate(node.test, mode) is None for mode in modes)

    def _statement(self, node: ast.stmt, modes: Set, guard: Set, frames: tuple[Frame, ...]) -> Set:
        if isinstance(node, ast.If):
            return self._if(node, modes, guard, frames)
        if isinstance(node, ast.Delete) and all(isinstance(target, ast.Name) for target in node.targets):
            return modes  # `del config`: says that nothing reads it
        if isinstance(node, (ast.For, ast.With)) and not self._whole(node):
            frame = Frame(node, "body", isinstance(node, ast.With) and self._silent(node))
            if frame.silent:
                self._opened.append(node)
            else:
                self._open_before(node)
            after = self._walk(node.body, modes, guard, (*frames, frame))
            if isinstance(node, ast.For):
                if node.orelse:
                    raise Unsupported("a loop with an `else` is not followed", node)
                if after != modes:
                    raise Unsupported("a `return` inside a loop is not followed", node)
            return after
        learnt = self.modes.learn(node) or (self._sets_flag(node, frames) and self.modes.learn_constant(node, modes))
        self._add(node, modes, guard, frames, learnt)
        return frozenset() if isinstance(node, (ast.Return, ast.Raise)) else modes

    def _sets_flag(self, node: ast.stmt, frames: tuple[Frame, ...]) -> bool:
        """Whether a statement gives a flag a value that the mode alone decides, wherever the flag has one."""
        if not self._flags:
            return False
        names = binds(node) & set(self._flags)
        if not frames:
            return bool(names)
        choices = [self._flags[name] for name in names]
        if choices and all(c is not None and all(f.node is not c for f in frames) for c in choices):
            return True
        known = sorted(names & set(self.modes.names))
        if known:
            raise Unsupported(f"`{known[0]}` is set in one place, and under a condition in another", node)
        return False

    def _add(self, node: ast.stmt, modes: Set, guard: Set, frames: tuple[Frame, ...], mode_only: bool = False) -> None:
        leaf = Leaf(len(self.leaves), node, modes, guard, frames, mode_only, tuple(self._opened))
        leaf.defs -= self._imported - leaf.kills  # `tf.add(a, b)` changes no module
        self.leaves.append(leaf)
        self._opened.clear()

    def _open_before(self, node: ast.stmt) -> None:
        if self._opened:
            self.heads[node] = tuple(self._opened)
            self._opened.clear()

    def _join_repeated(self) -> None:
        """Of assignments that the arms of mode tests repeat, keep one at the place of the first, for the modes of all."""
        kept: list[Leaf] = []
        first: dict[str, list[Leaf]] = {}
        for leaf in self.leaves:
            if isinstance(leaf.node, ast.Assign) and not leaf.mode_only and leaf.modes != ALL_MODES:
                same = first.setdefault(ast.dump(ast.Tuple(leaf.node.targets, ast.Load())), [])
                if self._joined(leaf, same, kept):
                    continue
                same.append(leaf)
            kept.append(leaf)
        self.leaves = kept
        self.renumber()

    def _forget_turns(self) -> None:
        """Let loops that are kept in one piece keep what they walk over to themselves, where nothing else reads it."""
        read: set[str] = set()
        for leaf in self.leaves:
            own: set[str] = set()
            for frame in leaf.frames:
                read |= frame.reads() - own
                own |= frame.binds()
            read |= reads(leaf.node) - own
        for leaf in self.leaves:
            loops = [node for node in walk(leaf.node) if isinstance(node, ast.For)]
            turns = set().union(*(targets(loop.target) for loop in loops))
            turns -= read | reads(leaf.node)
            leaf.defs, leaf.uses = leaf.defs - turns, leaf.uses - turns

    def _joined(self, leaf: Leaf, same: list[Leaf], kept: list[Leaf]) -> bool:
        """Whether one of the leaves that give a value to the same names now also stands for `leaf`."""
        for other in same:
            if other.modes & leaf.modes or other.frames != leaf.frames or not _may_move(leaf, other, kept):
                continue
            if not self._agree(other.node, leaf.node, leaf.modes):
                if not self._agree(leaf.node, other.node, other.modes):
                    continue
                self.joined.append(other.node)
                other.become(leaf.node)  # `training=mode == TRAIN` says more than `training=False`
            else:
                self.joined.append(leaf.node)
            other.modes, other.guard = other.modes | leaf.modes, other.guard | leaf.guard
            return True
        return False

    def _agree(self, general: ast.stmt, special: ast.stmt, modes: Set) -> bool:
        """Whether in `modes` an assignment gives what another one does that runs in no other."""
        return all(self.modes.dump_in(general, mode) == self.modes.dump_in(special, mode) for mode in modes)

    def _if(self, node: ast.If, modes: Set, guard: Set, frames: tuple[Frame, ...]) -> Set:
        values = {mode: self.modes.evaluate(node.test, mode) for mode in modes}
        yes = frozenset(m for m in modes if values[m] is not False)
        no = frozenset(m for m in modes if values[m] is not True)
        if not yes & no:  # the mode alone decides
            if yes:
                self._opened.append(node)
            after = self._walk(node.body, yes, guard & yes, frames)
            self._opened.clear()
            return after | self._walk(node.orelse, no, guard & no, frames)
        if self._whole(node):
            self._add(node, modes, guard, frames)
            return modes
        self._open_before(node)
        out_yes = self._walk(node.body, yes, guard, (*frames, Frame(node, "body")))
        out_no = self._walk(node.orelse, no, guard, (*frames, Frame(node, "orelse")))
        if yes - out_yes or no - out_no:
            only_raise = _only_raises(node.body) or _only_raises(node.orelse)
            if not only_raise:
                raise Unsupported("a `return` under a condition that is not about the mode is not followed", node)
        return out_yes | out_no


def _flags(body: list[ast.stmt]) -> dict[str, ast.If | None]:
    """Names that are only ever given the values True and False, with the `if` whose two arms do so if nothing else does."""
    values: dict[str, list[tuple[bool, ast.stmt]]] = {}
    choices: dict[ast.stmt, ast.If] = {}
    other: set[str] = set()
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.If):
                choices.update(dict.fromkeys((*node.body, *node.orelse), node))
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
                    values.setdefault(node.targets[0].id, []).append((node.value.value, node))
                    continue
                other.add(node.targets[0].id)
            elif isinstance(node, (ast.AugAssign, ast.For, ast.NamedExpr)):
                other |= {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    found: dict[str, ast.If | None] = {}
    for name, seen in values.items():
        if {value for value, _ in seen} == {True, False} and name not in other:
            around = {choices.get(statement) for _, statement in seen}
            found[name] = around.pop() if len(seen) == 2 and len(around) == 1 else None
    return found


def _may_move(leaf: Leaf, to: Leaf, leaves: list[Leaf]) -> bool:
    """Whether `leaf` may run in the place of `to`: nothing that runs in between in its modes reads or gives its names."""
    if leaf.defs - leaf.kills:
        return False
    between = [other for other in leaves[leaves.index(to) + 1 :] if other.modes & leaf.modes]
    return not any(
        other.defs & (leaf.defs | leaf.uses)
        or (other.uses | set().union(*(f.reads() for f in other.frames))) & leaf.defs
        for other in between
    )


def _only_raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)
