"""Canned Estimators that become a small Keras model in the program: what is known of one, or why it is not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.estimator_values import Construction
from ..inputs.feature_columns import SHARED
from ..inputs.foreign_columns import refuse_foreign_columns
from ..inputs.number_columns import only_numbers
from ..loop.values import values_of
from ..loop.variables import OfCanned
from .canned import PARTITIONERS, arguments_of
from .head_arguments import head_of
from .heads import Head

_HEAD = "model_dir config n_classes label_dimension loss_reduction weight_column label_vocabulary head"
_UNDERSTOOD = {
    "DNN": f"{_HEAD} input_layer_partitioner hidden_units feature_columns optimizer activation_fn dropout batch_norm",
    "Linear": f"{_HEAD} partitioner feature_columns optimizer sparse_combiner",
    "DNNLinearCombined": f"{_HEAD} input_layer_partitioner linear_feature_columns linear_optimizer dnn_feature_columns "
    "dnn_optimizer dnn_hidden_units dnn_activation_fn dnn_dropout batch_norm linear_sparse_combiner",
    "Baseline": f"{_HEAD} optimizer",
}
KINDS_OF_NETWORKS = {f"{part}{head}": part for part in _UNDERSTOOD for head in ("Classifier", "Regressor", "Estimator")}
_NEEDED = {
    "DNN": ("feature_columns", "hidden_units"),
    "Linear": ("feature_columns",),
    "DNNLinearCombined": ("linear_feature_columns", "dnn_feature_columns", "dnn_hidden_units"),
    "Baseline": (),
}
WEIGHTS, STATISTICS = "weights", "statistics"
"""What checkpoints of Keras 3 may not hold of layers in lists."""
MORE = ("more_metrics", "forwarded")
"""Arguments of drafts: metrics that a program adds, and features that its predictions hold as well."""
_OWN = ("hidden_units", "feature_columns", "activation_fn", "dropout", "sparse_combiner")
_OF_HEAD = ("n_classes", "label_dimension", "weight_column", "label_vocabulary")
_KEPT = frozenset({*_OF_HEAD, *(f"{part}{name}" for name in _OWN for part in ("", "dnn_", "linear_"))})


@dataclass(frozen=True)
class Network:
    """A canned Estimator of which everything is understood."""

    construction: Construction
    kind: str
    """``DNN``, ``Linear``, ``DNNLinearCombined`` or ``Baseline``."""
    given: dict[str, ast.expr]
    """Its arguments that say something, by parameter, with those of its head behind its own."""
    head: Head
    weights: str = ""
    """What takes the place of its column of weights, if that is not the name of a feature."""
    more_metrics: Mapping[str, str] = field(default_factory=dict)
    """Calls of classes of `tf.keras.metrics` by the names of metrics that the program adds."""
    forwarded: Mapping[str, str] = field(default_factory=dict)
    """Features that predictions hold as well: how the program writes their names."""
    preprocessed: bool = False
    """Whether its columns are those on preprocessing layers of Keras."""
    numbers: bool = False
    """Whether its columns are the names of features of numbers."""

    @property
    def short(self) -> str:
        """The name of its class without its module."""
        return self.construction.name.rpartition(".")[2]

    @property
    def combined(self) -> bool:
        """Whether it is a weighted sum of columns, and a network on others."""
        return self.kind == "DNNLinearCombined"

    @property
    def sums(self) -> bool:
        """Whether it has a weighted sum of columns."""
        return self.kind in ("Linear", "DNNLinearCombined")

    @property
    def has_layers(self) -> bool:
        """Whether it has layers on each other."""
        return self.kind in ("DNN", "DNNLinearCombined")

    @property
    def optimizers(self) -> dict[str, ast.expr]:
        """What makes its optimizers, by the attributes of its model that hold these, where the program says so."""
        names = {"optimizer": "optimizer", "dnn_optimizer": "optimizer", "linear_optimizer": "linear_optimizer"}
        return {attribute: self.given[name] for name, attribute in names.items() if name in self.given}

    @property
    def last(self) -> str:
        """The attribute of its last layer; empty where it has none."""
        if not self.has_layers:
            return ""
        return "logits" if self.head.has_logits or self.combined else "prediction"

    @property
    def evaluated(self) -> list[str]:
        """The names of what all evaluations have; others are there if the program reads them."""
        return [*self.head.metrics("tf"), *self.more_metrics]

    @property
    def variables(self) -> OfCanned | None:
        """Its weights by the names of an Estimator; None where one layer has those of all columns."""
        return None if self.preprocessed else OfCanned(self.sums, self.last, not self.has_layers)

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
    def partitioner(self) -> ast.expr | None:
        """What parameter servers share its variables by."""
        return next((self.given[name] for name in PARTITIONERS if name in self.given), None)

    @property
    def settings(self) -> dict[str, ast.expr]:
        """Its arguments that any Estimator has."""
        return {name: self.given[name] for name in self.given if name in ("config", "model_dir")}

    @property
    def parameters(self) -> list[str]:
        """Those of the constructor of the new class, in the order in which the program gives them."""
        kept = [name for name in self.given if name in _KEPT]
        return [name for name in kept if not (name in ("n_classes", "label_dimension") and self.head.units == 1)]


def is_network(construction: Construction) -> bool:
    """Whether an Estimator is of a kind that may become a model of the program."""
    return construction.name.rpartition(".")[2] in KINDS_OF_NETWORKS


def is_extended(construction: Construction) -> bool:
    """Whether a canned Estimator is one that only a model of the program can be."""
    return any(keyword.arg in MORE for keyword in construction.call.keywords)


def network_of(project: Project, construction: Construction, features: str = "columns") -> Network | str:
    """What is known of a canned Estimator, or why it stays a call of a helper; `features` is the value of the option."""
    module, short = construction.module, construction.name.rpartition(".")[2]
    kind = KINDS_OF_NETWORKS[short]
    try:
        given = arguments_of(construction.call, construction.name, construction.dialect)
        refuse_foreign_columns(project, module, given)
        told = {name: value for name, value in given.items() if not is_none(value)}
        added, forwarded = (told.pop(name, None) for name in MORE)
        head = head_of(project, construction, told)
    except Unsupported as problem:
        return problem.reason
    told = {**{name: value for name, value in told.items() if name != "head"}, **head.arguments}
    more = sorted(set(told) - set(_UNDERSTOOD[kind].split()))
    if more:
        return f"`{more[0]}` of {short}"
    if not set(_NEEDED[kind]) <= set(told):
        return f"{short} without its columns"
    if {"activation_fn", "dnn_activation_fn"} & (set(given) - set(told)):
        return f"`activation_fn` of {short}"
    if "optimizer" in given and "optimizer" not in told:
        return f"`optimizer` of {short}"
    if not (isinstance(told.get("batch_norm", _FALSE), ast.Constant)):
        return f"`batch_norm` of {short}"
    if kind != "DNN" and any(name in SHARED for other in project.modules.values() for _, name in other.references()):
        return "columns that share a table, of more than one layer"
    weights = _weights(project, module, told["weight_column"]) if "weight_column" in told else ""
    if weights is None:
        return f"`weight_column` of {short}"
    metrics = ast.literal_eval(added) if added is not None else {}
    keys = {_key(module, node): module.segment(node) for node in getattr(forwarded, "elts", ())}
    preprocessed = features == "preprocessing"
    return Network(construction, kind, told, head.head, weights, metrics, keys, preprocessed)


def takes_numbers(networks: Mapping[ast.Call, Network], modules: Iterable[Module]) -> bool:
    """Whether models may take the names of features for columns that are these numbers."""
    combined = ("sparse_combiner", "linear_sparse_combiner")
    plain = all(
        not network.weights and not any(name in network.given for name in combined) for network in networks.values()
    )
    return plain and any(network.kind != "Baseline" for network in networks.values()) and only_numbers(modules)


def _key(module: Module, node: ast.expr) -> str:
    """The name of a feature."""
    statement = module.assignment(node)
    return str(ast.literal_eval(node if statement is None else statement.value))


def _weights(project: Project, module: Module, column: ast.expr) -> str | None:
    """What takes the place of a column of weights; nothing for the name of a feature, None where it is not understood."""
    known = [value for _, value in values_of(project, module, column)]
    if known and all(isinstance(value, ast.Constant) and isinstance(value.value, str) for value in known):
        return ""
    statement = module.assignment(column) if isinstance(column, ast.Name) else None
    value = column if statement is None else statement.value
    if not isinstance(value, ast.Call) or module.resolve(value.func) != "tensorflow.feature_column.numeric_column":
        return None
    key = value.args[0] if value.args else next((k.value for k in value.keywords if k.arg == "key"), None)
    if key is None or len(value.args) + len(value.keywords) > 1 or isinstance(key, ast.Starred):
        return None
    return module.segment(key) if statement is None else f"{module.segment(column)}.key"


_FALSE = ast.Constant(False)
