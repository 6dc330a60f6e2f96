"""Properties of a class that is taken apart become methods that are called: ``self.training`` is ``self.training()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator import rewrite
from migrator.normalise.draft.draft import Change
from migrator.normalise.objects.methods import class_of, own_method
from migrator.normalise.objects.unbox import ancestors
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr
from migrator.vocabulary.unsupported import Unsupported


def as_methods(project: Project, owner: Definition, readers: list[ast.FunctionDef]) -> list[Change]:
    """The edits for one property that `readers`, methods of the class, read of their object; none without such. Raises
    Unsupported where the property is more than a method without parentheses, or who reads it is not seen."""
    family = list(dict.fromkeys(_family(project, owner)))
    for name in dict.fromkeys(name for function in readers for name in _read(function)):
        made = [(one, method) for one in family if (method := _method(one, name)) is not None]
        if any(_is_property(one.module, method) for one, method in made):
            return _as_method(project, family, name, made)
    return []


def _family(project: Project, owner: Definition) -> Iterator[Definition]:
    for above in ancestors(project, owner):
        yield above
        yield from project.subclasses(above)


def _method(owner: Definition, name: str) -> ast.FunctionDef | None:
    assert isinstance(owner.node, ast.ClassDef)
    return own_method(owner.node, name)


def _is_property(module: Module, method: ast.FunctionDef) -> bool:
    names = [d.id for d in method.decorator_list if isinstance(d, ast.Name) and not module.bindings(d)]
    return names == ["property"] and len(method.decorator_list) == 1


def _read(function: ast.FunctionDef) -> Iterator[str]:
    own = function.args.args[0].arg if function.args.args else ""
    for node in walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            yield node.attr


def _as_method(
    project: Project, family: list[Definition], name: str, made: list[tuple[Definition, ast.FunctionDef]]
) -> list[Change]:
    wanted: list[tuple[Module, rewrite.Change]] = []
    for one, method in made:
        same = [s for s in one.node.body if isinstance(s, ast.FunctionDef) and s.name == name]
        if not _is_property(one.module, method) or len(same) > 1:
            raise Unsupported(
                f"`{name}` of the object is a property with a setter, or a method in another class", method
            )
        old = one.module.cst.statement(method)
        wanted.append((one.module, Replace(method, old.with_changes(decorators=()))))
    for module in project.modules.values():
        for node in module.nodes(ast.Attribute) if name.encode() in module.source else ():
            if node.attr == name and _is_of(project, module, node, family):
                if not isinstance(node.ctx, ast.Load) or any(
                    isinstance(a, ast.JoinedStr) for a in module.ancestors(node)
                ):
                    raise Unsupported(f"`{name}` of the object is a property that is set, or stands in a string", node)
                wanted.append((module, Replace(node, expr("{read}()", read=module.cst.expression(node)))))
    return Change.every(wanted)


def _is_of(project: Project, module: Module, node: ast.Attribute, family: list[Definition]) -> bool:
    """Whether an attribute is that of an object of the classes. Raises Unsupported where that is not seen."""
    if module.resolve(node) is not None or project.definition(module, node) is not None:
        return False
    owner, is_class = class_of(project, module, node.value)
    if owner is None or owner in family and is_class:
        raise Unsupported(f"whether `{module.segment(node)}` is the property of the class is not seen", node)
    return owner in family
