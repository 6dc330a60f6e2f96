"""Functions given to `add_metrics` that compute what metrics of Keras do of labels and of the output of a canned Estimator."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.module import Module

_METRICS = "tensorflow.metrics."
_KERAS = "tensorflow.keras.metrics."
_ERRORS = {
    "root_mean_squared_error": "RootMeanSquaredError",
    "mean_squared_error": "MeanSquaredError",
    "mean_absolute_error": "MeanAbsoluteError",
}
_COUNTS = {
    "precision": "Precision",
    "recall": "Recall",
    "true_positives": "TruePositives",
    "true_negatives": "TrueNegatives",
    "false_positives": "FalsePositives",
    "false_negatives": "FalseNegatives",
}
_BY_OUTPUT = {
    ("numbers", "predictions"): {name: f"{keras}()" for name, keras in _ERRORS.items()},
    ("binary", "class_ids"): {
        "accuracy": "BinaryAccuracy(threshold=0.0)",
        **{name: f"{keras}(thresholds=0.0)" for name, keras in _COUNTS.items()},
    },
    ("binary", "logistic"): {"auc": "AUC(from_logits=True)"},
    ("classes", "class_ids"): {"accuracy": "SparseCategoricalAccuracy()"},
    ("binary, named", "classes"): {"accuracy": "BinaryAccuracy(threshold=0.0)"},
    ("classes, named", "classes"): {"accuracy": "SparseCategoricalAccuracy()"},
}
"""Metrics of the output, by what a function of TensorFlow 1 takes of the predictions, and by its name."""
_KERAS_NAMES = {**{keras: name for name, keras in {**_ERRORS, **_COUNTS}.items()}, "AUC": "auc", "Accuracy": "accuracy"}
_SAME = frozenset({"squeeze", "reshape", "expand_dims", "identity"})
"""Functions that change no number where each example has one."""
_CASTS = frozenset({"cast", "to_float", "to_int32", "to_int64"})
_FLOATS = frozenset({"tensorflow.float32", "tensorflow.float64"})
_PAIR = "labels predictions weights metrics_collections updates_collections name"
_AUC = "labels predictions weights num_thresholds metrics_collections updates_collections curve name"
_DEEP = 8


def metrics_of_function(
    module: Module, function: ast.FunctionDef | ast.Lambda, head: str, named: bool = False
) -> dict[str, str] | None:
    """Metrics by their names, as calls of classes of `tf.keras.metrics`; None where a function computes anything else.

    Those of values times a constant are such calls times it. `head` is what the output is; labels are the names of classes if
    these are `named`.
    """
    args = function.args
    names = {arg.arg for arg in (*args.args, *args.kwonlyargs)}
    if args.vararg or args.kwarg or args.posonlyargs or not names <= {"labels", "predictions", "features", "config"}:
        return None
    returned = _returned(function)
    entries = _entries(module, returned) if returned is not None else None
    if entries is None:
        return None
    found: dict[str, str] = {}
    for name, value in entries:
        text = _metric(module, value, f"{head}, named" if named else head)
        if text is None or not name.replace("/", "_").isidentifier():
            return None
        cls, _, rest = text.partition("(")
        found[name] = f'{cls}(name="{name}"{"" if rest.startswith(")") else ", "}{rest}'
    return found


def _returned(function: ast.FunctionDef | ast.Lambda) -> ast.expr | None:
    """What a function returns, which does nothing but to name parts of it."""
    if isinstance(function, ast.Lambda):
        return function.body
    if function.decorator_list or not function.body:
        return None
    *before, last = function.body
    for statement in before:
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not (text or isinstance(statement, ast.Assign) or _is_update(statement)):
            return None
    return last.value if isinstance(last, ast.Return) else None


def _is_update(statement: ast.stmt) -> bool:
    """Whether a statement gives a metric of Keras what it is of."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update_state"


