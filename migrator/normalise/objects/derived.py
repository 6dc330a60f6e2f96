"""Classes that only say how a library class is made become functions that make it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, Unprintable, code, statements, with_parameters
from migrator.vocabulary.unsupported import Unsupported


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
                changes = _function(drafts, module, node, base)
            except (Unsupported, Unprintable) as stuck:
                drafts.obstacles[path, module.segment(base)] = stuck.reason
                break
            drafts.apply(changes)


def _classes(drafts: Drafts, module: Module, is_base: Callable[[str], bool]) -> Iterator[tuple[ast.ClassDef, ast.expr]]:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                name = module.resolve(base)
                if name is not None and is_base(name):
                    yield node, base


def _function(drafts: Drafts, module: Module, node: ast.ClassDef, base: ast.expr) -> list[Change]:
    """The edits of one class. Raises Unsupported, and Unprintable."""
    if len(node.bases) > 1 or node.keywords or node.decorator_list:
        raise Unsupported("it has other bases, keywords or decorators", node)
    made, others = None, []
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            made = statement
        elif not isinstance(statement, ast.Pass) and not _is_text(statement):
            others.append(statement)
    if others:
        what = f"a method `{others[0].name}`" if isinstance(others[0], ast.FunctionDef) else "attributes"
        raise Unsupported(f"it has {what} of its own", others[0])
    if made is None or made.decorator_list:
        raise Unsupported("it has no plain `__init__`", node)
    if module.indent(made.body[0]) is None:
        raise Unsupported("its `__init__` stands on one line", made)
    call = _last_call(node, made)
    _check_self(module, made, call)
    _check_uses(drafts, module, node)
    return _changes(module, node, made, base, call)


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
    raise Unsupported("its `__init__` does not end in `super().__init__(…)`", last)


def _check_self(module: Module, made: ast.FunctionDef, call: ast.Call) -> None:
    """The object is nothing but what the last call makes."""
    name = made.args.args[0].arg
    owner = {id(n) for n in walk(call.func)}
    for part in walk(made):
        if isinstance(part, ast.Name) and part.id in (name, "__class__", "super") and id(part) not in owner:
            raise Unsupported(f"its `__init__` uses `{part.id}`", part)
        if isinstance(part, ast.Return):
            function = next(a for a in module.ancestors(part) if isinstance(a, (ast.FunctionDef, ast.Lambda)))
            if function is made:
                raise Unsupported("its `__init__` returns early", part)


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
                raise Unsupported("it is used for more than making Estimators", part)


def _changes(module: Module, node: ast.ClassDef, made: ast.FunctionDef, base: ast.expr, call: ast.Call) -> list[Change]:
    file, text, wanted = module.cst, ast.get_docstring(node), list[rewrite.Change]()
    returns = made.returns is None  # else it says None, which is not what the function returns
    head = with_parameters(file.statement(made), name=node.name, drop=[made.args.args[0].arg], returns=returns)
    if text is not None and ast.get_docstring(made) is None:
        wanted.append(Insert(file.statement(node.body[0]), before=made.body[0]))
    elif text is not None:
        lines = [*(f"# {line}".rstrip() for line in text.splitlines()), "pass"]
        head = head.with_changes(leading_lines=[*statements("\n".join(lines))[0].leading_lines, *head.leading_lines])
    function = code(module.segment(base))  # written anew: the line is that of the call
    result = statements("return {made}", made=file.call(call).with_changes(func=function))
    wanted.append(Replace(made.body[-1], result))
    return Change.every((module, change) for change in (*wanted, Replace(node, head)))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
