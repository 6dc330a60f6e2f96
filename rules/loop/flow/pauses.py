"""Trainings whose step counts some of their batches only, as where gradients are summed up: they end by steps, not by batches."""

from __future__ import annotations

from collections.abc import Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.training.trainop import pauses

from ..loop import Loop, NotPlain
from ..use import Use

_COUNTS = "the global step counts some of the batches only"


def check_pauses(loop: Loop | NotPlain, plans: Iterable[Plan]) -> None:
    """Refuse such models where their trainings are not those of one `fit` on one device. Raises Unsupported."""
    for plan in filter(pauses, plans):
        node = plan.field("train", "train_op")
        if isinstance(loop, Loop) and loop.distribution is not None:
            raise Unsupported(f"{_COUNTS}, in a training on several devices or machines", node)
        if isinstance(loop, NotPlain):
            raise Unsupported(f"{_COUNTS}, and no plain fit: {loop.reason}", node)
        for use in (use for use in loop.uses if use.pauses):
            if use.validation is not None or use.listens or use.own or use.hooks.single:
                raise Unsupported(f"{_COUNTS}, in a training with evaluations or hooks amid it", node)


def until(use: Use, model: str, steps: str, last: str, goes_on: bool) -> tuple[list[str], str, str]:
    """The lines above a training to the step `last`, when it ends, and the argument of `fit` for that."""
    step = f"{model}.optimizer.iterations.numpy()"
    endless = "" if use.input.data.ends else ", steps_per_epoch=-1"  # until the callback stops it
    if not use.to_step:
        return [f"{last} = {step} + {steps}"], f"{step} >= {last}", endless
    return [f"if {step} < {last}:"] if goes_on else [], f"{step} >= {last}", endless


def is_new(step: str, every: str, checkpoints: str) -> str:
    """Whether a step is one to be saved, and is not yet: several batches end at it."""
    return f'{step} and {step} % {every} == 0 and not str({checkpoints}.latest_checkpoint).endswith(f"-{{{step}}}")'
