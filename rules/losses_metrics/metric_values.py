"""What a model_fn shows of the values that its metrics compare: their types and shapes, as far as these can be read off it."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import Writing, operand

_TRUTHS = frozenset("equal not_equal greater greater_equal less less_equal logical_and logical_or logical_not".split())
_WHOLE = frozenset("argmax argmin arg_max arg_min round rint floor ceil to_int32 to_int64".split())
_TEXTS = frozenset("gather lookup as_string py_func numpy_function".split())
_CASTS = frozenset("cast saturate_cast to_float to_double to_int32 to_int64".split())
_SHAPES = frozenset("reshape squeeze expand_dims transpose boolean_mask".split())
_SAME = frozenset("identity stop_gradient ones_like zeros_like".split())
_ELEMENTWISE = frozenset("sigmoid tanh exp abs round rint floor ceil clip_by_value".split())
_FLAT = frozenset("squeeze argmax argmin arg_max arg_min".split())


def behind(node: ast.expr, writing: Writing) -> ast.expr:
    """The expression behind names that are assigned once, and behind keys of dicts that are written out."""
    for _ in range(5):
        if isinstance(node, ast.Name):
            found = writing.followed(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            entries = behind(node.value, writing)
            if not isinstance(entries, ast.Dict):
                break
            values = [v for k, v in zip(entries.keys, entries.values) if ast.dump(k or v) == ast.dump(node.slice)]
            found = values[-1] if values and None not in entries.keys else node
        else:
            break
        if found is node:
            break
        node = found
    return node


def _function(node: ast.expr, writing: Writing) -> str:
    """The last name of the function of TensorFlow that a call is of."""
    name = (writing.resolve(node.func) or "") if isinstance(node, ast.Call) else ""
    return name.rpartition(".")[2] if name.startswith("tensorflow.") else ""


def _argument(node: ast.expr, place: int, *names: str) -> ast.expr | None:
    """An argument of a call, by its place or one of its names."""
    if not isinstance(node, ast.Call):
        return None
    return next(
        (k.value for k in node.keywords if k.arg in names), node.args[place] if len(node.args) > place else None
    )


def _first(node: ast.expr) -> ast.expr:
    """What a function is of."""
    return _argument(node, 0, "x", "input", "tensor", "features", "logits", "value", "a") or node


def _type_name(node: ast.expr, writing: Writing) -> str:
    """The type that a call casts to: ``int32``; empty where that is not seen, or nothing is cast."""
    function = _function(node, writing)
    dtype = _argument(node, 1, "dtype")
    if function in ("cast", "saturate_cast") and dtype is not None:
        return (writing.resolve(dtype) or "").rpartition(".")[2]
    return {"to_float": "float32", "to_double": "float64", "to_int32": "int32", "to_int64": "int64"}.get(function, "")


def is_truth(node: ast.expr, writing: Writing) -> bool:
    """Whether a value is seen to be True or False."""
    node = behind(node, writing)
    return isinstance(node, ast.Compare) or _function(node, writing) in _TRUTHS or _type_name(node, writing) == "bool"


def is_whole(node: ast.expr, writing: Writing) -> bool:
    """Whether a value is seen to be of whole numbers, such as classes, whatever its type."""
    node = behind(node, writing)
    function, type_name = _function(node, writing), _type_name(node, writing)
    if function in _WHOLE or type_name.startswith(("int", "uint")):
        return True
    if function in _CASTS | _SHAPES | _SAME and type_name != "bool" and isinstance(node, ast.Call):
        return is_whole(_first(node), writing) or (bool(type_name) and is_truth(_first(node), writing))
    if isinstance(node, ast.Subscript):
        top = _function(behind(node.value, writing), writing) == "top_k"
        return top and isinstance(node.slice, ast.Constant) and node.slice.value == 1
    return False


def may_be_text(node: ast.expr, writing: Writing) -> bool:
    """Whether a value may be of texts, as far as is seen: out of a table, for example."""
    node = behind(node, writing)
    if not isinstance(node, ast.Call):
        return False
    if _function(node, writing) in _SHAPES | _SAME:
        return may_be_text(_first(node), writing)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name == "lookup" and isinstance(node.func, ast.Attribute) and _is_of_numbers(node.func.value, writing):
        return False
    return name in _TEXTS or (writing.resolve(node.func) or "").startswith("tensorflow.strings.")


def _is_of_numbers(table: ast.expr, writing: Writing) -> bool:
    """Whether a table gives a number where it has no value."""
    made = behind(table, writing)
    default = _argument(made, 1, "default_value") if isinstance(made, ast.Call) else None
    if not isinstance(made, ast.Call) or writing.resolve(made.func) != "tensorflow.lookup.StaticHashTable":
        return False
    default = default.operand if isinstance(default, ast.UnaryOp) else default
    return isinstance(default, ast.Constant) and isinstance(default.value, int)


def is_float(node: ast.expr, writing: Writing) -> bool:
    """Whether a value is seen to be of floating-point numbers."""
    return _type_name(behind(node, writing), writing).startswith("float")


def type_of(node: ast.expr, writing: Writing) -> str:
    """The text of the type of a value."""
    function, tf = _function(node, writing), writing.tf
    dtype = _argument(node, 1, "dtype")
    if function in ("cast", "saturate_cast") and dtype is not None:
        return writing.text(dtype)
    if function in _CASTS:
        return f"{tf}.{_type_name(node, writing)}"
    if function in ("argmax", "argmin"):
        given = _argument(node, 3, "output_type")
        return f"{tf}.int64" if given is None else writing.text(given)
    if function in _SHAPES or (function in _SAME and dtype is None):
        return type_of(_first(node), writing)
    return f"{operand(node, writing)}.dtype"


def is_flat(node: ast.expr, writing: Writing) -> bool:
    """Whether a value is seen to have no last axis of size one."""
    node = behind(node, writing)
    if isinstance(node, ast.Compare):
        return is_flat(node.left, writing)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return any(isinstance(part, (ast.Constant, ast.Name)) and not _is_new_axis(part) for part in node.slice.elts)
    function = _function(node, writing)
    if function == "reshape":
        shape = _argument(node, 1, "shape")
        return isinstance(shape, (ast.List, ast.Tuple)) and len(shape.elts) == 1
    if function.startswith("reduce_") or function in _FLAT:
        return not isinstance(node, ast.Call) or not any(k.arg in ("keepdims", "keep_dims") for k in node.keywords)
    return function in _ELEMENTWISE | _CASTS | _TRUTHS | {"identity"} and is_flat(_first(node), writing)


def is_column(node: ast.expr, writing: Writing) -> bool:
    """Whether a value is seen to have a last axis of size one."""
    node = behind(node, writing)
    function = _function(node, writing)
    if function == "reshape":
        shape = _argument(node, 1, "shape")
        last = shape.elts[-1] if isinstance(shape, (ast.List, ast.Tuple)) and len(shape.elts) > 1 else None
        return isinstance(last, ast.Constant) and last.value == 1
    return function == "expand_dims" or (function in _CASTS and is_column(_first(node), writing))


def _is_new_axis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and (part.value is None or part.value is ...)