def _entries(module: Module, node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The entries of a dict that says its keys."""
    made = _followed(module, node)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "dict" and not made.args:
        return [(k.arg, k.value) for k in made.keywords if k.arg is not None] if made.keywords else None
    if not isinstance(made, ast.Dict):
        return None
    pairs: list[tuple[ast.expr | None, ast.expr]] = [*zip(made.keys, made.values)]
    added = _added(module, node) if isinstance(node, ast.Name) else []
    if added is None:
        return None
    pairs += added
    found = {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    return [*found.items()] if found and len(found) == len(pairs) else None


def _added(module: Module, name: ast.Name) -> list[tuple[ast.expr | None, ast.expr]] | None:
    """What statements of the function add to a dict before it is returned; None where it is read otherwise."""
    found: list[tuple[ast.expr | None, ast.expr]] = []
    for load in module.loads_of(name.id, module.scope(name).lookup(name.id)):
        entry = module.parent(load)
        statement = module.statement(load)
        if load is name:
            continue
        if (
            not isinstance(entry, ast.Subscript)
            or not isinstance(statement, ast.Assign)
            or statement.targets != [entry]
        ):
            return None
        if module.parent(statement) is not module.parent(module.statement(name)):
            return None
        found.append((entry.slice, statement.value))
    return found


def _metric(module: Module, node: ast.expr, head: str) -> str | None:
    """The metric of Keras that an expression makes, as a call."""
    made = _followed(module, node)
    name = (module.resolve(made.func) or "") if isinstance(made, ast.Call) else ""
    if not isinstance(made, ast.Call):
        return None
    if name.startswith(_KERAS):
        return _of_keras(module, node, made, name[len(_KERAS) :], head)
    if not name.startswith(_METRICS):
        return None
    short = name[len(_METRICS) :]
    try:
        given = bind(made, _AUC if short == "auc" else _PAIR, short)
    except Unsupported:
        return None
    if set(given) - {"name"} != {"labels", "predictions"}:
        return None
    return _of(module, short, given["labels"], given["predictions"], head)


def _of_keras(module: Module, node: ast.expr, made: ast.Call, short: str, head: str) -> str | None:
    """A metric of Keras that gets its values in a statement of its own."""
    if short not in _KERAS_NAMES or made.args or any(keyword.arg != "name" for keyword in made.keywords):
        return None
    loads = module.loads_of(node.id, module.scope(node).lookup(node.id)) if isinstance(node, ast.Name) else []
    updates = [module.parent(module.parent(load) or load) for load in loads if load is not node]
    update = updates[0] if len(updates) == 1 else None
    if not isinstance(update, ast.Call) or not _is_update(module.statement(update)):
        return None
    try:
        given = bind(update, "y_true y_pred sample_weight", "update_state")
    except Unsupported:
        return None
    if set(given) != {"y_true", "y_pred"}:
        return None
    return _of(module, _KERAS_NAMES[short], given["y_true"], given["y_pred"], head)


def _of(module: Module, short: str, labels: ast.expr, predicted: ast.expr, head: str) -> str | None:
    """The metric of that name, of labels and a part of the predictions."""
    (labels, scale), (predicted, other) = _unscaled(module, labels), _unscaled(module, predicted)
    if scale != other or (scale and head != "numbers"):
        return None
    true, score = _bare(module, labels), _bare(module, predicted)
    key = _key(module, score.node)
    if not isinstance(true.node, ast.Name) or true.node.id != "labels" or not _is_parameter(module, true.node):
        return None
    if (true.whole and head == "numbers") or (score.whole and key != "class_ids"):
        return None
    known: Mapping[str, str] = _BY_OUTPUT.get((head, key), {})
    return f"{known[short]} * {scale}" if scale and short in known else known.get(short)


def _unscaled(module: Module, node: ast.expr) -> tuple[ast.expr, str]:
    """An expression without the constant that it is multiplied by, and that."""
    made = _bare(module, node).node
    if not isinstance(made, ast.BinOp) or not isinstance(made.op, ast.Mult):
        return node, ""
    for inner, scale in ((made.left, made.right), (made.right, made.left)):
        if isinstance(scale, ast.Constant) or (isinstance(scale, ast.Name) and _is_global(module, scale)):
            return inner, ast.unparse(scale)
    return node, ""


def _is_global(module: Module, name: ast.Name) -> bool:
    """Whether a name is that of one value of the file; cells of a notebook may say the same number again."""
    held = [module.parent(binding.node) if binding.node is not None else None for binding in module.bindings(name)]
    values = [statement.value if isinstance(statement, ast.Assign) else None for statement in held]
    numbers = {value.value if isinstance(value, ast.Constant) else None for value in values}
    same = len(values) == 1 or (len(numbers) == 1 and None not in numbers)
    return same and module.scope(name).lookup(name.id) is module.analysis.root


@dataclass(frozen=True)
class _Bare:
    """An expression without what changes no number where each example has one."""

    node: ast.expr
    whole: bool = False
    """Whether its numbers are made whole."""


def _bare(module: Module, node: ast.expr, depth: int = 0) -> _Bare:
    node = _followed(module, node)
    if depth > _DEEP:
        return _Bare(node)
    name = (module.resolve(node.func) or "") if isinstance(node, ast.Call) else ""
    short = name[len("tensorflow.") :] if name.startswith("tensorflow.") else ""
    if isinstance(node, ast.Call) and (short in _SAME or short in _CASTS):
        first = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg in _FIRST), None)
        inner = _bare(module, first, depth + 1) if first is not None else _Bare(node)
        return replace(inner, whole=inner.whole or (short in _CASTS and not _is_float(module, node, short)))
    if isinstance(node, ast.Subscript) and _is_column(node.slice, 0) and _key(module, node.value) != "probabilities":
        return _bare(module, node.value, depth + 1)
    return _Bare(node)


def _is_float(module: Module, call: ast.Call, short: str) -> bool:
    """Whether a cast makes numbers that need not be whole."""
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "dtype")]
    return short == "to_float" or (bool(given) and module.resolve(given[0]) in _FLOATS)


_FIRST = ("input", "tensor", "x")


def _is_column(part: ast.expr, number: int) -> bool:
    """Whether an index is ``[:, number]``."""
    if not isinstance(part, ast.Tuple) or len(part.elts) != 2 or not isinstance(part.elts[0], ast.Slice):
        return False
    return isinstance(part.elts[1], ast.Constant) and part.elts[1].value == number


def _key(module: Module, node: ast.expr) -> str:
    """Which part of the predictions an expression is; the second of two probabilities is the logistic."""
    if isinstance(node, ast.Subscript) and _is_column(node.slice, 1):
        return "logistic" if _key(module, _followed(module, node.value)) == "probabilities" else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        owner, key = node.func.value, node.args[0] if len(node.args) == 1 and not node.keywords else None
    elif isinstance(node, ast.Subscript):
        owner, key = node.value, node.slice
    else:
        return ""
    given = isinstance(owner, ast.Name) and owner.id == "predictions" and _is_parameter(module, owner)
    return str(key.value) if given and isinstance(key, ast.Constant) else ""


def _is_parameter(module: Module, node: ast.Name) -> bool:
    """Whether a name is what its function was given."""
    bindings = module.bindings(node)
    return len(bindings) == 1 and isinstance(bindings[0].node, ast.arg)


def _followed(module: Module, node: ast.expr, depth: int = 0) -> ast.expr:
    """What a name stands for."""
    bindings = module.bindings(node) if isinstance(node, ast.Name) and depth < _DEEP else []
    if len(bindings) == 1 and bindings[0].alias is not None:
        return _followed(module, bindings[0].alias, depth + 1)
    statement = module.assignment(node) if isinstance(node, ast.Name) and depth < _DEEP else None
    return _followed(module, statement.value, depth + 1) if statement is not None else node
