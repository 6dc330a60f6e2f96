"""Keywords that a function gathers and hands on to a call of the library, as parameters of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.initializers import initializer_calls
from migrator.resolve.calls import arguments, call_of, has_stars
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_super
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Replace, code, with_arguments, with_parameters

from ..bridge.reached import reached
from ..estimator_calls.estimator_values import METHODS


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Names them, where all that call the function give the same ones.

    ```python
    import tensorflow as tf


    def build(columns, **kwargs):
        return tf.estimator.DNNClassifier([8], columns, **kwargs)


    classifier = build(COLUMNS, n_classes=3)
    ```
    becomes
    ```python
    import tensorflow as tf


    def build(columns, n_classes):
        return tf.estimator.DNNClassifier([8], columns, n_classes=n_classes)


    classifier = build(COLUMNS, n_classes=3)
    ```
    """
    start = [drafts.project.modules[path] for path in paths]
    around = {module.path for module in reached(drafts.project, start, False)} & drafts.project.editable
    drafts.apply_all(sorted({*paths, *around}), _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"**" not in module.source or b"tensorflow" not in module.source:
        return
    for call in module.nodes(ast.Call):
        for spread in call.keywords:
            if spread.arg is None and isinstance(spread.value, ast.Name) and _is_known(module, call):
                yield _named(project, module, spread.value)
        if _is_update(module, call) and isinstance(call.args[0], ast.Name):
            yield _named(project, module, call.args[0])


def _is_update(module: Module, call: ast.AST | None) -> bool:
    """Whether a call is ``options.update(others)`` of a dict, which is ``options.update(**others)`` where these have names for
    keys; not that of a class of the program."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return False
    method, own = module.nearest(call, ast.FunctionDef), module.nearest(call, ast.ClassDef)
    this = method.args.args[0].arg if own is not None and method is not None and method.args.args else None
    if isinstance(call.func.value, ast.Name) and call.func.value.id == this:
        return False
    methods = (each for owner in module.nodes(ast.ClassDef) for each in owner.body)
    if any(isinstance(each, ast.FunctionDef) and each.name == "update" for each in methods):
        return False
    return len(call.args) == 1 and not call.keywords


def _is_known(module: Module, call: ast.Call) -> bool:
    """Whether a call is one of TensorFlow, of an entry of a table, of what Estimators do, or of the initializer of a base that
    is none of Keras, whose layers take such keywords as they are."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and is_super(call.func.value):
        owner = module.nearest(call, ast.ClassDef)
        return not owner or not any((module.resolve(b) or "").startswith("tensorflow.keras.") for b in owner.bases)
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and b"stimator" in module.source:
        return True
    return isinstance(call.func, ast.Subscript) or (module.resolve(call.func) or "").startswith("tensorflow.")


def _named(project: Project, module: Module, spread: ast.Name) -> list[Change]:
    """The changes for the function that gathers what is spread; none where not all of its calls are seen, or they differ."""
    bindings = module.bindings(spread)
    function = module.nearest(bindings[0].node, ast.FunctionDef) if len(bindings) == 1 and bindings[0].node else None
    if function is None or function.args.kwarg is None or function.args.kwarg is not bindings[0].node:
        return []
    loads = module.loads_of_parameter(spread.id, function)
    spreads = [load if _is_update(module, module.parent(load)) else module.parent(load) for load in loads]
    told = [
        each for each in spreads if isinstance(each, ast.Name) or isinstance(each, ast.keyword) and each.arg is None
    ]
    calls = [(module.parent(each), each) for each in told]
    given = _given(project, module, function)
    if len(calls) < len(spreads) or given is None:
        return []
    head = with_parameters(module.cst.statement(function), drop=[spread.id], add=given)
    changes: list[Rewrite] = [Replace(function, head)]
    for other, each in calls:
        assert isinstance(other, ast.Call)
        scopes = [module.scope(function), module.scope(other)]
        if {keyword.arg for keyword in other.keywords}.union(*(scope.bindings for scope in scopes)) & set(given):
            return []
        named = {name: code(name) for name in given}
        place = arguments(other).index(each)
        new = module.cst.call(other)
        spelled = isinstance(each, ast.keyword)
        new = with_arguments(new, spread={place: named}) if spelled else with_arguments(new, drop=[place], add=named)
        changes.append(Replace(other, new))
    return Change.of(module, *changes)


def _given(project: Project, module: Module, function: ast.FunctionDef) -> list[str] | None:
    """The keywords that all calls of a function give beside its parameters; None where they are not seen."""
    owner = module.parent(function)
    made = owner if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function
    if function.decorator_list or not isinstance(module.parent(made), ast.Module):
        return None
    if isinstance(made, ast.ClassDef):
        calls = initializer_calls(project, Definition(module, made))
    else:
        reads = project.readers.of(module, module.analysis.root, made.name)
        seen = [(where, call) for where, node in reads if (call := call_of(where, node)) is not None]
        calls = seen if len(seen) == len(reads) else None
    if not calls or any(has_stars(call) for _, call in calls):
        return None
    own = parameters(function)
    found = [[each.arg for each in call.keywords if each.arg is not None and each.arg not in own] for _, call in calls]
    return found[0] if all(sorted(each) == sorted(found[0]) for each in found) else None
