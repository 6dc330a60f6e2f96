"""`add_metrics` and `forward_features` around a canned Estimator that may become a model of the program.

    estimator = tf.estimator.DNNRegressor(units, columns)
    estimator = tf.contrib.estimator.add_metrics(estimator, my_rmse)

is a draft ``tf.estimator.DNNRegressor(units, columns, more_metrics={"rmse": "RootMeanSquaredError"})``, where the function
computes just what a metric of Keras does of the output. A function that nothing else reads goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.reaching import block_of
from migrator.resolve.redefined import defined_above
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, code, with_arguments

from ..estimator_calls.estimator_values import EXTENDERS, PREFIX
from ..loop.comments import has_comments
from .canned import arguments_of
from .extra_metrics import metrics_of_function
from .head_arguments import number_of
from .networks import KINDS_OF_NETWORKS, MORE

_SIGNATURES = {"add_metrics": "estimator metric_fn", "forward_features": "estimator keys sparse_default_values"}


def fold_extenders(drafts: Drafts, paths: Iterable[str]) -> None:
    """Lets canned Estimators say themselves what is added to them, where that is understood."""
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each call."""
    for node, name in module.references() if b"stimator" in module.source else ():
        call = module.parent(node)
        if name in EXTENDERS and isinstance(call, ast.Call) and call.func is node:
            yield _folded(project, module, call, name.rpartition(".")[2])


def _folded(project: Project, module: Module, call: ast.Call, name: str) -> list[Change]:
    try:
        given = bind(call, _SIGNATURES[name], name)
    except Unsupported:
        return []
    made = _made(module, given["estimator"], call) if "estimator" in given else None
    around = _around(module, call, made) if made is not None else []
    if made is None or not around or has_comments(module, call) or set(given) != set(_SIGNATURES[name].split()[:2]):
        return []
    told = {keyword.arg: keyword.value for keyword in made.keywords}
    if None in told:
        return []
    gone: list[tuple[Module, Rewrite]] = []
    if name == "add_metrics":
        function = _function(project, module, given["metric_fn"])
        named = "label_vocabulary" in told
        metrics = metrics_of_function(*function, _head(project, module, made), named) if function is not None else None
        if function is None or metrics is None:
            return []
        if function[0] is not module and any(" * " in text for text in metrics.values()):
            return []  # by a name of another file
        before = ast.literal_eval(told[MORE[0]]) if MORE[0] in told else {}
        key, value = MORE[0], code(repr({**before, **metrics}))
        gone = _unread(project, *function, given["metric_fn"])
    else:
        keys = given["keys"].elts if isinstance(given["keys"], (ast.List, ast.Tuple)) else [given["keys"]]
        if not keys or not all(_is_key(module, each) for each in keys):
            return []
        held = told.get(MORE[1])
        keys = [*(held.elts if isinstance(held, ast.List) else []), *keys]
        key, value = MORE[1], code(f"[{', '.join(module.segment(each) for each in keys)}]")
    place = next((len(made.args) + n for n, each in enumerate(made.keywords) if each.arg == key), None)
    old = module.cst.call(made)
    new = with_arguments(old, add={key: value}) if place is None else with_arguments(old, values={place: value})
    changes: list[Rewrite] = [*around, Replace(made, new)]
    if any(isinstance(each, Replace) and each.target is call for each in around):  # which holds the other one
        changes = [Replace(call, new)] if given["estimator"] is made else [*around, Replace(made, new)]
    try:
        return Change.every([*((module, change) for change in changes), *gone])
    except Unsupported:
        return []


def _made(module: Module, estimator: ast.expr, call: ast.Call) -> ast.Call | None:
    """The call that makes the Estimator, which nothing else has seen before it is extended."""
    made: ast.AST | None = estimator
    if isinstance(estimator, ast.Name):
        above = [statement for statement in _above(module, call) if _binds(statement, estimator.id)]
        made = getattr(above[-1], "value", None) if above else None
        scope = module.scope(estimator).lookup(estimator.id)
        start = module.span(above[-1])[1] if above else 0
        between = [n for n in module.loads_of(estimator.id, scope) if start <= module.span(n)[0]]
        if not between or min(between, key=module.span) is not estimator:
            return None
    name = module.resolve(made.func) if isinstance(made, ast.Call) else None
    known = name is not None and name.startswith(PREFIX) and name[len(PREFIX) :] in KINDS_OF_NETWORKS
    return made if known and isinstance(made, ast.Call) else None


