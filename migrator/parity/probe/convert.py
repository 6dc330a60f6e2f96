"""Lets the new program make its model, gives that the values of a TF1 checkpoint, and saves it as the program does.

Runs the program until it calls `Model.fit` for the first time: then all variables are there, those of optimizers too.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import program
from .keras_choice import choose_keras
from .recorded import mapping
from .recorded.slots import POWERS, StateError, is_state, slots
from .replay import model_variables, pairs_of_layers, resolve, variable_name

_TF1_ORDER = {frozenset({"rms", "momentum", "mg"}): ["rms", "mg", "momentum"]}
"""Slots that TF1 makes in another order than the vendored optimizer names them."""

_MOMENTS = {"m": "_momentums", "v": "_velocities"}
_SQUARES = {"rms": "_velocities", "mg": "_average_gradients", "momentum": "_momentums"}
_MEANS = {"accum": "_accumulated_grads", "accum_update": "_accumulated_delta_vars"}
_OF_KERAS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("Adam", "LazyAdam"), _MOMENTS),
    **dict.fromkeys(("Adamax", "LazyAdamax"), {"m": "_m", "v": "_u"}),
    **dict.fromkeys(("Adagrad", "ProximalAdagrad"), {"accumulator": "_accumulators"}),
    **dict.fromkeys(("Ftrl", "LazyFtrl"), {"accumulator": "_accumulators", "linear": "_linears"}),
    **dict.fromkeys(("SGD", "Momentum", "LazyMomentum"), {"momentum": "momentums"}),
    **dict.fromkeys(("RMSprop", "LazyRMSprop"), _SQUARES),
    **dict.fromkeys(("Adadelta", "LazyAdadelta"), _MEANS),
    "AdagradDA": {"gradient_accumulator": "_linears", "gradient_squared_accumulator": "_accumulators"},
    "ProximalGradientDescent": {},
}
"""The slots that optimizers of Keras, and those derived from them, keep as TF1 does, in the order of TF1, with the attributes
that list them."""
_BETAS = {"beta1_power": "beta_1", "beta2_power": "beta_2"}
_NEAR = 0.01
"""How far rounding may carry a product of as many betas as there were steps."""


class _Done(BaseException):
    """Ends the program; it must not be able to catch this by accident."""


class Conversion:
    """One checkpoint and the model that gets its values."""

    def __init__(self, path: str, explicit: Sequence[Sequence[Sequence[str]]], weights_only: bool) -> None:
        import tensorflow as tf

        self.reader = tf.train.load_checkpoint(path)
        self.shapes: dict[str, list[int]] = self.reader.get_variable_to_shape_map()
        self.explicit, self.weights_only = explicit, weights_only
        self.pairs: list[list[str]] = []
        self.used: set[str] = set()
        if "_CHECKPOINTABLE_OBJECT_GRAPH" in self.shapes:
            raise StateError(f"{path} is a checkpoint of TensorFlow 2")

    def run(self, model: Any) -> int:
        """Gives `model` and its optimizers all values; the step of the checkpoint."""
        step = 0 if self.weights_only else self.global_step()
        if getattr(model, "tf1_variables", None):
            self.graph(model)
            model.global_step.assign(step)
            return step
        found = self.weights(model)
        for optimizer in optimizers_of(model):
            if not self.weights_only:
                self.optimizer(optimizer, found)
            optimizer.iterations.assign(step)
        return step

    def value(self, name: str) -> Any:
        """A tensor of the checkpoint. Raises StateError if it is not there."""
        if name not in self.shapes:
            raise StateError(f"the checkpoint holds no {name}")
        self.used.add(name)
        return np.asarray(self.reader.get_tensor(name))

    def assign(self, variable: Any, name: str, how: str, factor: float = 1.0) -> None:
        value = self.value(name)
        shape = [int(n) for n in variable.shape]
        if value.size != int(np.prod(shape)):
            raise StateError(
                f"{name} {list(value.shape)} of the checkpoint does not fit {variable_name(variable)} {shape}"
            )
        variable.assign(
            value.reshape(shape) if factor == 1.0 else value.reshape(shape) * np.asarray(factor, value.dtype)
        )
        self.pairs.append([name, variable_name(variable), how])

    def global_step(self) -> int:
        return int(self.value("global_step"))

    def graph(self, model: Any) -> None:
        """A model around a graph: its variables have their names of TF1."""
        names = set(model.tf1_variables)
        for name, variable in model.tf1_variables.items():
            if self.weights_only and is_state(name, names):
                continue
            whole, part = slice_of(name, model.tf1_variables)
            if part is None:
                self.assign(variable, name, "name")
            else:
                place = tuple(slice(start, start + n) for start, n in zip(part.var_offset, part.var_shape))
                variable.assign(self.value(whole)[place])
                self.pairs.append([whole, name, "name"])

    def weights(self, model: Any) -> dict[int, tuple[str, Any]]:
        """Gives the model its weights; the name and the variable of each, by the id of the variable."""
        names = [name for name in sorted(self.shapes) if not is_state(name, self.shapes)]
        old = [mapping.Variable(name, tuple(self.shapes[name])) for name in names]
        variables = model_variables(model)
        shapes = [tuple(int(n) for n in variable.shape) for variable in variables]
        fresh = [mapping.Variable(variable_name(v), s, key=k) for k, (v, s) in enumerate(zip(variables, shapes))]
        by_name = {variable.name: variable for variable in old}
        models: list[list[tuple[mapping.Variable, mapping.Variable]]] = []
        for entries in self.explicit:
            models.append([])
            for pattern, path in entries:
                if pattern.endswith("/"):
                    models[-1] += pairs_of_layers(model, pattern, path, old, list(zip(fresh, variables)), ordered=False)
                    continue
                expanded, targets = mapping.expand(pattern, names), resolve(model, path)
                for name, target in zip(expanded, targets) if len(expanded) == len(targets) else ():
                    models[-1] += [(by_name[name], fresh[k]) for k, v in enumerate(variables) if v is target]
        explicit = mapping.best_fitting(models) if len(models) > 1 else [pair for pairs in models for pair in pairs]
        found = {}
        for pair in mapping.match(old, fresh, explicit, ordered=False):
            variable = variables[pair.new.key]
            self.assign(variable, pair.old.name, pair.how)
            found[id(variable)] = (pair.old.name, variable)
        return found

    def optimizer(self, optimizer: Any, weights: dict[int, tuple[str, Any]]) -> None:
        """Gives an optimizer its slots and powers. Variables that TF1 never trained have none, and keep the new ones."""
        wanted = slot_names(optimizer)
        trained = [(name, v) for name, v in weights.values() if wanted and has_slots(optimizer, v)]
        none = True
        for name, variable in trained:
            own = slots_of(optimizer, variable, wanted)
            given = slots(name, self.shapes, own)
            for slot, source in zip(own, given or ()):
                none, held = False, slot_of(optimizer, slot, variable)
                if held is None:
                    self.used.add(source)
                else:
                    self.assign(held, source, "slot", factor_of(optimizer))
        if trained and none:
            raise StateError(
                f"the checkpoint holds no slots of {type(optimizer).__name__}; --weights-only leaves them new"
            )
        named = {name.split("/")[-1] for name in self.shapes}
        for power, beta in _BETAS.items() if hasattr(optimizer, "beta_1") else ():
            self.check_power(power, float(getattr(optimizer, beta)))
        for power in sorted({*POWERS, *(name for name in vars(optimizer) if name in named)}):
            if hasattr(optimizer, power):
                sources = [name for name in self.shapes if name.split("/")[-1] == power]
                if len(sources) != 1:
                    raise StateError(f"the checkpoint holds {len(sources)} variables {power}, not one")
                self.assign(getattr(optimizer, power), sources[0], "slot")

    def check_power(self, power: str, beta: float) -> None:
        """Keras computes the powers of the betas of the step, so that step must be the optimizer's own."""
        expected = beta ** (self.global_step() + 1)
        names = sorted(name for name in self.shapes if re.fullmatch(rf"(.*/)?{power}(_\d+)?", name))
        if names and all(abs(float(self.value(name)) - expected) > _NEAR for name in names):
            raise StateError(
                f"{names[0]} of the checkpoint is not that of its global step: Adam took other steps, and only that of"
                " `migrate --exact` goes on"
            )

    def unused(self) -> list[str]:
        return sorted(set(self.shapes) - self.used)


