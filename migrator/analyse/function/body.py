"""What is known of one function that builds a part of a network: a model_fn, or a helper that makes layers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.parts import Parts
from migrator.analyse.function.translate import Translations, Writing
from migrator.analyse.layers.site import Site
from migrator.analyse.results.collections import Collections
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Flow, Leaf
from migrator.analyse.statements.modes import Modes, mode_of_symbol
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.slicing import Slicer
from migrator.analyse.statements.times import Times
from migrator.analyse.training.gradientsums import Sums
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.resolve.module import Module

SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.control_dependencies", "tensorflow.name_scope"})


class Body:
    """Statements, modes, binding times and layers of a function.

    `dynamic` are its parameters that hold tensors, `statics` those that are known when the model is built, `mode` the one
    that holds the mode, `training` the one that is true while training.
    """

    opened: frozenset[str] = frozenset()
    """Names whose values are looked at one by one, so that no statement around them is moved as a whole."""
    early_returns = False
    """Whether conditions that are not about the mode may end the function."""
    is_helper = False
    """Whether it becomes a layer, not a model."""
    shares_tables = False
    """Whether feature columns look up in one table in several of its layers."""

    # What `study` finds out.
    flow: Flow
    slicer: Slicer
    times: Times
    collections: Collections
    sums: dict[str, Sums]
    gradients: set[Leaf]
    """What computes with gradients: the train step."""

    def __init__(
        self,
        module: Module,
        function: ast.FunctionDef,
        translations: Translations,
        sublayers: Parts,
        dynamic: list[str],
        statics: list[str],
        mode: str | None = None,
        training: str | None = None,
    ) -> None:
        self.module = module
        self.function = function
        self.translations = translations
        self.sublayers = sublayers
        self.dynamic = dynamic
        self.statics = statics
        self.mode = mode
        self.modes = Modes(mode, lambda node: mode_of_symbol(module.resolve(node)), training)
        self.docstring = ast.get_docstring(function, clean=False)
        self.imported = frozenset(entry.name for entry in module.imports)
        """Names that the file imports."""
        self.sites: list[Site] = []
        self.site_of: dict[int, Site] = {}
        self.doubtful: list[tuple[Site, Site]] = []
        """Sites of a helper that may share variables under names which only its calls tell."""
        self.lookups: dict[ast.Call, tuple[ast.expr, ast.expr]] = {}
        """Calls that look up rows of tables which layers hold: the table, and the ids."""
        self.tables: dict[ast.expr, Site] = {}
        """What else reads such a table."""
        self.watched: dict[Leaf, str] = {}
        """Statements that hand a tensor out to callbacks, by a name."""
        self.scope_paths: dict[tuple[ast.With, ...], str | None] = {}
        """What `tags.scope_path` found out, by the scopes."""
        self.wrappers: set[Leaf] = set()
        """Statements that wrap a cell for training only."""
        self.training_tests: dict[ast.expr, Leaf] = {}
        """Conditions that differ by mode, but decide nothing except whether cells drop anything: what holds in training does."""
        self.updates_run = sublayers.updates_run
        self.labels: str | None = None
        self.opened_entries: dict[ast.AST, ast.expr] = {}
        """Reads of entries of a dict, and what stands there instead."""
        self.call_leaves: list[Leaf] = []
        self.metric_effects: list[Leaf] = []
        self.losses: set[Leaf] = set()

    def counts(self, leaf: Leaf) -> bool:
        """Whether a statement that is there for its effect is written anywhere."""
        return True

    def added(self, leaf: Leaf, writing: Writing) -> str | None:
        """The text of a statement that the program has in another form; None for its own."""
        kept = self.collections.kept.get(id(leaf.node))
        if kept is not None:
            return f"self.add_loss({writing.text(kept[1])})"
        name = self.collections.named.get(id(leaf.node))
        if name is None or not isinstance(leaf.node, ast.Assign):
            return None
        return f"{name} = {writing.text(leaf.node.value)}"

    # -- structure ----------------------------------------------------------------------------------------------------

    def is_maker(self, call: ast.Call) -> bool:
        """Whether a call makes layers or a metric."""
        name = self.module.resolve(call.func)
        if name is not None and (name in self.translations.layers or name in self.translations.metrics):
            return True
        made = self.sublayers.definition(self.module, call) is not None or bool(self.sublayers.chosen(self, call))
        return made or self.sublayers.is_layer_class(self.module, call)

    def followed_in(self, node: ast.expr | None, at: Leaf, mode: str) -> tuple[ast.expr | None, Leaf]:
        """The expression behind names that are assigned once in `mode`, and the leaf that holds it."""
        for _ in range(5):
            if not isinstance(node, ast.Name):
                break
            leaves = self.slicer.reaching(node.id, at.index, mode, at)
            if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign) or len(leaves[0].node.targets) != 1:
                break
            if not isinstance(leaves[0].node.targets[0], ast.Name):
                break
            at, node = leaves[0], leaves[0].node.value
        return node, at

    def is_step(self, node: ast.expr) -> bool:
        """Whether the value is the global step (perhaps cast to another type)."""
        for _ in range(5):
            if isinstance(node, ast.Call):
                name = self.module.resolve(node.func) or ""
                if name in self.translations.steps:
                    return True
                if name.rsplit(".", 1)[-1] in ("cast", "to_float", "to_int32", "to_int64") and node.args:
                    node = node.args[0]
                    continue
                return False
            if not isinstance(node, ast.Name):
                return False
            leaves = self.definitions(node.id)
            if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign):
                return False
            node = leaves[0].node.value
        return False

    def is_schedule(self, name: str) -> bool:
        """Whether a name is the learning rate that a schedule gives: what the optimizer knows as its own."""
        return self.schedule_of(name) is not None

    def schedule_of(self, name: str) -> str | None:
        """The first of the names of the learning rate that a schedule gives, if a name is one of them."""
        known: set[str] = set()
        while name not in known:
            known.add(name)
            leaves = self.definitions(name)
            value = leaves[0].node.value if len(leaves) == 1 and isinstance(leaves[0].node, ast.Assign) else None
            if isinstance(value, ast.Call) and self.module.resolve(value.func) in self.translations.schedules:
                return name
            name = value.id if isinstance(value, ast.Name) else name
        return None

    def metric_call(self, leaf: Leaf) -> ast.Call | None:
        """The metric that a leaf makes: ``accuracy = tf.metrics.accuracy(…)``."""
        value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
        if isinstance(value, ast.Call) and self.module.resolve(value.func) in self.translations.metrics:
            return value
        return None

    @staticmethod
    def ordered(leaves: Iterable[Leaf]) -> list[Leaf]:
        return sorted(set(leaves), key=lambda leaf: leaf.index)

    def tainted_leaves(self) -> set[Leaf]:
        """Leaves whose value depends on the labels."""
        tainted: set[Leaf] = set()
        if self.labels is None:
            return tainted
        changed = True
        while changed:
            changed = False
            for leaf in self.flow.leaves:
                if leaf in tainted or leaf.mode_only:
                    continue
                for name in self.slicer.inputs(leaf):
                    sources = self.slicer.reaching(name, leaf.index, None, leaf)
                    given = name == self.labels and not any(name in s.kills for s in sources)
                    if given or any(s in tainted for s in sources):
                        tainted.add(leaf)
                        changed = True
                        break
        return tainted

    def check_still(self, names: set[str], at: Leaf, later: Leaf, mode: str) -> None:
        """Refuse to move a read of `names` from `at` to `later` if one of them gets another value in between."""
        for name in sorted(names):
            then = self.slicer.reaching(name, at.index, mode, at)
            if set(then) != set(self.slicer.reaching(name, later.index, mode, later)):
                raise Unsupported(f"`{name}` gets another value before it is used", at.node)

    def reads(self, node: ast.AST) -> set[str]:
        """Names that an expression reads when it is written."""
        names = reads(node)
        opened = [part for part in walk(node) if part in self.opened_entries] if self.opened_entries else []
        if not opened:
            return names
        inside = {id(part.value) for part in opened if isinstance(part, ast.Subscript)}
        dicts = {
            part.value.id for part in opened if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
        }
        dicts -= {n.id for n in walk(node) if isinstance(n, ast.Name) and id(n) not in inside}
        return (names - dicts).union(*(self.reads(self.opened_entries[part]) for part in opened))

    # -- static values ------------------------------------------------------------------------------------------------

    def time(self, leaf: Leaf) -> Time:
        """When the values that a leaf defines are known."""
        if leaf.defs:
            return max(self.times.name(name) for name in leaf.defs)
        return self.times.of(leaf.node)

    def is_static(self, leaf: Leaf) -> bool:
        """Whether a leaf can run when the model is built."""
        return self.time(leaf) is Time.STATIC

    def sites_in(self, leaf: Leaf) -> list[Site]:
        """The sites that stand in a leaf."""
        return [site for site in self.sites if site.leaf is leaf]

    def definitions(self, name: str) -> list[Leaf]:
        """The leaves that define a local name."""
        return [leaf for leaf in self.flow.giving(name)[1] if not leaf.mode_only]

    def is_local(self, name: str) -> bool:
        """Whether the body (or a loop head in it) binds the name."""
        return bool(self.flow.giving(name)[1])
