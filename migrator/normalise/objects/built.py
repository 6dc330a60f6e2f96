"""A class whose `__init__` builds a part of the graph becomes the function that it is: tensors in, tensors out.

``model = BertModel(config, is_training, input_ids)`` and ``model.pooled_output`` are a call and its result. The function has
the name of the class, so that calls and imports stay; it returns what any program reads of the object.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator import rewrite
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import binds_locally, is_dotted
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.objects.methods import Method, method_of
from migrator.normalise.objects.unbox import Box, is_getter, method_calls
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, Statement, code, lines, statements, with_parameters
from migrator.vocabulary.unsupported import Unsupported

_WIDTH = 100
_OUTPUTS = "outputs"
"""What a caller names several results, if it can."""


@dataclass
class _Results:
    """What stands for the attributes of the objects of one class."""

    names: dict[str, str] = field(default_factory=dict)
    """Variables of the function."""
    given: dict[str, str] = field(default_factory=dict)
    """Parameters that an attribute just keeps."""
    constants: dict[str, str] = field(default_factory=dict)
    """Texts of constants of the class."""
    returned: list[str] = field(default_factory=list)
    """Attributes that callers read of the result, or that methods hand out, in the order in which they are set."""


class Building:
    """All objects of a class, and the function that takes its place. `changes` raises Unsupported."""

    def __init__(self, drafts: Drafts, owner: Definition, boxes: list[Box]) -> None:
        self.drafts = drafts
        self.owner = owner
        self.boxes = boxes
        self.made = boxes[0].made
        self.module = owner.module
        self.own = self.made.args.args[0].arg
        body = self.made.body
        self.body = body[1:] if ast.get_docstring(self.made, clean=False) is not None else body

    def getters(self) -> Iterator[tuple[Module, ast.Call, Method]]:
        """The calls of methods that hand out attributes. Raises Unsupported where a method does more."""
        project = self.drafts.project
        calls = [(found, call) for found in self.boxes for call in method_calls(project, found)]
        methods = [(found, call, method_of(project, found.module, call.func)) for found, call in calls]
        for _, call, method in methods:
            if method is None or not is_getter(method.function):
                raise Unsupported("a method that does more than to hand out an attribute stays", call)
        yield from ((found.module, call, method) for found, call, method in methods if method is not None)

    def changes(self) -> list[Change]:
        """The edits of the class and of every place that makes an object of it."""
        self._check()
        results = self._results()
        wanted = [(self.module, change) for change in self._function(results)]
        for found in self.boxes:
            wanted += [(found.module, change) for change in self._caller(found, results)]
        return Change.every(wanted)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        node = self.owner.node
        assert isinstance(node, ast.ClassDef)
        if self.boxes[0].home != self.owner or not isinstance(self.module.parent(node), ast.Module):
            raise Unsupported("the `__init__` of a base class, or of a class in a function, stays", node)
        if self.drafts.project.subclasses(self.owner) or own_returns(self.made):
            raise Unsupported("a class that others derive from, or whose `__init__` returns, stays", node)
        known = {id(found.call.func) for found in self.boxes}
        inside = {id(n) for n in walk(node)}
        for other in self.drafts.project.modules.values():
            for use in self.drafts.project.uses(self.owner, other):
                if id(use) not in known and id(use) not in inside:
                    raise Unsupported(f"`{self.owner.name}` is used for more than to make objects", use)
        for name in (n for n in walk(self.made) if isinstance(n, ast.Name) and n.id == self.own):
            if not isinstance(self.module.parent(name), ast.Attribute):
                raise Unsupported(f"`{self.own}` is used as a whole", name)
            if any(isinstance(a, (ast.JoinedStr, ast.Lambda, ast.FunctionDef)) for a in self._around(name)):
                raise Unsupported(f"`{self.own}` is used in a lambda, a string or a nested function", name)
        for found in self.boxes:
            for attribute in found.uses:
                if not isinstance(attribute.ctx, ast.Load):
                    raise Unsupported(f"`{found.name}.{attribute.attr}` is set outside of its class", attribute)
                call = found.module.parent(attribute)
                if isinstance(call, ast.Call) and call.func is attribute:
                    raise Unsupported(f"`{found.name}.{attribute.attr}` is a layer, not a result", attribute)

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        for above in self.module.ancestors(node):
            if above is self.made:
                return
            yield above

    # -- names --------------------------------------------------------------------------------------------------------

    def _attributes(self, ctx: type[ast.expr_context]) -> list[ast.Attribute]:
        """The attributes that `__init__` sets, or reads, in order."""
        found = [n for n in walk(self.made) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ctx)]
        own = [n for n in found if isinstance(n.value, ast.Name) and n.value.id == self.own]
        return sorted(own, key=lambda n: (n.lineno, n.col_offset))

    def _results(self) -> _Results:
        results = _Results()
        stores = self._attributes(ast.Store)
        counts = Counter(n.attr for n in stores)
        rebound = Counter(name for statement in self.body for name in _bound(statement))
        own = set(parameters(self.made))
        local = own.union(*(binds_locally(s) for s in self.body))
        taken = local | set(self.module.analysis.root.bindings)
        self._kept: set[ast.stmt] = set()
        for store in stores:
            if store.attr in results.names:
                continue
            statement = self.module.parent(store)
            value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            alias = isinstance(value, ast.Name) and value.id in local and counts[store.attr] == 1
            if isinstance(value, ast.Name) and alias and rebound[value.id] <= (value.id not in own):
                assert isinstance(statement, ast.stmt)
                self._kept.add(statement)
                results.names[store.attr] = value.id
                if value.id in own:
                    results.given[store.attr] = value.id
                continue
            name = store.attr.strip("_") or store.attr
            while name in taken:
                name += "_"
            taken.add(name)
            results.names[store.attr] = name
        results.constants = dict(self._constants(set(results.names)))
        read = {n.attr for found in self.boxes for n in found.uses}
        for name in [*sorted(read), *(n.attr for n in self._attributes(ast.Load))]:
            if name not in results.names and name not in results.constants:
                raise Unsupported(f"where `{name}` of the object is set is not seen", self.made)
        always = {n.attr for n in stores if self._is_straight(n)}
        used = [n for n in results.names if n in read and n not in results.given]
        if not set(used) <= always:
            raise Unsupported("an attribute of the object is set on some ways only", self.made)
        if not used:
            raise Unsupported("nothing reads what the object holds", self.boxes[0].statement)
        shown = set(self._shown()) & always - set(results.given)
        results.returned = [n for n in results.names if n in used or n in shown]
        return results

    def _shown(self) -> Iterator[str]:
        """Attributes that methods hand out: ``return self.sequence_output``."""
        assert isinstance(self.owner.node, ast.ClassDef)
        for method in self.owner.node.body:
            if isinstance(method, ast.FunctionDef) and is_getter(method):
                last = method.body[-1]
                assert isinstance(last, ast.Return) and isinstance(last.value, ast.Attribute)
                yield last.value.attr

    def _constants(self, attributes: set[str]) -> Iterator[tuple[str, str]]:
        assert isinstance(self.owner.node, ast.ClassDef)
        for statement in self.owner.node.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and target.id not in attributes:
                if isinstance(statement.value, ast.Constant) and len(self.module.bindings(target)) == 1:
                    yield target.id, self.module.segment(statement.value)

    def _is_straight(self, node: ast.AST) -> bool:
        """Whether a statement runs whenever an object is made."""
        around = [a for a in self._around(node) if isinstance(a, ast.stmt)]
        return all(isinstance(a, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With)) for a in around)

    # -- text ---------------------------------------------------------------------------------------------------------

    def _function(self, results: _Results) -> Iterator[rewrite.Change]:
        file, node, args = self.module.cst, self.owner.node, self.made.args
        assert isinstance(node, ast.ClassDef)
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or not args.args[1:]:
            raise Unsupported("an `__init__` with *args, keyword-only or no parameters is not followed", self.made)
        head = with_parameters(file.statement(self.made), name=node.name, drop=[self.own], returns=False)
        pairs = [f'"{name}": {results.names[name]}' for name in results.returned]
        last = f"return {{{', '.join(pairs)}}}"
        if len(results.returned) == 1:
            last = f"return {results.names[results.returned[0]]}"
        elif len(last) > _WIDTH:
            last = "\n".join(["return {", *(f"    {pair}," for pair in pairs), "}"])
        yield Replace(node, head.with_changes(leading_lines=()))
        yield Insert(self._documentation(), before=self.made.body[0], above=True)
        yield Insert(lines(last), into=self.made)
        yield from map(Remove, {*self.made.body[: -len(self.body)], *self._kept})
        kept = {id(node) for statement in self._kept for node in walk(statement)}
        for read in (n for n in walk(self.made) if isinstance(n, ast.Attribute) and id(n) not in kept):
            if isinstance(read.value, ast.Name) and read.value.id == self.own:
                yield Replace(read, code(results.names.get(read.attr) or results.constants[read.attr]))

    def _documentation(self) -> list[Statement]:
        """The text of the class, and that of `__init__` below it."""
        texts = [ast.get_docstring(node) for node in (self.owner.node, self.made)]
        texts = [text for text in texts if text]
        if not texts:
            return []
        text = inspect.cleandoc("\n\n".join(t for t in texts if t))
        if '"""' in text or "\\" in text:
            raise Unsupported("a text with quotes or backslashes is not moved", self.made)
        unit = self.module.cst.indentation
        lines = [unit + line if line else "" for line in f'"""{text}'.split("\n")]
        return statements("{text}", text=code("\n".join(lines).strip() + (f'\n{unit}"""' if len(lines) > 1 else '"""')))

    # -- callers ------------------------------------------------------------------------------------------------------

    def _caller(self, found: Box, results: _Results) -> list[rewrite.Change]:
        module, arguments = found.module, given(self.made, found.call, skip=1)
        changes: list[rewrite.Change] = []
        reads = [n for n in found.uses if n.attr in results.returned]
        for node in found.uses:
            if node.attr in results.constants:
                changes.append(Replace(node, code(results.constants[node.attr])))
            elif node.attr in results.given:
                value = arguments.get(results.given[node.attr])
                if not isinstance(value, ast.Constant) and not self._is_still(module, value):
                    raise Unsupported(f"`{node.attr}`, which the object holds, is not a plain value", found.statement)
                assert value is not None
                changes.append(Replace(node, module.cst.expression(value)))
        target = found.statement.targets[0]
        if len(results.returned) > 1:
            name = _OUTPUTS if _OUTPUTS not in self._names(found) else found.name
            named = [Replace(node, code(f'{name}["{node.attr}"]')) for node in reads]
            return [*changes, Replace(target, name), *named]
        statement = module.parent(reads[0]) if len(reads) == 1 else None
        alias = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(alias, ast.Name) and isinstance(statement, ast.Assign) and self._follows(found, statement, alias):
            return [*changes, Replace(target, alias.id), Remove(statement)]
        name = results.names[results.returned[0]]
        name = name if name not in self._names(found) else found.name
        return [*changes, Replace(target, name), *(Replace(node, name) for node in reads)]

    @staticmethod
    def _names(found: Box) -> set[str]:
        return set(found.module.analysis.root.bindings) | {
            n.id if isinstance(n, ast.Name) else n.arg
            for n in walk(found.function)
            if isinstance(n, (ast.Name, ast.arg))
        }

    @staticmethod
    def _is_still(module: Module, value: ast.expr | None) -> bool:
        """Whether an argument is a name that is bound once, or an attribute of one."""
        root = value
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and is_dotted(value) and len(module.bindings(root)) == 1

    @staticmethod
    def _follows(found: Box, statement: ast.Assign, alias: ast.Name) -> bool:
        """Whether the next statement gives the one result another name, for good."""
        parent = found.module.parent(found.statement)
        body = getattr(parent, "body", [])
        if found.statement not in body or statement not in body or len(found.module.bindings(alias)) > 1:
            return False
        return bool(body.index(statement) == body.index(found.statement) + 1)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Every name that a statement gives a value, as often as it does."""
    for node in walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
