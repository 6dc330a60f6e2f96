"""Options that a dict holds until calls spread it, named in these calls."""

from __future__ import annotations

import ast
import keyword

from migrator import rewrite
from migrator.analyse.statements.names import binds, reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, with_arguments

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try)
_REPEATABLE = (
    ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice,
    ast.operator, ast.unaryop, ast.expr_context, ast.keyword,
)  # fmt: skip
_OPTIONS = ("_initializer", "_regularizer", "initializers.", "regularizers.")
"""What is in the names of functions whose results may as well be made for each layer."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes for all calls that spread the dict which this one spreads; none where it is not all known.

    ```python
    import tensorflow as tf


    def feedforward(x, units):
        params = {"inputs": x, "units": units, "activation": tf.nn.relu}
        x = tf.layers.dense(**params)
        params = {"inputs": x, "units": 1}
        return tf.layers.dense(**params)
    ```
    becomes
    ```python
    import tensorflow as tf


    def feedforward(x, units):
        x = tf.layers.dense(inputs=x, units=units, activation=tf.nn.relu)
        return tf.layers.dense(inputs=x, units=1)
    ```
    """
    spread = next((k.value for k in call.keywords if k.arg is None and isinstance(k.value, ast.Name)), None)
    name = module.resolve(call.func) or ""
    known = name.startswith("tensorflow.") or drafts.project.definition(module, call.func) is not None
    if not isinstance(spread, ast.Name) or not known:
        return []
    made, readers = _read_by(module, spread)
    entries = _entries(module, made.value) if made is not None else None
    if made is None or entries is None:
        return _of_file(drafts, module, call, spread)
    calls = [_spreads(module, reader) for reader in readers]
    changes: list[rewrite.Change] = [Remove(made)]
    for other in calls:
        if other is None or not _lasts(module, made, other, list(entries.values()), len(calls) == 1):
            return []
        if set(entries) & {k.arg for k in other.keywords} or any(c in walk(other) for c in calls if c is not other):
            return []
        at = next(i for i, a in enumerate(arguments(other)) if isinstance(a, ast.keyword) and a.value in readers)
        old = module.cst.call(other)
        named = {name: module.cst.expression(value) for name, value in entries.items()}
        new = with_arguments(old, spread={at: named}) if named else with_arguments(old, drop=[at])
        changes.append(Replace(other, new))
    return Change.of(module, *changes)


def _of_file(drafts: Drafts, module: Module, call: ast.Call, spread: ast.Name) -> list[Change]:
    """The changes for a call that spreads a dict of its file which nothing changes, and which stays."""
    root = module.analysis.root
    made = module.assignment(spread) if module.scope(spread).lookup(spread.id) is root else None
    entries = _entries(module, made.value) if made is not None else None
    if made is None or not entries or len(root.bindings[spread.id]) != 1:
        return []
    readers = drafts.project.readers.of(module, root, spread.id)
    if not all(_is_spread_or_entry(where, node) for where, node in readers):
        return []
    here = module.scope(call)
    if any(here.lookup(name) is not root.lookup(name) for name in reads(entries.values())):
        return []
    same = all(_is_repeatable(module, value) and _is_settled(module, value) for value in entries.values())
    if not same or set(entries) & {k.arg for k in call.keywords}:
        return []
    at = next(i for i, a in enumerate(arguments(call)) if isinstance(a, ast.keyword) and a.value is spread)
    named = {name: module.cst.expression(value) for name, value in entries.items()}
    return Change.of(module, Replace(call, with_arguments(module.cst.call(call), spread={at: named})))


def _is_spread_or_entry(module: Module, node: ast.expr) -> bool:
    """Whether a read of a dict spreads it, or reads one of its entries."""
    around = module.parent(node)
    entry = isinstance(around, ast.Subscript) and around.value is node and isinstance(around.ctx, ast.Load)
    return entry or (isinstance(around, ast.keyword) and around.arg is None)


