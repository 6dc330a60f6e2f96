"""Input functions that end in an iterator: in TensorFlow 2 they return the dataset.

One that has to be initialized counts as well, where the function leaves that to the initializers of tables.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.reaching import blocks
from migrator.resolve.syntax import is_name, walk
from migrator.resolve.text import Spans
from migrator.rewrite import Change, Remove, Rename, Replace, Statement, code, expr, spaced, statements, with_remark

from .dataset_attributes import dataset_attributes
from .elements import are_single

if TYPE_CHECKING:
    import libcst as cst

ONE_SHOT = "make_one_shot_iterator"
INITIALIZABLE = "make_initializable_iterator"
_METHODS = (ONE_SHOT, INITIALIZABLE)
_FUNCTIONS = frozenset(f"tensorflow.data.{method}" for method in _METHODS)
_DICT_METHODS = frozenset({"pop", "get", "items", "keys", "values", "update", "setdefault"})
_BY_HAND = (
    "an initializable iterator is not migrated yet, as its session is gone: first return the dataset itself, made of the "
    "arrays in place of placeholders, and drop what runs its initializer"
)
_TABLE_INITIALIZERS = "tensorflow.GraphKeys.TABLE_INITIALIZERS"


def one_shot_changes(module: Module, unused: Spans) -> tuple[list[Change], set[ast.AST], list[ast.Call]]:
    """Changes for all functions of a file, the nodes that they take care of, and the iterators of methods that stay for graphs.

    These are in `unused` code alone. Raises Unsupported where another iterator is used in a way that is not followed.
    """
    changes: list[Change] = [*dataset_attributes(module)]
    handled: set[ast.AST] = set()
    left: list[ast.Call] = []
    for node in module.nodes(ast.Call):
        if made_of(module, node) is None:
            continue
        function = module.nearest(node, (ast.FunctionDef, ast.Lambda))
        if function is None:
            raise Unsupported("an iterator outside of a function is not migrated yet", node)
        try:
            initialized = _initialized(module, function, node)
            changes += _changes(module, function, node, initialized)
        except Unsupported:
            if not unused.hold(module.span(node)):
                raise
            left += [] if node.args else [node]
            continue
        for statement in (module.statement(node), *initialized):
            handled.update(walk(statement))
    for other in module.nodes(ast.Attribute):
        if other.attr == INITIALIZABLE and other not in handled and not unused.hold(module.span(other)):
            raise Unsupported(_BY_HAND, other)
    return changes, handled, left


def made_of(module: Module, node: ast.AST | None) -> ast.expr | None:
    """The dataset of ``dataset.make_one_shot_iterator()``."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.args:
            return node.func.value
        if module.resolve(node.func) in _FUNCTIONS and len(node.args) == 1:
            return node.args[0]
    return None


def for_graphs(module: Module, made: ast.Call, tensorflow: str) -> Change:
    """The iterator that a method makes as the function of TensorFlow 1 makes it: datasets of TensorFlow 2 have no such method."""
    assert isinstance(made.func, ast.Attribute)
    form = f"{tensorflow}.compat.v1.data.{made.func.attr}({{dataset}})"
    return Replace(made, expr(form, dataset=module.cst.expression(made.func.value)))


def _initialized(module: Module, function: ast.FunctionDef | ast.Lambda, made: ast.Call) -> list[ast.stmt]:
    """The statements that hand the iterator's initializer to those of the tables. Raises Unsupported for another use."""
    if not any(isinstance(n, ast.Attribute) and n.attr == INITIALIZABLE for n in walk(made.func)):
        return []
    target = getattr(module.statement(made), "targets", [None])[0]
    found = []
    for node in walk(function):
        if not (isinstance(node, ast.Attribute) and node.attr == "initializer"):
            continue
        if not (isinstance(node.value, ast.Name) and isinstance(target, ast.Name) and node.value.id == target.id):
            continue
        call = module.parent(node)
        if not isinstance(call, ast.Call) or call.args[1:] != [node] or call.keywords:
            raise Unsupported(_BY_HAND, node)
        if module.resolve(call.func) != "tensorflow.add_to_collection" or (
            module.resolve(call.args[0]) != _TABLE_INITIALIZERS
        ):
            raise Unsupported(_BY_HAND, node)
        if not isinstance(module.parent(call), ast.Expr):
            raise Unsupported(_BY_HAND, node)
        found.append(module.statement(call))
    if not found:  # something that is not seen here initializes it
        raise Unsupported(_BY_HAND, made)
    return found


