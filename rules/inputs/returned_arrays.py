"""Functions that return what `numpy_input_fn` makes: the input function is written out, with a dataset of the arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, statements

from ..loop.comments import has_comments
from ..symbols.tensorflow_names import tensorflow_root
from .array_inputs import ARRAY_INPUTS

_SIGNATURE = "x y batch_size num_epochs shuffle queue_capacity num_threads"
_PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Compare, ast.BoolOp,
    ast.IfExp, ast.UnaryOp, ast.BinOp, ast.cmpop, ast.boolop, ast.unaryop, ast.operator, ast.expr_context,
)  # fmt: skip

_NAMES = {"x": "features", "y": "labels"}
"""What arrays are called that are computed before the input function is called."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes the input function out.

    ```python
    import tensorflow as tf


    def make_input_fn(x, y, num_epochs):
        return tf.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=32, num_epochs=num_epochs, shuffle=num_epochs is None)
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_input_fn(x, y, num_epochs):
        def input_fn():
            dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(num_epochs)
            if num_epochs is None:
                dataset = dataset.shuffle(1000)
            return dataset.batch(32)

        return input_fn
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each such statement."""
    del project
    if b"numpy_input_fn" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if ARRAY_INPUTS.get(name) == "numpy_input_fn" else None
        statement = module.parent(call) if call is not None else None
        if call is None or not isinstance(statement, ast.Return):
            continue
        root, given = tensorflow_root(module, call.func), _arguments(module, call)
        if root is not None and not root[1] and given is not None:
            yield _written(module, statement, root[0], given)


def _arguments(module: Module, call: ast.Call) -> dict[str, ast.expr] | None:
    """Its arguments, if they say what the dataset is, and mean the same when the input function is called."""
    try:
        found = bind(call, _SIGNATURE, "numpy_input_fn")
    except Unsupported:
        return None
    found = {name: value for name, value in found.items() if name != "y" or not is_none(value)}
    threads, labels = found.pop("num_threads", None), found.get("y")
    if not {"x", "shuffle"} <= found.keys() or has_comments(module, call) or is_none(found["shuffle"]):
        return None
    if threads is not None and not (isinstance(threads, ast.Constant) and threads.value == 1):
        return None
    later = {name: value for name, value in found.items() if name not in _NAMES or _is_plain(value)}
    if not all(map(_is_plain, later.values())):
        return None
    names = [node for value in later.values() for node in walk(value) if isinstance(node, ast.Name)]
    if any(len(module.bindings(name)) > 1 for name in names):
        return None
    bound = module.bindings(labels) if isinstance(labels, ast.Name) else []
    return None if any(_may_be_none(module, binding.node) or binding.is_none for binding in bound) else found


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression is the same whenever it is computed."""
    return all(isinstance(node, _PLAIN) for node in walk(value))


def _may_be_none(module: Module, node: ast.AST) -> bool:
    """Whether a parameter has None for its default."""
    args = module.parent(node) if isinstance(node, ast.arg) else None
    if not isinstance(args, ast.arguments):
        return False
    told = dict(zip([*args.posonlyargs, *args.args][::-1], args.defaults[::-1]))
    told |= {arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults) if value is not None}
    return any(arg is node and is_none(value) for arg, value in told.items())


def _written(module: Module, statement: ast.Return, tf: str, given: dict[str, ast.expr]) -> list[Change]:
    """The changes for one statement."""
    name, dataset = (module.unused_name(each, statement) for each in ("input_fn", "dataset"))
    data = "({x}, {y})" if "y" in given else "{x}"
    epochs, shuffle = given.get("num_epochs"), given["shuffle"]
    repeated = ".repeat()" if is_none(epochs) and epochs is not None else ".repeat({num_epochs})"
    if epochs is None or (isinstance(epochs, ast.Constant) and epochs.value == 1):
        repeated = ""
    shuffled = f".shuffle({'{queue_capacity}' if 'queue_capacity' in given else '1000'})"
    batched = f".batch({'{batch_size}' if 'batch_size' in given else '128'})"
    made = f"{{tf}}.data.Dataset.from_tensor_slices({data}){repeated}"
    if isinstance(shuffle, ast.Constant):
        body = f"    return {made}{shuffled if shuffle.value else ''}{batched}\n"
    else:
        body = f"    {{dataset}} = {made}\n    if {{shuffle}}:\n        {{dataset}} = {{dataset}}{shuffled}\n"
        body += f"    return {{dataset}}{batched}\n"
    computed = [key for key in _NAMES if key in given and not _is_plain(given[key])]
    first = {key: module.unused_name(_NAMES[key], statement) for key in computed}
    above = "".join(f"{held} = {{{key}}}\n" for key, held in first.items()) + "\n" * bool(first)
    for key, held in first.items():
        body = body.replace(f"{{{key}}}", held)
    text = f"{above}def {{name}}():\n{body}\nreturn {{name}}"
    holes = {key: module.cst.expression(value) for key, value in given.items() if f"{{{key}}}" in text}
    named = {} if isinstance(shuffle, ast.Constant) else {"dataset": dataset}
    new = statements(text, tf=code(tf), name=name, **named, **holes)
    return Change.of(module, Replace(statement, new))
