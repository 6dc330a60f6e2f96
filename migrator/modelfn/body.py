"""The analysis of one function that builds a part of a network: a model_fn, or a helper that makes layers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.modelfn.bindingtime import Time
from migrator.modelfn.collections import Collections
from migrator.modelfn.errors import Obstacles, Unsupported
from migrator.modelfn.flow import Flow, Leaf, Slicer
from migrator.modelfn.modes import Modes, mode_of_symbol
from migrator.modelfn.names import binds, parameters, reads, rebinds
from migrator.modelfn.objects import is_learning_phase
from migrator.modelfn.optimizerclass import is_training
from migrator.modelfn.phases import ignored, look_through, widen
from migrator.modelfn.reusecalls import tells
from migrator.modelfn.site import Site
from migrator.modelfn.sites import find_sites
from migrator.modelfn.sums import find_sums
from migrator.modelfn.tags import write_collected
from migrator.modelfn.times import Times, is_cheap
from migrator.modelfn.trainop import gradient_leaves
from migrator.modelfn.translate import Translations, Writing
from migrator.modelfn.turns import refilled
from migrator.syntax import children, walk

if TYPE_CHECKING:
    from migrator.modelfn.sublayers import Sublayers
    from migrator.module import Module

SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.control_dependencies", "tensorflow.name_scope"})
# Names of parameters and variables of the generated methods.
_OWN_NAMES = frozenset({"self", "training", "x", "y", "y_pred", "sample_weight"})
_OPAQUE = frozenset({"exec", "eval", "locals", "globals", "vars", "next", "super"})
_ITERATORS = frozenset({"map", "filter", "zip", "iter", "reversed", "enumerate"})


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

    def __init__(
        self,
        module: Module,
        function: ast.FunctionDef,
        translations: Translations,
        sublayers: Sublayers,
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
        body = function.body
        self.docstring = ast.get_docstring(function, clean=False)
        if self.docstring is not None:
            body = body[1:]
        self.sites: list[Site] = []
        self.site_of: dict[int, Site] = {}
        self._imported = frozenset(entry.name for entry in module.imports)
        self.flow = Flow(body, self.modes, self._stays_whole, self._is_scope, self._imported, self.early_returns)
        self.slicer = Slicer(self.flow)
        self.watched: dict[Leaf, str] = {}
        """Statements that hand a tensor out to callbacks, by a name."""
        self.scope_paths: dict[tuple[ast.With, ...], str | None] = {}
        """What `tags.scope_path` found out, by the scopes."""
        write_collected(self)
        self.extend_flow()
        self.wrappers: set[Leaf] = set()
        """Statements that wrap a cell for training only."""
        self.training_tests: dict[ast.expr, Leaf] = {}
        """Conditions that differ by mode, but decide nothing except whether cells drop anything: what holds in training does."""
        self._hidden: dict[ast.AST, set[ast.expr]] = {}
        widen(self)
        look_through(self)
        self.collections = Collections(self)
        self.sums = find_sums(self)
        self.gradients = gradient_leaves(self)  # what computes with gradients: the train step
        self._check_statements()
        self.times = Times(
            self.flow, self.modes, set(dynamic), module.resolve, translations, _made_of_state, self._ignored, statics
        )
        self.updates_run = sublayers.updates_run
        self.labels: str | None = None
        self.opened_entries: dict[ast.AST, ast.expr] = {}
        """Reads of entries of a dict, and what stands there instead."""
        self.call_leaves: list[Leaf] = []
        self.metric_effects: list[Leaf] = []
        self.losses: set[Leaf] = set()

    def _ignored(self, node: ast.AST) -> set[ast.expr]:
        if node not in self._hidden:
            self._hidden[node] = ignored(self, node)
        return self._hidden[node]

    def _check_statements(self) -> None:
        """Refuse what the generated methods could not say."""
        heads = {name for leaf in self.flow.leaves for frame in leaf.frames for name in frame.binds()}
        bound = [n for leaf in self.flow.leaves for n in _own_nodes(leaf.node) if isinstance(n, ast.Assign)]
        own = {name for statement in bound for name in rebinds(statement)} - parameters(self.function)
        own |= {name for leaf in self.flow.leaves for name in leaf.kills} | heads
        obstacles = Obstacles()
        for leaf in self.flow.leaves:
            with obstacles:
                self._check_statement(leaf, own)
        obstacles.refuse()
        inside = own | set(self.statics) | set(self.dynamic) | {self.mode or ""}
        if "self" in inside or ("training" in inside and "training" not in self.modes.names):
            raise Unsupported("a variable has a name that the generated methods need: self or training", self.function)
        outer = set().union(*(self.slicer.inputs(leaf) for leaf in self.flow.leaves)) - inside - set(self.modes.names)
        taken = outer & _OWN_NAMES - self.sublayers.only_called(self.module, self.function)
        if taken:
            raise Unsupported(
                f"`{sorted(taken)[0]}` from outside is a name that the generated code needs",
                self.function,
            )
        self._check_loops()

    def _check_statement(self, leaf: Leaf, own: set[str]) -> None:
        node = leaf.node
        if isinstance(node, (ast.Break, ast.Continue)):
            raise Unsupported("a loop that makes layers or tests the mode has a break or a continue", node)
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.ClassDef)):
            raise Unsupported("a global statement or a class in a model_fn is not followed", node)
        for child in _own_nodes(node):
            if isinstance(child, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
                raise Unsupported("a generator or a coroutine is not followed", node)
            if isinstance(child, ast.Return) and child is not node:
                raise Unsupported("a `return` inside a try or a while statement is not followed", child)
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in _OPAQUE:
                raise Unsupported(f"what {child.func.id}() does here is not followed", child)
            if isinstance(child, ast.NamedExpr):
                raise Unsupported("a name is bound inside an expression (:=)", child)
            if isinstance(child, (ast.Break, ast.Continue)) and not isinstance(node, (ast.For, ast.While)):
                raise Unsupported("a loop that makes layers or tests the mode has a break or a continue", child)
        for frame in leaf.frames:
            head = frame.node.test if isinstance(frame.node, ast.If) else None
            if head is not None and any(isinstance(n, ast.NamedExpr) for n in walk(head)):
                raise Unsupported("a name is bound in a condition (:=)", head)
        stored = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        changed = leaf.defs - leaf.kills - own - (set() if isinstance(node, ast.AugAssign) else stored)
        if changed:
            raise Unsupported(f"`{sorted(changed)[0]}`, which comes from outside, is changed", node)
        if leaf in self.gradients:  # they stay together, in their order
            return
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_iterator(node.value):
            raise Unsupported("an iterator can be read once only: wrap it in list()", node.value)

    def _check_loops(self) -> None:
        """Refuse loop variables that are read after their loop."""
        for leaf in self.flow.leaves:
            for frame in leaf.frames:
                if not isinstance(frame.node, ast.For):
                    continue
                for other in self.flow.leaves:
                    if other.index > leaf.index and frame.node not in other.loops and frame.binds() & other.uses:
                        again = {n for f in other.frames for n in f.binds()}
                        names = frame.binds() & other.uses & reads(other.node) - again
                        if any(not self.slicer.reaching(n, other.index, None, other) for n in names):
                            raise Unsupported(f"`{sorted(names)[0]}` is read after its loop", other.node)

    def extend_flow(self) -> None:
        """Add statements that the program has in another form."""

    def added(self, leaf: Leaf, writing: Writing) -> str | None:
        """The text of a statement that the program has in another form; None for its own."""
        kept = self.collections.kept.get(id(leaf.node))
        if kept is not None:
            return f"self.add_loss({writing.text(kept[1])})"
        name = self.collections.named.get(id(leaf.node))
        if name is None or not isinstance(leaf.node, ast.Assign):
            return None
        return f"{name} = {writing.text(leaf.node.value)}"

    def find_layers(self) -> None:
        """Look for the places that make layers; needs the binding times."""
        self.sites = find_sites(self)
        self.site_of = {id(site.call): site for site in self.sites}

    # -- structure ----------------------------------------------------------------------------------------------------

    def _is_scope(self, node: ast.With) -> bool:
        """Whether a with statement only names things or orders ops."""
        calls = [item.context_expr for item in node.items]
        return all(isinstance(c, ast.Call) and self.module.resolve(c.func) in SCOPES for c in calls)

    def is_maker(self, call: ast.Call) -> bool:
        """Whether a call makes layers or a metric."""
        name = self.module.resolve(call.func)
        if name is not None and (name in self.translations.layers or name in self.translations.metrics):
            return True
        made = self.sublayers.definition(self.module, call) is not None or bool(self.sublayers.chosen(self, call))
        return made or self.sublayers.is_layer_class(self.module, call)

    def _stays_whole(self, node: ast.stmt) -> bool:
        """Compound statements without layers, specs, effects or mode tests move in one piece, unless they are scopes."""
        if isinstance(node, ast.With):
            return False
        for child in walk(node):
            if isinstance(child, ast.Return) or self._is_effect(child):
                return False
            if isinstance(child, ast.With) and self._is_scope(child):  # it goes
                return False
            if isinstance(child, ast.Call) and (self.is_maker(child) or is_training(self, child)):
                return False
            if isinstance(child, ast.Name) and (child.id in (self.mode, *self.opened) or child.id in self.modes.names):
                return False
        return True

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
        leaves = self.definitions(name)
        if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign):
            return False
        value = leaves[0].node.value
        return isinstance(value, ast.Call) and self.module.resolve(value.func) in self.translations.schedules

    def effects(self) -> list[Leaf]:
        """Statements that are there for what they do, not for a value."""
        found = []
        for leaf in self.flow.leaves:
            node = leaf.node
            if (
                isinstance(node, ast.Assert)
                and self.modes.mentions(node.test)
                and self.modes.table(node.test) is not None
            ):
                continue  # `assert mode == TRAIN`
            if is_learning_phase(self, node) or tells(self, leaf) or self.collections.is_idle(leaf):
                continue
            plain = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            if (plain or isinstance(node, (ast.Assert, ast.Raise))) and not leaf.defs:
                found.append(leaf)
            elif isinstance(node, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
                if not leaf.defs or any(self._is_effect(c) or isinstance(c, ast.Raise) for c in walk(node)):
                    found.append(leaf)
        return found

    def _is_effect(self, node: ast.AST) -> bool:
        """Whether a statement calls something and neither keeps a value nor changes a name of the function."""
        if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
            return False
        return not binds(node) - self._imported

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

    def is_copied(self, name: str) -> bool:
        """Whether a static name is computed again where it is needed, instead of being kept on the model."""
        if name in self.statics:
            return False
        if refilled(self, name):
            return True
        for leaf in self.definitions(name):
            node = leaf.node
            number = isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
            if leaf.defs - leaf.kills and not number:  # changes something: once is enough
                return False
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if node.value is None or not is_cheap(node.value) or self._makes(node.value):
                    return False
            elif not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
                return False
        return True

    def _makes(self, node: ast.expr) -> bool:
        return any(id(child) in self.site_of for child in walk(node))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below a statement that run with it: bodies of functions and lambdas are left out."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return
    for child in children(node):
        yield from _own_nodes(child)


def _made_of_state(call: ast.Call) -> Time | None:
    """``cell.zero_state(…)`` is a tensor, though the cell and the size of a batch are known before."""
    return Time.EAGER if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_state" else None


def _is_iterator(node: ast.expr) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERATORS
