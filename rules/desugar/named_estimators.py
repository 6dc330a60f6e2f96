"""Estimators that are made in the midst of an expression, each in a statement of its own.

Below such a statement a model is compiled, and restored. A statement with one Estimator or another by a condition becomes an
`if`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, statements

from ..estimator_calls.estimator_kinds import KINDS
from ..estimator_calls.estimator_values import ESTIMATOR, EXTENDERS
from ..loop.places import has_its_line, line_above


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives Estimators names where they are made in the midst of an expression.

    ```python
    import tensorflow as tf

    report("linear", tf.estimator.LinearClassifier(columns))
    ```
    becomes
    ```python
    import tensorflow as tf

    linear_classifier = tf.estimator.LinearClassifier(columns)
    report("linear", linear_classifier)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(_: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each statement."""
    calls = [call for call in _calls(module) if isinstance(call, ast.Call)]
    for call in calls:
        parent = module.parent(call)
        if isinstance(parent, ast.IfExp) and call is not parent.test:
            yield _by_condition(module, parent)
    for call in calls:
        statement = module.statement(call)
        if not _is_alone(module, call) and line_above(module, call) is statement and has_its_line(module, call):
            inside = [each for each in calls if module.statement(each) is statement]
            yield _above(module, statement, [each for each in inside if line_above(module, each) is statement])


def _calls(module: Module) -> Iterator[ast.AST]:
    """The calls that make Estimators below which there is more to say."""
    for node, name in module.references() if b"stimator" in module.source else ():
        call = module.parent(node)
        if name in KINDS and isinstance(call, ast.Call) and call.func is node:
            told = {keyword.arg for keyword in call.keywords} & {"model_dir", "config", None}
            if name != ESTIMATOR or told or len(call.args) > 1:
                yield call


def _is_alone(module: Module, call: ast.Call) -> bool:
    """Whether a statement does nothing else with an Estimator than to hold, extend or return it."""
    parent = module.parent(call)
    outer = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(outer, ast.Call) and module.resolve(outer.func) in EXTENDERS:
        return True  # another name would make two of one
    if isinstance(parent, ast.Assign):
        return len(parent.targets) == 1 and isinstance(parent.targets[0], (ast.Name, ast.Attribute))
    if isinstance(parent, ast.AnnAssign):
        return isinstance(parent.target, (ast.Name, ast.Attribute))
    return isinstance(parent, ast.Return)


def _above(module: Module, statement: ast.stmt, calls: list[ast.Call]) -> list[Change]:
    """The changes that make Estimators in lines above a statement, where nothing is computed before them."""
    own = [call for call in calls if not any(module.is_inside(call, other) for other in calls)]
    for node in walk(statement):
        if not isinstance(node, ast.Call) or any(node is call or module.is_inside(node, call) for call in own):
            continue
        before = any(module.span(node)[1] <= module.span(call)[0] for call in own)
        if before and not (module.resolve(node.func) or "").startswith("tensorflow."):
            return []
    changes: list[rewrite.Change] = []
    taken = set[str]()
    for call in own:
        name = _name(module, call, taken)
        taken.add(name)
        made = statements("{name} = {call}", name=name, call=module.cst.call(call))
        changes += [Insert(made, before=statement), Replace(call, name)]
    return Change.of(module, *changes)


def _name(module: Module, call: ast.Call, taken: set[str]) -> str:
    """``dnn_classifier``, or ``dnn_classifier_2``."""
    short = ast.unparse(call.func).rpartition(".")[2]
    base = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short).lower()
    name, number = base, 1
    while name in taken or module.unused_name(name, call) != name:
        number += 1
        name = f"{base}_{number}"
    return name


def _by_condition(module: Module, choice: ast.IfExp) -> list[Change]:
    """The changes that make an `if` of ``x = a if condition else b``."""
    statement = module.parent(choice)
    if not isinstance(statement, (ast.Assign, ast.Return)) or not has_its_line(module, statement):
        return []
    if module.comments_in(*module.span(statement)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    head = "".join(f"{module.segment(target)} = " for target in targets) or "return "
    test, body, orelse = (module.cst.expression(part) for part in (choice.test, choice.body, choice.orelse))
    lines = f"if {{test}}:\n    {head}{{body}}\nelse:\n    {head}{{orelse}}"
    return Change.of(module, Replace(statement, statements(lines, test=test, body=body, orelse=orelse)))
