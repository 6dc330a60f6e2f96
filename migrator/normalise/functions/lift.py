"""Moves nested functions and methods to the level of the module; what they read from around them becomes parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from migrator.emit.render import Renderer
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.objects.methods import may_run
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.vocabulary.diagnostics import Edit

Texts = Callable[[ast.AST], "str | None"]


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
    """``MyNetwork`` as ``my_network``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def nested_function(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that make a function inside another one a function of the module. Raises Stuck."""
    outer = module.nearest(function, ast.FunctionDef)
    if outer is None or isinstance(module.parent(function), ast.ClassDef):
        raise Stuck("it is no nested function", function)
    if function.decorator_list:
        raise Stuck("a decorated function is not followed", function)
    if any(isinstance(node, ast.Nonlocal) for node in walk(function)):
        raise Stuck("a nested function that changes names from outside is not followed", function)
    calls, captured = _uses(module, function)
    for call in calls:
        for name in captured:
            holder = module.scope(call).lookup(name)
            if holder is None or holder.kind != "function":
                raise Stuck(f"`{name}` is not seen where the nested function is called", call)
    new = free_name(module, function, outer)
    changes = [moved(drafts, module, function, new, captured)]
    for call in calls:
        if new != function.name:
            changes.append(Change(module.edit(call.func, new)))
        if captured:
            changes.append(Change(keywords(module, call, {name: name for name in captured})))
    return [*changes, removal(module, function)]


def free_name(module: Module, function: ast.FunctionDef, outer: ast.FunctionDef) -> str:
    """The name of a nested function at the level of the module: its own where nothing else has it."""
    new = module_name(module, function.name, outer.name)
    if any(isinstance(b.node, ast.FunctionDef) for b in module.analysis.root.bindings.get(function.name, [])):
        return new
    return function.name if all(h is module.scope(outer) for h in _holders(module, function.name)) else new


def moved(drafts: Drafts, module: Module, function: ast.FunctionDef, new: str, extra: list[str]) -> Change:
    """The function at the level of the module, as `new` and with `extra` parameters."""
    return _definition(drafts, module, function, new, extra, lambda node: None)


def _holders(module: Module, name: str) -> list[object]:
    """The scopes of a module that bind a name."""
    scopes = {id(s): s for s in (module.analysis.root, *module.analysis.scope_of.values())}
    return [scope for scope in scopes.values() if name in scope.bindings]


def _uses(module: Module, function: ast.FunctionDef) -> tuple[list[ast.Call], list[str]]:
    """The calls of a nested function, and the names that it reads from the functions around it."""
    inside = {id(node) for node in walk(function)}
    holder = module.scope(module.parent(function) or function).lookup(function.name)
    if holder is None or len(holder.bindings[function.name]) != 1:
        raise Stuck(f"`{function.name}` stands for several functions", function)
    captured: dict[str, None] = {}
    calls: list[ast.Call] = []
    for node, scope in sorted(module.analysis.loads, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
        found = scope.lookup(node.id)
        if found is None:
            continue
        if node.id == function.name and found is holder:
            parent = module.parent(node)
            if id(node) in inside or not isinstance(parent, ast.Call) or parent.func is not node:
                raise Stuck("a nested function that is handed around is not followed", node)
            calls.append(parent)
        elif id(node) in inside and id(found.node) not in inside and found.kind == "function":
            if any(isinstance(b.node, (ast.FunctionDef, ast.ClassDef, ast.alias)) for b in found.bindings[node.id]):
                raise Stuck(f"a nested function reads `{node.id}`, which is defined beside it", node)
            captured.setdefault(node.id)
    return calls, list(captured)


def method(
    drafts: Drafts, module: Module, function: ast.FunctionDef, new: str, extra: list[str], texts: Texts
) -> list[Change]:
    """The edits that move a method to the module as `new`, with `extra` parameters; `texts` rewrites its nodes."""
    return [_definition(drafts, module, function, new, extra, texts), removal(module, function)]


def _definition(
    drafts: Drafts, module: Module, function: ast.FunctionDef, new: str, extra: list[str], texts: Texts
) -> Change:
    """The function at the level of the module, before the statement that holds it now."""
    top: ast.AST = function
    while not isinstance(module.parent(top), ast.Module):
        parent = module.parent(top)
        assert parent is not None
        top = parent
    bare = list(function.decorator_list)
    function.decorator_list = []  # ``@staticmethod`` stays behind
    try:
        lines = Renderer(module, signature(module, function, new, extra, bare)).statement(function, texts, "")
    finally:
        function.decorator_list = bare
    while lines and not lines[0].strip():
        lines.pop(0)
    text = "\n".join(lines)
    count = text.count("\n") + 1
    lead = max(0, count - ((function.end_lineno or function.lineno) - function.lineno + 1))
    numbers = (max(1, function.lineno + index - lead) for index in range(count))
    origins = tuple(drafts.origin(module, number) for number in numbers)
    decorators = getattr(top, "decorator_list", [])
    start = min([module.line_span(top)[0], *(module.line_span(d)[0] for d in decorators)])
    return Change(module.insert(module.above_comments(start), text + "\n\n\n"), origins)


def signature(
    module: Module, function: ast.FunctionDef, new: str, extra: list[str], decorators: list[ast.expr]
) -> list[Edit]:
    """The new name, no `self`, and the extra parameters: at the end, by keyword only where others have defaults."""
    start, _ = module.span(function)
    name_at = module.source.index(function.name.encode(), start + len("def"))
    edits = [] if new == function.name else [module.edit((name_at, name_at + len(function.name.encode())), new)]
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    opening = module.source.index(b"(", name_at)
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)
    if isinstance(module.parent(function), ast.ClassDef) and not static:
        if not positional:
            raise Stuck("a method without self is not followed", function)
        first = positional[0]
        stop = module.span(positional[1])[0] if len(positional) > 1 else module.span(first)[1]
        if len(positional) == 1 and (args.vararg or args.kwarg):
            raise Stuck("a method with *args or **kwargs is not followed", function)
        if len(positional) == 1 and args.kwonlyargs:
            stop = module.skip(module.skip(stop) + 1)  # behind the comma
        edits.append(module.edit((module.span(first)[0], stop), ""))
        positional, opening = positional[1:], stop - 1
    if not extra:
        return edits
    if args.vararg or args.kwarg:
        raise Stuck("a function with *args or **kwargs is not moved", function)
    every: list[ast.AST] = [*positional, *args.kwonlyargs, *args.defaults, *(d for d in args.kw_defaults if d)]
    last = max((module.span(node)[1] for node in every), default=opening + 1)
    star = "*, " if args.defaults and not args.kwonlyargs else ""
    return [*edits, module.insert(last, (", " if every else "") + star + ", ".join(extra))]


def keywords(module: Module, call: ast.Call, extra: dict[str, str]) -> Edit:
    """Adds keyword arguments to a call."""
    text = ", ".join(f"{name}={value}" for name, value in extra.items())
    end = module.span(call)[1]
    last = max((module.span(a)[1] for a in (*call.args, *call.keywords)), default=None)
    if last is None:
        return module.insert(end - 1, text)
    while module.source[module.skip(last) : module.skip(last) + 1] == b")" and module.skip(last) + 1 < end:
        last = module.skip(last) + 1  # a parenthesis around the last argument
    return module.insert(last, f", {text}")


def removal(module: Module, function: ast.FunctionDef | ast.ClassDef) -> Change:
    """Deletes a function or a class with its decorators, the comments right above it, and the blank lines that set it off."""
    parent = module.parent(function)
    if getattr(parent, "body", None) == [function]:
        start = min([module.span(function)[0], *(module.span(d)[0] - 1 for d in function.decorator_list)])
        line = module.source.rfind(b"\n", 0, start) + 1
        above = module.above_comments(line) if not module.source[line:start].strip() else line
        if above < line:
            start = above + len(module.source[above:line]) - len(module.source[above:line].lstrip(b" \t"))
        return Change(module.edit((start, module.span(function)[1]), "pass"))
    source = module.source
    first = min([module.line_span(function)[0], *(module.line_span(d)[0] for d in function.decorator_list)])
    first = module.above_comments(first)
    last = end = module.line_span(function)[1]
    while source[last : last + 1] in (b"\n", b"\r"):
        last += 1
    body = getattr(parent, "body", [])
    if function is body[-1]:  # what follows keeps its distance
        last = end
        while source[:first].endswith(b"\n\n"):
            first -= 1
    return Change(module.edit((first, last), ""))


def _names_an_op(module: Module, node: ast.Constant) -> bool:
    """Whether a string goes to a function of TensorFlow, as in ``tf.variable_scope("attention")``, or is a key."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict) and any(key is node for key in parent.keys):
        return True
    if isinstance(parent, ast.Subscript) and not isinstance(parent.value, ast.Call):  # not `globals()["f1"]`
        return True
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith("tensorflow.")


def unused(drafts: Drafts, module: Module, function: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether nothing in the project refers to a function or a class any more, as far as can be seen."""
    name, method = function.name, isinstance(module.parent(function), ast.ClassDef)
    if name.startswith("__") and name != "__call__":
        return False
    inside = {id(node) for node in walk(function)}
    found = Definition(module, function)
    for other in drafts.project.modules.values():
        for node in _mentions(other).get(name, ()) if name.encode() in other.source else ():
            if id(node) in inside:
                continue
            if isinstance(node, ast.Constant) and not _names_an_op(other, node):
                return False
            if isinstance(node, ast.alias) and not method:
                return False
            if isinstance(node, ast.Attribute) and method:
                if (
                    other.resolve(node) is None
                    and isinstance(function, ast.FunctionDef)
                    and may_run(drafts.project, other, node, function)
                ):
                    return False
            elif isinstance(node, ast.Attribute) and drafts.project.definition(other, node) == found:
                return False
            if isinstance(node, ast.Name) and not method:
                if any(binding.node is function for binding in other.bindings(node)):
                    return False
    return True


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
