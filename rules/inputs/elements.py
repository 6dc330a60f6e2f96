"""Whether each element of a dataset is one value, a tensor or a dict: `Dataset.map` spreads tuples over several parameters."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_READERS = frozenset(
    {"TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset", "Dataset.range", "Dataset.list_files"}
)
_OF_VALUES = frozenset({"Dataset.from_tensors", "Dataset.from_tensor_slices"})
_GENERATED = "Dataset.from_generator"
_SAME = frozenset(
    {
        "batch",
        "padded_batch",
        "repeat",
        "shuffle",
        "prefetch",
        "take",
        "skip",
        "cache",
        "filter",
        "shard",
        "with_options",
    }
)
_TENSORS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "cast concat constant convert_to_tensor decode_raw expand_dims image.decode_image image.decode_jpeg image.decode_png "
        "io.decode_raw io.parse_example io.parse_single_example one_hot parse_example parse_single_example read_file "
        "reshape squeeze stack string_to_number strings.to_number zeros"
    ).split()
)
_MADE = (ast.Dict, ast.DictComp, ast.List, ast.ListComp)


def are_single(module: Module, dataset: ast.expr) -> bool:
    """Whether that is seen of the elements of a dataset."""
    return _dataset(module, dataset, frozenset())


def _dataset(module: Module, node: ast.expr, seen: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        values = _values(module, node)
        return node.id in seen or (values is not None and all(_dataset(module, v, seen | {node.id}) for v in values))
    if not isinstance(node, ast.Call):
        return False
    name = (module.resolve(node.func) or "").removeprefix("tensorflow.data.")
    if name in _READERS:
        return True
    if name in _OF_VALUES:
        return bool(node.args) and _value(module, node.args[0])
    if name == _GENERATED:
        return _is_generated(module, node)
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "map":
        return bool(node.args) and _returns_one(module, node.args[0])
    return node.func.attr in _SAME and _dataset(module, node.func.value, seen)


def _values(module: Module, name: ast.Name) -> list[ast.expr] | None:
    """Everything that a name is assigned, if it gets its values from plain assignments alone."""
    found: list[ast.expr] = []
    for binding in module.bindings(name):
        node = binding.node
        statement = node if isinstance(node, ast.Assign) else module.parent(node) if node is not None else None
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        if not isinstance(statement.targets[0], ast.Name):
            return None
        found.append(statement.value)
    return found or None


def _is_generated(module: Module, call: ast.Call) -> bool:
    given = dict(zip(("generator", "output_types"), call.args))
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    kind = given.get("output_types", given.get("output_signature"))
    if isinstance(kind, ast.Call):
        return module.resolve(kind.func) == "tensorflow.TensorSpec"
    return isinstance(kind, ast.Dict) or (isinstance(kind, ast.Attribute) and module.resolve(kind) is not None)


def _returns_one(module: Module, function: ast.expr) -> bool:
    if isinstance(function, ast.Lambda):
        return _value(module, function.body)
    bound = [binding.node for binding in module.bindings(function)] if isinstance(function, ast.Name) else []
    if len(bound) != 1 or not isinstance(bound[0], ast.FunctionDef):
        return False
    inner = [n for n in walk(bound[0]) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not bound[0]]
    returns = [
        n for n in walk(bound[0]) if isinstance(n, ast.Return) and not any(module.is_inside(n, i) for i in inner)
    ]
    return bool(returns) and all(r.value is not None and _value(module, r.value) for r in returns)


def _value(module: Module, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is one tensor, a dict, or becomes a tensor."""
    if isinstance(node, ast.Name):
        values = _values(module, node)
        return node.id not in seen and values is not None and all(_value(module, v, seen | {node.id}) for v in values)
    if isinstance(node, ast.Call):
        return module.resolve(node.func) in _TENSORS or (isinstance(node.func, ast.Name) and node.func.id == "dict")
    return isinstance(node, _MADE)
