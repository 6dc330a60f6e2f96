"""Takes one step after the other until every model_fn is a plain function whose helpers can be followed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.modelfn.render import Renderer
from migrator.module import Module
from migrator.preparing.apart import named_apart
from migrator.preparing.asserted import asserted_in_place
from migrator.preparing.built import Building
from migrator.preparing.closures import handed_closure, nested_functions
from migrator.preparing.copied import without_copies
from migrator.preparing.draft import Change, Drafts
from migrator.preparing.filters import filter_call, settled_choice
from migrator.preparing.globals import OuterNames, member
from migrator.preparing.idle import taken_away, unsaid
from migrator.preparing.inherited import called, calls_above, maker_moved_down, moved_down, named_object
from migrator.preparing.inline import Inliner
from migrator.preparing.lambdas import functools_partial, lambda_function
from migrator.preparing.lift import keywords, method, module_name, nested_function, snake
from migrator.preparing.methods import Method, attributes, check_settled, class_of, fills, lookup, method_of
from migrator.preparing.own_attributes import as_variables, reader
from migrator.preparing.partials import filled_in, written_out
from migrator.preparing.properties import as_methods
from migrator.preparing.reserved import PARAMS, RESERVED, params_of
from migrator.preparing.roots import calls_below, root_function
from migrator.preparing.stuck import Stuck
from migrator.preparing.taken_features import copied_features
from migrator.preparing.unbox import Box, Unboxing, ancestors, base_call, box, boxes, is_getter, makers, method_calls
from migrator.project import Definition
from migrator.syntax import walk

MAX_STEPS = 200
WIDTH = 50
"""How many characters of arguments stay on one line."""
Judge = Callable[[Definition], bool]


class Preparation:
    """Prepares the functions that `roots` finds in the present state of the program.

    `inlined` says of a helper that it cannot stay a function of its own (it makes an optimizer, or returns a spec);
    `makes_layers` that it makes layers or variables, so that the model must see it. `spelled_out` gives the statements
    that do what a call of a library function does which native knows by its parts only, `unrolled` those of loops that it
    knows turn by turn only.
    """

    def __init__(
        self,
        drafts: Drafts,
        roots: Callable[[], list[tuple[Module, ast.expr]]],
        inlined: Judge,
        makes_layers: Judge,
        spelled_out: Callable[[Module, ast.Call], list[Change]],
        unrolled: Callable[[Module, ast.FunctionDef], list[Change]],
    ) -> None:
        self.drafts = drafts
        self._roots = roots
        self._inlined = inlined
        self._makes_layers = makes_layers
        self._spelled_out = spelled_out
        self._unrolled = unrolled
        self._stuck: dict[tuple[str, str, str], Stuck] = {}
        self._taken_out: set[tuple[str, str]] = set()
        self._opened: set[tuple[str, str]] = set()
        """Files and names of objects some of whose methods are taken out."""
        self._moved_down: set[str] = set()
        """Names of methods that stand in the class of their object now, and stood in a base of it."""

    def run(self) -> None:
        """Take all steps that can be taken."""
        for _ in range(MAX_STEPS):
            changes = self._step()
            if not changes:
                return
            for entry in sorted(self._taken_out):
                changes += unsaid(self.drafts, changes, *entry)
            self.drafts.apply(changes)
            self._tidy()

    def _step(self) -> list[Change]:
        for module, node in self._roots():
            changes = self._try(module, node, lambda: self._root(module, node))
            if changes:
                return changes
        reachable = self._reachable()
        for definition in reachable:
            for call in calls_below(definition.module, definition.node):
                module = definition.module
                changes = self._try(module, call, lambda: self._call(module, call))
                if changes:
                    return changes
        for definition in reachable:
            module = definition.module
            for function in nested_functions(definition.node):
                if self._makes_layers(Definition(module, function)):
                    changes = self._try(module, function, lambda: handed_closure(self.drafts, module, function))
                    if changes:
                        return changes
        for definition in reachable:
            for statement, owner in boxes(self.drafts.project, definition):
                changes = self._try(definition.module, statement.value, lambda: self._box(definition, statement, owner))
                if changes:
                    return changes
        for definition in reachable:
            assert isinstance(definition.node, ast.FunctionDef)
            changes = named_apart(definition.module, definition.node)
            changes = changes or without_copies(definition.module, definition.node)
            changes = changes or asserted_in_place(definition.module, definition.node)
            for part in definition.node.body:
                changes = changes or settled_choice(definition.module, part)
            changes = changes or self._unrolled(definition.module, definition.node)
            if changes:
                return changes
        project = self.drafts.project
        functions = (root_function(project, *root) for root in self._roots())
        return next((found for function in functions if function and (found := copied_features(function))), [])

    def _try(self, module: Module, node: ast.expr | ast.FunctionDef, step: Callable[[], list[Change]]) -> list[Change]:
        holder = next((a.name for a in module.ancestors(node) if isinstance(a, ast.FunctionDef)), "")
        key = (module.path, holder, module.segment(node))
        if key in self._stuck:
            return []
        try:
            changes = step()
        except Stuck as reason:
            self._stuck[key] = reason
            self.drafts.obstacles[module.path, module.segment(node)] = reason.reason
            return []
        return changes

    def _tidy(self) -> None:
        """Remove functions and classes that nothing uses any more."""
        while any(taken_away(self.drafts, *entry) for entry in sorted(self._taken_out)):
            pass

    # -- where to look ------------------------------------------------------------------------------------------------

    def _reachable(self) -> list[Definition]:
        """The model_fns, and the helpers that make layers."""
        project = self.drafts.project
        found: dict[Definition, None] = {}
        stack = [d for d in (root_function(project, m, n) for m, n in self._roots()) if d is not None]
        while stack:
            definition = stack.pop()
            if definition in found:
                continue
            found[definition] = None
            for call in calls_below(definition.module, definition.node):
                other = project.definition(definition.module, call.func)
                if other is not None and isinstance(other.node, ast.FunctionDef) and self._makes_layers(other):
                    if not any(a is definition.node for a in other.module.ancestors(other.node)):
                        stack.append(other)
        return list(found)

    # -- steps --------------------------------------------------------------------------------------------------------

    def _root(self, module: Module, node: ast.expr) -> list[Change]:
        """``model_fn=self.model_fn`` becomes a function, called with the attributes that it reads; a lambda a `def`."""
        if isinstance(node, ast.Lambda):
            return lambda_function(self.drafts, module, node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            return named_object(self.drafts, module, node.value)
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
        estimator = params_of(self.drafts.project, module, node)
        extra, new, changes = self._lifted(found, module, node, RESERVED - ({PARAMS} if estimator else set()))
        if found.function.name in self._moved_down:  # the class is the model
            self.drafts.model_classes[found.module.path, new] = found.owner.name
        receiver = module.segment(found.receiver)
        given = [f"{name}={receiver}.{attribute}" for name, attribute in extra.items() if name != PARAMS]
        if estimator is not None and PARAMS in extra:
            changes.append(Change(keywords(module, estimator, {PARAMS: f"{receiver}.{extra[PARAMS]}"})))
        reference, imports = self._reference(found, module, node, new)
        changes += imports
        if not given:
            return [*changes, Change(module.edit(node, reference))]
        partial, imported = functools_partial(module)
        changes += imported
        between = ", "
        if sum(map(len, given)) > WIDTH:
            between = ",\n" + Renderer(module).indent_of(module.statement(node)) + " " * 4
        text = f"{partial}({between.join([reference, *given])})"
        return [*changes, Change(module.edit(node, text))]

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

    def _inner_calls(self, found: Method) -> list[Change]:
        """The methods that a method calls on its own object come first."""
        for call in calls_below(found.module, found.function):
            changes = self._try(found.module, call, lambda: self._call(found.module, call))
            if changes:
                return changes
        return []

    def _reference(self, found: Method, module: Module, at: ast.AST, new: str) -> tuple[str, list[Change]]:
        """How the code at `at` names the function that a method becomes, and the imports that it takes."""
        if module is found.module:
            return new, []
        names = OuterNames()
        return member(self.drafts, module, at, found.module, new, names, found.function), names.changes

    def _lifted(
        self, found: Method, module: Module, at: ast.AST, taken: frozenset[str] = frozenset()
    ) -> tuple[dict[str, str], str, list[Change]]:
        """New parameters with the attributes that they stand for, the method's name as a function, and the edits that move it.

        None of the parameters has a name of `taken`.
        """
        reads = attributes(self.drafts.project, found)
        check_settled(self.drafts.project, found, set(reads), module, at)
        own = {n.id for n in walk(found.function) if isinstance(n, ast.Name)}
        own |= {a.arg for a in walk(found.function) if isinstance(a, ast.arg)}
        own |= taken
        owner = snake(found.owner.name)
        plain = {attribute: attribute.strip("_") or attribute for attribute in reads}
        extra = {name if name not in own else f"{owner}_{name}": attribute for attribute, name in plain.items()}
        clash = own & set(extra)
        if clash or len(extra) < len(reads):
            raise Stuck(f"`{sorted(clash)[0]}` names an attribute and a variable", found.function)
        nodes = {id(node): name for name, attribute in extra.items() for node in reads[attribute]}
        name = snakeless(found)
        new = module_name(found.module, name, found.owner.name) if name != found.function.name else name
        if new in {n for n, b in found.module.analysis.root.bindings.items()}:
            new = module_name(found.module, name, found.owner.name)
        changes = method(self.drafts, found.module, found.function, new, list(extra), lambda node: nodes.get(id(node)))
        return extra, new, changes

    def _call(self, module: Module, call: ast.Call) -> list[Change]:
        changes = self._spelled_out(module, call)
        if changes:
            return changes
        project = self.drafts.project
        definition = project.definition(module, call.func)
        if definition is not None and isinstance(definition.node, ast.FunctionDef):
            changes = filter_call(self.drafts, module, call, definition)
            return changes or self._function_call(module, call, definition)
        partial = filled_in(module, call)
        if partial is not None:
            made = project.definition(module, partial.args[0])
            known = (module.resolve(partial.args[0]) or "").startswith("tensorflow.")
            if made is not None and isinstance(made.node, ast.FunctionDef):
                known = self._makes_layers(made) or self._inlined(made)
            if known:
                return written_out(module, call, partial)
            return []
        found = method_of(project, module, call.func)
        if found is None:
            return []
        if found.own:
            return self._inlined_method(module, call, found)
        definition = Definition(found.module, found.function)
        if not (self._inlined(definition) or self._makes_layers(definition)):
            return []
        calls = self._method_calls(found)
        if self._inlined(definition) or len(calls) == 1 or fills(found):
            return self._inlined_method(module, call, found)
        return self._lifted_calls(found, calls)

    def _function_call(self, module: Module, call: ast.Call, definition: Definition) -> list[Change]:
        function = definition.node
        assert isinstance(function, ast.FunctionDef)
        caller = next((a for a in module.ancestors(call) if isinstance(a, ast.FunctionDef)), None)
        holder = next((a for a in definition.module.ancestors(function) if isinstance(a, ast.FunctionDef)), None)
        if holder is not None and not any(a is holder for a in module.ancestors(call)):
            return []
        if self._inlined(definition):
            return self._inline(module, call, definition)
        within = any(a is caller for a in definition.module.ancestors(function))
        if not within or not self._makes_layers(definition):
            return []
        try:
            return nested_function(self.drafts, module, function)
        except Stuck:
            return self._inline(module, call, definition)

    def _inline(self, module: Module, call: ast.Call, definition: Definition, skip: int = 0) -> list[Change]:
        changes = Inliner(self.drafts, module, call, definition, skip).changes()
        self._taken_out.add((definition.module.path, definition.name))
        return changes

    def _inlined_method(self, module: Module, call: ast.Call, found: Method) -> list[Change]:
        definition = Definition(found.module, found.function)
        if found.kind == "static":
            return self._inline(module, call, definition)
        inliner = Inliner(self.drafts, module, call, definition, skip=1)
        inliner.receiver = found.own or module.segment(found.receiver)
        self._opened.add((module.path, inliner.receiver))
        lineage = ancestors(self.drafts.project, found.owner)
        self._taken_out |= {(owner.module.path, found.function.name) for owner in lineage}  # abstract ones, too
        return inliner.changes()

    def _method_calls(self, found: Method) -> list[tuple[Module, ast.Call]]:
        """All calls of a method in the project."""
        name, project = found.function.name, self.drafts.project
        calls = []
        for module, call in project.calls():
            last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if last == name or (name == "__call__" and isinstance(call.func, ast.Name)):
                other = method_of(project, module, call.func)
                if other is not None and other.function is found.function:
                    calls.append((module, call))
        return calls

    def _lifted_calls(self, found: Method, calls: list[tuple[Module, ast.Call]]) -> list[Change]:
        """A method that is called several times becomes a function with the attributes as arguments."""
        inner = self._inner_calls(found)
        if inner:
            return inner
        for module, call in calls:
            if any(a is found.function for a in module.ancestors(call)):
                raise Stuck("a method that calls itself is not followed", call)
        module, call = calls[0]
        extra, new, changes = self._lifted(found, module, call)
        for module, call in calls:
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            self._opened.add((module.path, module.segment(receiver)))
            reference, imports = self._reference(found, module, call, new)
            changes += [*imports, Change(module.edit(call.func, reference))]
            if extra:
                text = module.segment(receiver)
                changes.append(
                    Change(keywords(module, call, {name: f"{text}.{attribute}" for name, attribute in extra.items()}))
                )
        return changes

    def _box(self, definition: Definition, statement: ast.Assign, owner: Definition) -> list[Change]:
        """An object that makes layers loses its methods, and then its attributes."""
        project, name = self.drafts.project, statement.targets[0]
        changes = self._inherited(definition, statement, owner)
        if changes:
            return changes
        made = lookup(project, owner, "__init__")
        builds = made is not None and self._makes_layers(Definition(made[0].module, made[1]))
        opened = isinstance(name, ast.Name) and (definition.module.path, name.id) in self._opened
        if not builds and not opened:
            return []
        found = box(project, definition, statement, owner)
        if builds:
            try:
                changes = self._built(found)
            except Stuck:
                changes = []
            if changes:
                return changes
        for call in method_calls(project, found):
            method = method_of(project, found.module, call.func)
            if method is None:
                raise Stuck(f"which method `{found.module.segment(call.func)}` is, is not seen", call)
            if is_getter(method.function) or fills(method):
                return self._inlined_method(found.module, call, method)
            try:
                return self._lifted_calls(method, self._method_calls(method))
            except Stuck:
                return self._inlined_method(found.module, call, method)
        base = base_call(project, found)
        if base is not None and base[1] is not None:
            inliner = Inliner(self.drafts, found.home.module, base[0], base[1], skip=1)
            inliner.receiver = found.made.args.args[0].arg
            return inliner.changes()
        if base is not None:
            module = found.home.module
            return [Change(module.delete_statement(module.statement(base[0])))]
        inner = as_methods(project, owner, [found.made]) or self._own_calls(found) if builds else []
        if inner:
            return inner
        changes = Unboxing(self.drafts, found).changes()
        key = definition.module.path, definition.name
        several = self.drafts.model_classes.get(key, owner.name) != owner.name
        self.drafts.model_classes[key] = "" if several else owner.name
        self._taken_out |= {(base.module.path, base.name) for base in ancestors(project, owner)}
        return changes

    def _inherited(self, definition: Definition, statement: ast.Assign, owner: Definition) -> list[Change]:
        """Methods of bases that make layers by what the class of an object has anew move into it, and so on down."""
        project, name = self.drafts.project, statement.targets[0]
        assert isinstance(name, ast.Name)
        calls = [call.func for call in calls_below(definition.module, definition.node)]
        used = [
            f.attr
            for f in calls
            if isinstance(f, ast.Attribute) and class_of(project, definition.module, f.value)[0] == owner
        ]
        for first in (lookup(project, owner, each) for each in dict.fromkeys(["__init__", *used])):
            if first is None or first[1].decorator_list:
                continue
            found = Method(*first, name, "plain")
            reached = list(called(project, owner, found))
            if not any(self._makes_layers(Definition(*each)) or self._inlined(Definition(*each)) for each in reached):
                continue
            changes = as_methods(project, owner, [function for _, function in reached])
            for module, call, above in calls_above(project, definition.module, found):
                changes = changes or self._try(module, call, lambda: self._inlined_method(module, call, above))
            for _, function in reached:
                home = lookup(project, owner, function.name)
                if home is not None:
                    changes = changes or moved_down(self.drafts, definition.module, Method(*home, name, "plain"))
            if changes:
                return changes
        return []

    def _own_calls(self, found: Box) -> list[Change]:
        """The methods that `__init__` calls on its own object become a part of it."""
        module, own = found.home.module, found.made.args.args[0].arg
        for call in calls_below(module, found.made):
            function = call.func
            if (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id == own
            ):
                method = method_of(self.drafts.project, module, function)
                if method is not None:
                    return self._inlined_method(module, call, method)
        return []

    def _built(self, found: Box) -> list[Change]:
        """A class of another file whose `__init__` takes tensors becomes a function, with all objects of it."""
        project, owner = self.drafts.project, found.owner
        if owner.module is found.module or found.home != owner or self._inlined(Definition(owner.module, found.made)):
            return []
        building = Building(self.drafts, owner, [box(project, f, s, owner) for f, s in makers(project, owner)])
        for module, call, getter in building.getters():
            return self._inlined_method(module, call, getter)
        return self._own_calls(found) or building.changes()


def snakeless(found: Method) -> str:
    """The name of a method as a function: that of its class for ``__call__``."""
    name = found.function.name
    return snake(found.owner.name) if name == "__call__" else name
