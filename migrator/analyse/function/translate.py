"""What the analysis has to be told about a library: which calls make layers, which are plain values, how others are
written in Keras. The rules fill a `Translations`; this package never names a TensorFlow symbol itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Union

from migrator.analyse.function.errors import Unsupported

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.results.compiled import CompiledLoss, CompiledMetric, Reading
    from migrator.resolve.module import Module
    from migrator.resolve.project import Project

Value = Union[ast.expr, str]
"""An argument: a node of the program, or text written by a rule."""


@dataclass(frozen=True)
class Layer:
    """A call that makes a layer or a variable, split into making (static) and using (dynamic)."""

    constructor: str
    """Text of the callable, such as ``tf.keras.layers.Dense`` or ``self.add_weight``."""
    arguments: tuple[tuple[str | None, Value], ...]
    """Of the constructor; the name is None for positional ones."""
    inputs: tuple[tuple[str | None, Value], ...] | None
    """Arguments of the call of the layer; None: the value is the made object itself."""
    scope: str
    """What TF1 calls the layer when it has no name: ``dense`` (then ``dense_1`` and so on)."""
    name: ast.expr | None = None
    """The name that the program gives it."""
    variables: tuple[tuple[str, str], ...] = ()
    """TF1 variable under the scope and the attribute of the Keras layer: ``("kernel", "kernel")``."""
    helper: Body | None = None
    """The helper function that makes the layers, where the call is of one."""
    maker: ast.expr | None = None
    """What the program calls, where that is a value that stands for one of several helpers, or for one handed on."""
    alternatives: tuple[Body, ...] = ()
    """The other helpers that it may stand for."""
    given: tuple[tuple[str, ast.expr], ...] = ()
    """Its arguments by parameter."""
    reuse: tuple[tuple[str, bool | None], ...] = ()
    """What the call of a helper says of the sharing of its variables, by parameter; None where no literal."""
    columns: tuple[str, ...] = ()
    """How the names of its variables end, if they are those of feature columns, by which they are called under the scope."""
    trains: bool = False
    """Whether the call takes `training`."""
    moving: str | None = None
    """Argument with the momentum of moving statistics, which TF1 only updates through UPDATE_OPS."""
    keras: bool = False
    """Whether it is a layer of Keras in TF1 already, which adds nothing to the collections of the graph."""
    attribute: str | None = None
    """What the attribute is called that holds it, if not after its scope."""
    applied: tuple[tuple[str, str], ...] = ()
    """Arguments of the call of the object where the program gives none: ``("training", "False")``."""
    vendored: bool = False
    """Whether the constructor is the name of a vendored helper."""
    old_defaults: tuple[tuple[str, str], ...] = ()
    """Arguments of the constructor whose default is another one in TF2."""
    weight: bool = False
    """Whether it is a weight of the model or layer itself; its constructor takes the name of the variable."""
    recurrent: bool = False
    """Whether it runs cells, and makes their variables in its scope."""
    late: bool = False
    """Whether `call` makes it, because its shape is known only when data flow."""
    built: bool = False
    """Whether `build` makes it, because its sizes are those of the first input."""
    bias_name: ast.expr | None = None
    """What the program called the bias where it made the variables of a layer itself; `name` is that of the kernel then."""

    @property
    def asks_for_training(self) -> bool:
        """Whether it may do something else in training, and so may what it is made of: cells that drop, layers of a helper.

        Keras 3 tells a model of training only if its `call` takes `training`; layers inside learn of it from there.
        """
        if self.helper is not None:
            return self.trains or any(site.layer.asks_for_training for site in self.helper.sites)
        known = self.weight or self.columns or self.constructor.startswith(("tf.keras.layers.", "self.add_weight"))
        return self.trains or self.recurrent or self.maker is not None or not known


class Writing(Protocol):
    """What a translation may ask while it writes an expression."""

    tf: str
    """The file's name for TensorFlow 2."""
    where: str
    """``init``, ``call``, ``loss``, ``metrics``, ``train``, ``factory`` or ``rate``: the function being written."""

    def text(self, value: Value) -> str:
        """The migrated text of a node."""

    def need(self, helper: str) -> str:
        """Asks for a vendored helper; returns its name."""

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of a reference."""

    def is_static(self, node: ast.expr) -> bool:
        """Whether the value is known when the model is built."""

    def is_step(self, node: ast.expr) -> bool:
        """Whether the value is the global step (perhaps cast to another type)."""

    def followed(self, node: ast.expr) -> ast.expr:
        """The expression behind a name that is assigned once."""

    def may_be_none(self, node: ast.expr) -> bool:
        """Whether the program is seen to give None for a value, as for a number of steps where it does not train."""

    def may_come_from(self, node: ast.expr, words: tuple[str, ...]) -> bool:
        """Whether the value may be the result of a function (or of a layer with an activation) named by `words`."""

    def in_training(self, node: ast.expr, neutral: float) -> str | None:
        """The text of a value in training, if the mode decides it and it is `neutral` otherwise; None if the mode does not
        decide it."""

    def collected(self, call: ast.Call, key: str) -> list[str]:
        """Texts of the losses that the program has put into a collection before `call`."""

    def kept(self) -> frozenset[str]:
        """The collections of losses that the model's layers keep, all in ``self.losses``."""

    def fact(self, name: str) -> bool:
        """Facts about the model: ``sparse`` (it looks rows up), ``repeated`` (perhaps one several times), ``exact`` and
        ``keras 3`` (the settings ask for the kernels of TF1, and allow for Keras 3), ``scheduled`` (the learning rate changes),
        ``conditional`` (a step may apply no gradients, or those of one optimizer of several),
        ``regularized`` (some layer has a regularizer), ``regularized outside`` (a Keras layer has one, which the graph does
        not collect)."""


