"""Methods that classes in use inherit move into these, so that what they call on their object is seen.

class Base:                          class Net(Base):
    def model_fn(self, …):               def logits(self, …): …
        logits = self.logits(…)
                                         def model_fn(self, …):
class Net(Base):                             logits = self.logits(…)
    def logits(self, …): …
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import outer_names
from migrator.normalise.functions.lift import removal, snake
from migrator.normalise.objects.fluent import made_apart
from migrator.normalise.objects.methods import Method, class_of, lookup, method_of
from migrator.normalise.objects.unbox import ancestors
from migrator.normalise.values.decorated import may_hand_on
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, Unprintable, expr, statements
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst


def moved_down(drafts: Drafts, module: Module, found: Method) -> list[Change]:
    """The edits that move a method into the class of the object that `found.receiver` of `module` is, and into all others that
    share it; none where it stands there, or calls nothing that this class has anew. Raises Unsupported."""
    project = drafts.project
    owner, is_class = class_of(project, module, found.receiver)
    if owner is None or is_class or owner == found.owner or found.kind != "plain":
        return []
    if not _calls_down(project, owner, found):
        return []
    _check(project, owner, found)
    changes = [change for one in _sharing(project, owner, found) for change in _copied(drafts, one, found)]
    return [*changes, *Change.of(found.module, removal(found.function))]


def calls_above(project: Project, module: Module, found: Method) -> Iterator[tuple[Module, ast.Call, Method]]:
    """The calls by way of ``super()`` of a method, and of what it calls on its object, with the methods that they run."""
    owner, _ = class_of(project, module, found.receiver)
    for home, function in called(project, owner or found.owner, found) if found.kind == "plain" else ():
        for call in (node for node in walk(function) if isinstance(node, ast.Call)):
            above = method_of(project, home, call.func)
            if above is not None and above.own:
                yield home, call, above


def named_object(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that give the object of ``Estimator(Net(params).model_fn)`` a name, in a line before it. Raises Unsupported."""
    made, statement = drafts.project.definition(module, call.func), module.statement(call)
    if made is None or not isinstance(made.node, ast.ClassDef):
        return []
    apart = made_apart(drafts.project, module, call)
    if apart:
        return apart
    around = [a for a in module.ancestors(call) if isinstance(a, ast.expr)]
    straight = all(isinstance(a, (ast.Call, ast.Attribute)) for a in around) and "\n" not in module.segment(call)
    if (
        module.indent(statement) is None
        or not straight
        or not isinstance(statement, (ast.Assign, ast.Return, ast.Expr))
    ):
        raise Unsupported("an object that is made in the head of a compound statement is not followed", call)
    name = module.unused_name(snake(made.name), statement)
    made_first = Insert(statements("{name} = {call}", name=name, call=module.cst.call(call)), before=statement)
    return Change.every([(module, made_first), (module, Replace(call, name))])


def _sharing(project: Project, owner: Definition, found: Method) -> list[Definition]:
    """The classes whose objects run the method: `owner`, and others that are made. Raises Unsupported where that is the one that
    defines it."""
    name = found.function.name
    lineage = [one for one in ancestors(project, owner) if one != owner]
    classes = [owner]
    for one in (found.owner, *project.subclasses(found.owner)):
        if one == owner or (lookup(project, one, name) or (None,))[0] != found.owner:
            continue
        if _is_made(project, one):
            if one in (found.owner, *lineage):
                raise Unsupported(f"several classes share `{name}`, which calls what they have anew", found.function)
            classes.append(one)
    return classes


def _copied(drafts: Drafts, owner: Definition, found: Method) -> list[Change]:
    """The edits that put the text of the method at the end of a class."""
    function, home = found.function, found.module
    assert isinstance(owner.node, ast.ClassDef)
    last = owner.node.body[-1]
    names = outer_names(drafts, owner.module, last, home, function)
    texts = {name: text for name, text in names.texts.items() if text != name}
    table: dict[ast.AST, cst.BaseExpression] = {
        node: expr(texts[node.id])
        for node in walk(function)
        if isinstance(node, ast.Name) and node.id in texts and home.scope(node).lookup(node.id) is home.analysis.root
    }
    imports = Change.every((owner.module, change) for change in names.changes)
    return [*imports, *_appended(home, function, table, owner.module, last)]


