"""Writes `__init__`: static statements, and the construction of every layer and variable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Value
from migrator.analyse.layers.objects import holder
from migrator.analyse.layers.site import Site
from migrator.analyse.layers.turns import added_weight, refilled
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.lengths import written
from migrator.analyse.statements.names import enumerated, reads, targets
from migrator.analyse.statements.shapes import on_shapes
from migrator.analyse.statements.walks import Loop, parts, static_parts, written_turns
from migrator.analyse.variables.partitioners import given_partitioner
from migrator.analyse.variables.partitioning import by_scope, partitioners_of, scope_partitioner
from migrator.analyse.variables.scopes import counted_by
from migrator.emit.expressions import Shared
from migrator.emit.writer import Writer
from migrator.rewrite import Row, opened, rows


class InitWriter(Writer):
    """`sites` are the layers to make, `kept` the static names that become attributes (name to attribute), `read` those that
    what follows reads."""

    def __init__(
        self, shared: Shared, sites: list[Site], kept: dict[str, str], extra: list[Leaf], read: Set[str] = frozenset()
    ) -> None:
        super().__init__(shared, "init", {name: f"self.{attribute}" for name, attribute in kept.items()})
        self.sites = sites
        self.by_scope = by_scope(self.plan)
        self.partitioners = partitioners_of(self.plan, sites) if self.by_scope else []
        self.support = self._support({*kept, *read}, extra)
        self.held = {site.leaf: site for site in sites if holder(site) is not None}
        made = {site.leaf for site in sites}
        found = ((leaf, added_weight(self.plan, leaf)) for leaf in self.support)
        self.refilled = {leaf: site for leaf, site in found if site is not None and refilled(self.plan, *leaf.defs)}
        """Statements that put a variable into a list which `call` fills again."""
        self._listed_already: set[Site] = set()
        self.leaves = sorted(self.support | made, key=lambda leaf: leaf.index)
        self.last = dict(self._last(kept))
        """The last of several statements that give values to a name, which the model keeps."""
        self.now: Leaf | None = None
        """The statement that is being written."""

    def _support(self, kept: set[str], extra: list[Leaf]) -> set[Leaf]:
        """Static statements that must run here."""
        plan = self.plan
        found: set[Leaf] = set(extra)
        stack: list[str] = [*kept, *reads(self.partitioners)]
        for site in self.sites:
            stack.extend(_read_by(self.plan, site))
            stack.extend(name for _, value in site.layer.arguments for name in _sizes(plan, value))
            for frame in site.leaf.frames:
                once = site.in_all_turns and isinstance(frame.node, ast.For)
                if not once and not isinstance(frame.node, ast.With) and not on_shapes(plan, frame.node):
                    stack.extend(frame.reads())
        for leaf in extra:
            stack.extend(plan.slicer.inputs(leaf))
        seen: set[str] = set()
        objects = {site.leaf for site in self.sites if holder(site) is not None}
        while stack:
            name = stack.pop()
            if name in seen or name in plan.modes.names:
                continue
            seen.add(name)
            for leaf in plan.definitions(name):
                if not plan.is_static(leaf):
                    continue
                if leaf not in objects:
                    found.add(leaf)
                stack.extend(plan.slicer.inputs(leaf))
        return found

    def _last(self, kept: dict[str, str]) -> Iterator[tuple[str, Leaf]]:
        heads = {name for leaf in self.leaves for frame in leaf.frames for name in frame.reads()}
        for name in set(kept) - heads:
            leaves = sorted(self.plan.definitions(name), key=lambda leaf: leaf.index)
            plain = all(isinstance(leaf.node, ast.Assign) and name in leaf.kills and not leaf.arms for leaf in leaves)
            if len(leaves) > 1 and plain and name not in self.plan.statics and set(leaves) <= set(self.leaves):
                yield name, leaves[-1]

    def transform(self, node: ast.AST) -> str | None:
        """A name that gets several values is a local one, until it holds the value that the model keeps. How many tensors
        a list will hold is written out: there are none yet."""
        last = self.last.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and last is not None and self.now is not None:
            if self.now.index < last.index or (self.now is last and isinstance(node.ctx, ast.Load)):
                return node.id
        site = self.plan.site_of.get(id(node))
        if site is not None and site in self._listed_already:
            return self._newest(site)
        terms = self.plan.times.lengths.of(node)
        return super().transform(node) if terms is None else written(terms, self.text)

    def leaf(self, leaf: Leaf) -> list[Row]:
        """A static statement, or the layers that a statement makes."""
        partitioner = self._own_partitioner(leaf)
        if partitioner is None:
            return self._leaf(leaf)
        with self.deeper():
            inner = self._leaf(leaf)
        return opened(self._partitioned(partitioner), inner)

    def _leaf(self, leaf: Leaf) -> list[Row]:
        self.now = leaf
        if leaf in self.refilled:
            found = self._site(self.refilled[leaf])
            self._listed_already.add(self.refilled[leaf])
            return [*found, *self._static(leaf)]
        if leaf in self.support:
            return self._static(leaf)
        made = [site for site in self.sites if site.leaf is leaf and site.makes and not site.in_all_turns]
        return [*self._remarks(leaf, made), *(row for site in made for row in self._site(site))]

    def _remarks(self, leaf: Leaf, made: list[Site]) -> list[Row]:
        """The comments above a statement that only makes an object, which `call` does without."""
        alone = isinstance(leaf.node, ast.Assign) and [id(leaf.node.value)] == [id(site.call) for site in made]
        if not alone or made[0].loops or made[0].layer.inputs is not None:
            return []
        return self.comments([leaf])

    def _site(self, site: Site) -> list[Row]:
        made = self._listed(site)
        if site.loops and site.leaf.loops:
            return self.lines(f"self.{site.attribute}{'[-1]' * (len(site.leaf.loops) - 1)}.append({made})")
        return self.lines(f"self.{site.attribute} = {made}")

    def _partitioned(self, partitioner: ast.expr) -> list[str]:
        """The head of a block whose variables a partitioner splits."""
        return [f"{self.indent}with {self.need('partitioned')}(self, {self.text(partitioner)}):"]

    def _static(self, leaf: Leaf) -> list[Row]:
        self._name_objects(leaf)
        return self.statement(leaf.node)

    def _name_objects(self, leaf: Leaf) -> None:
        """Give the variables and layers that a static statement reads the names that they have by then."""
        for name in {holder(site) for site in self.held.values()} & leaf.uses:
            sources = self.plan.slicer.reaching(name or "", leaf.index, None, leaf)
            texts = {self._newest(self.held[source]) for source in sources if source in self.held}
            if len(texts) > 1 or any(source not in self.held for source in sources):
                raise Unsupported(f"`{name}` may be one of several variables", leaf.node)
            self.names[name or ""] = texts.pop()

    @staticmethod
    def _newest(site: Site) -> str:
        """What a site has made last."""
        return f"self.{site.attribute}{'[-1]' * len(site.loops)}"

    def _mode_test(self, node: ast.expr) -> str | None:
        """Layers are made for training: mode terms of a condition are true and fall away."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and self.plan.modes.mentions(node):
            rest = [v for v in node.values if self.plan.modes.evaluate(v, "train") is not True]
            if rest and len(rest) < len(node.values):
                return " and ".join(self.text(v) for v in rest)
        return super()._mode_test(node)

    def compound(self, node: ast.stmt, leaves: list[Leaf], depth: int) -> list[Row]:
        """Loops become list comprehensions where nothing but layers is made in them."""
        if isinstance(node, ast.With):
            partitioner = self._partitioner(node, leaves)
            if partitioner is not None:
                return opened(self._partitioned(partitioner), self.below(leaves, depth))
            if not any(leaf in self.support for leaf in leaves):
                return self.rows(leaves, depth + 1)
        if isinstance(node, ast.If):
            return self._condition(node, leaves, depth)
        if not isinstance(node, ast.For):
            return super().compound(node, leaves, depth)
        outside = {name: self.names.pop(name) for name in targets(node.target) & set(self.names)}
        try:
            return self._loop(node, leaves, depth)
        finally:
            self.names.update(outside)

    def _loop(self, node: ast.For, leaves: list[Leaf], depth: int) -> list[Row]:
        level = sum(isinstance(f.node, ast.For) for f in leaves[0].frames[:depth])
        sites = [s for s in self.sites if s.leaf in leaves and self.has_attribute(s) and s.makes]
        shared = [] if level else [row for s in sites if s.in_all_turns for row in self._site(s)]
        if shared and self.by_scope:
            raise Unsupported("variables that a partitioner splits are shared by the turns of a loop", node)
        sites = [s for s in sites if not s.in_all_turns]
        leaves = [leaf for leaf in leaves if leaf in self.support or any(s.leaf is leaf for s in sites)]
        if not leaves:
            return shared
        plain = all(self._only_scopes(leaf, depth + 1) and self._own_partitioner(leaf) is None for leaf in leaves)
        if level == 0 and plain and sites and not any(leaf in self.support for leaf in leaves):
            return [*shared, *self.lines(*(self._in_loop(node, site) for site in sites))]
        begun = self.lines(
            *(f"self.{s.attribute}{'[-1]' * (level - 1)}" + (".append([])" if level else " = []") for s in sites)
        )
        return [*shared, *begun, *super().compound(node, leaves, depth)]

    def _partitioner(self, node: ast.With, leaves: list[Leaf]) -> ast.expr | None:
        """The partitioner of a scope in which `leaves` make layers, where it stands around them here, too."""
        made = any(site.makes and site.leaf in leaves for site in self.sites)
        return scope_partitioner(self.plan, node) if self.by_scope and made else None

    def _own_partitioner(self, leaf: Leaf) -> ast.expr | None:
        """The partitioner that the calls in a statement give themselves, where it stands around them here, too."""
        sites = [site for site in self.sites if site.leaf is leaf and site.makes] if self.by_scope else []
        found = {ast.dump(node): node for site in sites if (node := given_partitioner(site.call)) is not None}
        if len(found) > 1:
            raise Unsupported("one statement makes variables with several partitioners", leaf.node)
        return next(iter(found.values()), None)

    def _listed(self, site: Site) -> str:
        """The construction of a layer, or of one for each turn of the comprehensions that it stands in."""
        made = self._made(site)
        for loop in reversed(site.turns):
            made = self._comprehension(made, loop, site)
        return made

    def _in_loop(self, node: Loop, site: Site) -> str:
        """``self.layers = [made for x in y]``."""
        return f"self.{site.attribute} = {self._comprehension(self._listed(site), node, site)}"

    def _comprehension(self, made: str, loop: Loop, site: Site) -> str:
        """``[made for x in y]``, with ``_`` for a name that is not read."""
        head = self.loop(loop, _read_by(self.plan, site))
        target, _, iterable = head.partition(" in ")
        idle = target.isidentifier() and re.search(rf"\b({target}|_)\b", made) is None
        return f"[{made} for {f'_ in {iterable}' if idle else head}]"

    def loop(self, node: Loop, used: set[str]) -> str:
        """``target in iterable`` without a counter that nobody reads, nor what is known only when data flow."""
        counter, target, iterable = enumerated(node)
        known = static_parts(node, self.plan.times.of)
        if not known:
            counted = counter is not None and bool(targets(counter) & used)
            return f"{self.text(counter) if counter is not None and counted else '_'} in range({written_turns(node)})"
        if len(known) < len(parts(node)):
            (names, values), several = zip(*known), len(known) > 1
            head = ", ".join(self.text(name) for name in names)
            source = ", ".join(self.text(value) for value in values)
            source = f"zip({source})" if several else source
            if counter is None or not targets(counter) & used:
                return f"{head} in {source}"
            return f"{self.text(counter)}, {f'({head})' if several else head} in enumerate({source})"
        if counter is not None and targets(counter) & used:
            target, iterable = node.target, node.iter
        return f"{self.text(target)} in {self.text(iterable)}"

    def loop_header(self, node: ast.For, leaves: list[Leaf], inner: Sequence[Row]) -> list[str]:
        """The head of a loop, which leaves out what is known only when data flow."""
        if len(static_parts(node, self.plan.times.of)) == len(parts(node)):
            return super().loop_header(node, leaves, inner)
        counter = enumerated(node)[0]
        return [f"{self.indent}for {self.loop(node, targets(counter) if counter is not None else set())}:"]

    def has_attribute(self, site: Site) -> bool:
        """Whether what a site makes is held by an attribute of its own, not by a list or dict of the program alone."""
        return site.leaf not in self.support or site.leaf in self.refilled

    def _condition(self, node: ast.If, leaves: list[Leaf], depth: int) -> list[Row]:
        if on_shapes(self.plan, node):  # the layers of both arms: `call` decides
            return self.rows(leaves, depth + 1)
        arms = {arm: self.arm(leaves, depth, arm) for arm in ("body", "orelse")}
        padded = False
        outer = sum(isinstance(f.node, ast.For) for f in leaves[0].frames[:depth])
        for arm, other in (("body", "orelse"), ("orelse", "body")):
            for site in filter(self.has_attribute, self.sites):  # lists of layers keep one entry per turn of the loop
                if site.asked_for and site.leaf in leaves and site.leaf.frames[depth].arm == other:
                    padded = padded or arm == "orelse"
                    arms[arm] += rows([f"self.{site.attribute} = None"])
                elif outer and site.leaf in leaves and site.leaf.frames[depth].arm == other:
                    if any(isinstance(f.node, ast.For) for f in site.leaf.frames[depth:]):
                        raise Unsupported("a loop under a condition inside a loop makes layers", node)
                    level = len(site.loops) - 1
                    padded = padded or arm == "orelse"
                    arms[arm] += rows([f"self.{site.attribute}{'[-1]' * level}.append(None)"])
        return self.condition(node, arms["body"], arms["orelse"], chain=not padded)

    def _only_scopes(self, leaf: Leaf, depth: int) -> bool:
        """Whether nothing but scopes that leave no trace stand around a leaf from `depth` on."""
        inner = [frame.node for frame in leaf.frames[depth:]]
        return all(isinstance(node, ast.With) and self._partitioner(node, [leaf]) is None for node in inner)


def _sizes(plan: Body, value: Value) -> set[str]:
    """Names that tell how many tensors the lists hold whose lengths a value reads."""
    return set() if isinstance(value, str) else plan.times.lengths.reads(value)


def _read_by(plan: Body, site: Site) -> set[str]:
    """Names that the making of a layer reads."""
    values = [value for _, value in site.layer.arguments if not isinstance(value, str)]
    values += [site.layer.maker] if site.layer.maker is not None else []
    return reads([*values, *counted_by(plan, site)])
