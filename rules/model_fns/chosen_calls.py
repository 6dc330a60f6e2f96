"""Calls of one of several functions or classes: of an entry of a table, or of what a condition chooses.

Those that make optimizers, learning rates, losses or recurrent cells are written as an `if`, so that native follows each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.statements.names import reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.draft.spelled import spelled
from migrator.normalise.functions.applied import applied, called_by
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Statement, code, statements
from migrator.vocabulary.unsupported import Unsupported

from ..optimizers.optimizers import OPTIMIZERS
from ..recurrent.rnn import CELLS
from ..symbols.symbol_rows import find_row
from .looked_up import Lookup, called_entry, lookup, without
from .translations import is_refused, translations

if TYPE_CHECKING:
    import libcst as cst

    from .looked_up import Arm

_STEPS = frozenset(
    f"tensorflow.train.{name}" for name in ("get_global_step", "get_or_create_global_step", "create_global_step")
)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements for such a call; the table goes, or lists its keys. None for other calls.

    ```python
    import tensorflow as tf


    def train_op(loss, name):
        optimizers = {
            "adam": tf.train.AdamOptimizer,
            "sgd": lambda rate: tf.train.GradientDescentOptimizer(rate),
        }
        optimizer = optimizers[name](0.1)
        return optimizer.minimize(loss)
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(loss, name):
        if name == "adam":
            optimizer = tf.train.AdamOptimizer(0.1)
        elif name == "sgd":
            optimizer = tf.train.GradientDescentOptimizer(0.1)
        else:
            raise KeyError(name)
        return optimizer.minimize(loss)
    ```

    So is a function of TensorFlow that a condition chooses, where TensorFlow 2 has other arguments for it.

    ```python
    import tensorflow as tf


    def loss(weights, biases, labels, inputs, nce):
        function = tf.nn.nce_loss if nce else tf.nn.sampled_softmax_loss
        return tf.reduce_mean(function(weights, biases, labels, inputs, 10, 100))
    ```
    becomes
    ```python
    import tensorflow as tf


    def loss(weights, biases, labels, inputs, nce):
        if nce:
            value = tf.nn.nce_loss(weights, biases, labels, inputs, 10, 100)
        else:
            value = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 10, 100)
        return tf.reduce_mean(value)
    ```
    """
    found = lookup(drafts.project, module, call)
    if found is None:
        return _conditional(module, call) or _of_library(module, call)
    if not found.keys or not all(isinstance(key, str) for key in found.keys):
        return []
    others = [(module, found.default)] if found.default is not None else []
    made = [*_all_made(drafts.project, module, found), *(_Made.behind(drafts.project, *place) for place in others)]
    steps = any(_is_step(module, argument) for argument in call.args)
    if not all(each.is_known for each in made) or not (steps or any(each.is_translated for each in made)):
        return []
    instead = without(drafts.project, module, found)
    names = OuterNames()
    try:
        values = [called_entry(drafts, module, call, found, value, names) for value in found.table.values]
        values += [applied(drafts, module, call, *place, names) for place in others]
    except Unsupported:
        return []
    if instead is None:
        return []

    def make(target: str) -> list[Statement]:
        own = (
            module.unused_name(f"{target}_2", call) if target in reads(found.key) else target
        )  # not what the tests read
        asked, before = module.cst.expression(found.key), []
        if any(isinstance(node, ast.Call) for node in walk(found.key)):
            chosen = module.unused_name("chosen", call)
            before, asked = statements("{chosen} = {asked}", chosen=chosen, asked=asked), code(chosen)
        arms = found.arms(asked, values)
        last = statements("raise KeyError({asked})", asked=asked)
        if found.default is not None:
            last = statements("{own} = {other}", own=own, other=values[-1])
        after = [] if own == target else statements("{target} = {own}", target=target, own=own)
        return [*before, *by_test(own, arms, last), *after]

    wanted = "optimizer" if all(each.is_optimizer for each in made) else "rate" if steps else "value"
    changes = spelled(module, call, wanted, make)
    held = Change.of(module, Remove(found.held)) if found.held is not None else []
    return [*instead, *Change.of(module, *names.changes), *held, *changes] if changes else []


def looks_up(project: Project, module: Module, call: ast.Call) -> bool:
    """Whether a call runs an entry of a table, one of which makes an optimizer or a recurrent cell."""
    found = lookup(project, module, call)
    return found is not None and any(made.is_optimizer or made.is_cell for made in _all_made(project, module, found))


