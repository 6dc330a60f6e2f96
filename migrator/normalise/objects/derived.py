"""Classes that only say how a library class is made become functions that make it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrator.emit.render import Renderer
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.functions.lift import signature as signature_edits
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk


def functions_of_classes(drafts: Drafts, paths: list[str], is_base: Callable[[str], bool]) -> None:
    """Turns ``class Net(Base)`` whose `__init__` ends in ``super().__init__(…)`` into ``def Net`` that ends in
    ``return Base(…)``, for each base of that qualified name. What is no such class stays, with the obstacle noted."""
    for path in paths:
        while True:
            module = drafts.project.modules[path]
            found = next(_classes(drafts, module, is_base), None)
            if found is None:
                break
            node, base = found
            try:
                change = _function(drafts, module, node, base)
            except Stuck as stuck:
                drafts.obstacles[path, module.segment(base)] = stuck.reason
                break
            drafts.apply([change])


def _classes(drafts: Drafts, module: Module, is_base: Callable[[str], bool]) -> Iterator[tuple[ast.ClassDef, ast.expr]]:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                name = module.resolve(base)
                if name is not None and is_base(name):
                    yield node, base


def _function(drafts: Drafts, module: Module, node: ast.ClassDef, base: ast.expr) -> Change:
    """The change of one class. Raises Stuck."""
    if len(node.bases) > 1 or node.keywords or node.decorator_list:
        raise Stuck("it has other bases, keywords or decorators", node)
    made, others = None, []
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            made = statement
        elif not isinstance(statement, ast.Pass) and not _is_text(statement):
            others.append(statement)
    if others:
        what = f"a method `{others[0].name}`" if isinstance(others[0], ast.FunctionDef) else "attributes"
        raise Stuck(f"it has {what} of its own", others[0])
    if made is None or made.decorator_list:
        raise Stuck("it has no plain `__init__`", node)
    if made.body[0].lineno == _colon_line(module, made):
        raise Stuck("its `__init__` stands on one line", made)
    call = _last_call(node, made)
    _check_self(module, made, call)
    _check_uses(drafts, module, node)
    return _change(drafts, module, node, made, base, call)


def _last_call(node: ast.ClassDef, made: ast.FunctionDef) -> ast.Call:
    """The ``super().__init__(…)`` that an `__init__` ends in."""
    last = made.body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        owner = call.func.value
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super":
            given = [argument.id for argument in owner.args if isinstance(argument, ast.Name)]
            if given in ([], [node.name, made.args.args[0].arg]) and not owner.keywords:
                return call
    raise Stuck("its `__init__` does not end in `super().__init__(…)`", last)


def _check_self(module: Module, made: ast.FunctionDef, call: ast.Call) -> None:
    """The object is nothing but what the last call makes."""
    name = made.args.args[0].arg
    owner = {id(n) for n in walk(call.func)}
    for part in walk(made):
        if isinstance(part, ast.Name) and part.id in (name, "__class__", "super") and id(part) not in owner:
            raise Stuck(f"its `__init__` uses `{part.id}`", part)
        if isinstance(part, ast.Return):
            function = next(a for a in module.ancestors(part) if isinstance(a, (ast.FunctionDef, ast.Lambda)))
            if function is made:
                raise Stuck("its `__init__` returns early", part)


def _check_uses(drafts: Drafts, module: Module, node: ast.ClassDef) -> None:
    """The class is only called and imported."""
    own = Definition(module, node)
    for other in drafts.project.modules.values():
        if node.name.encode() not in other.source:
            continue
        for part in walk(other.tree):
            name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else None
            if name != node.name or not isinstance(part, ast.expr):
                continue
            parent = other.parent(part)
            called = isinstance(parent, ast.Call) and parent.func is part
            inside = other.is_inside(part, node)
            if not called and not inside and drafts.project.definition(other, part) == own:
                raise Stuck("it is used for more than making Estimators", part)


def _change(
    drafts: Drafts, module: Module, node: ast.ClassDef, made: ast.FunctionDef, base: ast.expr, call: ast.Call
) -> Change:
    edits = signature_edits(module, made, node.name, [], [])
    edits += [module.edit(call.func, f"return {module.segment(base)}")]
    if made.returns is not None:  # None, which is not what the function returns
        end = module.span(made.returns)[1]
        edits.append(module.edit((module.source.rfind(b")", 0, module.span(made.returns)[0]) + 1, end), ""))
    renderer = Renderer(module, edits)
    lines = renderer.statement(made, lambda part: None, "")
    unit = renderer.indent_of(made.body[0])[len(renderer.indent_of(made)) :]
    while lines and not lines[0].strip():
        lines.pop(0)
    above = next(index for index, line in enumerate(lines) if line.startswith("def "))
    numbers = [max(node.lineno, made.lineno + index - above) for index in range(len(lines))]
    text = ast.get_docstring(node)
    if text is not None and ast.get_docstring(made) is None:
        head = above + _colon_line(module, made) - made.lineno + 1
        quoted = module.segment(node.body[0]).split("\n")
        lines[head:head] = [unit + quoted[0], *quoted[1:]]
        numbers[head:head] = range(node.body[0].lineno, node.body[0].lineno + len(quoted))
    elif text is not None:
        lines[:0] = [f"# {line}".rstrip() for line in text.splitlines()]
        numbers[:0] = [node.body[0].lineno] * len(text.splitlines())
    origins = tuple(drafts.origin(module, number) for number in numbers)
    return Change(module.edit(node, "\n".join(lines)), origins)


def _colon_line(module: Module, function: ast.FunctionDef) -> int:
    """The line on which the head of a function ends."""
    parts = [part for part in walk(function.args) if hasattr(part, "lineno")]
    last = max(module.span(part)[1] for part in [*parts, *([function.returns] if function.returns else [])])
    return module.source.count(b"\n", 0, module.source.index(b":", last)) + 1


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
