"""Writes the parts that the class of a model and the class of a layer have in common."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
from collections.abc import Callable, Iterable, Sequence, Set

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.placing import runs_when_built
from migrator.analyse.function.translate import is_none
from migrator.analyse.layers.built import built_leaves, sizes_of
from migrator.analyse.layers.objects import holder
from migrator.analyse.layers.site import RESERVED, Site
from migrator.analyse.layers.statistics import LISTED, has_weights, has_weights_of_no_optimizer
from migrator.analyse.layers.turns import filled_by_loops, made_in_turns, only_made_of, refuse_mixed
from migrator.analyse.results.tags import NAME, handed_scope
from migrator.analyse.statements.copies import is_copied
from migrator.analyse.statements.effects import effects
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.shapes import on_shapes
from migrator.analyse.statements.support import static_support
from migrator.analyse.variables.precision import has_double_variables
from migrator.analyse.variables.scopes import scope_calls
from migrator.emit.expressions import TRAINING, Shared
from migrator.emit.methods.buildwriter import BuildWriter
from migrator.emit.methods.callwriter import CallWriter
from migrator.emit.methods.initwriter import InitWriter
from migrator.emit.render import Renderer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, Statement, attributes_of, defined, names_of, rows, statements, text_of, trimmed

_BUILTINS = frozenset(name for name in vars(builtins) if name.islower())


class ClassWriter:
    """One generated class. `base` is the Keras class behind ``tf.keras.``; `need` gives the name of a vendored helper."""

    base = "Model"

    def __init__(
        self,
        plan: Body,
        renderer: Renderer,
        tf: str,
        class_name: str,
        facts: dict[str, bool],
        need: Callable[[str], str],
    ) -> None:
        self.plan = plan
        self.class_name = class_name
        self.shared = Shared(plan, renderer, tf, facts, need)
        self.shared.class_name = class_name
        self.unit = self.shared.unit
        self.indent = self.shared.outer
        self.taken = set(RESERVED) | {site.attribute for site in plan.sites}
        self.kept: dict[str, str] = {}
        self.turns: dict[str, list[Site]] = {}
        """Variables that each turn of a loop makes, by the name that they have in it."""
        self.read_statics: set[str] = set()
        self.init_statics: list[str] = []
        self.init_leaves: set[Leaf] = set()
        """Static statements that `__init__` repeats."""

    # -- names --------------------------------------------------------------------------------------------------------

    def static_names(self, leaves: Iterable[Leaf], results: Iterable[ast.AST]) -> set[Leaf]:
        """Static leaves to repeat next to `leaves`; names that are kept on the model are noted in `kept`."""
        wanted: set[str] = set()
        leaves = list(leaves)
        for leaf in leaves:
            wanted |= self.plan.slicer.inputs(leaf)
            # A scope may say how a weight starts that is made where it is read.
            late = (site.layer.arguments for site in self.plan.sites_in(leaf) if site.layer.late)
            wanted |= {
                name for given in late for _, value in given if isinstance(value, ast.AST) for name in reads(value)
            }
        for result in results:
            wanted |= self.plan.reads(result)
        support, kept = static_support(self.plan, wanted, functools.partial(is_copied, self.plan))
        kept = {name: None for name in kept if not only_made_of(self.plan, name, support)}
        for name in kept:
            self._keep(name)
        for name in [name for name in kept if name not in self.turns]:
            final = set(self.plan.slicer.reaching(name, len(self.plan.flow.leaves), None))
            for leaf in (*leaves, *support):
                if name in self.plan.slicer.inputs(leaf):
                    if set(self.plan.slicer.reaching(name, leaf.index, None, leaf)) != final:
                        raise Unsupported(f"`{name}` has another value later on", leaf.node)
        return support | {site.leaf for name in kept for site in self.turns.get(name, ())}

    def lean(self, support: set[Leaf], draft: Callable[[set[Leaf]], Iterable[Row]]) -> set[Leaf]:
        """Those of the static leaves `support` that the code reads which `draft` writes with some of them."""
        made = {leaf for leaf in support if self.plan.sites_in(leaf)}
        if made == support:
            return support
        written = self.shared.obstacles.tried(lambda: draft(made))
        if written is None:  # some mode has no value without them
            return support
        wanted = names_of(written)
        kept, rest, grown = set(made), support - made, True
        while grown:
            found = {leaf for leaf in rest - kept if leaf.defs & wanted}
            kept |= found
            wanted |= set().union(*(self.plan.slicer.inputs(leaf) for leaf in found))
            grown = bool(found)
        heads = set().union(*(frame.reads() for leaf in kept for frame in leaf.frames))
        for leaf in [leaf for leaf in kept - made if leaf.defs & heads and leaf.defs == leaf.kills]:
            written = self.shared.obstacles.tried(
                lambda: draft(kept - {leaf})
            )  # loops may walk over something else now
            if written is not None and not leaf.defs & names_of(written):
                kept.remove(leaf)
        return kept

    def _keep(self, name: str) -> None:
        if name in self.kept or name in self.turns:
            return
        sites = made_in_turns(self.plan, name)
        if sites:
            self.turns[name] = sites
            return
        for leaf in self.plan.definitions(name):
            for site in self.plan.sites_in(leaf):
                if holder(site) == name:
                    self.kept[name] = site.attribute
                    return
            if leaf.loops and not filled_by_loops(self.plan, name):
                raise Unsupported(f"`{name}` is computed in a loop when the model is built", leaf.node)
        if name in self.plan.statics:
            self.kept[name] = self.static_attribute(name)
            return
        attribute = name if name not in self.taken else f"{name}_"
        self.taken.add(attribute)
        self.kept[name] = attribute

    def names(self, where: str) -> dict[str, str]:
        """How a method other than `__init__` writes the names of the model_fn."""
        found = {name: f"self.{attribute}" for name, attribute in self.kept.items()}
        found.update({name: f"self.{self.static_attribute(name)}" for name in self.plan.statics})
        return found

    def static_attribute(self, name: str) -> str:
        """The attribute that holds a static parameter."""
        free = {"params"} if self.base == "Model" else {"params", "config"}  # that of a model says how it trains
        taken = name in RESERVED - free or any(site.attribute == name for site in self.plan.sites)
        return f"{name}_" if taken else name

    # -- parts ---------------------------------------------------------------------------------------------------------

    def whole(self, members: Iterable[Sequence[Row]]) -> Statement:
        """The class: its docstring, and its attributes and methods."""
        body = self._docstring()
        for member in filter(None, members):
            body += [*rows([""] if body else []), *member]
        return defined(f"class {self.class_name}({self.shared.tf}.keras.{self.base})", body)

    def _docstring(self) -> list[Row]:
        if self.plan.docstring is None:
            return []
        inner = self.indent + self.unit
        return rows(self.shared.renderer.statement(self.plan.function.body[0], lambda n: None, inner))

    def constructor(
        self,
        sites_in: Iterable[Leaf],
        last: Callable[[InitWriter], Sequence[Row]] = lambda writer: [],
        read: Set[str] = frozenset(),
    ) -> list[Row]:
        """``__init__``: the layers made in the leaves `sites_in`; `last` gives further rows, which read the names `read`."""
        plan = self.plan
        refuse_mixed(plan)
        kept_leaves = {leaf for name in (*self.kept, *self.turns) for leaf in plan.definitions(name)}
        wanted_leaves = set(sites_in) | kept_leaves
        sites = [s for s in plan.sites if s.leaf in wanted_leaves and not s.layer.built]
        objects = {s.leaf for s in sites if holder(s) is not None}
        kept = {name: a for name, a in self.kept.items() if not set(plan.definitions(name)) <= objects}
        writer = InitWriter(self.shared, sites, kept, self.side_effects(training=False), read)
        writer.names.update({name: f"self.{a}" for name, a in self.kept.items()})
        body = trimmed(writer.rows(writer.leaves))
        if plan.shares_tables:
            body += statements("{share_tables}(self)", share_tables=writer.need("share_tables"))
        body += self._listed_layers(filter(writer.has_attribute, sites))
        self.init_leaves = set(writer.support)
        wanted = {n for leaf in writer.leaves for n in plan.slicer.inputs(leaf)} | reads(writer.partitioners)
        tail = last(writer)
        wanted |= read
        if "config" in wanted and "config" not in names_of(
            [*body, *tail]
        ):  # what it says about the cluster is asked for elsewhere
            wanted -= {"config"}
        self.init_statics = [s for s in plan.statics if s in wanted or s in self.read_statics]
        given = [self.super_arguments(), "autocast=False" if has_double_variables(plan) else ""]
        lines = [f"super().__init__({', '.join(filter(None, given))})"]
        for name in self.init_statics:
            stays = name in self.read_statics and (name != "config" or self.base != "Model")
            if stays and self.static_attribute(name) != NAME:  # Keras keeps that
                lines.append(f"self.{self.static_attribute(name)} = {name}")
        parameters = ", ".join(["self", *self.init_parameters()])
        return [defined(f"def __init__({parameters})", [*rows(lines), *body, *tail])]

    def _listed_layers(self, sites: Iterable[Site]) -> list[Row]:
        """What lets Keras 3 save layers in lists: its checkpoints hold what attributes are, and the trainable weights by way of
        the optimizer, if that has them all when a checkpoint is restored."""
        asked = has_weights_of_no_optimizer if self.shared.facts["stepped"] else has_weights
        listed = [site for site in sites if site.makes and site.loops and asked(site.layer)]
        flat = {site.attribute: "list" if len(site.loops) == 1 else f"{self.shared.tf}.nest.flatten" for site in listed}
        if not flat:
            return []
        held = {site.attribute: f"self.{site.attribute}" for site in listed}
        held |= {s.attribute: f'getattr(self, "{s.attribute}", ())' for s in listed if _under_a_condition(self.plan, s)}
        given = ", ".join(f"{name}={flatten}({held[name]})" for name, flatten in flat.items())
        kept = f"self.listed_layers = {self.shared.tf}.train.Checkpoint({given})"
        return rows([LISTED, kept])

    def build(self, leaves: Iterable[Leaf]) -> list[Row]:
        """``build``: the layers made in `leaves` whose sizes are those of the first input; empty without any."""
        wanted = set(leaves)
        sites = [site for site in self.plan.sites if site.layer.built and site.makes and site.leaf in wanted]
        if not sites:
            return []
        repeated = built_leaves(self.plan, sites)
        heads = [f.node.iter for site in sites for f in site.leaf.frames if isinstance(f.node, ast.For)]
        values = [v for site in sites for _, v in site.layer.arguments if not isinstance(v, str)]
        repeated |= self.static_names(repeated, [*values, *heads])
        writer = BuildWriter(self.shared, sites, repeated, self.names("build"))
        return [defined("def build(self, input_shape)", trimmed(writer.rows(writer.leaves)))]

    def super_arguments(self) -> str:
        """Arguments of the base class."""
        return ""

    def init_parameters(self) -> list[str]:
        """Parameters of ``__init__``."""
        return list(self.init_statics)

    def note_statics(self, methods: Iterable[Sequence[Row]]) -> None:
        """See which static parameters the written methods read from the instance."""
        read = attributes_of([row for method in methods for row in method], "self")
        for name, attribute in list(self.kept.items()):
            if attribute not in read and self._is_plain(name):
                del self.kept[name]  # only `__init__` needs it
        self.read_statics = {n for n in self.plan.statics if self.static_attribute(n) in read or n in self.kept}

    def _is_plain(self, name: str) -> bool:
        """Whether plain Python, recurrent cells or partitioners make up a name: ``list(map(int, params["layers"]))``."""
        leaves = self.plan.definitions(name)
        given = [n.value for leaf in leaves for n in walk(leaf.node) if isinstance(n, ast.Assign)]
        if given and all(value in self.plan.sublayers.values.references for value in given):
            return True  # classes of layers
        nodes = [leaf.node for leaf in leaves]
        for node in nodes:  # which grows by the functions of the body that are called
            called = {n.func.id for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            inner_functions = [leaf.node for name in sorted(called) for leaf in self.plan.definitions(name)]
            nodes += [n for n in inner_functions if isinstance(n, ast.FunctionDef) and n not in nodes]
        own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        calls = [n for node in nodes for n in walk(node) if isinstance(n, ast.Call)]
        module, sublayers = self.plan.module, self.plan.sublayers
        made = [
            sublayers.makes_cell(module, call)
            or (module.resolve(call.func) or "").endswith("_partitioner")
            or sublayers.maker(self.plan, call) is not None
            for call in calls
        ]
        functions = [call.func for call, cell in zip(calls, made) if not cell]
        inner = all(self.plan.module.resolve(f) is None for f in functions if isinstance(f, ast.Attribute))
        named = {f.id for f in functions if isinstance(f, ast.Name)}
        return inner and len(calls) > 0 and named <= _BUILTINS | own

    def side_effects(self, training: bool) -> list[Leaf]:
        """Checks and messages that need no data; those that only run in training go with the optimizer."""
        plan = self.plan
        return [leaf for leaf in effects(plan) if runs_when_built(plan, leaf) and (leaf.modes == TRAINING) == training]


class LayerGenerator(ClassWriter):
    """A helper function as a layer."""

    base = "layers.Layer"

    def generate(self) -> str:
        """The class. Raises Unsupported, for the first of all obstacles."""
        text = ""
        with self.shared.obstacles:
            text = self._text()
        self.shared.obstacles.refuse()
        return text

    def _text(self) -> str:
        plan = self.plan
        sizes = sizes_of(plan) & set(plan.call_leaves)
        leaves = [leaf for leaf in plan.call_leaves if not plan.is_static(leaf) and leaf not in sizes]
        for leaf in set(plan.call_leaves) - set(leaves):
            if isinstance(leaf.node, ast.Return) and not is_none(leaf.node.value):
                raise Unsupported("a helper that makes layers returns something that they do not compute", leaf.node)
        support = self.static_names([*leaves, *sizes], []) | sizes

        def written(support: set[Leaf]) -> tuple[CallWriter, list[Row]]:
            writer = CallWriter(self.shared, self.names("call"), plan.sites)
            writer.leaves = sorted(set(leaves) | support, key=lambda leaf: leaf.index)
            return writer, writer.rows(writer.leaves)

        writer, body = written(self.lean(support, lambda some: written(some)[1]))
        training = ", training=False" if writer.uses_training or getattr(plan, "takes_training", False) else ""
        inputs = ", ".join(parameter(plan, name) for name in plan.dynamic)
        call: list[Row] = [defined(f"def call(self, {inputs}{training})", trimmed(body))]
        build = self.build(plan.call_leaves)
        self.note_statics([build, call])
        init = self.constructor(plan.call_leaves)
        return tidy(text_of([self.whole([init, build, call])], self.unit, self.indent))

    def super_arguments(self) -> str:
        """The name, where the function had one for its variable scope."""
        for leaf in self.plan.flow.leaves:
            for call in scope_calls(self.plan, leaf)[:1]:
                given = call.args[0] if call.args else None
                if given is not None and reads(given) and reads(given) <= set(self.plan.statics):
                    return f"name={self.plan.module.segment(given)}"
        named = "name" in self.plan.statics and not self.plan.sublayers.is_numbered(self.plan, "name")
        return "name=name" if named else ""

    def static_attribute(self, name: str) -> str:
        """As above; what Keras is given as the name it keeps."""
        return name if name == "name" and self._is_named() else super().static_attribute(name)

    def _is_named(self) -> bool:
        """Whether the name of the layer is one that each call gives."""
        return handed_scope(self.plan.function) == NAME and self.super_arguments() == "name=name"

    def init_parameters(self) -> list[str]:
        """All static parameters of the helper, so that calls need not change."""
        every = [parameter(self.plan, name) for name in self.plan.statics]
        required, others = [p for p in every if "=" not in p], [p for p in every if "=" in p]
        by_keyword = [a.arg for a in self.plan.function.args.kwonlyargs if a.arg in required and others]
        return [p for p in required if p not in by_keyword] + others + (["*", *by_keyword] if by_keyword else [])


def _under_a_condition(plan: Body, site: Site) -> bool:
    """Whether a list of layers is made under a condition only, around its loop."""
    around = itertools.takewhile(lambda frame: not isinstance(frame.node, ast.For), site.leaf.frames)
    tests = (frame.node for frame in around if isinstance(frame.node, ast.If) and not on_shapes(plan, frame.node))
    return any(plan.modes.evaluate(node.test, "train") is None for node in tests)


def parameter(plan: Body, name: str) -> str:
    """A parameter of the function with its default."""
    args = plan.function.args
    positional = [*args.posonlyargs, *args.args]
    offset = len(positional) - len(args.defaults)
    for index, arg in enumerate(positional):
        if arg.arg == name and index >= offset:
            return f"{name}={plan.module.segment(args.defaults[index - offset])}"
    for arg, default in zip(args.kwonlyargs, args.kw_defaults):
        if arg.arg == name and default is not None:
            return f"{name}={plan.module.segment(default)}"
    return name


def tidy(text: str) -> str:
    """Without blanks at the ends of lines, and without blank lines around it."""
    text = text.strip("\n")
    return "\n".join(line.rstrip() for line in text.split("\n"))
