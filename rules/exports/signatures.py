"""What the signatures of a SavedModel are called."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.exports import Signature, exports

_DEFAULT = '"serving_default"'
_HEADS = frozenset({"multi_class_head", "binary_classification_head", "regression_head"})
_HEADS |= {"MultiClassHead", "BinaryClassHead", "RegressionHead"}


@dataclass(frozen=True)
class Signatures:
    """Those of one model, which all give its predictions."""

    keys: tuple[str, ...] = ()
    """Their names, as they are written."""
    refused: str = ""
    """Why they are not understood."""
    classifies: bool = False
    """Whether there are more for serialized examples: those of a head, for what classifies or regresses."""
    by_text: tuple[tuple[str, str], ...] = ()
    """These more, if that is known: their names, and what each gives of a model and its features, as a template."""

    def refusing(self, text: bool) -> str:
        """Why the model is not exported, to be fed serialized examples or the like if `text`."""
        return self.refused or (
            "signatures of a head that classify" if self.classifies and text and not self.by_text else ""
        )


def signatures_of(plan: Plan, has_dicts: bool) -> Signatures:
    """The signatures that the model of a model_fn is exported with."""
    try:
        found = exports(plan)
    except Unsupported as problem:
        return Signatures(refused=problem.reason)
    if found.whole is not None:
        names = {name.rpartition(".")[2] for _, name in plan.module.references() if name.lower().endswith("head")}
        known = bool(names) and names <= _HEADS
        return Signatures(('"predict"',), "" if known else "signatures of a head", classifies=True)
    if not has_dicts:
        return Signatures(refused="a signature of one tensor")
    if not found.signatures:
        return Signatures((_DEFAULT,))
    classifies = any(signature.kind != "PredictOutput" for signature in found.signatures)
    served = [signature for signature in found.signatures if signature.kind == "PredictOutput"]
    if not served or not all(signature.predictions for signature in served):
        return Signatures(refused="signatures of other outputs than its predictions")
    return _named(plan, served, classifies)


def _named(plan: Plan, found: list[Signature], classifies: bool) -> Signatures:
    keys = [_key(plan, signature) for signature in found]
    if "" in keys:
        return Signatures(refused="a signature whose name is not seen")
    if classifies:
        return Signatures(tuple(dict.fromkeys(keys)), classifies=True)
    if len(keys) > 1 and _DEFAULT not in keys:
        return Signatures(refused="signatures without a default")
    return Signatures(tuple(dict.fromkeys([_DEFAULT, *keys])))  # a single one is served by default as well


def _key(plan: Plan, signature: Signature) -> str:
    key = signature.key
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return f'"{key.value}"' if key.value.isidentifier() else ""
    return _DEFAULT if (plan.module.resolve(key) or "").endswith("DEFAULT_SERVING_SIGNATURE_DEF_KEY") else ""
