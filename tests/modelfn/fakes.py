"""Stands in for TensorFlow of both sides: every function gives a `Symbol` that remembers how it was made.

Layers are numbered by their first use, so that a layer that is made twice, shared wrongly or taken from the wrong place
of a list shows.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

_CLASSES = {
    "Dense": "dense", "Dropout": "dropout", "BatchNormalization": "batch_normalization", "Conv2D": "conv2d",
    "Flatten": "flatten", "SGD": "GradientDescentOptimizer", "MeanSquaredError": "mean_squared_error",
    "MeanAbsoluteError": "mean_absolute_error", "Accuracy": "accuracy", "Mean": "mean",
}  # fmt: skip
_LOSSES = {"MeanSquaredError": "mean_squared_error", "MeanAbsoluteError": "absolute_difference"}


class Symbol:
    """A tensor, known by the text of its making."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(name, self)

    def __getitem__(self, key: Any) -> Symbol:
        return Symbol(f"{self.text}[{key!r}]")

    def __iter__(self) -> Iterator[Symbol]:
        raise TypeError("a tensor is not iterable")

    def __bool__(self) -> bool:
        raise TypeError("a tensor has no truth value")

    def _operator(name: str) -> Any:  # type: ignore[misc]
        return lambda self, other: Symbol(f"({self} {name} {other})")

    def _reflected(name: str) -> Any:  # type: ignore[misc]
        return lambda self, other: Symbol(f"({other} {name} {self})")

    __add__, __sub__, __mul__, __truediv__ = _operator("+"), _operator("-"), _operator("*"), _operator("/")
    __radd__, __rsub__, __rmul__ = _reflected("+"), _reflected("-"), _reflected("*")
    __lt__, __gt__ = _operator("<"), _operator(">")

    def __neg__(self) -> Symbol:
        return Symbol(f"(-{self})")


def _call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    return f"{name}({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in sorted(kwargs.items()))])})"


