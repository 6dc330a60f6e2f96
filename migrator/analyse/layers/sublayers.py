"""Helper functions that make layers: each becomes a `keras.layers.Layer` of its own."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.roles import (
    bound,
    defaults,
    fixed_flags,
    flag_defaults,
    is_flag,
    is_number,
    parameters,
    role,
)
from migrator.analyse.function.translate import Layer, Translations, Value, is_none
from migrator.analyse.layers.built import is_size
from migrator.analyse.layers.functionvalues import FunctionValues, Made, definitions_called
from migrator.analyse.layers.helperbodies import HelperBody, Sublayer
from migrator.analyse.layers.layerclass import LayerClass, is_cell_class, needs_rewrite
from migrator.analyse.layers.makers import Maker, maker
from migrator.analyse.layers.objects import is_keras_class, made_by_program
from migrator.analyse.layers.partnames import class_name, stem
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.names import reads
from migrator.analyse.training.optimizerclass import OptimizerClass, derives, optimizer_class
from migrator.analyse.variables.reuse import REUSE, is_plain, reuse_parameters, told
from migrator.normalise.functions.lift import snake
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.objects.methods import lookup, method_of, method_of_new
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.resolve.module import Module
    from migrator.resolve.project import Project


class Sublayers:
    """All helpers of a program that have to become layers."""

    def __init__(self, project: Project, translations: Translations, updates_run: bool) -> None:
        self.project = project
        self.translations = translations
        self.updates_run = updates_run
        """Whether the program runs UPDATE_OPS, without which moving statistics stand still."""
        self.reserved: set[str] = set()
        """Names of the models and of the functions that make them."""
        self.collected: set[str] = set()
        """Collections of losses that some model reads."""
        self.kept: set[str] = set()
        """Those that layers add losses to."""
        self.found: dict[Definition, Sublayer] = {}
        self.values = FunctionValues(self)
        self.makers: dict[Definition, Maker | None] = {}
        self.optimizers: dict[Definition, OptimizerClass] = {}
        self.layer_classes: dict[Definition, LayerClass] = {}
        self._classes_seen: set[Definition] = set()
        self.still: dict[Definition, bool] = {}
        """Whether moving statistics of Keras layers in a class stand still."""
        self._needed: dict[Definition, bool] = {}
        self._open: list[Definition] = []

    def definition(self, module: Module, call: ast.Call) -> Definition | None:
        """The helper that a call calls, if it makes layers; None for any other function."""
        definition = self.project.definition(module, call.func)
        if definition is None or not isinstance(definition.node, ast.FunctionDef) or not self.makes_layers(definition):
            return None
        return definition

    def only_called(self, module: Module, function: ast.AST) -> set[str]:
        """Names that a function reads to call helpers that make layers, and for nothing else."""
        nodes = list(walk(function))
        calls = [n for n in nodes if isinstance(n, ast.Call) and self.definition(module, n) is not None]
        called = {id(call.func) for call in calls}
        reads = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return {n.id for n in reads if id(n) in called} - {n.id for n in reads if id(n) not in called}

    def makes_layers(self, definition: Definition) -> bool:
        """Whether a function makes layers or variables, itself or in functions, constructors or methods that it calls."""
        if definition not in self._needed:
            self._needed[definition] = False  # for a cycle
            for node in walk(definition.node):
                if isinstance(node, ast.Call):
                    name = definition.module.resolve(node.func)
                    if name is not None and name in self.translations.layers:
                        self._needed[definition] = True
                        break
                    others = definitions_called(self.project, definition.module, node)
                    method = self._method(definition.module, node) if not others else None
                    if any(self.makes_layers(other) for other in (others if method is None else [method])):
                        self._needed[definition] = True
                        break
        return self._needed[definition]

    def makes(self, definition: Definition) -> None:
        """Notes that a function is to become a layer whatever it does."""
        self._needed[definition] = True

    def _method(self, module: Module, call: ast.Call) -> Definition | None:
        """The constructor or method of a class of the program that a call runs, unless the class is one of Keras."""
        definition = self.project.definition(module, call.func)
        if definition is not None:
            owner = definition if isinstance(definition.node, ast.ClassDef) else None
            found = lookup(self.project, owner, "__init__") if owner is not None else None
        else:
            method = method_of(self.project, module, call.func)
            found = (method.owner, method.function) if method is not None else method_of_new(self.project, module, call)
        if found is None or is_keras_class(self.translations, found[0]) or derives(self.translations, found[0]):
            return None
        return Definition(found[0].module, found[1])

    def layer(self, body: Body, call: ast.Call) -> Layer | None:
        """How a call of a helper is split into making its layer and applying it; None if it is no such helper."""
        made = self._object(body, call)
        if made is not None:
            return made
        definition = self.definition(body.module, call)
        if definition is not None:
            return self._helper_layer(body, call, definition)
        chosen = self.chosen(body, call)
        if chosen:
            return self._chosen_layer(body, call, chosen)
        method = self._method(body.module, call)
        if method is not None and self.makes_layers(method):
            raise Unsupported("a class makes layers in a method that is not followed", call)
        return None

    def chosen(self, body: Body, call: ast.Call) -> list[Made]:
        """The helpers that a call may call through a value that stands for one of them."""
        if isinstance(call.func, ast.Call) and body.module.resolve(call.func.func) == PARTIAL:
            return []  # a partial, called where it is made
        return self.values.behind(body, call.func) if isinstance(call.func, (ast.Name, ast.Subscript, ast.Call)) else []

    def _chosen_layer(self, body: Body, call: ast.Call, chosen: list[Made]) -> Layer:
        """A call of a value that stands for one of the `chosen` helpers."""
        self.values.called(chosen)
        first, *others = [self._helper_layer(body, call, made.definition, made) for made in chosen]
        if any((layer.arguments, layer.inputs) != (first.arguments, first.inputs) for layer in others):
            raise Unsupported("the functions that this may be are not called alike", call)
        if any(layer.reuse for layer in (first, *others)):
            raise Unsupported("a function that is told to share its variables is handed around", call)
        bodies = tuple(layer.helper for layer in others if layer.helper not in (None, first.helper))
        table = call.func.value if isinstance(call.func, ast.Subscript) else None
        written = call.func.id if isinstance(call.func, ast.Name) else first.scope
        if isinstance(table, ast.Name) and len(chosen) > 1:  # `TOWERS[name](x)`
            written = table.id.lower().rstrip("s")
        if isinstance(call.func, ast.Call):  # `get_network(name)(x)`
            written = re.sub(r"^(get|find|lookup)_", "", ast.unparse(call.func.func).rpartition(".")[2])
        plain = stem(re.sub(r"_(fn|func|function)$", "", written))
        name = plain if plain != written else f"{plain}_layer"
        return replace(first, maker=call.func, alternatives=bodies, scope=name)

    def _helper_layer(self, body: Body, call: ast.Call, definition: Definition, made: Made | None = None) -> Layer:
        """A call of a helper, split."""
        if body.module.is_inside(definition.node, body.function):
            raise Unsupported("a function inside the model_fn makes layers", definition.node)
        if definition in self._open:
            raise Unsupported("a helper that calls itself is not followed", call)
        given = bound(definition, call)
        flags = flag_defaults(definition)
        fixed = {name for name in flags if is_flag(given.get(name))} | self._fixed_here(definition, given)
        roles = {name: "training" if name in fixed else role(body, value) for name, value in given.items()}
        roles.update({name: "training" for name in flags if name not in given})
        sizes = {name for name, value in given.items() if roles[name] == "dynamic" and is_size(body, value)}
        roles.update(dict.fromkeys(sizes & self._sizes_of_layers(definition), "static"))
        reuse = reuse_parameters(self.project, self.translations, definition)
        roles.update(dict.fromkeys(reuse, REUSE))
        roles.update({n: "dynamic" for n in self._given_elsewhere(body, definition) if n not in given})
        asked = {**defaults(definition), **given}
        for name in sorted(reuse & set(asked)):
            if not is_plain(asked[name]):
                raise Unsupported(
                    f"`{name}`, which says whether variables are shared, is the value of a call", asked[name]
                )
        values = [*given.items(), *(made.values if made is not None and made.module is body.module else ())]
        others = self._calls_in(body, definition) if definition not in self.found else ()
        for name, value in (*values, *(pair for other in others for pair in bound(definition, other).items())):
            self.values.give(body, definition, name, value)
        sublayer = self._sublayer(definition, roles, call)
        sublayer.calls.append((body.module, call))
        sublayer.given += [(body, name, value) for name, value in given.items()]
        roles = sublayer.body.roles
        arguments: list[tuple[str | None, Value]] = []
        inputs: list[tuple[str | None, Value]] = []
        positional = {id(a) for a in call.args}
        names = sublayer.parameters
        for name in names:
            if name not in given:
                continue
            target = {"static": arguments, "dynamic": inputs}.get(roles[name])
            if target is None:
                continue
            in_order = [n for n in names if roles.get(n) == roles[name]]
            place = id(given[name]) in positional and len(target) == in_order.index(name)
            target.append((None if place else name, given[name]))
        if not inputs:
            raise Unsupported("a helper makes layers but gets no tensor", call)
        if sublayer.body.takes_training:
            passed = next((v for n, v in given.items() if roles[n] == "training"), None)
            flag = next((flags[n] for n in flags if n not in given), "training")
            inputs.append(("training", passed if passed is not None else flag))
        function = call.func
        constructor = sublayer.class_name
        if isinstance(function, ast.Attribute):
            constructor = f"{body.module.segment(function.value)}.{constructor}"
        name_node = next((given[n] for n in ("name", "scope") if n in given and roles[n] == "static"), None)
        scope = re.sub(r"^_+", "", definition.name)
        return Layer(
            constructor,
            tuple(arguments),
            tuple(inputs),
            snake(stem(scope)),
            name_node,
            helper=sublayer.body,
            given=tuple(asked.items()),
            reuse=tuple((name, told(body.module, asked.get(name))) for name in sorted(reuse)),
            trains=sublayer.body.takes_training,
        )

    def inputs(self, body: Body, layer: Layer) -> list[tuple[str | None, Value]]:
        """The arguments of the call of a layer, plain values and what follows by name: Keras 3 takes only tensors by place."""
        found = next((found for found in self.found.values() if found.body is layer.helper), None)
        if found is None or layer.inputs is None:
            return list(layer.inputs or ())
        names = [name for name in found.parameters if found.body.roles.get(name) == "dynamic"]
        places = [name is None for name, _ in layer.inputs]
        plain = [place and self._is_plain(body, value) for place, (_, value) in zip(places, layer.inputs)]
        first = plain.index(True) if True in plain else len(plain)
        return [
            (names[index] if place and index >= first else name, value)
            for index, (place, (name, value)) in enumerate(zip(places, layer.inputs))
        ]

    def _is_plain(self, body: Body, value: Value) -> bool:
        """Whether a value is not seen to be a tensor or None: it is known when the model is built, or was given as such."""
        if isinstance(value, str) or is_none(value):
            return False
        if body.times.of(value) < Time.EAGER:
            return True
        mine = [found for found in self.found.values() if found.body is body] if isinstance(value, ast.Name) else []
        return any(
            name == ast.unparse(value) and other is not body and self._is_plain(other, given)
            for found in mine
            for other, name, given in found.given
        )

    def is_numbered(self, body: Body, parameter: str) -> bool:
        """Whether a parameter of a helper is seen to be a number: a literal or counter, handed on by other helpers or not."""
        for found in self.found.values():
            for module, call in found.calls if found.body is body else ():
                value = {**defaults(found.definition), **bound(found.definition, call)}.get(parameter)
                if value is not None and is_number(value, list(module.ancestors(call))):
                    return True
                around = [other for other in self.found.values() if other.definition.node in module.ancestors(call)]
                if isinstance(value, ast.Name) and any(
                    value.id in other.body.statics and self.is_numbered(other.body, value.id) for other in around
                ):
                    return True
        return False

    def _fixed_here(self, definition: Definition, given: dict[str, ast.expr]) -> set[str]:
        """Flags of the training that one call of a helper fixes, but another one does not, or otherwise while both share
        their variables."""
        fixed, found = fixed_flags(given), set()
        shares = any(isinstance(node, ast.keyword) and node.arg == REUSE for node in walk(definition.node))
        for module in self.project.modules.values() if fixed else ():
            for use in self.project.uses(definition, module):
                call = module.parent(use)
                if isinstance(call, ast.Call) and call.func is use:
                    others = bound(definition, call)
                    found |= set(others) - fixed_flags(others)
                    found |= {n for n in fixed & set(others) if shares and ast.dump(others[n]) != ast.dump(given[n])}
        return fixed & found

    def _given_elsewhere(self, body: Body, definition: Definition) -> set[str]:
        """Parameters of a helper that are None unless given, to which another call gives a tensor."""
        optional = {name for name, default in defaults(definition).items() if is_none(default)}
        found: set[str] = set()
        for call in self._calls_in(body, definition) if optional else ():
            values = bound(definition, call)
            found |= {n for n in optional & set(values) if body.times.of(values[n]) is Time.DYNAMIC}
        return found

    def _calls_in(self, body: Body, definition: Definition) -> list[ast.Call]:
        """The calls of a helper in a body."""
        calls = [node for node in walk(body.function) if isinstance(node, ast.Call)]
        return [call for call in calls if self.definition(body.module, call) == definition]

    def _sizes_of_layers(self, definition: Definition) -> set[str]:
        """Parameters of a helper that its layers are made of, not what they are applied to."""
        found: set[str] = set()
        for node in walk(definition.node):
            if isinstance(node, ast.Call):
                name = definition.module.resolve(node.func)
                if (name is not None and name in self.translations.layers) or self.definition(definition.module, node):
                    found |= reads([*node.args[1:], *(k.value for k in node.keywords if k.arg != "inputs")])
        return found

    def optimizer(self, module: Module, call: ast.Call) -> OptimizerClass | None:
        """The class of the program that makes the optimizer which a call gives. Raises Unsupported."""
        definition = self.project.definition(module, call.func)
        if definition is None or not derives(self.translations, definition):
            return None
        if definition not in self.optimizers:
            self.optimizers[definition] = optimizer_class(definition)
        return self.optimizers[definition]

    def maker(self, body: Body, call: ast.Call) -> Maker | None:
        """The function outside of `body` that a call calls, if it makes recurrent cells."""
        definition = self.project.definition(body.module, call.func)
        if definition is None or body.module.is_inside(definition.node, body.function):
            return None
        if definition not in self.makers:
            self.makers[definition] = None  # for a cycle, and where it runs the cells itself
            if self.makes_layers(definition):
                return None
            found = maker(definition, self.translations)
            for node in walk(definition.node):
                other = self.project.definition(definition.module, node.func) if isinstance(node, ast.Call) else None
                if other is not None and other != definition and self._cells_of(other):
                    raise Unsupported(
                        "a function outside of the model_fn makes recurrent cells through another one", call
                    )
            self.makers[definition] = found
        return self.makers[definition]

    def _cells_of(self, definition: Definition, depth: int = 0) -> bool:
        """Whether a function makes recurrent cells, itself or in functions that it calls."""
        module = definition.module
        calls = [node for node in walk(definition.node) if isinstance(node, ast.Call)]
        if any(self.makes_cell(module, call) for call in calls):
            return True
        others = [self.project.definition(module, call.func) for call in calls] if depth < 5 else []
        return any(other is not None and self._cells_of(other, depth + 1) for other in others)

    def makes_cell(self, module: Module, call: ast.Call) -> bool:
        """Whether a call makes a recurrent cell, of the library or of one of the program's own classes."""
        if module.resolve(call.func) in self.translations.cells:
            return True
        definition = self.project.definition(module, call.func)
        return definition is not None and is_cell_class(self.translations, definition)

    def is_layer_class(self, module: Module, call: ast.Call) -> bool:
        """Whether a call makes a layer of one of the program's own classes."""
        definition = self.project.definition(module, call.func)
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return False
        return is_keras_class(self.translations, definition)

    def note_classes(self, definition: Definition) -> None:
        """Remember the layer classes to rewrite: a class that a body makes an instance of, and those that it needs."""
        if definition in self._classes_seen:
            return
        self._classes_seen.add(definition)
        if needs_rewrite(self.translations, definition):
            self.layer_classes[definition] = LayerClass(definition, self.updates_run)
        for node in walk(definition.node):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                other = self.project.definition(definition.module, node)
                if other is not None and isinstance(other.node, ast.ClassDef):
                    if is_keras_class(self.translations, other):
                        self.note_classes(other)

    def stand_still(self, definition: Definition) -> None:
        """Notes that nothing runs the updates of a class of layers."""
        self.layer_classes.setdefault(definition, LayerClass(definition, self.updates_run)).still = True

    def outside(self) -> list[Definition]:
        """The functions and classes outside of the bodies that may change with them."""
        makers = [definition for definition, maker in self.makers.items() if maker is not None]
        return [*makers, *self.optimizers, *self.layer_classes]

    def used_outside(self) -> list[Maker | OptimizerClass | LayerClass]:
        """Those that do."""
        return [*self.used_makers(), *self.optimizers.values(), *self.layer_classes.values()]

    def used_makers(self) -> list[Maker]:
        """Those functions that models are made with."""
        return [found for found in self.makers.values() if found is not None and found.calls]

    def _object(self, body: Body, call: ast.Call) -> Layer | None:
        """How a call of a function or class of the program makes a Keras object out of plain values."""
        definition = self.project.definition(body.module, call.func)
        if definition is None or body.module.is_inside(definition.node, body.function):
            return None
        if is_cell_class(self.translations, definition):  # a plain object, out of which a layer is made
            self.note_classes(definition)
            return None
        values = [*call.args, *(k.value for k in call.keywords)]
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return None
        if any(body.times.of(value) > Time.MODE for value in values):
            return None
        return made_by_program(self.translations, body, call, definition, values)

    def _sublayer(self, definition: Definition, roles: dict[str, str], call: ast.Call) -> Sublayer:
        for name in parameters(definition):
            roles.setdefault(name, "static")
        known = self.found.get(definition)
        if known is not None:
            if known.body.roles != {**roles, **dict.fromkeys(known.body.replaced, "dynamic")}:
                raise Unsupported("a helper gets tensors in one call and plain values in another", call)
            return known
        self.values.settle(definition)
        self._open.append(definition)
        try:
            body = HelperBody(definition, self.translations, self, dict(roles))
        finally:
            self._open.pop()
        taken = definition.module.bound_names | self.reserved | {s.class_name for s in self.found.values()}
        if definition.name[:1].isupper():  # it was a class before
            taken -= {definition.name}
        sublayer = self.found[definition] = Sublayer(definition, body, class_name(definition.name, taken))
        return sublayer