Resolve = Callable[[ast.expr], "str | None"]
Expression = Callable[[ast.Call, "Writing"], "str | None"]
LayerRule = Callable[[ast.Call, str, Callable[[ast.expr], "str | None"]], "Layer | None"]


class Table(Protocol):
    """Rules by qualified name; a dict is one."""

    def get(self, name: str, /) -> LayerRule | None:
        """The rule for a callable."""

    def __contains__(self, name: str, /) -> bool: ...


class GraphCollections:
    """Which calls fill and read collections of the graph; this one knows none."""

    def added(self, call: ast.Call, name: str, resolve: Resolve) -> tuple[str, ast.expr] | None:
        """The collection that a call adds to, and the expression that it adds (the call itself, or an argument)."""

    def read(self, call: ast.Call, name: str, resolve: Resolve) -> tuple[str, ...]:
        """The collections of losses that a call reads."""
        return ()

    def may_read(self, call: ast.Call, key: str, resolve: Resolve) -> bool:
        """Whether a call may read this collection."""
        return True


@dataclass
class Translations:
    """All that the rules know, by qualified name."""

    layers: Table
    expressions: dict[str, Expression] = field(default_factory=dict)
    metrics: dict[str, MetricRule] = field(default_factory=dict)
    metric_classes: Callable[[str], bool] = lambda name: False
    """Whether calling this library function makes a metric of Keras."""
    metric_groups: frozenset[str] = frozenset()
    """Marks for calls that stand for all metrics of an object: of its methods `metrics` and `update_metrics`."""
    served_whole: frozenset[str] = frozenset()
    """Marks for calls that stand for all export outputs of an object: of its method `serving_outputs`."""
    training: frozenset[str] = frozenset()
    """Functions that make optimizers, schedules or train ops."""
    initialized: frozenset[str] = frozenset()
    """Functions that make a variable out of a tensor, for which the rule of the layer finds an initializer."""
    shaped: frozenset[str] = frozenset()
    """Functions that make a variable out of a shape, or of a tensor as above; the shape may come from data."""
    made_once: frozenset[str] = frozenset()
    """Functions that make an object such as a lookup table, out of constants: once for all calls of the model."""
    constants: frozenset[str] = frozenset()
    """Functions that make a tensor of a plain value."""
    steps: frozenset[str] = frozenset()
    """Functions that give the global step."""
    task_fields: frozenset[str] = frozenset()
    """Fields of the run configuration that say which process of a cluster this is."""
    summaries: frozenset[str] = frozenset()
    """Functions that write a summary under the tag that they are given first."""
    collections: GraphCollections = field(default_factory=GraphCollections)
    variables: frozenset[str] = frozenset()
    """Functions that list all trainable variables."""
    optimizers: frozenset[str] = frozenset()
    """Functions that make optimizers; their first argument is the learning rate, if `rate_places` has no other place."""
    rate_places: dict[str, int] = field(default_factory=dict)
    """Where other functions that make optimizers take the learning rate."""
    name_texts: dict[str, Callable[[ast.Call], ast.expr | None]] = field(default_factory=dict)
    """Which argument of functions that make optimizers lists texts that are looked for in the names of variables."""
    optimizer_bases: frozenset[str] = frozenset()
    """Classes that an optimizer of the program may derive from."""
    schedules: frozenset[str] = frozenset()
    """Functions of the global step that give a learning rate."""
    lookups: frozenset[str] = frozenset()
    """Functions whose gradients touch some rows of a variable only."""
    column_lookups: frozenset[str] = frozenset()
    """Those of them that look up each id once, and of which Keras 3 has none."""
    shared_columns: frozenset[str] = frozenset()
    """Functions that make columns of one table, for which these look up an id several times after all."""
    static: Callable[[str], bool] = lambda name: False
    """Whether calling this library function with static arguments gives a static value (not a tensor)."""
    old_only: Callable[[str], bool] = lambda name: False
    """Whether a name exists in the old version of the library only."""
    compiled_loss: Callable[[Reading], CompiledLoss | None] = lambda given: None
    """The loss that `compile` takes, for the expression of a loss."""
    compiled_metric: Callable[[Reading], CompiledMetric | None] = lambda given: None
    """The metric that `compile` takes, for the call of one."""
    refused: Callable[[str], bool] = lambda name: False
    """Whether a name means nothing, or something else, outside of a graph, so that its use must not survive."""
    effects: Callable[[str | None, str], bool] = lambda name, text: False
    """Whether a statement that calls this function (qualified name, source text) may run while the model is traced."""
    cells: frozenset[str] = frozenset()
    """Functions that make recurrent cells: plain objects out of which layers are made."""
    cell_bases: frozenset[str] = frozenset()
    """Classes that a recurrent cell of the program may derive from."""
    old_layers: Callable[[str], bool] = lambda name: False
    """Whether a name is a class of layers that the old version of the library has beside those of Keras."""
    objects: Callable[[str], bool] = lambda name: False
    """Whether calling this library function makes a layer or a model of Keras."""
    phased: Callable[[ast.AST, Callable[[ast.expr], str | None]], bool] = lambda node, resolve: False
    """Whether a Keras object made below a node may do something else in training."""
    training_only: Callable[[ast.Call, Resolve], list[ast.expr]] = lambda call, resolve: []
    """Arguments of a call that only matter in training, such as the rates of dropout in a recurrent cell."""
    watched: frozenset[str] = frozenset()
    """Names of ops whose values callbacks read while the model trains."""
    hooks: dict[str, HookRule] = field(default_factory=dict)
    """Hooks of a spec that become callbacks."""
    evaluation_hooks: frozenset[str] = frozenset()
    """Those of them that run in evaluations as well."""
    own_hooks: Callable[[Project, Module, ast.Call, bool], HookCall | None] = lambda *given: None
    """The callback for a hook of the program's own (in evaluations); None if the call makes none."""
    step_before: Callable[[Module], bool] = lambda module: False
    """Whether hooks of a program see the global step as it is before their step, instead of after it."""
    scaffold: Callable[[ast.expr, Resolve, Callable[[ast.expr], ast.expr]], dict[str, Value]] = lambda *given: {}
    """Fields of the run configuration that the Scaffold of a training sets."""
    library: Callable[[str], bool] = lambda name: name.startswith("tensorflow.")
    """Whether a qualified name belongs to the library, so that its calls give tensors unless `static` says no."""


