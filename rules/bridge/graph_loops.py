"""Programs whose model_fns stay graphs and whose loop is understood: `fit` trains the Keras model around each graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import is_empty
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at

from ..hooks.prediction_hooks import predicts_with_hooks
from ..loop.loop import Loop
from ..loop.sources import Kind
from .graph_exports import signatures_of_graphs

MODEL, _HOOKED, _PREDICTING = "GraphModel", "HookedGraphModel", "HookedPredictions"
"""Classes around a model_fn that `compile` and `fit` know: without hooks, with some, and with some of predictions."""
_SESSIONS = ("tensorflow.train.init_from_checkpoint", "tensorflow.contrib.estimator.")
_OF_SESSIONS = frozenset(
    {"training_hooks", "training_chief_hooks", "evaluation_hooks", "prediction_hooks", "scaffold", "scaffold_fn"}
)
"""Fields of a spec that only a session knows."""
_SCAFFOLDS = frozenset({"scaffold", "scaffold_fn"})
_PLAIN, _SCAFFOLD = 6, 8
"""How many positional arguments of a spec stand before those, and before its Scaffold."""
_SUMMARIES = ("tensorflow.summary.", "tensorflow.contrib.summary.")


def kind_of_graphs(modules: Sequence[Module], hooked: bool) -> Kind:
    """What a loop has to know of models around the model_fns of some files, which may be `hooked`."""
    reason = next(_asked(modules), "")
    hooks = frozenset(node for module in modules for node, _ in _hooks(module) if _is_in_graph(module, node))
    kinds = {_is_dict(module, value) for module in modules for value in _predictions(module)}
    made = any(True for module in modules for _ in _spec_calls(module))
    if len(kinds) > 1 or None in kinds or not (kinds or made):  # who gives none cannot predict
        reason = reason or "predictions that are not seen to be a dict"
    signatures = signatures_of_graphs(modules, True in kinds)
    return Kind(
        True in kinds,
        reason,
        signatures=signatures,
        compiled=True,
        needs_keras_2=True,
        names=hooks,
        watched=True,
        takes_batches=hooked,
    )


def model_of(project: Project, modules: Sequence[Module]) -> str:
    """The class around the model_fns of some files."""
    if predicts_with_hooks(project):
        return _PREDICTING
    return (
        _HOOKED
        if any(_has(call, _OF_SESSIONS, _PLAIN) for module in modules for call in _spec_calls(module))
        else MODEL
    )


def why_not(loop: Loop, modules: Sequence[Module], hooked: bool) -> str:
    """Why the loop of a program that is understood needs the session of its graphs all the same."""
    if hooked and any(use.validation is not None for use in loop.uses):
        return "hooks of a graph beside evaluations amid a training"
    found = ((module, node) for module in modules for node, name in module.references() if name.startswith(_SUMMARIES))
    if any(source.settings.directory is not None for source in loop.sources):
        specs = ((m, call) for m in modules for call in _spec_calls(m) if _has(call, _SCAFFOLDS, _SCAFFOLD))
        reason = next((reason_at("a Scaffold", *place) for place in specs), "")  # which begins weights anew
        return reason or next((reason_at("summaries of a graph", *place) for place in found), "")
    return ""


def compiled(together: int) -> Callable[[str], str]:
    """What writes the statement that compiles a model; its train_op stands for an optimizer."""
    return lambda model: f"{model}.compile({f'steps_per_execution={together}' if together > 1 else ''})"


def _asked(modules: Sequence[Module]) -> Iterator[str]:
    """What of some files asks for a session, or for the configuration."""
    for module in modules:
        for node, name in module.references():
            if name.startswith(_SESSIONS):
                yield reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
        for node, name in _hooks(module):
            if not _is_in_graph(module, node):
                yield reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
        for function in module.nodes(ast.FunctionDef):
            named = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
            if {"mode", "config"} <= named:
                yield reason_at("the configuration in its model_fn", module, function)


def _hooks(module: Module) -> Iterator[tuple[ast.expr, str]]:
    """References to hooks of the library."""
    return ((node, n) for node, n in module.references() if n.startswith("tensorflow.") and n.endswith("Hook"))


def _is_in_graph(module: Module, node: ast.expr) -> bool:
    """Whether a graph runs a hook: of a spec, the base of a class of the program, or one that predictions are given."""
    specs = {module.nearest(call, ast.FunctionDef) for call in _spec_calls(module)} - {None}
    for inner, outer in zip((node, *module.ancestors(node)), module.ancestors(node)):
        if outer in specs or (isinstance(outer, ast.ClassDef) and inner in outer.bases):
            return True
        called = module.parent(outer) if isinstance(outer, ast.keyword) and outer.arg == "hooks" else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and called.func.attr == "predict":
            return True
    return False


def _spec_calls(module: Module) -> Iterator[ast.Call]:
    """The calls that make specs, or change them: they are named tuples."""
    for node, name in module.references():
        call = module.parent(node)
        if (name == SPEC or name.endswith(".TPUEstimatorSpec")) and isinstance(call, ast.Call):
            yield call
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "_replace":
            yield call


def _has(call: ast.Call, names: Collection[str], before: int) -> bool:
    """Whether a spec may have one of some fields, with so many `before` them, whoever made it."""
    replaced = isinstance(call.func, ast.Attribute) and call.func.attr == "_replace"
    keywords = [k for k in call.keywords if (k.arg is None and not replaced) or k.arg in names]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(not is_empty(value) for value in (*call.args[before:], *(k.value for k in keywords)))


def _predictions(module: Module) -> Iterator[ast.expr]:
    """The predictions that each spec of a file is given."""
    for node, name in module.references():
        call = module.parent(node)
        if name != SPEC or not isinstance(call, ast.Call) or call.func is not node:
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        value = given.get("predictions", call.args[1] if len(call.args) > 1 else None)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield value


def _is_dict(module: Module, node: ast.expr) -> bool | None:
    """Whether predictions are a dict; None: nobody can tell."""
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    value = node if statement is None else statement.value
    if isinstance(value, (ast.Dict, ast.DictComp)):
        return True
    name = module.resolve(value.func) if isinstance(value, ast.Call) else None
    return False if name is not None and name.startswith("tensorflow.") else None
