"""Takes one step after the other until every model_fn is a plain function whose helpers can be followed."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring, OfCall, OfFunction
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.roots import calls_below, reached, root_function
from migrator.normalise.draft.worklist import Worklist
from migrator.normalise.functions.applied import written_out
from migrator.normalise.functions.closures import nested_functions, taken_out
from migrator.normalise.functions.filters import filter_call
from migrator.normalise.functions.idle import taken_away, unsaid
from migrator.normalise.functions.lambdas import functools_partial, lambda_function, local_function
from migrator.normalise.functions.lift import keywords, nested_function
from migrator.normalise.functions.partials import filled_in
from migrator.normalise.functions.training_flags import told_to_train
from migrator.normalise.functions.wrapped import unwrapped
from migrator.normalise.names.chosen_names import table_of_names
from migrator.normalise.names.grown_parameters import grown_parameters
from migrator.normalise.names.set_entries import set_entries
from migrator.normalise.names.spelled_entries import spelled_out
from migrator.normalise.names.taken_features import copied_features
from migrator.normalise.objects.callables import CALL, called_object, inner_root, plain_partial
from migrator.normalise.objects.chosen_classes import table_of_functions
from migrator.normalise.objects.forwarded import named_arguments
from migrator.normalise.objects.inherited import called, calls_above, maker_moved_down, moved_down, named_object
from migrator.normalise.objects.methods import Method, check_settled, class_of, fills, method_of, method_of_new
from migrator.normalise.objects.object_steps import Judge, ObjectSteps
from migrator.normalise.objects.own_attributes import as_variables, reader
from migrator.normalise.objects.properties import as_methods
from migrator.normalise.objects.reserved import PARAMS, RESERVED, params_of
from migrator.normalise.objects.unbox import ancestors, boxes, holds_attributes, is_abstract, without_holder
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, Unprintable, code
from migrator.vocabulary.unsupported import Unsupported

N = TypeVar("N", ast.Call, ast.FunctionDef)
Place = tuple[Module, ast.expr]
MAX_STEPS = 2000
GENERIC = frozenset({"build", "create", "make", "get"})
"""Names of methods that say nothing of the model, where the class does."""
WIDTH = 50
"""How many characters of arguments stay on one line."""


class Preparation(ObjectSteps):
    """Prepares the functions that `roots` finds in the present state of the program.

    `inlined` says of a helper that it cannot stay a function of its own (it makes an optimizer, or returns a spec);
    `makes_layers` that it makes layers or variables, so that the model must see it. `calls` and `functions` are the idioms
    that native knows only in another form.
    """

    def __init__(
        self,
        drafts: Drafts,
        roots: Callable[[], list[tuple[Module, ast.expr]]],
        inlined: Judge,
        makes_layers: Judge,
        calls: Sequence[Desugaring[OfCall]],
        functions: Sequence[Desugaring[OfFunction]],
    ) -> None:
        super().__init__(drafts, inlined, makes_layers)
        self._roots = roots
        self._calls = calls
        self._functions = functions
        self._moved_down: set[str] = set()
        """Names of methods that stand in the class of their object now, and stood in a base of it."""
        self._networks: set[tuple[str, str]] = set()
        """Files and names of functions of which decorators made model_fns."""
        self._left: set[tuple[str, str]] = set()
        """Files and names of classes whose model_fn is a function now."""
        self._worklist = Worklist()

    def run(self) -> None:
        """Take all steps that can be taken."""
        for _ in range(MAX_STEPS):
            changes = self._step()
            if not changes and self._worklist.again():
                changes = self._step()
            if not changes:
                return
            for entry in sorted(self._taken_out):
                changes += unsaid(self.drafts, changes, *entry)
            try:
                self.drafts.apply(changes)
            except SyntaxError as problem:  # a comment amid arguments that become one line, for example
                path = next(iter(changes)).edit.path
                raise Unsupported(
                    f"code of {path} cannot be brought together: its lines are broken so", None
                ) from problem
            self._tidy()

    def _step(self) -> list[Change]:
        """The first changes that there are; with them those of other functions, where none reaches out of its function."""
        self._worklist.changed.clear()
        wanted: list[Change] = []
        for changes, within in self._found():
            if changes and not self._worklist.take(changes, within):
                return wanted or changes
            wanted += changes
        return wanted

    def _found(self) -> Iterator[tuple[list[Change], Definition | None]]:
        """What each step would change in the present state, in the order in which they are to be taken, and in which function
        where several may be taken at once."""
        roots, worklist = self._roots(), self._worklist
        for find in (self._named_root, self._root):  # all of an object's Estimators are seen by its methods first
            for module, node in roots:
                yield self._try(module, node, lambda: find(module, node)), None
        yield self._decorated(roots), None
        reachable = reached(self.drafts.project, roots, self._makes_layers)
        for definition, call in worklist.waiting("unnamed", reachable, calls_below):
            yield self._unnamed(definition.module, call), None  # before the methods of a class are taken out of it
        for definition, call in worklist.waiting("calls", reachable, calls_below):
            module = definition.module
            yield self._try(module, call, lambda: self._call(module, call)), definition
        if worklist.changed:
            return
        for definition, function in worklist.waiting(
            "nested", reachable, lambda _, function: nested_functions(function)
        ):
            module = definition.module
            if self._makes_layers(Definition(module, function)):
                yield self._try(module, function, lambda: taken_out(self.drafts, module, function)), None
        for definition in worklist.functions("told", reachable):
            yield self._told_to_train(definition), None
        for definition in worklist.functions("boxes", reachable):
            for statement, owner in boxes(self.drafts.project, definition):
                step = functools.partial(self._box, definition, statement, owner)
                yield self._try(definition.module, statement.value, step), None
        for definition in worklist.functions("idioms", reachable):
            assert isinstance(definition.node, ast.FunctionDef)
            yield self._first(self._functions, definition.module, definition.node), definition
        if worklist.changed:
            return
        yield self._held_attributes(roots), None
        found = (root_function(self.drafts.project, *root) for root in roots)
        models = [model for model in found if model is not None]
        yield grown_parameters(self.drafts, models), None
        for model in models:
            yield copied_features(model) or spelled_out(model) or set_entries(self.drafts, model), None
        yield self._in_place(), None

    def _decorated(self, roots: list[Place]) -> list[Change]:
        """Model_fns that a decorator makes of networks are written out."""
        found = (root_function(self.drafts.project, *root) for root in roots)
        functions = [each for each in found if each is not None]
        decorated = next((each for each in functions if each.node.decorator_list), None)
        if decorated is None or not isinstance(decorated.node, ast.FunctionDef):
            return []
        return self._try(decorated.module, decorated.node, lambda: self._unwrapped(functions))

    def _unwrapped(self, functions: list[Definition]) -> list[Change]:
        found = unwrapped(self.drafts, functions)
        self._networks |= found.networks
        self._taken_out.add(found.decorator)
        return found.changes

    def _held_attributes(self, roots: list[Place]) -> list[Change]:
        """An object that only held what its method reads becomes variables where the Estimator is made."""
        for module, node in roots:
            maker = module.nearest(node, ast.FunctionDef)
            definition = Definition(module, maker) if maker is not None else None
            for statement, owner in boxes(self.drafts.project, definition) if definition is not None else ():
                if (owner.module.path, owner.name) in self._left and holds_attributes(owner.node):
                    assert definition is not None
                    step = functools.partial(without_holder, self.drafts, definition, statement, owner)
                    changes = self._try(module, statement.value, step)
                    if changes:
                        return changes
        return []

    def _tidy(self) -> None:
        """Remove functions and classes that nothing uses any more."""
        while any(taken_away(self.drafts, *entry) for entry in sorted(self._taken_out | self._emptied())):
            pass

    def _emptied(self) -> set[tuple[str, str]]:
        """The classes of which nothing is left but what objects hold."""
        modules = self.drafts.project.modules
        return {
            (path, name)
            for path, name in self._left
            if any(getattr(s, "name", "") == name and holds_attributes(s) for s in modules[path].tree.body)
        }

    # -- steps --------------------------------------------------------------------------------------------------------

    def _named_root(self, module: Module, node: ast.expr) -> list[Change]:
        """What stands for a model_fn comes to name a function or a method of an object that has a name."""
        if isinstance(node, ast.Lambda):
            return lambda_function(self.drafts, module, node)
        plain = table_of_names(self.drafts, module, node) or table_of_functions(self.drafts, module, node)
        plain = plain or plain_partial(self.drafts, module, node)
        if plain:
            return plain
        node = inner_root(module, node)
        called_as = called_object(self.drafts, module, node)
        if called_as:
            return called_as
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            return named_object(self.drafts, module, node.value)
        return []

    def _root(self, module: Module, node: ast.expr) -> list[Change]:
        """``model_fn=self.model_fn`` becomes a function, called with the attributes that it reads."""
        node = inner_root(module, node)
        makers = maker_moved_down(self.drafts, module, node)
        if makers:
            return makers
        found = method_of(self.drafts.project, module, node) if isinstance(node, ast.Attribute) else None
        if found is None:
            return []
        readable = self._readable(module, found)
        if readable:
            return readable
        for other, call, above in calls_above(self.drafts.project, module, found):
            changes = self._try(other, call, lambda: self._inlined_method(other, call, above))
            if changes:
                return changes
        down = moved_down(self.drafts, module, found)
        if down:
            self._moved_down.add(found.function.name)
            return down
        inner = self._inner_calls(found) or self._own_attributes(found)
        if inner:
            return inner
        places = self._places(found)
        estimators = [params_of(self.drafts.project, *place) for place in places]
        reserved = RESERVED - ({PARAMS} if all(estimators) else set())
        extra, new, wanted = self._lifted(found, module, node, reserved, root=True)
        self._left.add((found.owner.module.path, found.owner.name))
        name = found.function.name
        lineage = ancestors(self.drafts.project, found.owner)
        self._taken_out |= {
            (owner.module.path, f"{owner.name}.{name}") for owner in lineage if is_abstract(owner, name)
        }
        self.drafts.owners[found.module.path, new] = found.owner.name
        if PARAMS in extra:
            self.drafts.shared_params.add((found.module.path, new))
        if found.function.name in self._moved_down | GENERIC:  # the class is the model
            self.drafts.model_classes[found.module.path, new] = found.owner.name
        for place, estimator in zip(places, estimators):
            wanted += self._handed_root(found, *place, estimator, extra, new)
        return Change.every(wanted)

    def _places(self, found: Method) -> list[tuple[Module, ast.expr]]:
        """All model_fns of Estimators that are this method. Raises Unsupported where it is used in another way as well."""
        project = self.drafts.project

        def is_it(module: Module, node: ast.expr) -> bool:
            other = method_of(project, module, node) if isinstance(node, ast.Attribute) else None
            return other is not None and other.function is found.function

        roots = dict.fromkeys((module, inner_root(module, node)) for module, node in self._roots())
        places = [place for place in roots if is_it(*place)]
        name = found.function.name
        for module in project.modules.values():
            for node in module.nodes(ast.Attribute) if name.encode() in module.source else ():
                if node.attr == name and (module, node) not in places and is_it(module, node):
                    raise Unsupported(f"`{name}` is used for more than an Estimator", node)
        if name == CALL and self._method_calls(found):
            raise Unsupported("an object that makes a model is called elsewhere", found.function)
        return places

    def _handed_root(
        self, found: Method, module: Module, node: ast.expr, estimator: ast.Call | None, extra: dict[str, str], new: str
    ) -> list[tuple[Module, rewrite.Change]]:
        """The changes that give an Estimator the function `new` that a method becomes, with what it reads of its object."""
        assert isinstance(node, ast.Attribute)
        check_settled(self.drafts.project, found, set(extra.values()), module, node)
        changes: list[rewrite.Change] = []
        receiver = module.segment(node.value)
        given = [f"{name}={receiver}.{attribute}" for name, attribute in extra.items() if name != PARAMS]
        if estimator is not None and PARAMS in extra:
            changes.append(keywords(module, estimator, {PARAMS: f"{receiver}.{extra[PARAMS]}"}))
        reference, imports = self._reference(found, module, node, new)
        changes += imports
        if given:
            partial, imported = functools_partial(module)
            changes += imported
            between = ", " if sum(map(len, given)) <= WIDTH else ",\n    "
            changes.append(Replace(node, code(f"{partial}({between.join([reference, *given])})")))
        else:
            changes.append(Replace(node, reference))
        return [(module, change) for change in changes]

    def _readable(self, module: Module, found: Method) -> list[Change]:
        """Properties that a model_fn reads of its object, itself or in what it calls, become methods."""
        owner, _ = class_of(self.drafts.project, module, found.receiver)
        if owner is None or found.kind != "plain":
            return []
        readers = [function for _, function in called(self.drafts.project, owner, found)]
        return self._try(found.module, found.function, lambda: as_methods(self.drafts.project, owner, readers))

    def _own_attributes(self, found: Method) -> list[Change]:
        """Attributes that a model_fn sets become its variables, with the methods that use them in their place."""
        used = reader(self.drafts.project, found)
        if used is not None:
            return self._inlined_method(found.module, *used)
        return as_variables(self.drafts.project, found)

    def _first(
        self, idioms: Iterable[Desugaring[Callable[[Drafts, Module, N], list[Change]]]], module: Module, node: N
    ) -> list[Change]:
        """The changes for the first idiom that a call or a function is."""
        for idiom in idioms:
            try:
                changes = idiom.expand(self.drafts, module, node)
            except Unprintable:  # which stays
                continue
            if changes:
                return changes
        return []

    def _call(self, module: Module, call: ast.Call) -> list[Change]:
        changes = self._first(self._calls, module, call)
        if changes:
            return changes
        project = self.drafts.project
        definition = project.definition(module, call.func)
        if definition is not None and isinstance(definition.node, ast.FunctionDef):
            changes = filter_call(self.drafts, module, call, definition)
            return changes or self._function_call(module, call, definition)
        changes = local_function(module, call)
        if changes:
            return changes
        partial = filled_in(module, call)
        if partial is not None:
            made = project.definition(module, partial.args[0])
            known = (module.resolve(partial.args[0]) or "").startswith("tensorflow.")
            if made is not None and isinstance(made.node, ast.FunctionDef):
                known = self._makes_layers(made) or self._inlined(made)
            if known:
                return written_out(self.drafts, module, call, partial)
            return []
        found = method_of(project, module, call.func)
        if found is None:
            return []
        if found.own:
            return self._inlined_method(module, call, found)
        definition = Definition(found.module, found.function)
        if not (self._inlined(definition) or self._makes_layers(definition)):
            return []
        named = named_arguments(project, found.module, found.function)
        if named:
            return named
        calls = self._method_calls(found)
        if self._inlined(definition) or fills(found) or (len(calls) == 1 and found.module is module):
            return self._inlined_method(module, call, found)
        try:
            return self._lifted_calls(found, calls)  # so that the layer stands in the file of its class
        except (Unsupported, Unprintable):
            caller = module.nearest(call, ast.FunctionDef)
            if any(other.nearest(each, ast.FunctionDef) is caller for other, each in calls if each is not call):
                raise  # a layer that several calls share
            return self._inlined_method(module, call, found)

    def _unnamed(self, module: Module, call: ast.Call) -> list[Change]:
        """``Net(params)(x)`` and ``Net(params).build(x)``: the object gets a name, where its method makes layers."""
        made = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        method = method_of_new(self.drafts.project, module, call)
        definition = Definition(method[0].module, method[1]) if method is not None else None
        if definition is None or not isinstance(made, ast.Call):
            return []
        if not (self._makes_layers(definition) or self._inlined(definition)):
            return []
        return self._try(module, made, lambda: named_object(self.drafts, module, made))

    def _told_to_train(self, definition: Definition) -> list[Change]:
        """Functions that make recurrent cells are told whether they train."""
        project, module = self.drafts.project, definition.module
        for call in (node for node in walk(definition.node) if isinstance(node, ast.Call)):
            maker = project.definition(module, call.func)
            changes = self._try(module, call.func, lambda: told_to_train(project, maker) if maker is not None else [])
            if changes:
                return changes
        return []

    def _function_call(self, module: Module, call: ast.Call, definition: Definition) -> list[Change]:
        function = definition.node
        assert isinstance(function, ast.FunctionDef)
        caller = module.nearest(call, ast.FunctionDef)
        holder = definition.module.nearest(function, ast.FunctionDef)
        if holder is not None and not module.is_inside(call, holder):
            return []
        if self._inlined(definition) or (definition.module.path, definition.name) in self._networks:
            return self._inline(module, call, definition)
        within = definition.module.is_inside(function, caller)
        if not within or not self._makes_layers(definition):
            return []
        try:
            return nested_function(self.drafts, module, function)
        except (Unsupported, Unprintable):
            return self._inline(module, call, definition)
