"""An object that a function makes for itself alone becomes plain variables: what `__init__` does, and one variable for
each attribute."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import sole_value
from migrator.normalise.functions.inline import Inliner, assigned
from migrator.normalise.objects.methods import lookup
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import statements, walk
from migrator.rewrite import Insert, Remove, Replace, Statement, code
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

# Methods that change what an attribute or a new object is.
_MAGIC = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__")
# Names that generated methods and factories have for themselves.
_STEPS = frozenset({"minimize", "compute_gradients", "apply_gradients"})
_TAKEN = frozenset({"self", "training", "x", "y", "y_pred", "sample_weight", "config", "model", "model_dir"})


@dataclass
class Box:
    """An object of a class of the program that one name of a function holds."""

    module: Module
    function: ast.FunctionDef
    statement: ast.Assign
    owner: Definition
    home: Definition
    """The class that has the `__init__`: that of the object, or one that it is derived from."""
    made: ast.FunctionDef
    """The `__init__`."""
    uses: list[ast.Attribute] = field(default_factory=list)
    """Every place of the function that reads or sets an attribute."""

    @property
    def name(self) -> str:
        """The name that holds the object."""
        target = self.statement.targets[0]
        assert isinstance(target, ast.Name)
        return target.id

    @property
    def call(self) -> ast.Call:
        """The call that makes the object."""
        assert isinstance(self.statement.value, ast.Call)
        return self.statement.value


def boxes(project: Project, definition: Definition) -> Iterator[tuple[ast.Assign, Definition]]:
    """Statements of a function that make an object of a class of the program, with the class."""
    for node in statements(definition.node):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made = project.definition(definition.module, node.value.func) if isinstance(node.value, ast.Call) else None
            if made is not None and isinstance(made.node, ast.ClassDef):
                yield node, made


def box(project: Project, definition: Definition, statement: ast.Assign, owner: Definition) -> Box:
    """The object that a statement makes. Raises Unsupported where it is more than a set of attributes and methods."""
    module, function = definition.module, definition.node
    assert isinstance(function, ast.FunctionDef) and isinstance(owner.node, ast.ClassDef)
    found = lookup(project, owner, "__init__")
    if found is None:
        raise Unsupported("a class without `__init__` is not followed", statement)
    if owner.node.decorator_list or owner.node.keywords or any(lookup(project, owner, name) for name in _MAGIC):
        raise Unsupported("a class that makes its objects in another way is not followed", owner.node)
    for holder in ancestors(project, owner):
        for base in holder.node.bases if isinstance(holder.node, ast.ClassDef) else ():
            if ast.unparse(base) != "object" and project.definition(holder.module, base) is None:
                raise Unsupported("a class with a base from elsewhere is not followed", base)
    result = Box(module, function, statement, owner, *found)
    target = statement.targets[0]
    assert isinstance(target, ast.Name)
    if len(module.bindings(target)) != 1 or module.scope(target).lookup(target.id) is not module.scope(
        function.body[0]
    ):
        raise Unsupported(f"`{target.id}` holds more than one object", statement)
    for node in module.loads_of_parameter(target.id, function):
        parent = module.parent(node)
        if not isinstance(parent, ast.Attribute) or module.nearest(node, ast.JoinedStr) is not None:
            raise Unsupported(f"`{target.id}` is used as a whole", node)
        if not isinstance(parent.ctx, ast.Load) and module.scope(node) is not module.scope(function.body[0]):
            raise Unsupported(f"`{target.id}.{parent.attr}` is set in a nested function", parent)
        result.uses.append(parent)
    return result


def is_abstract(owner: Definition, name: str) -> bool:
    """Whether a class only demands a method of the classes that derive from it."""
    assert isinstance(owner.node, ast.ClassDef)
    methods = (part for part in owner.node.body if isinstance(part, ast.FunctionDef) and part.name == name)
    return any(
        ast.unparse(d).rpartition(".")[2] == "abstractmethod" for method in methods for d in method.decorator_list
    )


def ancestors(project: Project, owner: Definition) -> Iterator[Definition]:
    """A class and the classes of the program that it is derived from."""
    yield owner
    for base in owner.node.bases if isinstance(owner.node, ast.ClassDef) else ():
        found = project.definition(owner.module, base)
        if found is not None and found != owner:
            yield from ancestors(project, found)


def optimizes(owner: Definition) -> bool:
    """Whether a class has methods of an optimizer, so that no model is called after it."""
    return any(isinstance(node, ast.FunctionDef) and node.name in _STEPS for node in owner.node.body)


def makers(project: Project, owner: Definition) -> Iterator[tuple[Definition, ast.Assign]]:
    """Every function of the program that makes an object of a class, with the statement."""
    for module in project.modules.values():
        for use in project.uses(owner, module):
            statement = module.statement(use)
            function = module.nearest(use, ast.FunctionDef)
            if (
                function is not None
                and isinstance(statement, ast.Assign)
                and isinstance(statement.targets[0], ast.Name)
            ):
                if isinstance(statement.value, ast.Call) and statement.value.func is use:
                    yield Definition(module, function), statement


def is_getter(method: ast.FunctionDef) -> bool:
    """Whether a method does nothing but to hand out an attribute."""
    value = sole_value(method)
    own = [a.arg for a in method.args.args]
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and own == [value.value.id]


def method_calls(project: Project, found: Box) -> Iterator[ast.Call]:
    """The calls of the object's methods. Raises Unsupported where a method or a property is used in another way."""
    for node in found.uses:
        if lookup(project, found.owner, node.attr) is not None:
            call = found.module.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                raise Unsupported(f"`{found.name}.{node.attr}` is a method that is not called", node)
            yield call


