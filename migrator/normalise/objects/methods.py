"""Which method of a class of the program a call runs, and what it reads of its object."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from migrator.analyse.statements.names import MUTATORS
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.values.entries import entry_values
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.vocabulary.unsupported import Unsupported

_MAX_MAKERS = 4
"""How many functions may hand on an object before its class is taken for unknown."""


@dataclass(frozen=True)
class Method:
    """A method, and the object or class that it is called on."""

    owner: Definition
    function: ast.FunctionDef
    receiver: ast.expr
    kind: str
    """``plain``, ``static`` or ``class``."""
    own: str = ""
    """The name of the object where the call says ``super()`` instead."""

    @property
    def module(self) -> Module:
        """The file of the class."""
        return self.owner.module


def method_of(project: Project, module: Module, node: ast.expr) -> Method | None:
    """The method behind ``self.network``, ``network.build``, ``Network.build``, ``super().build`` or, for ``network``, its
    ``__call__``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
        return _method_above(project, module, node.value, node.attr)
    if isinstance(node, ast.Attribute):
        receiver, name = node.value, node.attr
    elif isinstance(node, ast.Name):
        receiver, name = node, "__call__"
    else:
        return None
    owner, is_class = class_of(project, module, receiver)
    if owner is None or (is_class and name == "__call__"):
        return None
    return method_named(project, owner, is_class, name, receiver)


def method_named(project: Project, owner: Definition, is_class: bool, name: str, receiver: ast.expr) -> Method | None:
    """The method of a name of an object of a class, or of the class itself; None where a subclass may have another one."""
    found = lookup(project, owner, name)
    if found is None or any(lookup(project, c, name) != found for c in project.subclasses(owner)):
        return None  # which one runs is known at run time only
    holder, function = found
    kind = "plain"
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Name) or decorator.id not in ("staticmethod", "classmethod"):
            return None
        kind = decorator.id[: -len("method")]
    if is_class and kind == "plain":
        return None
    return Method(holder, function, receiver, kind)


def method_of_new(project: Project, module: Module, call: ast.Call) -> tuple[Definition, ast.FunctionDef] | None:
    """The method that a call runs on an object which it makes: ``Net(params)(x)`` or ``Net(params).build(x)``."""
    made, name = (call.func.value, call.func.attr) if isinstance(call.func, ast.Attribute) else (call.func, "__call__")
    owner = project.definition(module, made.func) if isinstance(made, ast.Call) else None
    return lookup(project, owner, name) if owner is not None and isinstance(owner.node, ast.ClassDef) else None


def _method_above(project: Project, module: Module, call: ast.Call, name: str) -> Method | None:
    """The method of a base class that ``super().name`` or ``super(Net, self).name`` is, where no class has several bases."""
    if not isinstance(call.func, ast.Name) or call.func.id != "super" or module.bindings(call.func):
        return None
    function = module.nearest(call, (ast.FunctionDef, ast.Lambda))
    owner = module.parent(function) if function is not None else None
    if not isinstance(function, ast.FunctionDef) or not isinstance(owner, ast.ClassDef) or not function.args.args:
        return None
    own, here = function.args.args[0].arg, Definition(module, owner)
    named = [project.definition(module, call.args[0]), ast.unparse(call.args[1])] if len(call.args) == 2 else []
    if function.decorator_list or (call.args or call.keywords) and named != [here, own]:
        return None
    family = [one.node for one in (here, *project.subclasses(here)) if isinstance(one.node, ast.ClassDef)]
    above = project.definition(module, owner.bases[0]) if all(len(one.bases) == 1 for one in family) else None
    found = lookup(project, above, name) if above is not None and isinstance(above.node, ast.ClassDef) else None
    if found is None or found[1].decorator_list:
        return None
    return Method(found[0], found[1], call, "plain", own)


def class_of(project: Project, module: Module, node: ast.expr) -> tuple[Definition | None, bool]:
    """The class that an expression is an object of, or that it is itself (then True)."""
    if isinstance(node, ast.Subscript):
        return _class_of_entry(project, module, node), False
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None, False
    definition = project.definition(module, node)
    if definition is not None and isinstance(definition.node, ast.ClassDef):
        return definition, True
    if not isinstance(node, ast.Name):
        return None, False
    bindings = module.bindings(node)
    if len(bindings) != 1:
        return None, False
    bound = bindings[0].node
    if isinstance(bound, ast.arg):
        function = module.parent(module.parent(bound) or bound)
        return _self_class(module, function, bound)
    if isinstance(bound, ast.Name):
        statement = module.statement(bound)
        if isinstance(statement, ast.Assign) and statement.targets == [bound]:
            if isinstance(statement.value, ast.Subscript):
                return _class_of_entry(project, module, statement.value), False
            return _class_made(project, module, statement.value), False
    return None, False


def _class_made(project: Project, module: Module, node: ast.expr, depth: int = 0) -> Definition | None:
    """The class of the program that a call makes an object of, if by way of a function that makes no other."""
    made = project.definition(module, node.func) if isinstance(node, ast.Call) else None
    if made is None or isinstance(made.node, ast.ClassDef):
        return made
    if not isinstance(made.node, ast.FunctionDef) or made.node.decorator_list or depth > _MAX_MAKERS:
        return None
    values = [part.value for part in own_returns(made.node)]
    found = {_class_made(project, made.module, value, depth + 1) if value is not None else None for value in values}
    return found.pop() if len(found) == 1 else None


