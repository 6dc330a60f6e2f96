"""Turns of loops that make several layers, such as the blocks of a transformer: each becomes a call of a function.

    for i in range(blocks):
        with tf.variable_scope("block_%d" % i):
            x = attention(x, mask)
            x = normalize(x + tf.layers.dense(x, 8))

calls ``x = encoder_block(x, mask=mask)`` in its scope then, which becomes one layer instead of three lists of layers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from migrator.analyse.statements.names import binds, targets
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import binds_locally
from migrator.normalise.draft.returns import own_statements
from migrator.normalise.draft.roots import reached
from migrator.normalise.functions.lift import module_name
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import children, walk
from migrator.rewrite import Insert, Remove, Replace, Unprintable, statements, with_body

from ..estimator_calls.estimator_values import Construction
from ..model_fns.translations import translations
from .preparing import Judge, roots

_FEWEST = 3
"""Layers of a turn for which a class is worth its lines."""
_MOST = 20
_SCOPE = "tensorflow.variable_scope"
_ODD = (
    ast.Return, ast.Break, ast.Continue, ast.FunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Yield,
    ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Try, ast.While,
)  # fmt: skip
_SUBJECT = re.compile(r"_?(model|network|net|fn|func|function|layers|build|forward|tower)$")


def outlined(drafts: Drafts, constructions: Callable[[], list[Construction]]) -> bool:
    """Make functions of such turns in what model_fns reach. Returns whether there were any."""
    if not any(b"variable_scope" in module.source for module in drafts.project.modules.values()):
        return False
    judge = Judge(drafts, translations())
    for done in range(_MOST):
        project = drafts.project
        functions = reached(project, roots(project, constructions()), judge.makes_layers)
        found = (_function(project, each, judge) for each in functions)
        try:
            changes = next(filter(None, found), None)
            if changes is None:
                return done > 0
            drafts.apply(changes)
        except (SyntaxError, Unprintable):
            return done > 0
    return True


def _function(project: Project, definition: Definition, judge: Judge) -> list[Change]:
    """The changes for the first such loop of a function."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or not isinstance(module.parent(function), ast.Module):
        return []
    for loop in own_statements(function.body):
        scope = _turn(module, loop) if not _is_reused(module, loop) else None
        part = _part(project, module, scope, judge) if scope is not None else []
        changes = _changes(module, function, scope, part) if scope is not None and part else []
        if changes:
            return changes
    return []


def _is_reused(module: Module, loop: ast.stmt) -> bool:
    """Whether a loop, or a scope around it, says something of variables that exist."""
    heads = [item for each in module.ancestors(loop) if isinstance(each, ast.With) for item in each.items]
    nodes = [node for part in (loop, *heads) for node in walk(part)]
    told = (node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "reuse")
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in told)


def _turn(module: Module, loop: ast.stmt) -> ast.With | None:
    """The scope of a turn of a loop, which is named after it."""
    if not isinstance(loop, ast.For) or loop.orelse:
        return None
    scopes = [statement for statement in loop.body if isinstance(statement, ast.With)]
    call = scopes[0].items[0].context_expr if len(scopes) == 1 and len(scopes[0].items) == 1 else None
    if not isinstance(call, ast.Call) or module.resolve(call.func) != _SCOPE or not call.args or call.keywords:
        return None
    named = {node.id for node in walk(call.args[0]) if isinstance(node, ast.Name)} & targets(loop.target)
    plain = scopes[0].items[0].optional_vars is None and not isinstance(call.args[0], ast.Name)
    return scopes[0] if named and plain else None


def _part(project: Project, module: Module, scope: ast.With, judge: Judge) -> list[ast.stmt]:
    """The statements of a scope from the first that makes a layer to the last; none where that are few layers."""
    made = [sum(_makes(project, module, node, judge) for node in walk(each)) for each in scope.body]
    making = [at for at, number in enumerate(made) if number]
    part = scope.body[making[0] : making[-1] + 1] if making else []
    own = set().union(*map(binds_locally, part))
    for each in scope.body[making[-1] + 1 :] if making else ():
        if not isinstance(each, (ast.Assign, ast.AugAssign)) or not own.issuperset(binds(each)):
            break
        part.append(each)
    if sum(made) < _FEWEST or any(isinstance(node, _ODD) for each in part for node in walk(each)):
        return []
    summaries = (module.resolve(n.func) or "" for each in part for n in walk(each) if isinstance(n, ast.Call))
    return [] if any(name.startswith("tensorflow.summary.") for name in summaries) else part


def _makes(project: Project, module: Module, node: ast.AST, judge: Judge) -> bool:
    """Whether a call makes layers."""
    if not isinstance(node, ast.Call):
        return False
    name = module.resolve(node.func)
    if name is not None and name in judge.known.layers:
        return name != _SCOPE
    other = project.definition(module, node.func)
    return other is not None and isinstance(other.node, ast.FunctionDef) and judge.makes_layers(other)