class Function:
    """``tf.nn.relu`` and everything else without a special meaning."""

    def __init__(self, name: str, owner: Symbol | None = None) -> None:
        self._name, self._owner = name, owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(f"{self._name}.{name}", self._owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._name == "minimize":
            return Symbol(f"{self._owner} on {args[0]!r}")
        text = _call(self._name.rsplit(".", 1)[-1], args, kwargs)
        return Symbol(text if self._owner is None else f"{self._owner}.{text}")

    def __repr__(self) -> str:
        return self._name


class Layer:
    """A layer of either side. What it computes names its class, its arguments and its number."""

    def __init__(self, world: World, kind: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.world, self.kind = world, _CLASSES.get(kind, kind)
        first = {"dense": "units", "dropout": "rate"}.get(self.kind, "")
        if not args and first in kwargs:
            args, kwargs = (kwargs[first],), {k: v for k, v in kwargs.items() if k != first}
        self.made = _call(self.kind, args, {k: v for k, v in kwargs.items() if k not in ("name", "momentum")})
        self.number: int | None = None

    def __call__(self, inputs: Any, training: Any = False) -> Symbol:
        if self.number is None:
            self.world.used += 1
            self.number = self.world.used
        return Symbol(f"{self.made}#{self.number}({inputs!r}, {bool(training)})")


class Variable(Symbol):
    """A variable of either side, known by its shape and its number."""

    def __init__(self, world: World, shape: Any) -> None:
        self.world, self.shape_given = world, shape
        self.number: int | None = None

    @property
    def text(self) -> str:  # type: ignore[override]
        """Numbered by first use, as layers are."""
        if self.number is None:
            self.world.used += 1
            self.number = self.world.used
        return f"variable{self.shape_given}#{self.number}"


class Embedding:
    """A layer that holds a table, whose rows the old side looks up by a function."""

    def __init__(self, world: World, rows: Any, size: Any) -> None:
        self.embeddings = Variable(world, [rows, size])

    def __call__(self, ids: Any) -> Symbol:
        return Namespace("tf").nn.embedding_lookup(self.embeddings, ids)


class Namespace:
    """A module or class with given members; the others are plain functions."""

    def __init__(self, name: str, **members: Any) -> None:
        self._name = name
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(f"{self._name}.{name}")


class Scope:
    """``with tf.variable_scope(…)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


class OpenScope(Scope):
    """A scope that is part of the names of variables; `name` may be a scope that was open before."""

    def __init__(self, world: World, name: str | OpenScope, reuse: Any = None, **kwargs: Any) -> None:
        self.world, self.name, self.reuse = world, name, bool(reuse)
        self.path: list[str] = []

    def __enter__(self) -> OpenScope:
        self.held = self.world.scopes
        self.path = self.name.path if isinstance(self.name, OpenScope) else [*self.world.scopes, self.name]
        self.world.scopes = self.path
        self.world.reuse.append(self.reuse)
        return self

    def __exit__(self, *error: Any) -> None:
        self.world.scopes = self.held
        self.world.reuse.pop()

    def reuse_variables(self) -> None:
        """Find variables from now on."""
        self.world.reuse[-1] = True


class Weighted:
    """Keras's own `add_weight`."""

    world: World

    def add_weight(self, name: str, shape: Any, **kwargs: Any) -> Variable:
        """A new variable."""
        return Variable(self.world, shape)


class KerasModel(Weighted):
    """The part of keras.Model that migrated code leans on."""

    optimizer = Namespace("optimizer")

    def compile(self, optimizer: Any = None, loss: Any = None, **settings: Any) -> None:
        self.optimized, self.loss = optimizer, loss

    def compute_loss(self, x: Any, y: Any, y_pred: Any) -> Symbol:
        """What Keras makes of the loss that it was given."""
        assert self.loss == "mse"
        return squared(y, y_pred)

    def predict_step(self, data: Any) -> Any:
        call: Any = self.call  # type: ignore[attr-defined]
        return call(data, training=False) if "training" in inspect.signature(call).parameters else call(data)

    def get_metrics_result(self) -> None:
        pass


class KerasLayer(Weighted):
    """The part of keras.layers.Layer that migrated code leans on."""

    def __init__(self, name: str | None = None) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)  # type: ignore[attr-defined]


class Metric:
    """A Keras metric that notes what it is fed."""

    def __init__(self, kind: str, **kwargs: Any) -> None:
        self.kind, self.name, self.fed = _CLASSES.get(kind, kind), kwargs.get("name"), "never fed"

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        self.fed = _call(self.kind, args, {"weights" if k == "sample_weight" else k: v for k, v in kwargs.items()})


def squared(labels: Any, predictions: Any) -> Symbol:
    """The mean squared error, written out."""
    return Symbol(f"reduce_mean(squared_difference({predictions!r}, cast({labels!r}, tf.float32)))")


class World:
    """One side: the modules that a program imports, and the number of layers used so far."""

    def __init__(self) -> None:
        self.used = 0
        self.scopes: list[str] = []
        self.reuse: list[bool] = [False]
        self.variables: dict[str, Variable] = {}
        self.layers: dict[str, Layer] = {}

    def scope(self) -> OpenScope:
        """``tf.get_variable_scope()``."""
        found = OpenScope(self, "")
        found.path = self.scopes
        return found

    def variable(self, name: str, shape: Any = None, **kwargs: Any) -> Variable:
        """``tf.get_variable``: one variable for each name, whatever is said of reuse."""
        full = "/".join((*self.scopes, name))
        return self.variables.setdefault(full, Variable(self, shape))

    def old(self) -> dict[str, Any]:
        """TensorFlow 1."""

        def layer(kind: str) -> Any:
            def apply(inputs: Any, *args: Any, training: Any = False, **kwargs: Any) -> Symbol:
                if kind == "dropout" and not args and "rate" not in kwargs:
                    args = (0.5,)
                made = Layer(self, kind, args, {k: v for k, v in kwargs.items() if k != "reuse"})
                if kwargs.get("name") is not None and (kwargs.get("reuse") or any(self.reuse)):
                    made = self.layers.setdefault("/".join((*self.scopes, kwargs["name"])), made)
                elif kwargs.get("name") is not None:
                    self.layers["/".join((*self.scopes, kwargs["name"]))] = made
                return made(inputs, training)

            return apply

        def made(kind: str) -> Any:
            return lambda *args, **kwargs: Layer(self, kind, args, kwargs)

        keys = Namespace("ModeKeys", TRAIN="train", EVAL="eval", PREDICT="infer")
        spec = types.SimpleNamespace
        estimator = Namespace(
            "estimator",
            ModeKeys=keys,
            Estimator=lambda model_fn, params=None, **_: spec(model_fn=model_fn, params=params),
            EstimatorSpec=lambda mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None: spec(
                predictions=predictions, loss=loss, train_op=train_op, metrics=eval_metric_ops
            ),
        )
        functions = {kind: layer(kind) for kind in ("dense", "dropout", "batch_normalization", "conv2d", "flatten")}
        layers = Namespace("layers", Dense=made("Dense"), **functions)

        def mean(values: Any, weights: Any = None) -> Symbol:
            return Symbol(_call("mean", (values,), {} if weights is None else {"weights": weights}))

        tf = Namespace(
            "tf",
            estimator=estimator,
            losses=Namespace("losses", mean_squared_error=squared),
            metrics=Namespace("metrics", mean=mean),
            layers=layers,
            variable_scope=lambda name, *args, **kwargs: OpenScope(self, name, **kwargs),
            get_variable=self.variable,
            get_variable_scope=self.scope,
            name_scope=Scope,
            control_dependencies=Scope,
            keras=Namespace("keras", layers=Namespace("layers", Dense=made("Dense"))),
        )
        return {"tensorflow": tf}

    def new(self) -> dict[str, Any]:
        """TensorFlow 2, and the vendored helpers."""

        def made(kind: str) -> Any:
            return lambda *args, **kwargs: Layer(self, kind, args, kwargs)

        here = {"world": self}

        def loss(kind: str) -> Any:
            return lambda *args, **kwargs: Function(_LOSSES[kind])

        def metric(kind: str) -> Any:
            return lambda **kwargs: Metric(kind, **kwargs)

        kinds = ("Dense", "Dropout", "BatchNormalization", "Conv2D", "Flatten")
        keras = Namespace(
            "keras",
            Model=type("Model", (KerasModel,), here),
            layers=Namespace(
                "layers",
                Layer=type("Layer", (KerasLayer,), here),
                Embedding=lambda rows, size, **kwargs: Embedding(self, rows, size),
                **{kind: made(kind) for kind in kinds},
            ),
            losses=Namespace("losses", **{k: loss(k) for k in _LOSSES}),
            metrics=Namespace(
                "metrics", **{k: metric(k) for k in ("Mean", "Accuracy", "MeanSquaredError", "MeanAbsoluteError")}
            ),
            optimizers=Namespace("optimizers", SGD=Function("GradientDescentOptimizer")),
        )
        helpers = Namespace(
            "tf2_training",
            BatchMean=metric("BatchMean"),
            configure=lambda model, *args, **kwargs: model,
        )
        cluster = Namespace(
            "tf2_cluster",
            make_strategy=lambda *args, **kwargs: types.SimpleNamespace(scope=Scope),
            configure_distributed=lambda model, *args, **kwargs: model,
        )
        return {"tensorflow": Namespace("tf", keras=keras), "tf2_training": helpers, "tf2_cluster": cluster}