def optimizers_of(model: Any) -> list[Any]:
    """All optimizers of a model: those of its parts, or that of `compile` and any other that it holds."""
    parts = getattr(model, "part_optimizers", None)
    held = [value for value in vars(model).values() if hasattr(value, "apply_gradients")]
    return list(parts) if parts else list({id(optimizer): optimizer for optimizer in (model.optimizer, *held)}.values())


def slice_of(name: str, variables: Mapping[str, Any]) -> tuple[str, Any]:
    """Name of the whole that a variable of a graph is a part of, and which part; that None if it is no part.

    A slot is the same part of the slot of the whole: ``w/part_0/Adam`` of ``w/Adam``.
    """
    parts = name.split("/")
    for length in range(len(parts), 0, -1):
        owner = variables.get("/".join(parts[:length]))
        part = getattr(owner, "_get_save_slice_info", lambda: None)()
        if part is not None:
            return "/".join([part.full_name, *parts[length:]]), part
    return name, None


def slot_names(optimizer: Any) -> list[str]:
    """Names of the slots of a Keras optimizer, in the order of TF1. Raises StateError for optimizers that are not known."""
    if hasattr(optimizer, "initial_slots"):
        names = list(getattr(optimizer, "_slots", None) or optimizer.initial_slots())
        return _TF1_ORDER.get(frozenset(names), names)
    kind = type(optimizer).__name__
    if kind == "SGD" and hasattr(optimizer, "momentums") and not optimizer.momentum:
        return []
    if all(hasattr(optimizer, attribute) for attribute in _OF_KERAS.get(kind, {"": "."}).values()):
        return [slot for slot in _OF_KERAS[kind] if slot != "mg" or optimizer.centered]
    raise StateError(f"the state of {kind} is not that of an optimizer of TensorFlow 1; --weights-only leaves it new")