def _fetched(node: ast.AST | None) -> ast.AST | None:
    """What ``.get_next()`` is called on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_next":
        return node.func.value
    return None


def _changes(
    module: Module, function: ast.FunctionDef | ast.Lambda, made: ast.Call, initialized: list[ast.stmt]
) -> list[Change]:
    dataset = made_of(module, made)
    assert dataset is not None
    statement = module.statement(made)
    changes: list[Change] = []
    iterator: str | None = None
    if isinstance(statement, ast.Assign) and statement.value is made and isinstance(statement.targets[0], ast.Name):
        iterator = statement.targets[0].id
        if isinstance(dataset, ast.Name):
            changes.append(Remove(statement))
            name = dataset.id
            _check_kept(module, function, statement, name)
        else:
            name = dataset_name(module, function, statement)
            changes += [Rename(statement.targets[0], name), Replace(made, module.cst.expression(dataset))]
    fetches = [
        n
        for n in walk(function)
        if (inner := _fetched(n)) is made or (isinstance(inner, ast.Name) and inner.id == iterator)
    ]
    reads = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == iterator and isinstance(n.ctx, ast.Load)]
    if len(fetches) != 1 or (iterator is not None and len(reads) != 1 + len(initialized)):
        raise Unsupported("the iterator is used for more than one get_next()", made)
    fetch = fetches[0]
    assert isinstance(fetch, ast.Call)
    after = [statement for statement in initialized if statement.lineno > fetch.lineno]
    changes += (Remove(statement) for statement in initialized if statement not in after)
    whole = expr(name) if iterator is not None else module.cst.expression(dataset)
    line = module.statement(fetch)
    if isinstance(function, ast.Lambda) and function.body is fetch:
        return [*changes, Replace(fetch, whole)]
    if isinstance(line, ast.Return) and line.value is fetch:
        return [*changes, Replace(fetch, whole)]
    alone = isinstance(line, ast.Return) and _without_labels(line.value, fetch)
    if isinstance(line, ast.Return) and line.value is not None and alone and are_single(module, dataset):
        return [*changes, Replace(line.value, whole)]
    if not isinstance(line, ast.Assign) or line.value is not fetch or len(line.targets) != 1:
        raise Unsupported("the batch of an iterator is used inside an expression", fetch)
    block = block_of(module, line)
    rest = block[block.index(line) + 1 :]
    if not rest or not isinstance(rest[-1], ast.Return) or rest[-1].value is None:
        raise Unsupported("the function does not return right after it has read the iterator", line)
    target = line.targets[0]
    returned = rest[-1].value
    if len(rest) == 1 + len(after) and ast.unparse(target).strip("()") == ast.unparse(returned).strip("()"):
        # `a, b = it.get_next(); return a, b`
        returned_at_once = statements("return {dataset}", dataset=whole)
        return [*changes, Replace(line, returned_at_once), *(Remove(one, apart=True) for one in rest)]
    held = isinstance(target, ast.Name) and len(rest) == 1
    if held and _without_labels(returned, target) and are_single(module, dataset):
        return [*changes, Replace(line, statements("return {dataset}", dataset=whole)), Remove(rest[0], apart=True)]
    if after:
        raise Unsupported("an iterator whose initializer is collected after it is read is not followed", after[0])
    unnamed = None if iterator is not None or isinstance(dataset, ast.Name) else dataset
    if iterator is None:
        name = dataset_name(module, function, line) if unnamed is not None else module.segment(dataset)
    gone = [*initialized, *([statement] if iterator is not None and isinstance(dataset, ast.Name) else [])]
    made_single = are_single(module, dataset)
    return [*changes, *_mapped(module, line, target, rest, name, gone, made_single, unnamed)]


def _without_labels(returned: ast.expr | None, batch: ast.expr) -> bool:
    """Whether what is returned are the features of a batch, and None for labels: ``return features, None``."""
    if not isinstance(returned, ast.Tuple) or len(returned.elts) != 2 or not is_none(returned.elts[1]):
        return False
    features = returned.elts[0]
    return features is batch or (isinstance(batch, ast.Name) and is_name(features, batch.id))


def dataset_name(
    module: Module, function: ast.FunctionDef | ast.Lambda, statement: ast.stmt, fresh: bool = False
) -> str:
    """A name for the dataset of an iterator: ``dataset``, unless that means something else from here on.

    A `fresh` one means nothing else before, either.
    """
    scope = module.scope(statement)
    names = ["dataset", "batches", "batched_dataset"]
    if scope.lookup(names[0]) is scope and not fresh:
        others = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == names[0]]
        looped = module.nearest(statement, (ast.For, ast.While)) is not None
        if not looped and all(
            module.scope(n) is scope and n.lineno <= (statement.end_lineno or statement.lineno) for n in others
        ):
            return names[0]
    for name in names:
        if scope.lookup(name) is None:
            return name
    raise Unsupported("the dataset of the iterator has no name", statement)


def _mapped(
    module: Module,
    line: ast.Assign,
    target: ast.expr,
    rest: list[ast.stmt],
    dataset: str,
    gone: list[ast.stmt],
    single: bool,
    unnamed: ast.expr | None,
) -> list[Change]:
    """What was done to the batch becomes a function that the dataset maps; the statements in `gone` are deleted.

    `line` goes as well, or, if the dataset is `unnamed`, holds it from then on.
    """
    if not _returns_are_known(module, target, rest):
        raise Unsupported("the function returns in more than one way after it has read the iterator", line)
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    if not all(isinstance(e, ast.Name) for e in elements):
        raise Unsupported("the batch of an iterator is unpacked in a way that is not followed", line)
    if isinstance(target, ast.Name) and not single and not _is_dict(module, rest, target.id):
        raise Unsupported("whether the batch of the iterator is a tuple or a dict is not seen", line)
    name = "transform"
    while name in module.bound_names:
        name += "_batch"
    file = module.cst
    parameters = ", ".join(e.id for e in elements if isinstance(e, ast.Name))
    function: Statement
    tuples: dict[ast.AST, cst.BaseExpression] = {}
    for part in _lists(module, rest):
        listed = code(part.id) if isinstance(part, ast.Name) else file.expression(part)
        if isinstance(part, ast.List) and len(part.elts) == 1 and not isinstance(part.elts[0], ast.Starred):
            tuples[part] = expr("({one},)", one=file.expression(part.elts[0]))
        else:
            tuples[part] = expr("tuple({part})", part=listed)
    body = file.statements(rest, tuples.get)
    (function,) = statements(f"def {name}({parameters}):\n    {{body}}", body=body)
    returned = spaced(statements(f"return {dataset}.map({name})"))
    function = with_remark(function, file.statement(line))
    made: list[Statement] = []
    if unnamed is not None:
        made = statements("{dataset} = {made}", dataset=dataset, made=file.expression(unnamed))
    apart = made or _follows_code(module, line, gone)
    new = [*made, *(spaced([function]) if apart else [function]), *returned]
    return [Replace(line, new), *(Remove(statement) for statement in rest)]


def _lists(module: Module, rest: list[ast.stmt]) -> list[ast.expr]:
    """Features and labels that are returned as lists of tensors, of which a dataset would make one tensor."""
    returned = [node.value for statement in rest for node in walk(statement) if isinstance(node, ast.Return)]
    parts = [part for value in returned for part in (value.elts if isinstance(value, ast.Tuple) else [value]) if part]
    found: list[ast.expr] = []
    for part in parts:
        bound = module.bindings(part) if isinstance(part, ast.Name) else []
        made = [module.parent(binding.node) for binding in bound if binding.node is not None]
        values = [part, *(each.value for each in made if isinstance(each, ast.Assign))]
        if any(isinstance(value, (ast.List, ast.ListComp)) for value in values):
            found.append(part)
    return found


def _returns_are_known(module: Module, target: ast.expr, rest: list[ast.stmt]) -> bool:
    """Whether it is known before the batch is which of several statements returns, so that `map` traces that one alone."""
    computed = {
        n.id
        for part in (target, *rest)
        for n in walk(part)
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    for statement in rest[:-1]:
        for node in walk(statement):
            if not isinstance(node, ast.Return):
                continue
            around = [
                outer for outer in module.ancestors(node) if outer is statement or module.is_inside(outer, statement)
            ]
            if node.value is None or not around or not all(isinstance(outer, ast.If) for outer in around):
                return False
            read = {
                n.id
                for outer in around
                if isinstance(outer, ast.If)
                for n in walk(outer.test)
                if isinstance(n, ast.Name)
            }
            if read & computed:
                return False
    return True


def _follows_code(module: Module, line: ast.stmt, gone: list[ast.stmt]) -> bool:
    """Whether a statement that stays stands right above `line`, in the same block."""
    if block_of(module, line)[0] is line:
        return False
    deleted = {number for s in gone for number in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    above = next(number for number in range(line.lineno - 1, 0, -1) if number not in deleted)
    return bool(module.text.splitlines()[above - 1].strip())


def _check_kept(module: Module, function: ast.FunctionDef | ast.Lambda, statement: ast.stmt, name: str) -> None:
    """Refuse a dataset whose name gets another value once the iterator is made."""
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            if node.lineno > statement.lineno:
                raise Unsupported(f"`{name}` gets another value after its iterator is made", node)


def _is_dict(module: Module, rest: list[ast.stmt], name: str) -> bool:
    """Whether a use of a batch, before its name gets another value, is one that only a dict has: ``batch.pop("key")``."""
    for statement in rest:
        nodes = [n for n in walk(statement) if isinstance(n, ast.Name) and n.id == name]
        if any(_is_read_as_dict(module, n) for n in nodes if isinstance(n.ctx, ast.Load)):
            return True
        if any(isinstance(n.ctx, ast.Store) for n in nodes):
            return False
    return False


def _is_read_as_dict(module: Module, node: ast.Name) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, str)
    if isinstance(parent, ast.Attribute):
        call = module.parent(parent)
        return parent.attr in _DICT_METHODS and isinstance(call, ast.Call) and call.func is parent
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id == "dict" and parent.args == [node]
    if isinstance(parent, ast.Compare):
        keyed = isinstance(parent.left, ast.Constant) and isinstance(parent.left.value, str)
        return keyed and len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.In, ast.NotIn))
    return False


def block_of(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands. Raises Unsupported."""
    for block in blocks(module.parent(statement)):
        if statement in block:
            return block
    raise Unsupported("the batch of an iterator is read in a place that is not followed", statement)
