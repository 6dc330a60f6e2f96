"""Values that callbacks read by name: each must be handed out by a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr

from ..canned.canned import CANNED
from ..estimator_calls.estimator_values import Construction

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

HEAD_TENSORS = frozenset({"Sum", "truediv", "probabilities", "logistic"})
"""Last parts of the names that `watch_head` knows: ``head/weighted_loss/Sum``, ``head/truediv``, and predictions."""


def settle_watched(
    drivers: Iterable[Driver], texts: list[str], constructions: list[Construction], driver: Callable[[Module], Driver]
) -> None:
    """Let canned Estimators hand out what is read of them.

    `texts` are the models that model_fns became. Raises Unsupported for a value that nothing hands out.
    """
    drivers = list(drivers)
    heads = [construction for construction in constructions if construction.name in CANNED]
    of_heads = False
    for each in drivers:
        if each.unseen_names:
            if texts or not heads:
                raise each.unseen_names[0]
            of_heads = True
        for name, node in each.watched.items():
            if any(f'watch(self, "{name}", ' in text for text in texts):
                continue
            if not heads or name not in HEAD_TENSORS:
                what = "tensor of a canned Estimator" if heads and not texts else "op of the model_fn"
                raise Unsupported(f"no {what} that can be watched has the name {name}", node)
            of_heads = True
    for construction in heads if of_heads else ():
        own, module = driver(construction.module), construction.module
        watch, made = own.need("watch_head", construction.call), module.cst.call(construction.call)
        own.change(Replace(construction.call, expr("{watch}({made})", watch=watch, made=made)))
