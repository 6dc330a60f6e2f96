"""The ways that lead from a model_fn to what a helper does: the calls, and the scopes that each of these stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from migrator.analyse.function.translate import is_none
from migrator.analyse.results.tags import SCOPES
from migrator.analyse.statements.names import reads, targets
from migrator.analyse.variables.namepatterns import NO_NAME, Patterns, literal_pattern, may_meet
from migrator.normalise.draft.arguments import defaults, given
from migrator.normalise.values.callers import calls_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.vocabulary.unsupported import Unsupported

from ..loop.flow.exclusive import exclusive

_MOST = 100
"""Ways that are followed."""


@dataclass(frozen=True)
class Step:
    """A call, in a function or none."""

    module: Module
    call: ast.Call
    caller: ast.FunctionDef | None
    scopes: tuple[ast.Call, ...]
    """What opens the scopes around it within the function, outermost first."""
    tag: ast.expr | None = None
    """What the call names beside."""

    @property
    def names(self) -> list[ast.expr]:
        """What the scopes are called."""
        return [name for name in map(opened_name, self.scopes) if name is not None]


Way = tuple[Step, ...]


def step_of(module: Module, call: ast.Call, tag: ast.expr | None = None) -> Step:
    """A call as a step."""
    caller = module.nearest(call, (ast.FunctionDef, ast.Lambda))
    around = tuple(reversed(scopes_around(module, call)))
    return Step(module, call, caller if isinstance(caller, ast.FunctionDef) else None, around, tag)


def scopes_around(module: Module, node: ast.AST) -> list[ast.Call]:
    """The calls that open the scopes around a node within its function, innermost first."""
    found: list[ast.Call] = []
    for ancestor in module.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.Lambda)):
            break
        for item in reversed(ancestor.items) if isinstance(ancestor, ast.With) else ():
            if isinstance(item.context_expr, ast.Call) and _opens(module, item.context_expr):
                found.append(item.context_expr)
    return found


def _opens(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) in SCOPES


def opened_name(scope: ast.Call) -> ast.expr | None:
    """What a scope is called."""
    said = next((k.value for k in scope.keywords if k.arg in ("name_or_scope", "name")), None)
    return scope.args[0] if scope.args else said


def ways_to(project: Project, helper: Definition) -> list[Way]:
    """All ways to a function. Raises Unsupported where it is used in another way, or calls itself."""
    found: list[Way] = []
    for way in _ways(project, helper, ()):
        found.append(way)
        if len(found) > _MOST:
            raise Unsupported("too many ways lead to a helper")
    return found


def _ways(project: Project, helper: Definition, seen: tuple[Definition, ...]) -> Iterator[Way]:
    calls, handed_on = calls_of(project, helper)
    if helper in seen or (handed_on and (calls or not seen)):
        raise Unsupported("a helper is not just called")
    for module, call in calls:
        step = step_of(module, call)
        if step.caller is None:
            yield (step,)
            continue
        for way in _ways(project, Definition(module, step.caller), (*seen, helper)):
            yield (*way, step)
    if not calls and seen:
        yield ()


def patterns_of(way: Way) -> list[list[str]]:
    """The names of the scopes of each step, with a star for what turns of loops say. Raises Unsupported where these are not
    known, or where TensorFlow 1 may have put a number behind one, as a scope of that name was opened before."""
    names: Patterns = {}
    found: list[list[str]] = []
    for number, step in enumerate(way):
        patterns = [literal_pattern(name, names) for name in step.names]
        known = [each for each in patterns if each is not None and "/" not in each and each != NO_NAME]
        if len(known) < len(step.scopes) or not _turns_told(step) or not _opened_once(step, known, names):
            raise Unsupported("the name of a scope is not known")
        found.append(known)
        if number + 1 < len(way):
            callee = way[number + 1].caller
            assert callee is not None
            names = _handed(callee, step.call, names)
    return found


def _handed(function: ast.FunctionDef, call: ast.Call, names: Patterns) -> Patterns:
    """What the parameters of a function hold in a call, if that names scopes."""
    found: Patterns = {}
    stored = {n.id for n in walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    said = given(function, call)
    for parameter, node in {**defaults(function), **said}.items():
        known = names if parameter in said else None
        pattern = NO_NAME if is_none(node) else literal_pattern(node, known)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            pattern = str(node.value)
        if pattern is not None and parameter not in stored:
            found[parameter] = pattern
    return found


def _turns_told(step: Step) -> bool:
    """Whether a name of a scope tells each turn of the loops around a step from the others, and is the same at both."""
    for ancestor in step.module.ancestors(step.call):
        if isinstance(ancestor, (ast.FunctionDef, ast.Lambda)):
            return True
        inside = [s for s in step.scopes if step.module.is_inside(s, ancestor)]
        read = reads([name for name in (*map(opened_name, inside), step.tag) if name is not None])
        heads = (
            [ancestor] if isinstance(ancestor, (ast.For, ast.comprehension)) else getattr(ancestor, "generators", [])
        )
        if isinstance(ancestor, ast.While) or any(not read & set(targets(head.target)) for head in heads):
            return False
        if isinstance(ancestor, ast.With):
            own = [opened_name(s) for s in inside if any(item.context_expr is s for item in ancestor.items)]
            stored = {n.id for n in walk(ancestor) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
            if reads([name for name in own if name is not None]) & stored:
                return False
    return True


def _opened_once(step: Step, known: list[str], names: Patterns) -> bool:
    """Whether no other statement of the function opens a scope of the same name in the same place."""
    if step.caller is None or not known:
        return True
    paths = ["/".join(known[: depth + 1]) for depth in range(len(known))]
    for other in (n for n in walk(step.caller) if isinstance(n, ast.Call) and _opens(step.module, n)):
        if other in step.scopes or exclusive(step.module, other, step.call) or exclusive(step.module, step.call, other):
            continue
        around = _opened_with(step.module, other)
        opened = [literal_pattern(name, names) if name is not None else None for name in map(opened_name, around)]
        path = "/".join(each for each in opened if each is not None)
        if None not in opened and any(path == own or may_meet(path, own) for own in paths):
            return False
    return True


def _opened_with(module: Module, scope: ast.Call) -> list[ast.Call]:
    """The scopes around one that a statement opens, and it."""
    statement = module.statement(scope)
    calls = [item.context_expr for item in statement.items] if isinstance(statement, ast.With) else []
    before = calls[: calls.index(scope)] if scope in calls else []
    beside = [call for call in before if isinstance(call, ast.Call) and _opens(module, call)]
    return [*reversed(scopes_around(module, statement)), *beside, scope]


def all_apart(ways: list[Way], patterns: list[list[list[str]]]) -> bool:
    """Whether no model can go two ways under the same names of scopes."""
    return all(_apart(*one, *other) for one, other in combinations(zip(ways, patterns), 2))


def _apart(one: Way, names: list[list[str]], other: Way, others: list[list[str]]) -> bool:
    """Whether a model goes but one of two ways, or the first scopes that are not common to both have other names."""
    if one[0].caller is not other[0].caller:
        return True
    depth = next(i for i, (first, second) in enumerate(zip(one, other)) if first.call is not second.call)
    first, second = one[depth], other[depth]
    if exclusive(first.module, first.call, second.call) or exclusive(first.module, second.call, first.call):
        return True
    shared = [a is b for a, b in zip(first.scopes, second.scopes)]
    common = shared.index(False) if False in shared else len(shared)
    left, right = ([name for step in each[depth:] for name in step][common:] for each in (names, others))
    if not left or not right:
        return left != right
    return left[0] != right[0] and not may_meet(left[0], right[0])
