"""Checkpoints that are saved by the clock where a program is told no number of steps: `fit` counts steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.translate import is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.values.asked import is_something
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Replace, code, expr, with_arguments

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..loop.flow.chosen import SELDOM
from .gathered_arguments import BY_CLOCK, SAVES

_SAID = f"an Estimator saves every 10 minutes where it is told no number of steps: every {SELDOM} steps now"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Names a number of steps, and tells the owner.

    ```python
    import tensorflow as tf


    def config(every):
        steps = None
        if every:
            steps = every
        return tf.estimator.RunConfig(
            save_checkpoints_steps=steps, save_checkpoints_secs=600 if steps is None else None
        )
    ```
    becomes
    ```python
    import tensorflow as tf


    def config(every):
        steps = 1000
        if every:
            steps = every
        return tf.estimator.RunConfig(save_checkpoints_steps=steps)
    ```
    """
    drafts.apply_all(paths, lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each configuration."""
    for call in module.nodes(ast.Call) if BY_CLOCK.encode() in module.source else ():
        given = {keyword.arg: keyword for keyword in call.keywords}
        steps, clock = given.get(SAVES), given.get(BY_CLOCK)
        if steps is None or clock is None or module.resolve(call.func) != RUN_CONFIG:
            continue
        if not _by_default(clock.value, steps.value):
            continue
        begun = _begun(module, steps.value)
        changes: list[Rewrite] = [Replace(begun, code(str(SELDOM)))] if begun is not None else []
        old, all_of_it = module.cst.call(call), arguments(call)
        value = expr(f"{{n}} or {SELDOM}", n=module.cst.expression(steps.value))
        values = {} if begun is not None else {all_of_it.index(steps): value}
        new = with_arguments(old, drop=[all_of_it.index(clock)], values=values)
        drafts.remark(module, call, _SAID)
        yield Change.of(module, *changes, Replace(call, new))


def _by_default(clock: ast.expr, steps: ast.expr) -> bool:
    """``600 if steps is None else None``."""
    if not isinstance(clock, ast.IfExp) or not isinstance(clock.test, ast.Compare) or not is_none(clock.orelse):
        return False
    asked = isinstance(clock.test.ops[0], ast.Is) and is_none(clock.test.comparators[0])
    return asked and ast.dump(clock.test.left) == ast.dump(steps)


def _begun(module: Module, steps: ast.expr) -> ast.expr | None:
    """The None that a number of steps begins with, if it is some wherever it gets another value."""
    targets = [binding.node for binding in module.bindings(steps)] if isinstance(steps, ast.Name) else []
    lines = [target if isinstance(target, ast.Assign) else module.parent(target) for target in targets if target]
    stores = [line for line in lines if isinstance(line, ast.Assign) and len(line.targets) == 1]
    first = [line.value for line in stores if is_none(line.value)]
    known = all(is_something(module, line.value) for line in stores if not is_none(line.value))
    return first[0] if known and len(first) == 1 and len(stores) == len(targets) else None
