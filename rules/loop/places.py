"""Whether code of a program may move to another place, or lines be put around it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator

from migrator.resolve.module import Module
from migrator.resolve.parsing import expression_tree
from migrator.resolve.reaching import blocks
from migrator.resolve.syntax import walk

from .rows import Comprehension

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.Lambda)
"""What code may run several times in."""
_CHANGING = frozenset(
    "add append clear discard extend insert parse_args pop popitem remove set_hparam setdefault sort update".split()
)
"""Methods that change what they are called on."""
_READING = frozenset("format get join split strip lower upper keys values items".split())
"""Methods that only read."""
_PLAIN = frozenset("bool dict float int len list max min range round set sorted str sum tuple abs".split())
"""Functions that only compute."""


def moves(
    module: Module, statement: ast.stmt, to: ast.AST, values: Iterable[ast.expr], along: Collection[ast.stmt] = ()
) -> bool:
    """Whether values mean the same at a place as at the statement, which stands before it in the same block, or in one around
    that by `with` alone; those `along` move with it."""
    between = _between(module, statement, module.statement(to))
    if between is None:
        return False
    between = [each for each in between if each not in along]
    values = list(values)
    parts = [n for value in values for n in walk(value)]
    read = {ast.unparse(n) for n in parts if isinstance(n, (ast.Name, ast.Attribute))}
    held = {id(n.value) for n in parts if isinstance(n, ast.Attribute)}
    whole = {n.id for n in parts if isinstance(n, ast.Name) and id(n) not in held}
    changed = [n for each in between for n in walk(each)]
    stored = {text for n in changed for text in _stored(n)}
    roots = {text.partition(".")[0] for text in stored if "." in text}
    if read & stored or whole & roots:
        return False
    return not any(map(functools.partial(acts, module), parts)) or not any(
        acts(module, n) for each in between if not _is_made(module, each) for n in walk(each)
    )


def _between(module: Module, statement: ast.stmt, target: ast.stmt) -> list[ast.AST] | None:
    """What runs between two statements, the first of which stands in the block of the other, or in one around it."""
    found: list[ast.AST] = []
    block = next(b for b in blocks(module.parent(statement)) if statement in b)
    while target not in block:
        outer = module.parent(target)
        if not isinstance(outer, ast.With):
            return None
        found = [*outer.items, *outer.body[: outer.body.index(target)], *found]
        target = outer
    return [*block[block.index(statement) + 1 : block.index(target)], *found]


def _stored(node: ast.AST) -> Iterator[str]:
    """What a node stores to: a name, an attribute, or what is held by one."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        while isinstance(node, ast.Subscript):
            node = node.value
        yield ast.unparse(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        yield ast.unparse(node.func.value)


def acts(module: Module, node: ast.AST) -> bool:
    """Whether a node is a call that may do more than to return a value; the order of such calls is to be kept."""
    if not isinstance(node, ast.Call) or module.nearest(node, ast.Lambda) is not None:
        return False
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in _READING:
        return False
    name = module.resolve(function) or ""
    if name.startswith(("tensorflow.", "os.path.", "functools.")) or name in _PLAIN:
        return False
    bindings = module.bindings(function) if isinstance(function, ast.Name) else []
    if isinstance(function, ast.Name) and function.id in _PLAIN and not bindings:
        return False
    definition = bindings[0].node if len(bindings) == 1 else None
    return not isinstance(definition, ast.FunctionDef) or not all(
        isinstance(each, (ast.FunctionDef, ast.Return)) and not _calls(module, getattr(each, "value", None))
        for each in definition.body[1 if ast.get_docstring(definition) is not None else 0 :]
    )


def _calls(module: Module, value: ast.expr | None) -> bool:
    """Whether what a function returns is a call of more than a function that only computes."""
    if not isinstance(value, ast.Call):
        return False
    named = [node.func for node in walk(value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    own = any(isinstance(binding.node, ast.FunctionDef) for name in named for binding in module.bindings(name))
    return own or any(acts(module, node) for node in walk(value))


def _is_made(module: Module, statement: ast.AST) -> bool:
    """Whether a statement makes a function, or something of TensorFlow, such as the next one of several that move."""
    if isinstance(statement, ast.FunctionDef):
        return True
    made = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(made, ast.Call) and (module.resolve(made.func) or "").startswith("tensorflow.")


def has_its_line(module: Module, node: ast.AST) -> bool:
    """Whether lines may be put above and below the statement of a node."""
    statement = module.statement(node)
    (start, end), (first, last) = module.span(statement), module.line_span(statement)
    # A cell of a notebook may end with a semicolon, to show nothing.
    behind = module.source[end:last].strip().removeprefix(b";").lstrip()
    alone = not module.source[first:start].strip() and (not behind or behind.startswith(b"#"))
    return alone and module.source[start : start + 4] != b"elif"


def is_simple(node: ast.expr) -> bool:
    """Whether an expression may be written several times."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Constant))


def whole(module: Module, node: ast.expr) -> str:
    """An expression, in parentheses where it has lines that hold together by those around it."""
    text = module.segment(node)
    try:
        expression_tree(text)
    except SyntaxError:
        return f"({text})"
    return text


def stays(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever it is written."""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and len(module.bindings(node)) == 1)


def line_above(module: Module, node: ast.expr) -> ast.stmt | None:
    """The statement that a line may be put before, to the same effect; None where that is not so."""
    statement = module.statement(node)
    start = module.span(statement)[0]
    first = module.line_span(statement)[0]
    if module.source[first:start].strip():
        return None
    below: ast.AST = node
    for outer in module.ancestors(node):
        if outer is statement:
            break
        if isinstance(outer, (ast.Lambda, ast.IfExp, ast.BoolOp)):
            return None
        if isinstance(outer, Comprehension) and not (outer.generators[0].iter is below or below is outer.generators[0]):
            return None
        if isinstance(outer, ast.comprehension) and outer.iter is not below:
            return None
        below = outer
    if isinstance(statement, ast.While) or (isinstance(statement, ast.For) and below is not statement.iter):
        return None
    chained = isinstance(statement, ast.If) and module.source[start : start + 4] == b"elif"
    return None if chained or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.With)) else statement


def counter_of(module: Module, node: ast.AST, made: Iterable[ast.AST]) -> str | None:
    """The name that counts the turns of the loop in which a place stands, ``for epoch in range(epochs):``, and all that is
    `made` does not."""
    around = module.nearest(node, (ast.For, ast.AsyncFor, ast.While, ast.Lambda, ast.FunctionDef, ast.ClassDef))
    if not isinstance(around, ast.For) or not isinstance(around.target, ast.Name) or around.target.id.startswith("_"):
        return None
    turns, target = around.iter, around.target
    counts = isinstance(turns, ast.Call) and isinstance(turns.func, ast.Name) and turns.func.id == "range"
    if not counts or "range" in module.bound_names or not isinstance(turns, ast.Call) or len(turns.args) > 2:
        return None
    bound = [each.node for each in module.bindings(target) if module.is_inside(each.node, around)]
    own = bound == [target] and not any(module.is_inside(each, around) for each in made)
    return target.id if own and not any(node in walk(each) for each in (turns, *around.orelse)) else None
