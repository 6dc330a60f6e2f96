"""Writes `call`: the tensor statements, with `training` for the mode and walks over lists of layers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.built import built_names, is_known
from migrator.analyse.layers.objects import holder
from migrator.analyse.layers.site import Site
from migrator.analyse.results.tags import joined
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.statements.names import enumerated, is_count, reads, targets
from migrator.analyse.statements.walks import Comprehension, Loop, is_zip, parts
from migrator.emit.expressions import NOT_TRAINING, TRAINING, Shared
from migrator.emit.writer import Writer
from migrator.rewrite import Row, names_of, opened, rows, same, trimmed, with_else

_SHORT = 90
"""Comprehensions that are not longer stand on one line."""


class CallWriter(Writer):
    """`live` says in which modes a leaf's values are read through other definitions as well (see `guard`)."""

    def __init__(self, shared: Shared, names: dict[str, str], sites: list[Site]) -> None:
        super().__init__(shared, "call", names)
        self.sites = sites
        self.leaves: list[Leaf] = []
        self.results: dict[str, set[str]] = {}
        """Per mode, names that are read after `call`."""
        self.unbound: dict[str, set[Leaf]] = {}
        """Names that are read after `call` and that conditions may leave without a value, with what gives them one."""
        self.reads_training = False
        self._walking: list[ast.comprehension] = []
        """Comprehensions whose heads are being written."""
        self.guards = 0
        """Tests of `training` around statements."""
        self._guarded = False
        """Whether what is written stands under such a test."""
        self.alone: set[Leaf] = set()
        """Statements that stand under a test of their own."""
        self.end = len(self.plan.flow.leaves)
        """Where predictions return, so that nothing below sees them."""
        self._built = built_names(self.plan)
        self.names.update(self._built.values())

    @property
    def uses_training(self) -> bool:
        """Whether the written code reads `training`."""
        return self.reads_training or self.guards > 0

    def transform(self, node: ast.AST) -> str | None:
        """Notes whether the written code reads `training`."""
        text = self._comprehension(node) or self._comprehended(node)
        if text is None:
            text = super().transform(node)
        if text in ("training", "not training", "(not training)"):
            self.reads_training = True
        return text

    def guard(self, leaf: Leaf) -> str | None:
        """The test that a statement needs because it does not run in every mode; None if it may always run."""
        if leaf.guard == ALL_MODES or leaf in self.alone:
            return None
        seen = ALL_MODES - ({"infer"} if leaf.index > self.end else set())
        missing = [mode for mode in seen - leaf.guard if self._read_in(leaf, mode)]
        if not missing:
            return None
        guard = frozenset(leaf.guard | {m for m in ALL_MODES - leaf.guard if m not in missing})
        if guard == TRAINING:
            return "training"
        if guard == NOT_TRAINING:
            return "not training"
        # Nothing reads the value in the modes that were added: either test does.
        if "train" in guard and "infer" in missing and "eval" in missing:
            return "training"
        if "train" not in guard:
            raise Unsupported("the forward pass tells evaluation from prediction", leaf.node)
        raise Unsupported("the forward pass tells evaluation from prediction", leaf.node)

    def _read_in(self, leaf: Leaf, mode: str) -> bool:
        """Whether in `mode`, where the leaf does not run, a name that it defines is read later on."""
        if any(self._defined_in(name, mode) for name in leaf.defs & self.results.get(mode, set())):
            return True
        return any(
            other.index > leaf.index and mode in other.modes and leaf.defs & self.plan.slicer.inputs(other)
            for other in self.leaves
        )

    def _test(self, leaf: Leaf) -> str | None:
        """The test around a statement: the one that it needs, else that of the statements that it is there for."""
        if self._guarded:
            return None
        text = self.guard(leaf)
        if text is None and leaf.guard != ALL_MODES and not leaf.defs:
            text = self._guard_of_read(leaf)
        if text is not None or leaf.guard == ALL_MODES or leaf.loops:
            return text
        if leaf.defs & set().union(*self.results.values()):
            return None
        readers = [other for other in self.leaves if other is not leaf and leaf.defs & self.plan.slicer.inputs(other)]
        if any(other.index < leaf.index or other.guard != leaf.guard or other.loops for other in readers):
            return None
        texts = {self._test(other) for other in readers}
        return texts.pop() if len(texts) == 1 else None

    def _guard_of_read(self, leaf: Leaf) -> str | None:
        """The test around all that gives a statement the names it reads: elsewhere they have no value."""
        slicer = self.plan.slicer
        read = {
            other
            for name in slicer.inputs(leaf)
            for mode in leaf.modes
            for other in slicer.reaching(name, leaf.index, mode, leaf)
        }
        texts = {self.guard(other) for other in read & set(self.leaves)} - {None}
        return texts.pop() if len(texts) == 1 else None

    def _defined_in(self, name: str, mode: str) -> bool:
        """Whether something gives a name a value in `mode`; else nobody reads it there, though `call` returns it."""
        return name in self.plan.dynamic or any(name in other.defs and mode in other.modes for other in self.leaves)

    def rows(self, leaves: list[Leaf], depth: int = 0) -> list[Row]:
        """Leaves in order; neighbours with the same guard share one `if`."""
        found: list[Row] = []
        position, previous = 0, None
        arm: list[Row] = []
        while position < len(leaves):
            group = self.group(leaves, position, depth)
            guards = {self._test(leaf) for leaf in group}
            guard = guards.pop() if len(guards) == 1 else None
            if guard is None:
                found += self.rows_of(group, depth)
                position, previous = position + len(group), None
                continue
            end = position + len(group)
            while end < len(leaves):
                more = self.group(leaves, end, depth)
                if {self._test(leaf) for leaf in more} != {guard}:
                    break
                group, end = group + more, end + len(more)
            inner: list[Row] = []
            start = 0
            with self.deeper():
                while start < len(group):
                    part = self.group(group, start, depth)
                    inner += self._inside(part, depth)
                    start += len(part)
            if inner:
                other = {"training": "not training", "not training": "training"}[guard]
                inner = trimmed(inner)
                if previous == other and same(inner, arm):  # the same in both modes
                    found[-1:] = arm
                    position, previous, self.guards = end, None, self.guards - 1
                    continue
                closes = previous == other
                if closes:
                    found[-1] = with_else(found[-1], inner, chain=False)
                else:
                    found += opened([f"{self.indent}if {guard}:"], inner)
                arm = inner
                self.guards += not closes
                guard = None if closes else guard  # an `if` has one `else`
            position, previous = end, guard
        return joined(found)

    def compound(self, node: ast.stmt, leaves: list[Leaf], depth: int) -> list[Row]:
        """Also the comments above scopes that open with the statement and leave no trace."""
        lead = self.remarks(self.plan.flow.heads.get(node, ()))
        found = super().compound(node, leaves, depth)
        names = sorted(name for name, made in self.unbound.items() if depth == 0 and made <= set(leaves))
        lead += self.lines(*(f"{self.names.get(name, name)} = None" for name in names))
        return [*rows([""]), *lead, *trimmed(found)] if lead and found else found

    def _inside(self, group: list[Leaf], depth: int) -> list[Row]:
        """The rows of a group below the `if` of its guard."""
        if len(group[0].frames) == depth:
            return self.rows_of(group, depth)
        held, self._guarded = self._guarded, True
        try:
            return self.rows_of(group, depth)
        finally:
            self._guarded = held

    def leaf(self, leaf: Leaf) -> list[Row]:
        """A statement; ``name = <made object>`` falls away: the name stands for the object, unless a tensor gets it later."""
        node = leaf.node
        if leaf in self._built or self._is_bound_by_loop(leaf):
            return []
        if isinstance(node, ast.Assign) and id(node.value) in self.plan.site_of:
            if self.plan.site_of[id(node.value)].layer.inputs is None and self.plan.time(leaf) <= Time.MODE:
                return []
        return super().leaf(leaf)

    def _is_bound_by_loop(self, leaf: Leaf) -> bool:
        """Whether the loop around a statement walks over weights under the name that it gives them."""
        site = self.plan.site_of.get(id(getattr(leaf.node, "value", None)))
        return site is not None and bool(site.loops) and site.layer.built and holder(site) == site.item

    def loop_header(self, node: ast.For, leaves: list[Leaf], inner: Sequence[Row]) -> list[str]:
        """``for units, dense in zip(params["units"], self.dense_layers):`` and simpler forms of it."""
        sites = [s for s in self.sites if s.leaf in leaves and node in s.loops and s.makes]
        used = names_of(inner)
        if not sites and not self._lost_counter(node, used):
            return super().loop_header(node, leaves, inner)
        above = [line for line in self.head(node) if not line.strip() or line.lstrip().startswith("#")]
        if sites:
            head, source = self._walk(node, sites, used)
        else:
            _, target, iterable = enumerated(node)
            head, source = self.text(target), self.text(iterable)
        return [*above, f"{self.indent}for {head} in {source}:"]

    @staticmethod
    def _lost_counter(node: ast.For, used: set[str]) -> bool:
        """Whether the counter of a loop was only read for what falls away: names and the sharing of layers."""
        counter = enumerated(node)[0]
        return counter is not None and not targets(counter) & used and bool(targets(counter) & reads(node.body))

    def _walk(self, node: Loop, sites: list[Site], used: set[str]) -> tuple[str, str]:
        """Target and iterable of a loop that also walks over the layers of `sites`; `used` are the names read in it."""
        level = sites[0].loops.index(node)
        items, lists = [], []
        for site in sites:
            names = [site.item, *(f"{site.item}_row{'s' * depth}" for depth in range(len(site.loops)))]
            inside = len(site.loops) - 1 - level  # loops
            items.append(names[inside])
            lists.append(f"self.{site.attribute}" if level == 0 else names[inside + 1])
        counter, target, iterable = enumerated(node)
        if counter is None and is_count(iterable):  # the lists have one item per turn
            counter, target = target, ast.Tuple([], ast.Store())
        counted = counter is not None and bool(targets(counter) & used)
        heads: list[str] = []
        sources: list[str] = []
        if is_zip(iterable, target):
            at = sites[0].leaf
            dynamic = [
                v for _, v in parts(node) if self.plan.times.of(v) > Time.MODE and not is_known(self.plan, v, at)
            ]
            read = [(n, value) for n, value in parts(node) if targets(n) & used or value in dynamic]
            heads = [self.text(name) for name, _ in read]
            sources = [self.text(value) for _, value in read]
        elif targets(target) & used:
            bare = isinstance(target, ast.Tuple) and not self.text(target).startswith("(")
            heads = [f"({self.text(target)})" if bare else self.text(target)]
            sources = [self.text(iterable)]
        heads, sources = heads + items, sources + lists
        head = ", ".join(heads)
        source = sources[0] if len(sources) == 1 else f"zip({', '.join(sources)})"
        if counted:
            assert counter is not None
            head = f"{self.text(counter)}, {head if len(heads) == 1 else f'({head})'}"
            source = f"enumerate({source})"
        return head, source

    def _comprehension(self, node: ast.AST) -> str | None:
        """A comprehension that makes layers, on one line if that is shorter than what the program has."""
        if not isinstance(node, ast.ListComp) or node.lineno == node.end_lineno:
            return None
        loops = node.generators
        if "#" in self.plan.module.segment(node) or not any(site.turns and site.makes for site in self.sites):
            return None
        heads = [f"for {self.text(loop.target)} in {self.text(loop.iter)}" for loop in loops if not loop.ifs]
        text = f"[{self.text(node.elt)} {' '.join(heads)}]"
        return text if len(heads) == len(loops) and len(text) <= _SHORT and "\n" not in text else None

    def _comprehended(self, node: ast.AST) -> str | None:
        """What a comprehension walks over, with the layers that it makes: its target, or its iterable."""
        parent = self.plan.module.parent(node)
        if not isinstance(parent, ast.comprehension):
            return None
        sites = [site for site in self.sites if site.makes and parent in site.loops]
        if not sites or node not in (parent.target, parent.iter) or parent in self._walking:
            return None
        whole = self.plan.module.parent(parent)
        assert isinstance(whole, Comprehension)
        read = [whole.key, whole.value] if isinstance(whole, ast.DictComp) else [whole.elt]
        later = whole.generators[whole.generators.index(parent) + 1 :]
        texts = [self.text(part) for part in (*read, *(part for loop in later for part in (loop.target, loop.iter)))]
        self._walking.append(parent)
        head, source = self._walk(parent, sites, self._words(texts))
        self._walking.pop()
        return head if node is parent.target else source

    @staticmethod
    def _words(lines: list[str]) -> set[str]:
        """Names that written lines mention."""
        found: set[str] = set()
        for line in lines:
            word = ""
            for char in line + " ":
                if char.isalnum() or char == "_":
                    word += char
                else:
                    if word:
                        found.add(word)
                    word = ""
        return found
