"""Moves nested functions and methods to the level of the module; what they read from around them becomes parameters."""

from __future__ import annotations

import ast
import re

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.called_objects import may_be_called
from migrator.normalise.objects.methods import may_run
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, code, with_arguments, with_parameters
from migrator.vocabulary.unsupported import Unsupported


def module_name(module: Module, wanted: str, owner: str) -> str:
    """A name that is free in the module: `wanted`, or one that begins with its owner's."""
    name, number = wanted, 1
    if name in module.bound_names:
        name = f"{snake(owner)}_{wanted.strip('_')}"
    while name in module.bound_names:
        number += 1
        name = f"{wanted}_{number}"
    return name


def snake(name: str) -> str:
    """``MyNetwork`` as ``my_network``, ``GRUTagger`` as ``gru_tagger``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", name).lower().strip("_")


def nested_function(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that make a function inside another one a function of the module. Raises Unsupported."""
    outer = module.nearest(function, ast.FunctionDef)
    if outer is None or isinstance(module.parent(function), ast.ClassDef):
        raise Unsupported("it is no nested function", function)
    if function.decorator_list:
        raise Unsupported("a decorated function is not followed", function)
    if any(isinstance(node, ast.Nonlocal) for node in walk(function)):
        raise Unsupported("a nested function that changes names from outside is not followed", function)
    calls, captured = _uses(module, function)
    for call in calls:
        for name in captured:
            holder = module.scope(call).lookup(name)
            if holder is None or holder.kind != "function":
                raise Unsupported(f"`{name}` is not seen where the nested function is called", call)
    new = free_name(module, function, outer)
    for name in captured:
        fields = _fields(drafts, module, function, name)
        if fields:
            return _with_fields(module, function, calls, name, fields)
    changes = moved(module, function, new, captured)
    for call in calls:
        if new != function.name:
            changes.append(Replace(call.func, new))
        if captured:
            changes.append(keywords(module, call, {name: name for name in captured}))
    return Change.every((module, change) for change in changes)


def _fields(drafts: Drafts, module: Module, function: ast.FunctionDef, name: str) -> dict[str, list[ast.Attribute]]:
    """The attributes that a nested function reads of an object of a class of the program, by their names, if it does no more
    with the object."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        made = module.assignment(node)
        owner = (
            drafts.project.definition(module, made.value.func) if made and isinstance(made.value, ast.Call) else None
        )
        field, user = module.parent(node), module.parent(module.parent(node) or node)
        if owner is None or not isinstance(owner.node, ast.ClassDef):
            return {}
        if not isinstance(field, ast.Attribute) or not isinstance(field.ctx, ast.Load):
            return {}
        if isinstance(user, ast.Call) and user.func is field:
            return {}
        found.setdefault(field.attr, []).append(field)
    return found


def _with_fields(
    module: Module, function: ast.FunctionDef, calls: list[ast.Call], name: str, fields: dict[str, list[ast.Attribute]]
) -> list[Change]:
    """The edits that hand a nested function these attributes of the object `name`, which it reads no more. Raises Unsupported."""
    args = function.args
    if (
        args.vararg
        or args.kwarg
        or {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)} & fields.keys()
    ):
        raise Unsupported("a function with *args or **kwargs is not moved", function)
    told = {field: module.unused_name(field, function.body[0]) for field in fields}
    read = {id(place): told[field] for field, places in fields.items() for place in places}
    changes: list[rewrite.Change] = [Replace(p, read[id(p)]) for places in fields.values() for p in places]
    changes += [keywords(module, call, {told[field]: f"{name}.{field}" for field in fields}) for call in calls]
    new = with_parameters(module.cst.statement(function), add=[*told.values()])
    changes.append(Replace(function, new))
    return Change.every((module, change) for change in changes)


def free_name(module: Module, function: ast.FunctionDef, outer: ast.FunctionDef) -> str:
    """The name of a nested function at the level of the module: its own where nothing else has it."""
    new = module_name(module, function.name, outer.name)
    if any(isinstance(b.node, ast.FunctionDef) for b in module.analysis.root.bindings.get(function.name, [])):
        return new
    return function.name if all(h is module.scope(outer) for h in holders(module, function.name)) else new


def moved(module: Module, function: ast.FunctionDef, new: str, extra: list[str]) -> list[rewrite.Change]:
    """The changes that move a function or a method to the level of the module, before the statement that holds it now, as
    `new` and with `extra` parameters. Raises Unsupported, and Unprintable."""
    top: ast.AST = function
    while not isinstance(module.parent(top), ast.Module):
        parent = module.parent(top)
        assert parent is not None
        top = parent
    assert isinstance(top, ast.stmt)
    head = with_parameters(module.cst.statement(function), name=new, drop=_receiver(module, function, extra), add=extra)
    plain = head.with_changes(decorators=())  # ``@staticmethod`` stays behind
    return [Insert(plain, before=top, apart=True), removal(function)]


def holders(module: Module, name: str) -> list[object]:
    """The scopes of a module that bind a name."""
    scopes = {id(s): s for s in (module.analysis.root, *module.analysis.scope_of.values())}
    return [scope for scope in scopes.values() if name in scope.bindings]


def _uses(module: Module, function: ast.FunctionDef) -> tuple[list[ast.Call], list[str]]:
    """The calls of a nested function, and the names that it reads from the functions around it."""
    inside = {id(node) for node in walk(function)}
    holder = module.scope(module.parent(function) or function).lookup(function.name)
    if holder is None or len(holder.bindings[function.name]) != 1:
        raise Unsupported(f"`{function.name}` stands for several functions", function)
    captured: dict[str, None] = {}
    calls: list[ast.Call] = []
    for node, scope in sorted(module.analysis.loads, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
        found = scope.lookup(node.id)
        if found is None:
            continue
        if node.id == function.name and found is holder:
            parent = module.parent(node)
            if id(node) in inside or not isinstance(parent, ast.Call) or parent.func is not node:
                raise Unsupported("a nested function that is handed around is not followed", node)
            calls.append(parent)
        elif id(node) in inside and id(found.node) not in inside and found.kind == "function":
            if any(isinstance(b.node, (ast.FunctionDef, ast.ClassDef, ast.alias)) for b in found.bindings[node.id]):
                raise Unsupported(f"a nested function reads `{node.id}`, which is defined beside it", node)
            captured.setdefault(node.id)
    return calls, list(captured)


def _receiver(module: Module, function: ast.FunctionDef, extra: list[str]) -> list[str]:
    """The parameter of a method for its object. Raises Unsupported for functions that cannot be moved."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    own: list[str] = []
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    if isinstance(module.parent(function), ast.ClassDef) and not static:
        if not positional:
            raise Unsupported("a method without self is not followed", function)
        if len(positional) == 1 and (args.vararg or args.kwarg):
            raise Unsupported("a method with *args or **kwargs is not followed", function)
        own = [positional[0].arg]
    if extra and (args.vararg or args.kwarg):
        raise Unsupported("a function with *args or **kwargs is not moved", function)
    return own