def _class_of_entry(project: Project, module: Module, node: ast.Subscript) -> Definition | None:
    """The class of the object that is handed to a model_fn among its params."""
    values = entry_values(project, module, node)
    found = {_class_made(project, *place) or class_of(project, *place)[0] for place in values}
    whole = any(class_of(project, *place)[1] for place in values)
    return found.pop() if len(found) == 1 and not whole else None


def _self_class(module: Module, function: ast.AST | None, bound: ast.arg) -> tuple[Definition | None, bool]:
    owner = module.parent(function) if isinstance(function, ast.FunctionDef) else None
    if not isinstance(owner, ast.ClassDef) or not isinstance(function, ast.FunctionDef):
        return None, False
    if function.args.args[:1] != [bound]:
        return None, False
    names = [d.id for d in function.decorator_list if isinstance(d, ast.Name)]
    if "staticmethod" in names:
        return None, False
    return Definition(module, owner), "classmethod" in names


@dataclass
class OwnClass:
    """A class that a program defines itself."""

    definition: Definition

    @property
    def node(self) -> ast.ClassDef:
        """The class."""
        assert isinstance(self.definition.node, ast.ClassDef)
        return self.definition.node

    @property
    def module(self) -> Module:
        """The file of the class."""
        return self.definition.module

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method that the class itself defines."""
        return own_method(self.node, name)


def own_method(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method that a class itself defines."""
    return next((s for s in owner.body if isinstance(s, ast.FunctionDef) and s.name == name), None)


def reads_class(family: Iterable[Definition], read: ast.AST | None) -> bool:
    """Whether ``Net.network`` reads what classes of a family have without an object: a static method, or an attribute."""
    if not isinstance(read, ast.Attribute) or not isinstance(read.ctx, ast.Load):
        return False
    classes = [one.node for one in family if isinstance(one.node, ast.ClassDef)]
    methods = [found for each in classes if (found := own_method(each, read.attr)) is not None]
    static = all([ast.unparse(decorator) for decorator in each.decorator_list] == ["staticmethod"] for each in methods)
    return static and any(read.attr in members(each) for each in classes)


def lookup(project: Project, owner: Definition, name: str, depth: int = 0) -> tuple[Definition, ast.FunctionDef] | None:
    """The method that a class has or inherits, with the class that defines it."""
    assert isinstance(owner.node, ast.ClassDef)
    own = own_method(owner.node, name)
    if own is not None:
        return owner, own
    for base in owner.node.bases:
        parent = project.definition(owner.module, base)
        if parent is not None and isinstance(parent.node, ast.ClassDef) and depth < 8:
            found = lookup(project, parent, name, depth + 1)
            if found is not None:
                return found
    return None


def may_run(project: Project, module: Module, node: ast.Attribute, method: ast.FunctionDef) -> bool:
    """Whether an attribute of that name may be the method: its object may be of a class that has it."""
    owner, is_class = class_of(project, module, node.value)
    if owner is None or is_class:
        return True
    known = [lookup(project, one, node.attr) for one in (owner, *project.subclasses(owner))]
    return any(found is not None and found[1] is method for found in known)


def attributes(project: Project, method: Method) -> dict[str, list[ast.Attribute]]:
    """What a method reads of its object, by attribute. Raises Unsupported where the object is used as a whole or changed."""
    if method.kind == "static":
        return {}
    function, module = method.function, method.module
    name = function.args.args[0].arg
    found: dict[str, list[ast.Attribute]] = {}
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        parent = module.parent(node)
        if not isinstance(parent, ast.Attribute) or parent.value is not node:
            raise Unsupported(f"`{name}` is used as a whole", node)
        if not isinstance(parent.ctx, ast.Load):
            raise Unsupported(f"`{name}.{parent.attr}` is set in a method that makes layers", parent)
        found.setdefault(parent.attr, []).append(parent)
    return found


def fills(method: Method) -> bool:
    """Whether a method puts something into a list or a dict that its object holds: ``self.end_points[name] = net``."""
    if method.kind == "static":
        return False
    function, module = method.function, method.module
    own = function.args.args[0].arg
    for node in walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            parent = module.parent(node)
            if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
                return True
            if isinstance(parent, ast.Attribute) and parent.attr in MUTATORS:
                call = module.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return True
    return False


def check_settled(project: Project, method: Method, names: set[str], module: Module, at: ast.AST) -> None:
    """Raise Unsupported unless the attributes have their last value when the code at `at` runs."""
    owner = method.owner
    for name in sorted(names):
        if lookup(project, owner, name) is not None:
            continue
        assert isinstance(owner.node, ast.ClassDef)
        stores = [
            (other, node)
            for other in project.modules.values()
            if name.encode() in other.source
            for node in walk(other.tree)
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, (ast.Store, ast.Del))
        ]
        constants = [t for s in owner.node.body if isinstance(s, ast.Assign) for t in s.targets]
        if not stores and any(isinstance(t, ast.Name) and t.id == name for t in constants):
            continue
        if not stores:
            raise Unsupported(f"where `{name}` of the object is set is not seen", method.function)
        for other, node in stores:
            function = other.nearest(node, ast.FunctionDef)
            if function is None or function.name != "__init__":
                raise Unsupported(f"`{name}` of the object may be set anew", node)
            here = module.is_inside(at, function)
            if here and (node.lineno, node.col_offset) > (at.lineno, at.col_offset):  # type: ignore[attr-defined]
                raise Unsupported(f"`{name}` of the object is set only later", node)


def members(owner: ast.AST) -> Iterator[str]:
    """The names of the attributes and methods that the objects of a class have by it."""
    for part in walk(owner):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.attr
    for statement in getattr(owner, "body", ()):
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        yield from (target.id for target in targets if isinstance(target, ast.Name))