def _appended(
    home: Module, function: ast.FunctionDef, table: dict[ast.AST, cst.BaseExpression], module: Module, last: ast.stmt
) -> list[Change]:
    """The edits that put a function of `home` behind a statement of a module, with others in the place of nodes in it."""
    try:
        new = home.cst.statement(function, table)
        found = module.cst.written([Insert(new, after=last, apart=True)], [home.cst])
    except Unprintable as error:
        raise Unsupported(str(error)) from error
    return [Change(written.edit, written.origins, moved=True) for written in found]


def maker_moved_down(drafts: Drafts, module: Module, node: ast.expr) -> list[Change]:
    """The edits that move the method which makes an Estimator of ``self.model_fn`` into the classes of its objects, where those
    differ in what that calls; none elsewhere. Raises Unsupported."""
    project = drafts.project
    maker = module.nearest(node, ast.FunctionDef)
    owner, is_class = class_of(project, module, node.value) if isinstance(node, ast.Attribute) else (None, False)
    if maker is None or owner is None or is_class or module.parent(maker) is not owner.node:
        return []
    assert isinstance(node, ast.Attribute)
    below, own = project.subclasses(owner), lookup(project, owner, node.attr)
    differs = any(lookup(project, one, node.attr) != own for one in below)
    if own is not None and not differs:
        found = Method(own[0], own[1], node.value, "plain")
        differs = any(_calls_down(project, one, found) for one in below)
    if not differs:
        return []
    method = Method(owner, maker, node.value, "plain")
    _check_text(project, method)
    made = [one for one in below if lookup(project, one, maker.name) == (owner, maker) and _is_made(project, one)]
    if not made or _is_made(project, owner):
        raise Unsupported(f"several classes share `{maker.name}`, which calls what they have anew", maker)
    return [*(change for one in made for change in _copied(drafts, one, method)), *Change.of(module, removal(maker))]


def _calls_down(project: Project, owner: Definition, found: Method) -> bool:
    """Whether the method uses something that the class of the object has anew, itself or in what it calls."""
    return any(
        lookup(project, owner, name) != lookup(project, found.owner, name)
        for _, function in called(project, found.owner, found)
        for name in used(function)
    )


def called(project: Project, owner: Definition, found: Method) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """A method, and all methods that it runs on its object of the class `owner`, itself or through others."""
    waiting, seen = [(found.module, found.function)], {found.function}
    while waiting:
        module, function = waiting.pop()
        yield module, function
        for name in used(function):
            other = lookup(project, owner, name)
            if other is not None and other[1] not in seen:
                seen.add(other[1])
                waiting.append((other[0].module, other[1]))


def used(function: ast.FunctionDef) -> Iterator[str]:
    """What a method uses of its object."""
    own = function.args.args[0].arg if function.args.args else ""
    for node in walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            yield node.attr


def _check(project: Project, owner: Definition, found: Method) -> None:
    """Raise Unsupported where an object of another class may run the method, or where its text means something else below."""
    name = found.function.name
    if any(lookup(project, one, name) != lookup(project, owner, name) for one in project.subclasses(owner)):
        raise Unsupported(f"which `{name}` runs is known at run time only", found.function)
    _check_text(project, found)


def _check_text(project: Project, found: Method) -> None:
    """Raise Unsupported where the text of a method means something else in another class, or others call it by its class."""
    name = found.function.name
    for module in project.modules.values():
        for call in module.nodes(ast.Attribute) if name.encode() in module.source else ():
            above = call.value.func if isinstance(call.value, ast.Call) else call.value
            named = isinstance(above, ast.Name) and above.id == "super" and above is not call.value
            if call.attr == name and (named or project.definition(module, call.value) == found.owner):
                inside = module.nearest(call, ast.ClassDef)
                if inside is None or Definition(module, inside) in project.subclasses(found.owner):
                    raise Unsupported(f"`{name}` of a base class is called by its name", call)
    for node in walk(found.function):
        if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
            raise Unsupported(f"`{name}` of a base class uses `{node.id}`", node)
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            raise Unsupported(f"`{name}` of a base class uses a name that is private to it", node)
    if found.function.decorator_list:
        raise Unsupported(f"`{name}` of a base class has a decorator", found.function)


def _is_made(project: Project, owner: Definition) -> bool:
    """Whether a class is used for more than to derive from it, in whatever file; a decorator may hand it on."""
    return may_hand_on(owner) or any(
        _makes(module, node) for module in project.modules.values() for node in project.uses(owner, module)
    )


def _makes(module: Module, node: ast.expr) -> bool:
    """Whether a class is used for more than to derive from it, and to say ``super(Net, self)``."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "super":
        return False
    return not (isinstance(parent, ast.ClassDef) and node in parent.bases)
