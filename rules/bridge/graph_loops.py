"""Programs whose model_fns stay graphs and whose loop is understood: `fit` trains the Keras model around each graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import is_empty
from migrator.resolve.module import Module
from migrator.resolve.reasons import reason_at

from ..loop.plan import Loop
from ..loop.sources import Kind

MODEL = "GraphModel"
"""The class around a model_fn that `compile` and `fit` know."""
_SESSIONS = ("tensorflow.train.Scaffold", "tensorflow.train.init_from_checkpoint", "tensorflow.contrib.estimator.")
_OF_SESSIONS = frozenset(
    {"training_hooks", "training_chief_hooks", "evaluation_hooks", "prediction_hooks", "scaffold", "scaffold_fn"}
)
"""Fields of a spec that only a session knows."""
_PLAIN = 6
"""How many positional arguments of a spec stand before those."""
_SUMMARIES = ("tensorflow.summary.", "tensorflow.contrib.summary.")


def kind_of_graphs(modules: Sequence[Module]) -> Kind:
    """What a loop has to know of models around the model_fns of some files."""
    reason = next(_asked(modules), "")
    kinds = {_is_dict(module, value) for module in modules for value in _predictions(module)}
    if len(kinds) != 1 or None in kinds:
        reason = reason or "predictions that are not seen to be a dict"
    return Kind(has_dicts=True in kinds, refused=reason, compiled=True, needs_keras_2=True)


def why_not(loop: Loop, modules: Sequence[Module]) -> str:
    """Why the loop of a program that is understood needs the session of its graphs all the same."""
    found = ((module, node) for module in modules for node, name in module.references() if name.startswith(_SUMMARIES))
    if any(source.settings.directory is not None for source in loop.sources):
        return next((reason_at("summaries of a graph", *place) for place in found), "")
    return ""


def compiled(grouped: bool) -> Callable[[str], str]:
    """What writes the statement that compiles a model; its train_op stands for an optimizer."""
    return lambda model: f"{model}.compile({'steps_per_execution=100' if grouped else ''})"


def _asked(modules: Sequence[Module]) -> Iterator[str]:
    """What of some files asks for a session, or for the configuration."""
    for module in modules:
        for node, name in module.references():
            if name.startswith(_SESSIONS) or (name.startswith("tensorflow.") and name.endswith("Hook")):
                yield reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
        for call in filter(_has_hooks, _spec_calls(module)):
            yield reason_at("hooks", module, call)
        for function in module.nodes(ast.FunctionDef):
            named = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
            if {"mode", "config"} <= named:
                yield reason_at("the configuration in its model_fn", module, function)


def _spec_calls(module: Module) -> Iterator[ast.Call]:
    """The calls that make specs, or change them: they are named tuples."""
    for node, name in module.references():
        call = module.parent(node)
        if (name == SPEC or name.endswith(".TPUEstimatorSpec")) and isinstance(call, ast.Call):
            yield call
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "_replace":
            yield call


def _has_hooks(call: ast.Call) -> bool:
    """Whether a spec may have what only a session knows, whoever made it."""
    replaced = isinstance(call.func, ast.Attribute) and call.func.attr == "_replace"
    keywords = [k for k in call.keywords if (k.arg is None and not replaced) or k.arg in _OF_SESSIONS]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(not is_empty(value) for value in (*call.args[_PLAIN:], *(k.value for k in keywords)))


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
    if isinstance(value, ast.Dict):
        return True
    name = module.resolve(value.func) if isinstance(value, ast.Call) else None
    return False if name is not None and name.startswith("tensorflow.") else None
