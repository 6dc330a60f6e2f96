"""Walks over syntax trees, which is where rules about whole functions spend their time."""

from __future__ import annotations

import ast

# Fields that never hold a node that anybody looks for: names, numbers, and whether a name is read or written.
_PLAIN = frozenset({"ctx", "id", "attr", "arg", "module", "asname", "level", "kind", "type_comment", "conversion"})
_FIELDS: dict[type, tuple[str, ...]] = {}
_BLOCKS = ("cases", "finalbody", "orelse", "handlers", "body")
"""Fields with the statements of a statement, the last ones first."""


class AnnotatedAssign(ast.Assign):
    """``name: kind = value``, which is an assignment like any other to all that ask what a name stands for."""

    _fields = ("targets", "annotation", "value", "type_comment")
    annotation: ast.expr


AnnotatedAssign.__name__ = "Assign"  # by which visitors of `ast` find their methods


def assigned(tree: ast.Module) -> ast.Module:
    """`tree`, in which annotated assignments of names became `AnnotatedAssign`; those of a class, its fields, did not."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if block.__class__ is not list:
                continue
            stack += block
            for index, one in enumerate(block if node.__class__ is not ast.ClassDef else ()):
                if one.__class__ is ast.AnnAssign and one.value is not None:
                    new = AnnotatedAssign(targets=[one.target], value=one.value)
                    new.annotation, new.type_comment = one.annotation, None
                    block[index] = ast.copy_location(new, one)
    return tree


def walk(node: ast.AST) -> list[ast.AST]:
    """`node` and all nodes below it but contexts (``ast.Load`` and its like), in the order of `ast.walk`, faster.

    What is below a node is kept with it: nobody changes the nodes of a file. (Not the node itself, which would be kept
    alive by that.)
    """
    below: list[ast.AST] | None = node.__dict__.get("_below")
    if below is None:
        below = children(node)[:]
        add, fields_of, tree = below.append, _fields, ast.AST
        for one in below:  # which grows meanwhile
            for name in _FIELDS.get(one.__class__) or fields_of(one):
                value = getattr(one, name, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, tree):
                            add(item)
                elif isinstance(value, tree):
                    add(value)
        node.__dict__["_below"] = below
    return [node, *below]


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below `node` but contexts, in source order as `ast.iter_child_nodes` has it, faster; not to be changed."""
    found: list[ast.AST] | None = node.__dict__.get("_children")
    if found is None:
        found = []
        for name in _FIELDS.get(node.__class__) or _fields(node):
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
        node.__dict__["_children"] = found
    return found


def _fields(node: ast.AST) -> tuple[str, ...]:
    kind = node.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in kind._fields if name not in _PLAIN)
    return _FIELDS[kind]


def is_name(node: ast.AST, name: str | None) -> bool:
    """Whether a node is a name, and this one."""
    return isinstance(node, ast.Name) and node.id == name


def is_super(node: ast.AST | None) -> bool:
    """Whether a node is a call of ``super``."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def target_name(statement: ast.AST) -> str | None:
    """The one name that a statement gives a value: ``x = …``."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def is_main_block(statement: ast.stmt) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``."""
    return isinstance(statement, ast.If) and any(is_name(node, "__name__") for node in walk(statement.test))


def does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is ``pass``, or nothing but a constant, such as a docstring."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def place_of(node: ast.AST) -> tuple[int, int]:
    """The line, from 1, and the column in bytes, from 0, where an expression or a statement begins: what stands above is less."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def statements(node: ast.AST) -> list[ast.stmt]:
    """All statements below `node` (not `node` itself), those of functions and classes in it too, each before its own.

    Expressions hold no statements, so that most of the tree is not looked at.
    """
    found: list[ast.stmt] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if one is not node and isinstance(one, ast.stmt):
            found.append(one)
        for name in _BLOCKS:
            block = getattr(one, name, None)
            if block.__class__ is list:  # a lambda has one expression
                stack += reversed(block)
    return found