def keywords(module: Module, call: ast.Call, extra: dict[str, str]) -> rewrite.Change:
    """Adds keyword arguments to a call."""
    add = {name: code(text) for name, text in extra.items()}
    return Replace(call, with_arguments(module.cst.call(call), add=add))


def removal(function: ast.FunctionDef | ast.ClassDef) -> rewrite.Change:
    """Deletes a function or a class with its decorators, the comments right above it, and the blank lines that set it off."""
    return Remove(function, apart=True)


def _names_an_op(module: Module, node: ast.Constant) -> bool:
    """Whether a string goes to a function of TensorFlow, as in ``tf.variable_scope("attention")``, or is a key."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict) and any(key is node for key in parent.keys):
        return True
    if isinstance(parent, ast.Subscript) and not isinstance(parent.value, ast.Call):  # not `globals()["f1"]`
        return True
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith("tensorflow.")


_ASKS = re.compile(
    rb"\b(getattr|attrgetter|methodcaller|globals|locals|vars|eval|exec|__import__|import_module|__dict__|modules|patch|fire)\b"
)
"""What finds a function by its name, where a text says that."""

_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _asks(module: Module) -> bool:
    """Whether a file may find a function by a text."""
    if "asks" not in module.memo:
        module.memo["asks"] = _ASKS.search(module.source) is not None
    return bool(module.memo["asks"])


def unused(drafts: Drafts, module: Module, function: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether nothing in the project refers to a function or a class any more, as far as can be seen."""
    name, method = function.name, isinstance(module.parent(function), ast.ClassDef)
    if name.startswith("__") and name != "__call__":
        return False
    inside = {id(node) for node in walk(function)}
    found = Definition(module, function)
    asked = any(map(_asks, drafts.project.modules.values()))
    for other in drafts.project.modules.values():
        for node in _mentions(other).get(name, ()) if name.encode() in other.source else ():
            if id(node) in inside:
                continue
            if isinstance(node, ast.Constant) and (asked or not isinstance(function, ast.FunctionDef)):
                if not _names_an_op(other, node) and not _is_compared(other, node):
                    return False
            if isinstance(node, ast.alias) and not method:
                return False
            if isinstance(node, ast.Attribute) and method:
                if (
                    other.resolve(node) is None
                    and isinstance(function, ast.FunctionDef)
                    and not _is_value(other, node)
                    and may_run(drafts.project, other, node, function)
                ):
                    return False
            elif isinstance(node, ast.Attribute) and drafts.project.definition(other, node) == found:
                return False
            if isinstance(node, ast.Name) and not method:
                if any(binding.node is function for binding in other.bindings(node)):
                    return False
    owner = module.parent(function)
    if name == "__call__" and isinstance(owner, ast.ClassDef):
        return not may_be_called(drafts.project, Definition(module, owner))
    return True


def _is_compared(module: Module, node: ast.Constant) -> bool:
    """Whether a text is only compared with another: ``name == "halved"``, ``"halved" in v.name``."""
    return isinstance(module.parent(node), ast.Compare)


def _is_value(module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute stands where no method does: ``config.optimizer == "adam"``, ``makers[config.optimizer]``."""
    parent = module.parent(node)
    if isinstance(parent, ast.Compare):
        return all(isinstance(operator, _ORDERS) for operator in parent.ops)
    return isinstance(parent, (ast.BinOp, ast.Subscript, ast.FormattedValue))


def _mentions(module: Module) -> dict[str, list[ast.AST]]:
    """The nodes of a file that say a name: as a text, in an import, as an attribute, or by itself."""
    known: dict[str, list[ast.AST]] | None = module.memo.get("mentions")
    if known is None:
        known = module.memo["mentions"] = {}
        for node in walk(module.tree):
            if isinstance(node, ast.Name):
                known.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.Attribute):
                known.setdefault(node.attr, []).append(node)
            elif isinstance(node, ast.alias):
                known.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                known.setdefault(node.value, []).append(node)
    return known