@dataclass(frozen=True)
class Metric:
    """An evaluation metric: how it is made and how it is fed."""

    constructor: str
    arguments: tuple[tuple[str | None, Value], ...]
    update: tuple[tuple[str | None, Value], ...]


MetricRule = Callable[[ast.Call, "Writing"], Metric]


@dataclass(frozen=True)
class HookCall:
    """The callback that a hook becomes; it reads `tensors` by tag: expressions, or names of ops."""

    callback: str
    arguments: tuple[tuple[str | None, Value], ...] = ()
    tensors: tuple[tuple[str, ast.expr], ...] = ()
    own: ast.Call | None = None
    """The hook itself, where it is one of the program's own that the callback runs."""
    names: tuple[tuple[str, ast.expr], ...] = ()
    """Names of ops that it reads besides."""
    loss: ast.expr | None = None
    """What the hook checks to be a number, which each training does with the loss."""
    final: ast.expr | None = None
    """What is computed once the training has ended."""
    of_fit: bool = False
    """Whether `fit` alone knows a callback for it."""


HookRule = Callable[[ast.Call, Resolve, Callable[[ast.expr], ast.expr]], HookCall]
"""Given the call, what resolves names, and what gives the expression behind a name."""


def bind(call: ast.Call, signature: str, what: str) -> dict[str, ast.expr]:
    """The arguments of `call` by parameter name. `signature` lists the parameters, separated by blanks.

    Raises Unsupported for ``*args``, ``**kwargs``, unknown keywords and too many arguments.
    """
    names = signature.split()
    bound: dict[str, ast.expr] = {}
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise Unsupported(f"the arguments of {what} are hidden behind * or **", call)
    if len(call.args) > len(names):
        raise Unsupported(f"{what} takes {len(names)} positional arguments, {len(call.args)} are given", call)
    bound.update(zip(names, call.args))
    for keyword in call.keywords:
        assert keyword.arg is not None
        if keyword.arg not in names or keyword.arg in bound:
            raise Unsupported(f"{what} has no argument `{keyword.arg}`, or it is given twice", keyword.value)
        bound[keyword.arg] = keyword.value
    return bound