@dataclass(frozen=True)
class _Made:
    """What is known of a function or class that stands under a key."""

    is_known: bool
    is_optimizer: bool = False
    is_translated: bool = False
    """Whether it says what only the code of a model can say: an optimizer, a schedule, a loss, a recurrent cell."""
    is_cell: bool = False

    @classmethod
    def behind(cls, project: Project, module: Module, value: ast.expr) -> _Made:
        """What is known of a value."""
        function = called_by(module, value)
        if function is None:
            known = isinstance(value, ast.Lambda)
            names = [name for _, name in module.references_in(value)] if known else []
            return cls(known and not _has_layers(names), False, any(map(is_refused, names)))
        name = module.resolve(function)
        if name in OPTIMIZERS or name in CELLS:
            return cls(True, name in OPTIMIZERS, True, name in CELLS)
        if name is not None and name.startswith("tensorflow."):
            return cls(not _has_layers([name]), False, is_refused(name))
        found = project.definition(module, function)
        if found is None or not isinstance(found.node, ast.FunctionDef) or found.node.decorator_list:
            return cls(False)
        names = _names_in(found)
        optimizer = any(name in OPTIMIZERS for name in names)
        return cls(not _has_layers(names), optimizer, any(map(is_refused, names)))


def _all_made(project: Project, module: Module, found: Lookup) -> list[_Made]:
    """What is known of all that a table may give."""
    if found.base is None:
        return [_Made.behind(project, *place) for place in found.values]
    return [_Made(name in OPTIMIZERS, name in OPTIMIZERS, True) for name in found.names(module)]


def _names_in(found: Definition) -> list[str]:
    return [name for _, name in found.module.references_in(found.node)]


def _has_layers(names: Sequence[str]) -> bool:
    """Whether names are those of layers: functions that make such become classes, of which a table may hold several."""
    layers = translations().layers
    return any(name in layers for name in names)


def by_test(name: str, arms: Sequence[Arm], other: Sequence[Statement]) -> list[Statement]:
    """``if test: name = value``, with an arm for each choice, and for anything else."""
    texts = [f"if {{test{i}}}:\n    {{name}} = {{value{i}}}\n" for i in range(len(arms))]
    holes: dict[str, cst.BaseExpression] = {}
    for i, (test, value) in enumerate(arms):
        holes |= {f"test{i}": test, f"value{i}": value}
    return statements("el".join(texts) + "else:\n    {other}", name=name, other=other, **holes)


def _conditional(module: Module, call: ast.Call) -> list[Change]:
    """The statements for a condition that chooses between optimizers, the first of which is made by `call`."""
    whole = module.parent(call)
    if not isinstance(whole, ast.IfExp) or whole.body is not call or isinstance(module.parent(whole), ast.IfExp):
        return []
    made: list[Arm] = []
    value: ast.expr = whole
    while isinstance(value, ast.IfExp) and _is_optimizer(module, value.body):
        made.append((module.cst.expression(value.test), module.cst.expression(value.body)))
        value = value.orelse
    if not _is_optimizer(module, value) or module.comments_in(*module.span(whole)):
        return []
    last = module.cst.expression(value)

    def make(name: str) -> list[Statement]:
        return by_test(name, made, statements("{name} = {last}", name=name, last=last))

    return spelled(module, whole, "optimizer", make)


def _of_library(module: Module, call: ast.Call) -> list[Change]:
    """The statements for a call of one of two functions of TensorFlow that a name stands for, where TensorFlow 2 has other
    arguments for one of them, or another name."""
    held = module.assignment(call.func)
    chosen = held.value if held is not None else None
    if held is None or not isinstance(chosen, ast.IfExp) or not isinstance(call.func, ast.Name):
        return []
    names = [module.resolve(arm) or "" for arm in (chosen.body, chosen.orelse)]
    changed = any(find_row(name.partition(".")[2]) is not None for name in names)
    loads = module.loads_of(call.func.id, module.scope(call.func).lookup(call.func.id))
    if not changed or not all(name.startswith("tensorflow.") for name in names) or loads != [call.func]:
        return []
    first, last = (
        module.cst.call(call).with_changes(func=module.cst.expression(arm)) for arm in (chosen.body, chosen.orelse)
    )
    test = module.cst.expression(chosen.test)

    def make(name: str) -> list[Statement]:
        return by_test(name, [(test, first)], statements("{name} = {last}", name=name, last=last))

    changes = spelled(module, call, "value", make)
    return [*changes, *Change.of(module, Remove(held))] if changes else []


def _is_optimizer(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a call that makes an optimizer."""
    return isinstance(node, ast.Call) and module.resolve(node.func) in OPTIMIZERS


def _is_step(module: Module, node: ast.expr) -> bool:
    """Whether an argument is the global step."""
    statement = module.assignment(node)
    value = statement.value if statement is not None else node
    return isinstance(value, ast.Call) and module.resolve(value.func) in _STEPS
