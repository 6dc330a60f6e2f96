"""Steps that take an object of the program apart: its methods become functions or parts of their callers, its attributes
variables."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames, member
from migrator.normalise.draft.roots import calls_below
from migrator.normalise.functions.inline import Inliner
from migrator.normalise.functions.lift import keywords, module_name, moved, snake
from migrator.normalise.objects.built import Building
from migrator.normalise.objects.in_place import in_place
from migrator.normalise.objects.inherited import called, calls_above, moved_down
from migrator.normalise.objects.methods import Method, attributes, check_settled, class_of, fills, lookup, method_of
from migrator.normalise.objects.properties import as_methods
from migrator.normalise.objects.unbox import (
    Box,
    Unboxing,
    ancestors,
    base_call,
    box,
    is_getter,
    makers,
    method_calls,
    optimizes,
)
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, Unprintable
from migrator.vocabulary.unsupported import Unsupported

Judge = Callable[[Definition], bool]


class ObjectSteps:
    """What is known of the objects, and the steps; see `Preparation`, which says what a call becomes."""

    def __init__(self, drafts: Drafts, inlined: Judge, makes_layers: Judge) -> None:
        self.drafts = drafts
        self._inlined = inlined
        self._makes_layers = makes_layers
        self._stuck: dict[tuple[str, str, str], Unsupported | Unprintable] = {}
        self._taken_out: set[tuple[str, str]] = set()
        self._opened: set[tuple[str, str]] = set()
        """Files and names of objects some of whose methods are taken out."""
        self._places_left: dict[tuple[str, str], tuple[str, str]] = {}
        """Files and names of classes that stand in other files than the functions that they were taken apart for, with these."""
        self._lifting: list[ast.FunctionDef] = []
        """Methods that are about to become functions, each called by the one before."""

    def _call(self, module: Module, call: ast.Call) -> list[Change]:
        raise NotImplementedError

    def _tidy(self) -> None:
        raise NotImplementedError

    def _try(self, module: Module, node: ast.expr | ast.FunctionDef, step: Callable[[], list[Change]]) -> list[Change]:
        around = next((a for a in module.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.Lambda))), None)
        holder = (
            around.name if isinstance(around, ast.FunctionDef) else type(around).__name__
        )  # lambdas are written out
        key = (module.path, holder, module.segment(node))
        if key in self._stuck:
            return []
        try:
            changes = step()
        except (Unsupported, Unprintable) as reason:
            self._stuck[key] = reason
            self.drafts.obstacles[module.path, module.segment(node)] = reason.reason
            return []
        return changes

    def _inner_calls(self, found: Method) -> list[Change]:
        """The methods that a method calls on its own object come first."""
        for call in calls_below(found.module, found.function):
            changes = self._try(found.module, call, lambda: self._call(found.module, call))
            if changes:
                return changes
        return []

    def _inlined_method(self, module: Module, call: ast.Call, found: Method) -> list[Change]:
        definition = Definition(found.module, found.function)
        if found.kind == "static":
            return self._inline(module, call, definition)
        inliner = Inliner(self.drafts, module, call, definition, skip=1)
        inliner.receiver = found.own or module.segment(found.receiver)
        self._opened.add((module.path, inliner.receiver))
        lineage = ancestors(self.drafts.project, found.owner)
        name = found.function.name
        self._taken_out |= {(owner.module.path, f"{owner.name}.{name}") for owner in lineage}  # abstract ones, too
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
        inner = self._inner_calls(found) or self._own_method_calls(found)
        if inner:
            return inner
        for module, call in calls:
            if module.is_inside(call, found.function):
                raise Unsupported("a method that calls itself is not followed", call)
        module, call = calls[0]
        extra, new, wanted = self._lifted(found, module, call)
        for module, call in calls:
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            self._opened.add((module.path, module.segment(receiver)))
            reference, imports = self._reference(found, module, call, new)
            wanted += [(module, change) for change in (*imports, Replace(call.func, reference))]
            if extra:
                text = module.segment(receiver)
                given = {name: f"{text}.{attribute}" for name, attribute in extra.items()}
                wanted.append((module, keywords(module, call, given)))
        return Change.every(wanted)

    def _own_method_calls(self, found: Method) -> list[Change]:
        """Those that make no layers, too: a function cannot be handed a method of the object."""
        for call in calls_below(found.module, found.function):
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
            if (
                found.kind == "plain"
                and isinstance(receiver, ast.Name)
                and receiver.id == found.function.args.args[0].arg
            ):
                method = method_of(self.drafts.project, found.module, call.func)
                if method is not None and method.function is not found.function:
                    return self._apart(found.module, call, method)
        return []

    def _apart(self, module: Module, call: ast.Call, method: Method) -> list[Change]:
        """A method becomes a function, or a part of its caller."""
        if is_getter(method.function) or fills(method):
            return self._inlined_method(module, call, method)
        if method.function in self._lifting:
            raise Unsupported("methods that call each other are not followed", call)
        self._lifting.append(method.function)
        try:
            return self._lifted_calls(method, self._method_calls(method))
        except (Unsupported, Unprintable):
            return self._inlined_method(module, call, method)
        finally:
            self._lifting.pop()

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
            except (Unsupported, Unprintable):
                changes = []
            if changes:
                return changes
        for call in method_calls(project, found):
            method = method_of(project, found.module, call.func)
            if method is None:
                raise Unsupported(f"which method `{found.module.segment(call.func)}` is, is not seen", call)
            return self._apart(found.module, call, method)
        base = base_call(project, found)
        if base is not None and base[1] is not None:
            inliner = Inliner(self.drafts, found.home.module, base[0], base[1], skip=1)
            inliner.receiver = found.made.args.args[0].arg
            return inliner.changes()
        if base is not None:
            module = found.home.module
            return Change.of(module, Remove(module.statement(base[0])))
        inner = as_methods(project, owner, [found.made]) or self._own_calls(found) if builds else []
        if inner:
            return inner
        changes = Unboxing(self.drafts, found).changes()
        key = definition.module.path, definition.name
        lineage = {(base.module.path, base.name) for base in ancestors(project, owner)}
        if not optimizes(owner) and not lineage & self.drafts.layer_classes:
            several = self.drafts.model_classes.get(key, owner.name) != owner.name
            self.drafts.model_classes[key] = "" if several else owner.name
            place = owner.module.path, owner.name
            if owner.module is not definition.module and place not in self._taken_out | set(self._places_left):
                self._places_left[place] = key
                lineage.remove(place)
        self._taken_out |= lineage
        return changes

    def _in_place(self) -> list[Change]:
        """Model_fns take the places of the classes of other files that they built their networks with."""
        for place, (path, name) in list(self._places_left.items()):
            del self._places_left[place]
            try:
                changes = in_place(self.drafts, path, name, place)
            except (Unsupported, Unprintable):
                self._taken_out.add(place)
                self._tidy()
                continue
            self.drafts.moved((path, name), (place[0], name))
            self._taken_out.add(place)
            return changes
        return []

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

    def _lifted(
        self, found: Method, module: Module, at: ast.AST, taken: frozenset[str] = frozenset(), root: bool = False
    ) -> tuple[dict[str, str], str, list[tuple[Module, rewrite.Change]]]:
        """New parameters with the attributes that they stand for, the method's name as a function, and the changes that move it.

        None of the parameters has a name of `taken`. `root` says that the method is a model_fn.
        """
        reads = in_order(found, attributes(self.drafts.project, found))
        check_settled(self.drafts.project, found, set(reads), module, at)
        own = {n.id for n in walk(found.function) if isinstance(n, ast.Name)}
        own |= {a.arg for a in walk(found.function) if isinstance(a, ast.arg)}
        own |= taken
        owner = snake(found.owner.name)
        plain = {attribute: attribute.strip("_") or attribute for attribute in reads}
        for attribute, name in plain.items():
            if name.isupper() and name.lower() not in own | set(plain.values()):  # a constant of the class
                plain[attribute] = name.lower()
        extra = {name if name not in own else f"{owner}_{name}": attribute for attribute, name in plain.items()}
        clash = own & set(extra)
        if clash or len(extra) < len(reads):
            raise Unsupported(f"`{sorted(clash)[0]}` names an attribute and a variable", found.function)
        name = self._called_name(found) if root else self._layer_name(found, module)
        new = module_name(found.module, name, found.owner.name) if name != found.function.name else name
        if new in {n for n, b in found.module.analysis.root.bindings.items()}:
            new = module_name(found.module, name, found.owner.name)
        seen = module.scope(at).lookup(new)  # the variable of that name, such as the one that gets the value
        if seen is not None and not (module is found.module and seen is module.analysis.root):
            new = module_name(found.module, f"build_{name}", found.owner.name)
        changes = moved(found.module, found.function, new, list(extra))
        changes += [Replace(node, name) for name, attribute in extra.items() for node in reads[attribute]]
        return extra, new, [(found.module, change) for change in changes]

    def _layer_name(self, found: Method, module: Module) -> str:
        """The name of a method as a function that makes layers: that of its class, if a class of another file does no more."""
        assert isinstance(found.owner.node, ast.ClassDef)
        methods = [s for s in found.owner.node.body if isinstance(s, ast.FunctionDef)]
        makers = [method for method in methods if self._makes_layers(Definition(found.module, method))]
        if found.kind != "plain" or module is found.module or makers != [found.function]:
            return snakeless(found)
        self.drafts.layer_classes.add((found.module.path, found.owner.name))
        return snake(found.owner.name)

    def _called_name(self, found: Method) -> str:
        """The name of a model_fn as a function: ``net_model_fn`` for the ``__call__`` of ``Net``."""
        name = snakeless(found)
        if name == found.function.name:
            return name
        name = name if name.endswith("model_fn") else f"{name}_model_fn"
        return name if name not in found.module.bound_names else f"build_{name}"

    def _reference(self, found: Method, module: Module, at: ast.AST, new: str) -> tuple[str, list[rewrite.Change]]:
        """How the code at `at` names the function that a method becomes, and the imports that it takes."""
        if module is found.module:
            return new, []
        names = OuterNames()
        return member(self.drafts, module, at, found.module, new, names, found.function), names.changes

    def _inline(self, module: Module, call: ast.Call, definition: Definition, skip: int = 0) -> list[Change]:
        changes = Inliner(self.drafts, module, call, definition, skip).changes()
        self._taken_out.add((definition.module.path, definition.name))
        return changes


def in_order(found: Method, reads: dict[str, list[ast.Attribute]]) -> dict[str, list[ast.Attribute]]:
    """What a method reads of its object, as the class sets it, and then what it does not set."""
    assert isinstance(found.owner.node, ast.ClassDef)
    stores = [n for n in walk(found.owner.node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    placed = dict.fromkeys(n.attr for n in sorted(stores, key=lambda n: (n.lineno, n.col_offset)))
    return {name: reads[name] for name in (*(n for n in placed if n in reads), *(n for n in reads if n not in placed))}


def snakeless(found: Method) -> str:
    """The name of a method as a function: that of its class for ``__call__``."""
    name = found.function.name
    return snake(found.owner.name) if name == "__call__" else name
