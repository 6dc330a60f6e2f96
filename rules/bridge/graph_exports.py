"""SavedModels of models around graphs: their signatures, where these give the predictions alone."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module

from ..estimator_calls.estimator_values import PREFIX
from ..exports.archives import has_tables
from ..exports.signatures import DEFAULT, Served, Signatures

_OUTPUT = PREFIX + "export.PredictOutput"
_SPEC = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold "
    "evaluation_hooks prediction_hooks"
)
_UNSEEN = Signatures(refused="signatures of its SavedModels")


def signatures_of_graphs(modules: Sequence[Module], has_dicts: bool) -> Signatures:
    """The signatures that models around the model_fns of some files are exported with."""
    if not has_dicts or has_tables(modules):  # a SavedModel holds the tables that a model does
        return _UNSEEN
    found = [(module, given) for module in modules for given in _specs(module) if "predictions" in given]
    told = {_keys(module, given) for module, given in found}
    keys = told.pop() if len(told) == 1 else None
    if keys is None or (len(keys) > 1 and DEFAULT not in keys):
        return _UNSEEN
    served = [Served(key) for key in keys]
    default = [Served(DEFAULT)] if len(keys) < 2 else []  # as which it is served, too
    return Signatures(tuple({each.key: each for each in [*default, *served]}.values()))


def _specs(module: Module) -> Iterator[dict[str, ast.expr]]:
    """What each spec is given that is not None; of one that is not seen, that it has predictions of its own."""
    for node, name in module.references():
        call = module.parent(node)
        if name == SPEC and isinstance(call, ast.Call) and call.func is node:
            given = dict.fromkeys(("predictions", "export_outputs"), node)
            with contextlib.suppress(Unsupported):
                given = bind(call, _SPEC, "EstimatorSpec")
            yield {name: value for name, value in given.items() if not is_none(value)}


def _keys(module: Module, given: dict[str, ast.expr]) -> tuple[str, ...] | None:
    """The signatures of a spec, of which each gives its predictions; none where that has none of its own. None: others."""
    if "export_outputs" not in given:
        return ()
    value = given["export_outputs"]
    held = module.assignment(value)
    table = held.value if held is not None else value
    if not isinstance(table, ast.Dict) or not table.values:
        return None
    keys = [key.value for key in table.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    same = all(_is_prediction(module, each, given["predictions"]) for each in table.values)
    named = len(keys) == len(table.values) and all(key.isidentifier() for key in keys)
    return tuple(f'"{key}"' for key in keys) if same and named else None


def _is_prediction(module: Module, value: ast.expr, predictions: ast.expr) -> bool:
    """Whether an output is all predictions: the name of these, or a dict of the same names."""
    if not isinstance(value, ast.Call) or module.resolve(value.func) != _OUTPUT:
        return False
    outputs = [*value.args, *(keyword.value for keyword in value.keywords)]
    if len(outputs) != 1 or ast.dump(outputs[0]) != ast.dump(predictions):
        return False
    names = [predictions, *predictions.values] if isinstance(predictions, ast.Dict) else [predictions]
    own = [each for each in names if each is not predictions or not isinstance(each, ast.Dict)]
    return all(isinstance(each, ast.Name) and module.assignment(each) is not None for each in own)
