"""Expressions of a model_fn as the text that one generated function has for them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.translate import Value, dropped_by, format_call, operand
from migrator.analyse.layers.embeddings import LAYER, embedding_arguments
from migrator.analyse.layers.makers import made_cell
from migrator.analyse.layers.objects import call_arguments, object_of
from migrator.analyse.layers.site import Site
from migrator.analyse.layers.sparselookups import VARIABLE, sparse_tables
from migrator.analyse.results.metricreads import watched_op
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.phases import in_training, test_in_training
from migrator.analyse.variables.scopenames import name_in_graph, scope_name
from migrator.analyse.variables.scopes import keras_name, without_slashes
from migrator.analyse.variables.variablechoices import listed
from migrator.analyse.variables.variables import named_by_path, trainable_variables
from migrator.emit.render import Renderer
from migrator.normalise.values.possible_values import may_be_none
from migrator.resolve.symbols import Scope

TRAINING, NOT_TRAINING = frozenset({"train"}), frozenset({"eval", "infer"})
_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Attribute, ast.IfExp, ast.Starred)
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)


class Shared:
    """What the functions of one generated class have in common."""

    def __init__(
        self, plan: Body, renderer: Renderer, tf: str, facts: dict[str, bool], need: Callable[[str], str]
    ) -> None:
        self.plan = plan
        self.renderer = renderer
        self.tf = tf
        self.facts = facts
        self.need = need
        self.class_name = ""
        self.obstacles = Obstacles()
        """Of all statements that are written."""
        self.metrics: dict[str, str] = {}
        """How the value of a metric is written, by the name that holds its value and update op."""
        first = plan.function.body[0]
        outer = renderer.indent_of(plan.function)
        inner = renderer.indent_of(first)
        self.outer = outer
        self.unit = inner[len(outer) :] if inner.startswith(outer) and len(inner) > len(outer) else "    "
        """One level of indentation, as the file has it."""
        self._paths: frozenset[ast.AST] | None = None
        self.sparse_tables = frozenset(sparse_tables(plan))

    def paths(self) -> frozenset[ast.AST]:
        """Reads of names of variables that are written as paths."""
        if self._paths is None:
            self._paths = named_by_path(self.plan, self.class_name)
        return self._paths


class Expressions:
    """How one generated function writes the expressions of a model_fn. `names` maps names of it to their text here."""

    def __init__(self, shared: Shared, where: str, names: dict[str, str]) -> None:
        self.shared = shared
        self.plan = shared.plan
        self.where = where
        self.names = names
        self.rebound: dict[Leaf, str] = {}
        """Statements from which on a name of `names` has a value of its own: ``labels = tf.cast(y, tf.float32)``."""
        self.tf = shared.tf
        self.unit = shared.unit
        self.skip: set[ast.AST] = set()
        self.watched: set[ast.AST] = set()
        self._opened: set[ast.AST] = set()

    # -- what translations may ask (translate.Writing) ----------------------------------------------------------------

    def text(self, value: Value) -> str:
        """The migrated text of a node."""
        if isinstance(value, str):
            return value
        if isinstance(value, ast.BinOp) and not hasattr(value, "lineno"):  # `1 - keep_prob`, made by a rule
            dropped = dropped_by(value)
            if dropped is not None:
                return self.text(dropped)
            right = self.text(value.right)
            return f"{ast.unparse(value.left)} - {right if isinstance(value.right, _ATOMS) else f'({right})'}"
        if isinstance(value, ast.Call) and not hasattr(value, "lineno"):  # an initializer, made by a rule
            made = [(keyword.arg, self.text(keyword.value)) for keyword in value.keywords]
            return format_call(self.library(ast.unparse(value.func)), made)
        if isinstance(value, ast.Constant) and not hasattr(value, "lineno"):
            return repr(value.value)
        return self.shared.renderer.expression(value, self.transform)

    def need(self, helper: str) -> str:
        """Asks for a vendored helper; returns its name."""
        return self.shared.need(helper)

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of a reference."""
        return self.plan.module.resolve(node)

    def is_static(self, node: ast.expr) -> bool:
        """Whether the value is known when the model is built."""
        return self.plan.times.of(node) is Time.STATIC

    def is_step(self, node: ast.expr) -> bool:
        """Whether the value is the global step (perhaps cast to another type)."""
        return self.plan.is_step(node)

    def followed(self, node: ast.expr) -> ast.expr:
        """The expression behind a name that is assigned once, and before: not ``x`` inside of ``x = tf.cast(x, …)``."""
        for _ in range(5):
            leaves = self.plan.definitions(node.id) if isinstance(node, ast.Name) else []
            if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign):
                break
            at = self.plan.flow.leaf_of(node)
            if at is not None and at.index <= leaves[0].index:
                break
            if not isinstance(leaves[0].node.targets[0], ast.Name):
                break
            node = leaves[0].node.value
        return node

    def may_be_none(self, node: ast.expr) -> bool:
        """Whether the program is seen to give None for a value."""
        return may_be_none(self.plan.sublayers.project, self.plan.module, node)

    def may_come_from(self, node: ast.expr, words: tuple[str, ...]) -> bool:
        """Whether the value may be the result of a function (or of a layer with an activation) named by `words`."""
        values = [node]
        if isinstance(node, ast.Name):
            values = [leaf.node.value for leaf in self.plan.definitions(node.id) if isinstance(leaf.node, ast.Assign)]
        for value in values:
            if isinstance(value, ast.Call):
                parts: list[ast.AST] = [
                    value.func,
                    *(k.value for k in value.keywords if k.arg in ("activation", "activation_fn")),
                ]
                site = self.plan.site_of.get(id(value))
                if site is not None and site.layer.helper is not None:
                    parts.append(site.layer.helper.function)
                if any(word in ast.unparse(part) for part in parts for word in words):
                    return True
        return False

    def in_training(self, node: ast.expr, neutral: float) -> str | None:
        """The text of a value in training, if it is `neutral` otherwise; None if the mode does not decide it."""
        return in_training(self.plan, node, neutral, self.shared.renderer, self.transform)

    def collected(self, call: ast.Call, key: str) -> list[str]:
        """Texts of the losses that the program has put into a collection before `call`."""
        return [self.names.get(name, name) for name in self.plan.collections.members(call, key)]

    def kept(self) -> frozenset[str]:
        """The collections of losses that the model's layers keep."""
        regularized = {"regularization_losses"} if self.fact("regularized") else set()
        return frozenset(self.plan.sublayers.kept | regularized)

    def fact(self, name: str) -> bool:
        """Facts about the model."""
        return self.shared.facts.get(name, False)

    # -- expressions --------------------------------------------------------------------------------------------------

    def transform(self, node: ast.AST) -> str | None:
        """The text that replaces a node, None to keep it and look below."""
        if isinstance(node, ast.expr) and node in self.plan.training_tests:
            return test_in_training(self.plan, node, self.shared.renderer, self.transform)
        if isinstance(node, ast.JoinedStr) and sys.version_info < (3, 12):
            return self._formatted(node)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.shared.metrics
        ):
            return self.shared.metrics[node.value.id]
        if isinstance(node, ast.expr) and node in self.shared.sparse_tables and node not in self._opened:
            self._opened.add(node)
            weight = self.text(node)
            self._opened.discard(node)
            return f"{self.need(VARIABLE)}({weight})"
        if node in self.plan.opened_entries:
            entry = self.plan.opened_entries[node]
            return operand(entry, self) if isinstance(self.plan.module.parent(node), _OPERATORS) else self.text(entry)
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._check_library(node)
            said = scope_name(self, node) or name_in_graph(self, node)
            if said is not None:
                return said
        if isinstance(node, ast.expr) and node in self.plan.tables:
            return f"self.{self.plan.tables[node].attribute}.embeddings"
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute) and node in self.shared.paths():
            return f"{self.need('variable_path')}({self.text(node.value)})"
        if isinstance(node, ast.BoolOp) and self.plan.module.parent(node) is None:
            return self._joined(node)
        if isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            return self._mode_test(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "config":
            if "config" in self.plan.statics and node.attr in self.plan.translations.task_fields:
                return f"{self.need('current_task')}().{node.attr}"
        if isinstance(node, ast.Call) and node not in self.watched:
            watched = self._watched(node)
            if watched is not None:
                return watched
        if isinstance(node, ast.Call) and node in self.plan.lookups:
            table, ids = self.plan.lookups[node]
            return format_call(self.text(table), [(None, self.text(ids))])
        if isinstance(node, ast.Call):
            site = self.plan.site_of.get(id(node))
            if site is not None:
                return self._made(site) if self.where == "init" else self._used(site)
            applied = object_of(self.plan, node.func) if self.where != "init" else None
            more = call_arguments(applied, node) if applied is not None else ()
            if more:
                given = [(None, self.text(a)) for a in node.args]
                given_by_name = [(k.arg, self.text(k.value)) for k in node.keywords]
                return format_call(self.text(node.func), [*given, *given_by_name, *more])
            cells = self.plan.sublayers.maker(self.plan, node)
            if cells is not None:
                return made_cell(cells, node, self)
            name = self.resolve(node.func)
            if self._is_old(node.func, name or "") and listed(self.plan, node) is not None:
                return trainable_variables(self.plan, self.where, self.shared.class_name, node)
            translate = self.plan.translations.expressions.get(name) if name is not None else None
            if translate is not None and name is not None and self._is_old(node.func, name):
                return translate(node, self)
        return None

    def _watched(self, node: ast.Call) -> str | None:
        """An op whose value callbacks read by its name, inside of `watch`."""
        name = watched_op(self.plan, node, self.where)
        if name is None:
            return None
        self.watched.add(node)
        return f'{self.need("watch")}(self, "{name}", {self.text(node)})'

    def _is_old(self, node: ast.expr, name: str) -> bool:
        """Whether a reference means the function of the old library, where the new one has a namesake."""
        return self.plan.module.dialect(node) != "v2" or self.plan.translations.old_only(name)

    def _check_library(self, node: ast.expr) -> None:
        """Refuse functions of the old library that nothing translates."""
        if isinstance(self.plan.module.parent(node), ast.Attribute):
            return
        name = self.resolve(node)
        if name is not None and self._is_old(node, name) and self.plan.translations.refused(name):
            raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} is not migrated yet", node)

    def _name(self, node: ast.Name) -> str | None:
        holder = self.plan.module.scope(node).lookup(node.id)
        if holder is not None and holder.node is not self.plan.function:
            return None  # a parameter of a lambda, the target of a comprehension, or a name from outside
        if node.id in self.plan.modes.names:
            return self._mode_text(self.plan.modes.names[node.id], node)
        if self.where in ("call", "loss", "metrics", "train") and self.plan.is_schedule(node.id):
            schedules = {self.plan.schedule_of(n) for leaf in self.plan.flow.leaves for n in leaf.defs}
            if len(schedules - {None}) > 1:
                raise Unsupported("one of several schedules is read outside of the optimizer", node)
            return f"{self.need('current_rate')}(self.optimizer)"
        if isinstance(node.ctx, ast.Store) and node.id in self.rebound.values():
            return None
        text = self.names.get(node.id)
        if text is not None and text.startswith("not ") and not isinstance(self.plan.module.parent(node), ast.keyword):
            return f"({text})"
        if text is None and node.id == self.plan.mode:
            raise Unsupported("the mode is used as a value", node)
        return text

    def is_inner(self, node: ast.Name) -> bool:
        """Whether a name is bound inside of a statement: a parameter of a lambda, or the target of a comprehension."""
        scope: Scope | None = self.plan.module.scope(node)
        while scope is not None and scope.node is not self.plan.function and node.id not in scope.bindings:
            scope = scope.parent
        return scope is not None and scope.node is not self.plan.function

    def _joined(self, node: ast.BoolOp) -> str:
        """What is left of a condition, which stands nowhere in the source as it is."""
        compound = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
        texts = [f"({self.text(v)})" if isinstance(v, compound) else self.text(v) for v in node.values]
        return (" and " if isinstance(node.op, ast.And) else " or ").join(texts)

    def _mode_test(self, node: ast.expr) -> str | None:
        if not self.plan.modes.mentions(node):
            return None
        table = self.plan.modes.table(node)
        if table is not None:
            return self._mode_text(table, node)
        mode = {"init": "train", "factory": "train", "train": "train", "metrics": "eval"}.get(self.where)
        if mode is None or not isinstance(node, ast.BoolOp) or self.plan.modes.evaluate(node, mode) is not None:
            return None
        settled = self.plan.modes.settled(node, mode)  # `params["x"] and True` says no more than `params["x"]`
        if settled is node:
            return None
        plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare)
        nested = isinstance(self.plan.module.parent(node), ast.expr) and not isinstance(settled, plain)
        return f"({self.text(settled)})" if nested else self.text(settled)

    def _mode_text(self, table: dict[str, bool], node: ast.AST) -> str:
        on = frozenset(mode for mode, value in table.items() if value)
        if on == ALL_MODES or not on:
            return str(bool(on))
        if self.where in ("init", "factory", "train"):
            return str("train" in on)
        if self.where == "metrics":
            return str("eval" in on)
        if on in (TRAINING, NOT_TRAINING):
            return self.training_text(on == TRAINING, node)
        raise Unsupported("the forward pass tells evaluation from prediction", node)

    def training_text(self, training: bool, node: ast.AST) -> str:
        """``training`` or its opposite, as the place of `node` needs it."""
        if training:
            return "training"
        parent = self.plan.module.parent(node)
        bare = isinstance(parent, (ast.keyword, ast.If, ast.IfExp, ast.Assign, ast.Call))
        return "not training" if bare else "(not training)"

    def _formatted(self, node: ast.JoinedStr) -> str | None:
        """f-strings have no reliable positions before Python 3.12: refuse where a name in them must change."""
        for name in reads(node):
            if name in self.names and self.names[name] != name:
                fields = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
                source = self.plan.module
                if all(source.segment(f) == ast.unparse(f) for f in fields):
                    return None
                raise Unsupported("a name inside this f-string has to change", node)
        return None

    def _made(self, site: Site) -> str:
        """The construction of a layer."""
        return format_call(self.constructor(site), self.made_arguments(site))

    def constructor(self, site: Site) -> str:
        """The text of the callable that makes a layer."""
        constructor = LAYER if site.embedding else site.layer.constructor
        if site.layer.maker is not None:
            return self.text(site.layer.maker)
        if site.layer.vendored:
            return self.need(constructor)
        return self.library(constructor)

    def library(self, text: str) -> str:
        """A name of TensorFlow 2 as the file spells it."""
        return self.tf + text[2:] if text.startswith("tf.") else text

    def made_arguments(self, site: Site) -> list[tuple[str | None, str]]:
        """The arguments that a layer is made from."""
        told = embedding_arguments(site) if site.embedding else site.layer.arguments
        arguments = [(name, self._argument(value)) for name, value in told]
        arguments = [(name, without_slashes(text) if name == "name" else text) for name, text in arguments]
        if site.scoped and isinstance(site.layer.name, ast.Constant) and not site.layer.weight:
            arguments = [(name, f'"{site.attribute}"' if name == "name" else text) for name, text in arguments]
        if site.layer.weight:
            if site.layer.name is None:
                arguments.insert(sum(n is None for n, _ in arguments), ("name", f'"{site.attribute}"'))
            arguments = [(n, keras_name(self.plan, site, t, self.text) if n == "name" else t) for n, t in arguments]
        return arguments

    def _argument(self, value: Value) -> str:
        if not isinstance(value, str):
            time = self.plan.times.of(value)
            if time > Time.MODE and self.where == "init":
                raise Unsupported("a layer is made from a value that is known only when data flows", value)
            if time is Time.MODE and self.plan.modes.table(value) is None:
                raise Unsupported("a layer is made from a value that depends on the mode", value)
        elif value.startswith("tf."):
            return self.library(value)
        return self.text(value)

    def _used(self, site: Site) -> str:
        """The application of a layer, or the object it made."""
        layer = site.item if site.loops else f"self.{site.attribute}"
        if site.layer.late and site.layer.weight:
            return self._made(site)
        if site.layer.late:
            attribute = self.text(site.layer.name) if site.loops and site.layer.name else f'"{site.attribute}"'
            made = ["self", attribute, self.constructor(site)]
            layer = format_call(self.need("get_layer"), [*((None, text) for text in made), *self.made_arguments(site)])
        if site.layer.inputs is None:
            return layer
        inputs = self.plan.sublayers.inputs(self.plan, site.layer)
        return format_call(layer, [(name, self.text(value)) for name, value in inputs])