def format_call(function: str, arguments: Mapping[str, str] | list[tuple[str | None, str]]) -> str:
    """``function(a, name=b)`` on one line."""
    pairs = list(arguments.items()) if isinstance(arguments, Mapping) else arguments
    return f"{function}({', '.join(text if name is None else f'{name}={text}' for name, text in pairs)})"


def operand(value: ast.expr, writing: Writing) -> str:
    """The text of an expression as one side of an operator: in parentheses unless it is a name, a call or the like."""
    text = writing.text(value)
    atoms = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Tuple)
    return text if isinstance(value, atoms) else f"({text})"


def is_none(node: ast.expr | None) -> bool:
    """Whether an argument is absent or the literal None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def dropped_by(rate: ast.BinOp) -> ast.expr | None:
    """The rate in ``1 - (1 - rate)``, which a rule made of what is kept."""
    kept = rate.right
    if not isinstance(kept, ast.BinOp) or not isinstance(kept.op, ast.Sub) or not isinstance(kept.left, ast.Constant):
        return None
    return kept.right if kept.left.value == 1 else None


def is_empty(node: ast.expr | None) -> bool:
    """Whether an argument is absent, the literal None, or an empty list or tuple."""
    return is_none(node) or (isinstance(node, (ast.List, ast.Tuple)) and not node.elts)
