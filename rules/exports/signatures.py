"""What the signatures of a SavedModel are called."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.exports import PREDICTIONS, Signature, exports, is_default, served_by
from migrator.resolve.module import Module

DEFAULT = '"serving_default"'
_HEADS = frozenset({"multi_class_head", "binary_classification_head", "regression_head"})
_VERBS = {"PredictOutput": "predict", "ClassificationOutput": "classify", "RegressionOutput": "regress"}
_HEADS |= {"MultiClassHead", "BinaryClassHead", "RegressionHead"}
_SUFFIX = re.compile(r"_?(serving_)?(input_)?(receiver_)?(fn|func|function)$")
"""What the names of functions that say what is fed end with."""


@dataclass(frozen=True)
class Served:
    """One signature."""

    key: str
    """Its name, as it is written."""
    method: str = PREDICTIONS
    """The method of the model that computes it."""
    verb: str = "predict"
    """The method of TensorFlow Serving that clients call: those that are not ``predict`` send serialized examples."""
    output: str = ""
    """What the one output of a Keras model of the program is called, of a ``{model}``."""

    def of(self, model: str, features: str) -> str:
        """What it computes of features."""
        if self.output:
            return f"{{{self.output.format(model=model)}: {model}({features})}}"
        return f"{model}.{self.method}({features})"

    def function(self, model: str) -> str:
        """The function that computes it."""
        return f"lambda features: {self.of(model, 'features')}" if self.output else f"{model}.{self.method}"


@dataclass(frozen=True)
class Signatures:
    """Those of one model."""

    served: tuple[Served, ...] = ()
    refused: str = ""
    """Why they are not understood."""
    of_head: bool = False
    """Whether there are more for serialized examples: those of a head, for what classifies or regresses."""
    by_text: tuple[tuple[str, str], ...] = ()
    """These more, if that is known: their names, and what each gives of a model and its features, as a template."""
    takes_dicts: bool = False
    """Whether features have to be dicts, as those of feature columns."""

    def given(self, text: bool) -> list[Served]:
        """Those that a model is exported with, which is fed one text, as serialized examples are, if `text`."""
        return [each for each in self.served if text or each.verb == "predict"]

    def has_default(self, text: bool) -> bool:
        """Whether one is served to clients that name none, of a model that is fed one text if `text`."""
        default = any(each.key == DEFAULT for each in self.given(text))
        return default or (text and any(f'"{key}"' == DEFAULT for key, _ in self.by_text))

    def verbs(self, text: bool) -> list[tuple[str, str]]:
        """Signatures that clients call by other methods than ``predict``, as they are written, with these."""
        own = [(each.key, each.verb) for each in self.given(text) if each.verb != "predict"]
        more = [(f'"{key}"', "classify" if ".classify(" in of else "regress") for key, of in self.by_text]
        return own + (more if text else [])

    def refusing(self, text: bool, maybe_no_dict: bool = False) -> str:
        """Why the model is not exported, to be fed serialized examples or the like if `text`."""
        if maybe_no_dict and not self.takes_dicts:
            return "what a SavedModel is fed is not understood"
        reason = self.refused or (
            "signatures of a head that classify" if self.of_head and text and not self.by_text else ""
        )
        return reason or ("" if self.given(text) else "signatures for serialized examples alone")


def signatures_of_keras(output: str) -> Signatures:
    """That of a Keras model of the program, which `output` names the one output of."""
    return Signatures((Served(DEFAULT, output=output),))


def signatures_of(plan: Plan, has_dicts: bool) -> Signatures:
    """The signatures that the model of a model_fn is exported with."""
    try:
        found = exports(plan)
    except Unsupported as problem:
        return Signatures(refused=problem.reason)
    if found.whole is not None:
        names = {name.rpartition(".")[2] for _, name in plan.module.references() if name.lower().endswith("head")}
        known = bool(names) and names <= _HEADS
        return Signatures((Served('"predict"'),), "" if known else "signatures of a head", of_head=True)
    if not has_dicts and (not found.signatures or any(signature.predictions for signature in found.signatures)):
        return Signatures(refused="a signature of one tensor")
    if not found.signatures:
        return Signatures((Served(DEFAULT),))
    keys = [_key(plan, signature) for signature in found.signatures]
    if "" in keys:
        return Signatures(refused="a signature whose name is not seen")
    if not all(map(functools.partial(_is_seen, plan), found.signatures)):
        return Signatures(refused="a signature whose outputs are not seen")
    served = [Served(key, served_by(plan, each), _VERBS[each.kind]) for key, each in zip(keys, found.signatures)]
    if len(keys) > 1 and DEFAULT not in keys:
        return Signatures(refused="signatures without a default")
    default = [replace(each, key=DEFAULT) for each in served if len(keys) == 1]  # as which it is served, too
    return Signatures(tuple({each.key: each for each in [*default, *served]}.values()))


def _is_seen(plan: Plan, signature: Signature) -> bool:
    """Whether it is seen which outputs a signature has."""
    if signature.predictions or signature.kind != "PredictOutput":
        return True
    if "outputs" not in signature.values:
        return False
    value = plan.followed(signature.values["outputs"], "infer")[0]
    tensor = isinstance(value, ast.Call) and (plan.module.resolve(value.func) or "").startswith("tensorflow.")
    tensor = tensor or (isinstance(value, ast.BinOp) and not isinstance(value.op, ast.BitOr))
    tensor = tensor or (isinstance(value, ast.Subscript) and isinstance(value.slice, (ast.Slice, ast.Tuple)))
    return isinstance(value, (ast.Dict, ast.UnaryOp, ast.Compare)) or tensor


def _key(plan: Plan, signature: Signature) -> str:
    key = signature.key
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return f'"{key.value}"' if key.value.isidentifier() else ""
    return DEFAULT if is_default(plan, key) else ""


def name_of_signatures(module: Module, function: ast.FunctionDef) -> str:
    """What the function is called that gives the signatures of a model which is fed what another one says."""
    short = _SUFFIX.sub("", function.name)
    return module.unused_name(f"{short}_signatures" if short else "signatures", function)