def _above(module: Module, call: ast.Call) -> Sequence[ast.AST]:
    """The statements before that of a call, in its block."""
    statement = module.statement(call)
    block = block_of(module, statement)
    return block[: block.index(statement)]


def _binds(statement: ast.AST, name: str) -> bool:
    """Whether a statement gives a name another value."""
    nodes = walk(statement) if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else [statement]
    return any(
        (isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load))
        or getattr(n, "name", None) == name
        for n in nodes
    )


def _around(module: Module, call: ast.Call, made: ast.Call) -> list[Rewrite]:
    """The changes by which the Estimator itself is in the place of a call that extends it; none if that is not seen."""
    statement, estimator = module.statement(call), next(iter([*call.args[:1], *(k.value for k in call.keywords)]))
    estimator = next((k.value for k in call.keywords if k.arg == "estimator"), estimator)
    if estimator is made:
        return [Replace(call, module.cst.expression(made))]
    own = module.parent(made)
    if not isinstance(estimator, ast.Name) or not isinstance(own, ast.Assign) or len(own.targets) != 1:
        return []
    again = [
        n for n in module.loads_of(estimator.id, module.scope(estimator).lookup(estimator.id)) if n is not estimator
    ]
    if isinstance(statement, ast.Return) and statement.value is call:
        return [Replace(call, module.cst.expression(estimator))]
    plain = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    target = statement.targets[0] if plain and isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return []
    if target.id == estimator.id:
        return [Remove(statement)]
    fresh = not any(_binds(each, target.id) for each in _above(module, call))
    return [Remove(statement), Replace(own.targets[0], code(target.id))] if not again and fresh else []


def _function(project: Project, module: Module, node: ast.expr) -> tuple[Module, ast.FunctionDef | ast.Lambda] | None:
    """The function that computes metrics."""
    if isinstance(node, ast.Lambda):
        return module, node
    found = project.definition(module, node)
    again = defined_above(module, node) if found is None else None
    if again is not None:
        return module, again
    function = found.node if found is not None else None
    return (found.module, function) if found is not None and isinstance(function, ast.FunctionDef) else None


def _unread(
    project: Project, module: Module, function: ast.FunctionDef | ast.Lambda, reference: ast.expr
) -> list[tuple[Module, Rewrite]]:
    """The change by which a function goes that nothing else reads."""
    if isinstance(function, ast.Lambda):
        return []
    scope = module.scope(module.parent(function) or module.tree).holder(function.name)
    loads, places = module.loads_of(function.name, scope), [b.node for b in scope.bindings.get(function.name, [])]
    if len(places) > 1 and None not in places:  # cells of a notebook that define it again
        after = [at for at in map(module.span, filter(None, places)) if at > module.span(function)]
        end = min(after, default=(len(module.source), 0))
        outside = any(module.scope(load) is not scope for load in loads)
        loads = [] if outside else [load for load in loads if module.span(function) < module.span(load) < end]
    alone = loads == [reference]
    if not alone or project.readers.elsewhere(module, scope, function.name):
        return []
    used = Definition(module, function)
    if any(node is not reference for other in project.modules.values() for node in project.uses(used, other)):
        return []
    return [(module, Remove(function, apart=True))]


def _head(project: Project, module: Module, made: ast.Call) -> str:
    """What the output of an Estimator is: ``binary``, ``classes``, ``numbers``; empty where that is not seen."""
    short = (module.resolve(made.func) or "").rpartition(".")[2]
    try:
        given = arguments_of(made, f"{PREFIX}{short}", "v1")
    except Unsupported:
        return ""
    if short.endswith("Regressor"):
        return "" if "label_dimension" in given else "numbers"
    counted = given.get("n_classes")
    classes = number_of(project, module, counted) if counted is not None else 2
    if classes is None or not short.endswith("Classifier"):
        return ""
    return "binary" if classes == 2 else "classes"


def _is_key(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the name of a feature, which a class of the file can read."""
    value: ast.expr = node
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        scope = module.scope(node).lookup(node.id)
        if statement is None or scope is None or scope.kind != "module":
            return False
        value = statement.value
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
