"""Classes of the program that derive from a layer: those of `tf.layers`, those that make layers of `tf.layers` inside, and
those that write summaries, become classes of Keras.

Objects such as ``tf.layers.Dense(4)`` become Keras layers where they are. A layer that `call` makes and applies at once is
made by `__init__`, under a name of its own. Dropout and normalization that are not told `training` stay off, as they were.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Translations, Value, bind, dropped_by, format_call
from migrator.analyse.layers.layerclass import LayerClass, layer_of
from migrator.analyse.layers.objects import is_keras_class, training_default
from migrator.analyse.statements.names import reads
from migrator.emit.render import Renderer
from migrator.normalise.functions.lift import snake
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import children, walk
from migrator.rewrite import Insert, lines

from ..estimator_calls.driver import Driver
from ..losses_metrics.summaries import summarized
from ..recurrent import cell_classes

OLD = "tensorflow.layers."
_GRAPH_ONLY = frozenset({"_reuse", "_scope", "graph", "scope_name", "apply", "updates", "get_updates_for"})
_WEIGHT = "name shape dtype initializer regularizer trainable constraint"
_NORMALIZATION = "tensorflow.keras.layers.BatchNormalization"
TAGGED = "tags of summaries of this class begin with the name of the model now"
UNMOVED = "nothing runs the updates of this class, so its moving statistics never move; momentum=1.0 keeps that"
_FILTERED = frozenset({"Conv1D", "Conv2D", "Conv3D"})


def is_old_layer(name: str) -> bool:
    """Whether a qualified name is a class of `tf.layers`, or the base of recurrent cells."""
    return (name.startswith(OLD) and name[len(OLD) :][:1].isupper()) or name in cell_classes.BASES


def rewrite_layer_class(
    found: LayerClass,
    project: Project,
    bodies: list[Definition],
    translations: Translations,
    driver: Driver,
    renderer: Renderer,
) -> None:
    """Write a class in terms of Keras. Raises Unsupported where it does more, or other code uses it."""
    functions = {id(body.node) for body in bodies}
    for module in project.modules.values():
        for node in project.uses(found.definition, module):
            around = list(module.ancestors(node))
            classes = (Definition(module, a) for a in around if isinstance(a, ast.ClassDef))
            if any(id(a) in functions for a in around) or any(is_keras_class(translations, c) for c in classes):
                continue
            raise Unsupported("a layer class is used outside of the model_fn", node)
    _Rewrite(found, project, translations, driver, renderer).run()


class _Rewrite:
    """The edits of one class."""

    def __init__(
        self, found: LayerClass, project: Project, translations: Translations, driver: Driver, renderer: Renderer
    ) -> None:
        self.found, self.project, self.translations = found, project, translations
        self.driver, self.renderer = driver, renderer
        self.module, self.node = found.module, found.node
        self.old = any(is_old_layer(self.module.resolve(base) or "") for base in self.node.bases)
        self.made: list[str] = []
        """Statements of `__init__` for layers that `call` made."""
        self.taken = {n.attr for n in walk(self.node) if isinstance(n, ast.Attribute) and self._is_self(n.value)}
        self.taken |= {s.name for s in self.node.body if isinstance(s, ast.FunctionDef)}
        self.switched: dict[str, str] = {}
        """Attributes that hold layers which act otherwise in training, and what they are told by default."""
        self.tagged = False
        """Whether it is said what becomes of tags of summaries."""
        self.cell = cell_classes.is_cell(found)
        self.hidden: ast.AST | None = None
        """Such a layer that is held by no attribute."""

    def run(self) -> None:
        """All edits. Raises Unsupported."""
        node = self.node
        if node.keywords or node.decorator_list:
            raise Unsupported("a layer class with a metaclass or a decorator is not migrated yet", node)
        if self.cell:
            cell_classes.check_cell(self.found, self.project)
        for child in walk(node):
            if isinstance(child, ast.Attribute) and child.attr in _GRAPH_ONLY and self._is_self(child.value):
                raise Unsupported(f"`{child.attr}` of a layer works on a graph", child)
            normalizes = isinstance(child, ast.Call) and self.module.resolve(child.func) == _NORMALIZATION
            if normalizes and self.old and not self.found.updates_run:
                raise Unsupported("nothing runs the updates of this layer, whose moving statistics stand still", child)
            silent = (
                isinstance(child, ast.keyword) and self.cell and cell_classes.says_nothing_of_reuse(self.found, child)
            )
            if isinstance(child, ast.keyword) and child.arg in ("_reuse", "_scope", "reuse") and not silent:
                raise Unsupported("a layer class that is told to share its variables is not migrated yet", child.value)
            regularizer = isinstance(child, ast.keyword) and (child.arg or "").endswith("regularizer")
            if regularizer and not isinstance(child.value, (ast.Name, ast.Constant)):  # type: ignore[attr-defined]
                raise Unsupported("a layer class that regularizes its variables is not migrated yet", child)
        if self.old or any(layer_of(self.translations, self.module, child) is not None for child in walk(node)):
            self._find_switched()
        for part in (*node.bases, *node.body):
            self._visit(part)
        if self.made:
            self._append()

    # -- edits --------------------------------------------------------------------------------------------------------

    def _visit(self, node: ast.AST) -> None:
        text = self._text(node)
        if text is not None:
            assert isinstance(node, ast.expr)
            self.driver.replace(node, text)
            self.driver.handled.update(child for child in walk(node) if isinstance(child, ast.expr))
            return
        for child in children(node):
            self._visit(child)

    def _text(self, node: ast.AST) -> str | None:
        """What takes the place of a node; None to look below."""
        layer = layer_of(self.translations, self.module, node)
        if layer is not None:
            assert isinstance(node, ast.Call)
            if layer.weight or layer.helper is not None:
                raise Unsupported("a layer class makes variables of the graph", node)
            made = self._constructed(layer)
            return made if layer.inputs is None else self._applied(node, layer, made)
        if isinstance(node, (ast.Name, ast.Attribute)) and (self.module.resolve(node) or "") in cell_classes.BASES:
            return self.driver.need(cell_classes.BASE, self.node)
        if isinstance(node, (ast.Name, ast.Attribute)) and self.module.resolve(node) in cell_classes.STATES:
            return self.driver.need("LSTMStateTuple", node)
        if isinstance(node, ast.Attribute) and is_old_layer(self.module.resolve(node) or ""):
            return f"{self.driver.tensorflow()}.keras.layers.{node.attr}"
        if isinstance(node, ast.Call):
            scope = _scope_name(self.module, node) if self.old else None
            if scope is not None:
                return f"{self.driver.tensorflow()}.name_scope({self._value(scope)})"
            return (
                self._weight(node)
                or self._constructor_of_base(node)
                or self._without_reuse(node)
                or self._told(node)
                or self._unmoved(node)
            )
        return None

    def _unmoved(self, call: ast.Call) -> str | None:
        """A normalization whose moving statistics stand still, or a summary."""
        if not self.found.still or self.module.resolve(call.func) != _NORMALIZATION:
            return self._summary(call)
        if len(call.args) > 1 or any(keyword.arg is None for keyword in call.keywords):
            raise Unsupported("a normalization is not given its arguments by name", call)
        self.driver.remark(call, UNMOVED)
        named = [(k.arg, self._value(k.value)) for k in call.keywords if k.arg != "momentum"]
        given = [(None, self._value(value)) for value in call.args]
        return format_call(self.module.segment(call.func), [*given, *named, ("momentum", "1.0")])

    def _summary(self, call: ast.Call) -> str | None:
        """A summary, which the model's own step writes."""
        name = self.module.resolve(call.func) or ""
        if name not in self.translations.summaries or self.module.dialect(call.func) == "v2":
            return None
        if not self.tagged:
            self.driver.remark(call, TAGGED)
        self.tagged = True
        return summarized(call, name.rpartition(".")[2], self.driver.tensorflow(), self._value)

    def _value(self, value: Value) -> str:
        if isinstance(value, str):
            return self.driver.tensorflow() + value[2:] if value.startswith("tf.") else value
        if not hasattr(value, "lineno"):  # `1 - keep_prob`, made by a rule
            assert isinstance(value, ast.BinOp)
            dropped = dropped_by(value)
            if dropped is not None:
                return self._value(dropped)
            return f"{ast.unparse(value.left)} - ({self._value(value.right)})"
        return self.renderer.expression(value, self._text)

    def _constructed(self, layer: Layer) -> str:
        arguments = [(name, self._value(value)) for name, value in layer.arguments]
        if layer.moving is not None and not self.found.updates_run:
            arguments = [(name, text) for name, text in arguments if name != layer.moving]
            arguments.append((layer.moving, "1.0"))
        made = self.driver.need(layer.constructor, self.node) if layer.vendored else self._value(layer.constructor)
        return format_call(made, arguments)

    def _applied(self, call: ast.Call, layer: Layer, made: str) -> str:
        """The call of a layer that `__init__` makes now."""
        inside = list(self.module.ancestors(call))
        method = next((a for a in inside if isinstance(a, ast.FunctionDef)), None)
        within = inside[: inside.index(method)] if method is not None else []
        if method is None or method.name != "call" or method is not self.found.method("call") or not self.old:
            raise Unsupported("a layer class makes a layer outside of its `call`", call)
        if any(isinstance(a, (ast.For, ast.While, ast.Lambda, ast.comprehension)) for a in within):
            raise Unsupported("a layer class makes layers in a loop of its `call`", call)
        constructor = self.found.method("__init__")
        if constructor is None:
            raise Unsupported("a layer class without `__init__` makes layers in its `call`", call)
        this = method.args.args[0].arg
        values = [value for _, value in layer.arguments if not isinstance(value, str)]
        local = {a.arg for a in method.args.args[1:]} | {
            n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        held = {n.attr for n in walk(constructor) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        read = {n.attr for v in values for n in walk(v) if isinstance(n, ast.Attribute) and self._is_self(n.value)}
        if reads(values) & local or not read <= held or constructor.args.args[0].arg != this:
            raise Unsupported("a layer that `call` makes needs what `__init__` does not know", call)
        if layer.name is not None and not isinstance(layer.name, ast.Constant):
            raise Unsupported("a layer that `call` makes has a name that is no literal", layer.name)
        assert layer.inputs is not None
        given = [(n, self._value(v)) for n, v in layer.inputs]  # layers that are applied before are made before
        name = layer.name.value if isinstance(layer.name, ast.Constant) else None
        around = [i.context_expr for w in within if isinstance(w, ast.With) for i in w.items]
        scope = next((s for s in (_scope_name(self.module, node) for node in around) if s is not None), None)
        if scope is not None and name in (None, layer.scope):  # the scope says more
            name = str(scope.value)
            made = self._constructed(replace(layer, arguments=tuple(a for a in layer.arguments if a[0] != "name")))
        attribute = self._attribute(str(name) if name else snake(layer.scope))
        self.made.append(f"{this}.{attribute} = {made}")
        return format_call(f"{this}.{attribute}", given)

    def _attribute(self, wanted: str) -> str:
        wanted = wanted if wanted.isidentifier() else "layer"
        name, number = wanted, 1
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name

    def _append(self) -> None:
        """Make the layers of `call` at the end of `__init__`."""
        constructor = self.found.method("__init__")
        assert constructor is not None
        self.driver.change(Insert(lines("\n".join(self.made)), after=constructor.body[-1]))

    def _weight(self, call: ast.Call) -> str | None:
        """``self.add_variable("w", shape)`` by the names of its arguments."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in ("add_variable", "add_weight"):
            return None
        if not self._is_self(function.value) or (function.attr == "add_weight" and not call.args):
            return None
        given = bind(call, _WEIGHT, function.attr)
        values = {name: self._value(value) for name, value in given.items()}
        return format_call(f"{self.module.segment(function.value)}.add_weight", values)

    def _constructor_of_base(self, call: ast.Call) -> str | None:
        """Refuse positional arguments that mean something else to the constructor of Keras's convolutions."""
        function = call.func
        named = isinstance(function, ast.Attribute) and function.attr == "__init__"
        bases = {(self.module.resolve(base) or "").rpartition(".")[2] for base in self.node.bases}
        if named and bases & _FILTERED and len(call.args) > 6:
            raise Unsupported("Keras has another order of arguments for convolutions", call)
        return None

    def _without_reuse(self, call: ast.Call) -> str | None:
        """The constructor of a cell's base, which is told nothing of the sharing of variables."""
        kept = [k for k in call.keywords if k.arg != "_reuse"]
        if not self.cell or len(kept) == len(call.keywords):
            return None
        given: list[tuple[str | None, str]] = [(None, self._value(value)) for value in call.args]
        return format_call(self._value(call.func), [*given, *((k.arg, self._value(k.value)) for k in kept)])

    # -- training -----------------------------------------------------------------------------------------------------

    def _find_switched(self) -> None:
        for child in walk(self.node):
            default = self._default(child)
            if default is None:
                continue
            statement = self.module.parent(child)
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if isinstance(target, ast.Attribute) and self._is_self(target.value):
                self.switched[target.attr] = default
            else:
                self.hidden = child

    def _default(self, node: ast.AST) -> str | None:
        """What the calls of an object are told of training unless they say so; None where that makes no difference."""
        layer = layer_of(self.translations, self.module, node)
        if layer is not None:
            return "False" if layer.applied else None
        if not isinstance(node, ast.Call):
            return None
        if self.translations.phased(ast.Expression(node), self.module.resolve):
            return "False"
        definition = self.project.definition(self.module, node.func)
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return None
        return training_default(definition.node) if is_keras_class(self.translations, definition) else None

    def _told(self, call: ast.Call) -> str | None:
        """A call of such an object, told what it was told by saying nothing: Keras hands on what the outer call is told."""
        function = call.func
        if len(call.args) > 1 or any(k.arg in ("training", None) for k in call.keywords):
            return None
        if isinstance(function, ast.Attribute) and self._is_self(function.value):
            default = self.switched.get(function.attr)
            if default is None:
                return None
            given = [(None, self._value(a)) for a in call.args]
            named = [(k.arg, self._value(k.value)) for k in call.keywords]
            return format_call(self.module.segment(function), [*given, *named, ("training", default)])
        local = isinstance(function, ast.Subscript) or (isinstance(function, ast.Name) and self._is_local(function))
        if self.hidden is not None and local:
            raise Unsupported("a layer with dropout or the like is called without saying `training`", call)
        return None

    def _is_local(self, node: ast.Name) -> bool:
        scope = self.module.scope(node).lookup(node.id)
        return scope is not None and scope.node is not self.module.analysis.root.node

    @staticmethod
    def _is_self(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == "self"


def _scope_name(module: Module, node: ast.AST) -> ast.Constant | None:
    """The literal name of a variable scope that says no more; None for anything else."""
    if not isinstance(node, ast.Call) or module.resolve(node.func) != "tensorflow.variable_scope":
        return None
    name = node.args[0] if len(node.args) == 1 and not node.keywords else None
    return name if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