def _position(optimizer: Any, variable: Any) -> int | None:
    found: int | None = optimizer._index_dict.get(optimizer._var_key(variable))
    return found


def has_slots(optimizer: Any, variable: Any) -> bool:
    """Whether an optimizer was built for a variable."""
    if hasattr(optimizer, "initial_slots"):
        return any(optimizer._var_key(variable) in per_variable for per_variable in optimizer._slots.values())
    return _position(optimizer, variable) is not None


def slots_of(optimizer: Any, variable: Any, names: list[str]) -> list[str]:
    """Those of the slots that an optimizer keeps for this variable."""
    if hasattr(optimizer, "slots_of"):
        kept = [slot for slot, owners in optimizer._slots.items() if optimizer._var_key(variable) in owners]
        return [slot for slot in names or kept if slot in kept]
    return names


def slot_of(optimizer: Any, slot: str, variable: Any) -> Any:
    """The variable of one slot; None for one that only TF1 has, as the momentum of zero of RMSProp."""
    if hasattr(optimizer, "initial_slots"):
        return optimizer.slot(slot, variable)
    held = getattr(optimizer, _OF_KERAS[type(optimizer).__name__][slot])
    return held[_position(optimizer, variable)] if held else None


def factor_of(optimizer: Any) -> float:
    """By what a slot of TF1 is to be multiplied: the velocity of Keras has the learning rate in it, and the sign.

    Raises StateError for a rate that changes, with which the two do not go on alike.
    """
    if hasattr(optimizer, "initial_slots") or type(optimizer).__name__ != "SGD":
        return 1.0
    if not hasattr(optimizer._learning_rate, "numpy"):
        raise StateError("momentum of Keras does not go on from that of TensorFlow 1 at a rate that changes")
    return -float(optimizer._learning_rate.numpy())


def install(conversion: Conversion, config: dict[str, Any]) -> None:
    """Converts when a model is fitted for the first time."""
    import tensorflow as tf

    manager = tf.train.CheckpointManager
    held: list[Any] = []

    class Noted(manager):  # type: ignore[misc, valid-type]
        """Notes what the program saves."""

        def __init__(self, checkpoint: Any, *args: Any, **named: Any) -> None:
            super().__init__(checkpoint, *args, **named)
            held.append(checkpoint)

    def fit(self: Any, *args: Any, **named: Any) -> Any:
        checkpoint = next((saved for saved in held if getattr(saved, "model", None) is self), None)
        if checkpoint is None:
            raise StateError("the program trains a model of which it saves no checkpoints as `migrate` writes them")
        if not hasattr(self, "run_state"):  # else its variables are there
            data = args[0] if args else named["x"]
            self.make_train_function().get_concrete_function(tf.data.IteratorSpec(data.element_spec))
        step = conversion.run(self)
        target = manager(checkpoint, config["target"], None, checkpoint_name="model.ckpt")
        path = target.save(checkpoint_number=step)
        _report(config, step=step, path=os.path.basename(path), pairs=conversion.pairs, unused=conversion.unused())
        raise _Done

    tf.train.CheckpointManager = Noted
    tf.keras.Model.fit = fit


def _report(config: dict[str, Any], **content: Any) -> None:
    with open(config["report"], "w", encoding="utf-8") as file:
        json.dump(content, file)


def main(config_path: str) -> int:
    """Run the new program that the configuration names until it has a model to convert to; the exit status."""
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    choose_keras("new")
    try:
        conversion = Conversion(config["checkpoint"], config["variables"], config["weights_only"])
    except StateError as error:
        _report(config, error=str(error))
        return 4
    install(conversion, config)
    redirect = program.Redirect(config["sandbox"])
    program.redirect_tensorflow(redirect)
    program.guard_deletions(redirect, lambda text: print(text, file=sys.stderr))
    try:
        program.run(config["entry"], config["module"], list(config["args"]), config["folder"])
    except _Done:
        return 0
    except (mapping.MappingError, StateError) as error:
        _report(config, error=str(error))
        return 4
    _report(config, error="the program ended without training a model: give it the arguments with which it trains")
    return 4
