"""What a FinalOpsHook runs when a training ends: a method of the model, of weights and the step alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.results.outputs import boundary
from migrator.analyse.statements.names import reads
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, statements

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

_OF_A_BATCH = "a FinalOpsHook runs what depends on a batch, for which a session draws another one"


def final_method(generator: ModelWriter) -> Sequence[Row]:
    """The method `final_values`; nothing without such a hook. Raises Unsupported."""
    plan, shared = generator.plan, generator.shared
    hooks = [hook for hook in plan.spec_hooks.hooks if hook.made.final is not None]
    if not hooks:
        return []
    if len(hooks) > 1 or hooks[0].mode != "train" or hooks[0].conditions:
        raise Unsupported("a FinalOpsHook of an evaluation, under a condition, or beside another one", hooks[-1].call)
    result, at = hooks[0].made.final, hooks[0].at
    assert result is not None
    followed, _ = plan.followed_in(result, at, "train")
    if any(isinstance(node, ast.Constant) for node in _fetched(followed or result)):
        raise Unsupported("a FinalOpsHook runs ops by their names", result)
    plan.check_still(reads(result), at, plan.specs["train"].leaf, "train")
    leaves = [leaf for leaf in plan.slice_of(result, "train") if leaf not in plan.call_leaves and not leaf.mode_only]
    if any(leaf in plan.tainted or plan.metric_call(leaf) is not None for leaf in leaves):
        raise Unsupported(_OF_A_BATCH, result)
    if {plan.labels, plan.features} & reads(result) or any(id(node) in plan.site_of for node in walk(result)):
        raise Unsupported(_OF_A_BATCH, result)
    names, again = boundary(plan, leaves, [result], "train")
    if names or any(plan.features in plan.slicer.inputs(leaf) for leaf in (*leaves, *again)):
        raise Unsupported(_OF_A_BATCH, result)
    leaves = plan.ordered({*leaves, *again})
    support = generator.static_names(leaves, [result])
    writer = Writer(shared, "final", generator.names("final"))
    return statements(
        '''
        def final_values(self):
            """What is computed when a training ends."""
            {body}
            {end}
        ''',
        body=writer.rows(plan.ordered({*leaves, *support})),
        end=writer.lines(f"return {writer.text(result)}"),
    )


def _fetched(node: ast.expr) -> Iterator[ast.expr]:
    """What stands in a structure of dicts, lists and tuples."""
    if isinstance(node, (ast.Dict, ast.List, ast.Tuple)):
        for value in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _fetched(value)
    else:
        yield node
