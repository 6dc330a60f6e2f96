"""Canned Estimators that become a small Keras model in the program: what is known of one, or why it is not."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.estimator_values import Construction
from ..inputs.feature_columns import SHARED
from ..inputs.foreign_columns import refuse_foreign_columns
from ..loop.values import values_of
from .canned import arguments_of
from .canned_heads import loss_reduction

_HEAD = "model_dir config n_classes label_dimension loss_reduction weight_column label_vocabulary"
_UNDERSTOOD = {
    "DNN": f"{_HEAD} hidden_units feature_columns optimizer activation_fn dropout batch_norm",
    "Linear": f"{_HEAD} feature_columns optimizer sparse_combiner",
    "DNNLinearCombined": f"{_HEAD} linear_feature_columns linear_optimizer dnn_feature_columns dnn_optimizer "
    "dnn_hidden_units dnn_activation_fn dnn_dropout batch_norm linear_sparse_combiner",
}
_KINDS = {f"{part}{head}": part for part in _UNDERSTOOD for head in ("Classifier", "Regressor")}
_NEEDED = {
    "DNN": ("feature_columns", "hidden_units"),
    "Linear": ("feature_columns",),
    "DNNLinearCombined": ("linear_feature_columns", "dnn_feature_columns", "dnn_hidden_units"),
}
_OWN = ("hidden_units", "feature_columns", "activation_fn", "dropout", "sparse_combiner")
_OF_HEAD = ("n_classes", "label_dimension", "weight_column", "label_vocabulary")
_KEPT = frozenset({*_OF_HEAD, *(f"{part}{name}" for name in _OWN for part in ("", "dnn_", "linear_"))})
_MEANS = frozenset({"sum_over_batch_size", "sum_by_nonzero_weights", "mean"})
"""Reductions that are one mean where examples have no weights."""


@dataclass(frozen=True)
class Network:
    """A canned Estimator of which everything is understood."""

    construction: Construction
    kind: str
    """``DNN``, ``Linear`` or ``DNNLinearCombined``."""
    given: dict[str, ast.expr]
    """Its arguments that say something, by parameter."""
    units: int
    """Width of its output: classes, of which two have one logit, or numbers."""
    classifies: bool
    summed: bool
    """Whether the losses of a batch are added up, not averaged."""

    @property
    def short(self) -> str:
        """The name of its class without its module."""
        return self.construction.name.rpartition(".")[2]

    @property
    def combined(self) -> bool:
        """Whether it is a weighted sum of columns, and a network on others."""
        return self.kind == "DNNLinearCombined"

    def argument(self, name: str, part: str) -> str:
        """The parameter called `name` of its `part`, ``dnn`` or ``linear``."""
        return f"{part}_{name}" if self.combined else name

    @property
    def dropout(self) -> str:
        """The rate of its dropout, in the class."""
        name = self.argument("dropout", "dnn")
        value = self.given.get(name)
        literal = isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
        return "" if value is None else name if literal else f"{name} or 0.0"

    @property
    def settings(self) -> dict[str, ast.expr]:
        """Its arguments that any Estimator has."""
        return {name: self.given[name] for name in self.given if name in ("config", "model_dir")}

    @property
    def parameters(self) -> list[str]:
        """Those of the constructor of the new class, in the order in which the program gives them."""
        kept = [name for name in self.given if name in _KEPT]
        return [name for name in kept if not (name in ("n_classes", "label_dimension") and self.units == 1)]


def is_network(construction: Construction) -> bool:
    """Whether an Estimator is of a kind that may become a model of the program."""
    return construction.name.rpartition(".")[2] in _KINDS


def network_of(project: Project, construction: Construction) -> Network | str:
    """What is known of a canned Estimator, or why it stays a call of a helper."""
    module, short = construction.module, construction.name.rpartition(".")[2]
    kind = _KINDS[short]
    try:
        given = arguments_of(construction.call, construction.name, construction.dialect)
        refuse_foreign_columns(project, module, given)
        said = given.get("loss_reduction")
        default = "sum_over_batch_size" if construction.dialect == "v2" else "sum"
        reduction = default if said is None else loss_reduction(module.resolve, said).strip('"')
    except Unsupported as problem:
        return problem.reason
    told = {name: value for name, value in given.items() if not is_none(value)}
    more = sorted(set(told) - set(_UNDERSTOOD[kind].split()))
    if more:
        return f"`{more[0]}` of {short}"
    if reduction != "sum" and reduction not in _MEANS:
        return f"`loss_reduction` of {short}"
    if not set(_NEEDED[kind]) <= set(told):
        return f"{short} without its columns"
    if {"activation_fn", "dnn_activation_fn"} & (set(given) - set(told)):
        return f"`activation_fn` of {short}"
    if not (isinstance(told.get("batch_norm", _FALSE), ast.Constant)):
        return f"`batch_norm` of {short}"
    if any(name in SHARED for other in project.modules.values() for _, name in other.references()):
        return "columns that share a table"
    units, classifies = 1, short.endswith("Classifier")
    counted = told.get("n_classes" if classifies else "label_dimension")
    if counted is not None:
        numbers = {whole_number(*value) for value in values_of(project, module, counted)}
        number = numbers.pop() if len(numbers) == 1 else None
        if number is None or number < 1:
            return f"a number of outputs of {short} that is not seen"
        units = 1 if classifies and number == 2 else number
        if units > 1 and not classifies and reduction == "sum":
            return "the sum of the losses of several numbers"
    if "weight_column" in told and (reduction not in ("sum", "sum_over_batch_size") or not _is_text(module, told)):
        return f"`weight_column` of {short}"
    return Network(construction, kind, told, units, classifies, reduction == "sum")


def _is_text(module: Module, told: dict[str, ast.expr]) -> bool:
    """Whether the column of weights is the name of a feature."""
    statement = module.assignment(told["weight_column"])
    value = told["weight_column"] if statement is None else statement.value
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


_FALSE = ast.Constant(False)


def whole_number(module: Module, node: ast.expr) -> int | None:
    """A number that the source says, also as the length of a list."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return _length(module, node.args[0])
    return None


def _length(module: Module, node: ast.expr) -> int | None:
    """How many entries a list has that nothing makes longer."""
    value: ast.expr = node
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        if statement is None:
            return None
        value = statement.value
        loads = module.loads_of(node.id, module.scope(node).lookup(node.id))
        if any(isinstance(module.parent(load), ast.Attribute) for load in loads):
            return None
    plain = isinstance(value, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in value.elts)
    return len(value.elts) if plain and isinstance(value, (ast.List, ast.Tuple)) else None