def _is_settled(module: Module, value: ast.expr) -> bool:
    """Whether all names of a value have one value each."""
    names = [node for node in walk(value) if isinstance(node, ast.Name)]
    return all(len(module.bindings(name)) == 1 for name in names)


def _read_by(module: Module, spread: ast.Name) -> tuple[ast.Assign | None, list[ast.Name]]:
    """The statement that gives a name its value where `spread` reads it, and all that read this value."""
    scope = module.scope(spread).lookup(spread.id)
    if scope is None or scope.kind != "function":
        return None, []
    made = [module.statement(b.node) for b in scope.bindings[spread.id] if isinstance(b.node, ast.Name)]
    plain = [
        s for s in made if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
    ]
    block = block_of(module, made[0]) if made else []
    if len(plain) < len(scope.bindings[spread.id]) or not all(each in block for each in plain):
        return None, []
    found: dict[ast.Assign, list[ast.Name]] = {}
    for load in module.loads_of(spread.id, scope):
        top = next((each for each in (load, *module.ancestors(load)) if each in block), None)
        before = [each for each in plain if isinstance(top, ast.stmt) and block.index(each) < block.index(top)]
        if not before or module.scope(load) is not module.scope(spread):
            return None, []
        found.setdefault(max(before, key=block.index), []).append(load)
    return next((pair for pair in found.items() if spread in pair[1]), (None, []))


def _entries(module: Module, value: ast.expr) -> dict[str, ast.expr] | None:
    """What a dict holds, all of whose keys are names."""
    if isinstance(value, ast.Call) and is_name(value.func, "dict") and not module.bindings(value.func):  # type: ignore[arg-type]
        named = {k.arg: k.value for k in value.keywords if k.arg is not None}
        return named if len(named) == len(value.keywords) and not value.args else None
    keys = (
        [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
        if isinstance(value, ast.Dict)
        else [None]
    )
    names = [k for k in keys if isinstance(k, str) and k.isidentifier() and not keyword.iskeyword(k)]
    if not isinstance(value, ast.Dict) or len(set(names)) < len(value.keys):
        return None
    return dict(zip(names, value.values))


def _spreads(module: Module, load: ast.Name) -> ast.Call | None:
    """The call that spreads a name."""
    around = module.parent(load)
    call = module.parent(around) if isinstance(around, ast.keyword) and around.arg is None else None
    return call if isinstance(call, ast.Call) else None


def _lasts(module: Module, made: ast.Assign, call: ast.Call, values: list[ast.expr], once: bool) -> bool:
    """Whether values are the same where a call has them as where a dict was made of them; `once` says that no other call
    has them as well."""
    block = block_of(module, made)
    top = next(each for each in module.ancestors(call) if each in block)
    assert isinstance(top, ast.stmt)
    between = block[block.index(made) + 1 : block.index(top)]
    changing = [*between, top] if isinstance(top, _COMPOUND) else between
    there, here = module.scope(made), module.scope(call)
    if reads(values) & {name for each in changing if isinstance(each, ast.stmt) for name in binds(each)}:
        return False
    if any(there.lookup(name) is not here.lookup(name) for name in reads(values)):
        return False  # such as the variable of a comprehension
    if all(_is_repeatable(module, value) for value in values):
        return True
    others = [*call.args, *(k.value for k in call.keywords)]
    alone = getattr(top, "value", None) is call and not any(isinstance(n, ast.Call) for o in others for n in walk(o))
    return once and alone and not between


def _is_repeatable(module: Module, value: ast.expr) -> bool:
    """Whether it does not matter when a value is computed, and how often."""
    for node in walk(value):
        if isinstance(node, ast.Call):
            name = module.resolve(node.func) or ""
            if not name.startswith("tensorflow.") or not any(each in name for each in _OPTIONS):
                return False
        elif not isinstance(node, _REPEATABLE):
            return False
    return True