def base_call(project: Project, found: Box) -> tuple[ast.Call, Definition | None] | None:
    """The call of the `__init__` of a base class, and that method; None for the method means `object`'s."""
    for node in walk(found.made):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            assert isinstance(found.home.node, ast.ClassDef)
            bases = [project.definition(found.home.module, base) for base in found.home.node.bases]
            inherited = [m for base in bases if base is not None and (m := lookup(project, base, "__init__"))]
            if len(bases) > 1:
                raise Unsupported("a class with several bases is not followed", found.home.node)
            return node, Definition(inherited[0][0].module, inherited[0][1]) if inherited else None
    return None


def holds_attributes(node: ast.AST) -> bool:
    """Whether a statement is a class without bases that says no more than what `__init__` sets, if anything."""
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        return False
    plain = all(isinstance(base, ast.Name) and base.id == "object" for base in node.bases)
    return plain and all(
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        or (isinstance(part, ast.FunctionDef) and part.name == "__init__")
        for part in node.body
    )


def without_holder(drafts: Drafts, definition: Definition, statement: ast.Assign, owner: Definition) -> list[Change]:
    """The edits that leave variables of a function in the place of an object that only holds them. Raises Unsupported."""
    return Unboxing(drafts, box(drafts.project, definition, statement, owner), documents=False).changes()