@dataclass
class _Reads:
    """What statements read of the names of a function before they give them values themselves."""

    module: Module
    function: ast.FunctionDef
    found: dict[str, None] = field(default_factory=dict)

    def row(self, body: list[ast.stmt], known: set[str]) -> set[str]:
        """Note the reads of statements in a row; returns the names that have values after them in any case."""
        for statement in body:
            known = self._statement(statement, known)
        return known

    def _statement(self, statement: ast.stmt, known: set[str]) -> set[str]:
        if isinstance(statement, ast.If):
            self._expressions([statement.test], known)
            arms = [self.row(arm, set(known)) for arm in (statement.body, statement.orelse)]
            return arms[0] & arms[1]
        if isinstance(statement, ast.For):
            self._expressions([statement.iter], known)
            self.row(statement.body, known | targets(statement.target))
            self.row(statement.orelse, set(known))
            return known
        if isinstance(statement, ast.With):
            self._expressions([item.context_expr for item in statement.items], known)
            held = [item.optional_vars for item in statement.items if item.optional_vars is not None]
            return self.row(statement.body, known.union(*map(targets, held)))
        self._expressions(children(statement), known)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self._name(statement.target, known)
        return known | binds_locally(statement)

    def _expressions(self, nodes: list[ast.expr] | list[ast.AST], known: set[str]) -> None:
        names = [n for node in nodes for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        for name in names:
            self._name(name, known)

    def _name(self, node: ast.Name, known: set[str]) -> None:
        holder = self.module.scope(node).lookup(node.id)
        if node.id not in known and holder is not None and holder.node is self.function:
            self.found.setdefault(node.id)


def _changes(module: Module, function: ast.FunctionDef, scope: ast.With, part: list[ast.stmt]) -> list[Change]:
    """The changes that put a part of a turn into a function of its own; none where it does more than to compute values."""
    body, left = _without_end(part)
    reads = _Reads(module, function)
    known = reads.row(body, set())
    bound = set().union(*map(binds_locally, body))
    if set().union(*map(binds, body)) - bound:
        return []  # something from outside is changed
    inside = {node for each in body for node in walk(each)}
    outside = set(_read_in(module, function, inside))
    results = [name for name in _in_order(body, bound) if name in outside or name in reads.found]
    if not results or not reads.found or not set(results) <= known | set(reads.found):
        return []
    given = sorted(reads.found, key=lambda name: name not in results)  # first what a turn changes
    name = _named(module, function, scope)
    rows = module.cst.statements(part if not left else part[:-1])
    if left:
        rows.append(with_body(module.cst.statement(part[-1]), module.cst.statements(getattr(body[-1], "body", []))))
    (made,) = statements(f"def {name}({', '.join(given)}):\n    pass\n")
    made = with_body(made, [*rows, *statements(f"return {', '.join(results)}")])
    arguments = [given[0], *(f"{each}={each}" for each in given[1:])]
    call = statements(f"{', '.join(results)} = {name}({', '.join(arguments)})")
    gone = [Remove(each) for each in part[1:]]
    placed = Replace(part[0], [*call, *module.cst.statements(left)])
    return Change.of(module, Insert(made, before=function, apart=True), placed, *gone)


def _without_end(part: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Statements without those at the end of the last scope which only hand results out, and these: ``outputs.append(x)``."""
    last, left = part[-1], list[ast.stmt]()
    body = list(last.body) if isinstance(last, ast.With) else []
    while len(body) > 1 and _hands_out(body[-1]):
        left.insert(0, body.pop())
    if not left or not isinstance(last, ast.With):
        return part, []
    return [*part[:-1], ast.copy_location(ast.With(last.items, body), last)], left


def _hands_out(statement: ast.stmt) -> bool:
    """Whether a statement gives a value another name, or puts it into a list."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(node, ast.Name) for node in (*statement.targets, statement.value))
    call = statement.value if isinstance(statement, ast.Expr) else None
    added = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
    return isinstance(call, ast.Call) and added and all(isinstance(each, ast.Name) for each in call.args)


def _read_in(module: Module, function: ast.FunctionDef, inside: set[ast.AST]) -> Iterator[str]:
    """The names of a function that are read outside of a part of it."""
    for node in walk(function):
        if isinstance(node, ast.Name) and node not in inside:
            increased = isinstance(module.parent(node), ast.AugAssign)
            holder = module.scope(node).lookup(node.id)
            if (isinstance(node.ctx, ast.Load) or increased) and holder is not None and holder.node is function:
                yield node.id


def _in_order(part: list[ast.stmt], names: set[str]) -> list[str]:
    """Names in the order in which they get their first values."""
    stores = [n.id for each in part for n in walk(each) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    return [name for name in dict.fromkeys(stores) if name in names]


def _named(module: Module, function: ast.FunctionDef, scope: ast.With) -> str:
    """``transformer_layer`` for the turns "layer_%d" of `transformer_model`."""
    call = scope.items[0].context_expr
    assert isinstance(call, ast.Call)
    texts = [
        node.value for node in walk(call.args[0]) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    words = re.findall(r"[A-Za-z]+", re.sub(r"%[^a-zA-Z]*[a-zA-Z]|\{[^}]*\}", " ", texts[0])) if texts else []
    words = [word.lower() for word in words if word != "num"]
    turn = re.sub(r"(?<=[^s])s$", "", "_".join(words)) if words and len("".join(words)) > 1 else "block"
    subject = function.name.strip("_")
    while (shorter := _SUBJECT.sub("", subject)) != subject:
        subject = shorter
    if turn in ("layer", "block", "cell", "unit", "stage", "level"):
        turn = f"{subject}_{turn}" if subject else "block"
    return module_name(module, turn, function.name)