class Unboxing(Inliner):
    """Puts the `__init__` of an object in the place of the call that makes it. Raises Unsupported."""

    def __init__(self, drafts: Drafts, found: Box, documents: bool = True) -> None:
        super().__init__(drafts, found.module, found.call, Definition(found.home.module, found.made), skip=1)
        self.found = found
        self._documents = documents
        """Whether the function takes the text of the class, if it has none itself."""
        self.own = found.made.args.args[0].arg
        self.names: dict[str, str] = {}
        """What stands for an attribute."""
        self._copies: dict[str, ast.stmt] = {}
        """Statements that give the value of an attribute to the variable that stands for it."""
        self._stores = [
            node
            for root in (found.made, found.function)
            for node in walk(root)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and self._is_own(node, root)
        ]

    def _is_own(self, node: ast.Attribute, root: ast.AST) -> bool:
        name = self.own if root is self.found.made else self.found.name
        return isinstance(node.value, ast.Name) and node.value.id == name

    def changes(self) -> list[Change]:
        """The edits of the statement and of every use of an attribute."""
        self._check_self()
        self._name()
        changes = super().changes()
        found = self.found
        wanted: list[rewrite.Change] = []
        for node in found.uses:
            statement = found.module.statement(node)
            if statement in self._copies.values():
                wanted.append(Remove(statement))
            else:
                text = self._text_of(node.attr)
                wanted.append(Replace(node, text if text.isidentifier() else code(text)))
        return [*changes, *Change.every((found.module, change) for change in wanted), *self._documented()]

    def _documented(self) -> list[Change]:
        """The text of the class for a function that has none."""
        owner, first = self.found.owner, self.found.function.body[0]
        assert isinstance(owner.node, ast.ClassDef)
        both = ast.get_docstring(self.found.function) is None and ast.get_docstring(owner.node) is not None
        if not self._documents or not both or optimizes(owner) or self.module.indent(first) is None:
            return []
        text = owner.node.body[0]
        if text.lineno != text.end_lineno and text.col_offset != first.col_offset:
            return []
        new = Insert(owner.module.cst.statement(text), before=first, above=True)
        return Change.every([(self.module, new)], [owner.module])

    def _check_self(self) -> None:
        for node in walk(self.function):
            if isinstance(node, ast.Name) and node.id == self.own:
                parent = self.home.parent(node)
                if not isinstance(parent, ast.Attribute):
                    raise Unsupported(f"`{self.own}` is used as a whole", node)
                if lookup(self.drafts.project, self.found.owner, parent.attr) is not None:
                    raise Unsupported(f"`__init__` calls `{parent.attr}`", parent)
                if self.home.nearest(node, (ast.JoinedStr, ast.Lambda)) is not None:
                    raise Unsupported(f"`{self.own}` is used in a lambda or a string", node)

    def _name(self) -> None:
        """Decide which attributes are the same as a parameter of `__init__`, and name the others."""
        own = {a.arg for a in walk(self.function.args) if isinstance(a, ast.arg)}
        counts = Counter(name for statement in self.body for name in _bound(statement))
        kept: list[ast.stmt] = []
        plain: dict[str, str] = {}
        for statement in self.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            value = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Attribute) and self._is_own(target, self.found.made) and self._alone(target.attr):
                if (
                    isinstance(value, ast.Name)
                    and value.id in self._own_names()
                    and counts[value.id] <= (value.id not in own)
                ):
                    plain[target.attr] = value.id
                    continue
            kept.append(statement)
        self.body = kept
        taken = self._callers_names() | self._own_names() | self.home.bound_names | _TAKEN
        attributes = dict.fromkeys(node.attr for node in self._stores)
        read = {node.attr for node in self.found.uses} | {
            node.attr for node in walk(self.function) if isinstance(node, ast.Attribute)
        }
        self._constants = {name: text for name, text in self._of_class() if name in read and name not in attributes}
        for attribute in [*attributes, *self._constants]:
            if attribute in plain:
                self.names[attribute] = plain[attribute]
                continue
            copied = self._copied(attribute)
            if copied is not None:
                self.names[attribute] = copied
                continue
            wanted = attribute.strip("_") or attribute
            wanted = wanted.lower() if attribute in self._constants else wanted
            free = wanted == self.found.name and wanted not in self._own_names()  # it holds nothing any more
            if not free:
                wanted = wanted if wanted not in taken else f"{self.found.name}_{wanted}"
            while wanted in taken and not free:
                wanted += "_"
            taken = taken | {wanted}
            self.names[attribute] = wanted
        self._plain = frozenset(plain)

    def _copied(self, attribute: str) -> str | None:
        """The one variable that gets the last value of an attribute: it can be the attribute from the first."""
        module, function = self.module, self.found.function
        stores = [node for node in self._stores if node.attr == attribute and self._is_own(node, function)]
        if not stores or len(stores) < len([node for node in self._stores if node.attr == attribute]):
            return None
        for node in self.found.uses:
            statement = module.parent(node)
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if node.attr != attribute or not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
                continue
            looped = module.nearest(statement, (ast.For, ast.While)) is not None
            last = max(store.lineno for store in stores) < statement.lineno
            once = len(module.bindings(target)) == 1 and module.scope(target) is module.scope(function.body[0])
            if last and once and not looped and statement.value is node and target.id not in self._copies:
                self._copies[target.id] = statement
                return target.id
        return None

    def _of_class(self) -> Iterator[tuple[str, str]]:
        """Constants of the class, and of those that it is derived from."""
        seen: set[str] = set()
        for owner in ancestors(self.drafts.project, self.found.owner):
            for statement in owner.node.body if isinstance(owner.node, ast.ClassDef) else ():
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and target.id not in seen:
                    seen.add(target.id)
                    if isinstance(statement.value, ast.Constant) and len(owner.module.bindings(target)) == 1:
                        yield target.id, owner.module.segment(statement.value)

    def _lines(self, arguments: dict[str, ast.expr], target: str | None) -> list[Statement]:
        lines = super()._lines(arguments, target)
        return [
            *(line for name, text in self._constants.items() for line in assigned(self.names[name], code(text))),
            *lines,
        ]

    def _alone(self, attribute: str) -> bool:
        """Whether an attribute is set in one place."""
        return len([node for node in self._stores if node.attr == attribute]) == 1

    def _text_of(self, attribute: str) -> str:
        """What stands for an attribute, once the parameters have their values."""
        if attribute not in self.names:
            raise Unsupported(f"where `{attribute}` of the object is set is not seen", self.found.statement)
        name = self.names[attribute]
        if attribute not in self._plain:
            return name
        text = self.text[name]
        last = text.rpartition(".")[2]
        changed = [n for n in walk(self.found.function) if isinstance(n, ast.Attribute) and n.attr == last]
        if "." in text and any(not isinstance(n.ctx, ast.Load) for n in changed):
            raise Unsupported(f"`{text}`, which the object holds, gets another value", self.found.statement)
        if not text.isidentifier():
            return text
        bindings = self.module.scope(self.found.statement).bindings.get(text, [])
        if len(bindings) > 1:
            raise Unsupported(f"`{text}`, which the object holds, gets another value", self.found.statement)
        return text

    def _instead(self, node: ast.AST) -> cst.BaseExpression | None:
        if isinstance(node, ast.Attribute) and self._is_own(node, self.found.made):
            return code(self._text_of(node.attr))
        return super()._instead(node)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Every name that a statement gives a value, as often as it does."""
    for node in walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
