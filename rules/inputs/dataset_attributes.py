"""Attributes of datasets that TensorFlow 2 does not have: `output_shapes`, `output_types`, `output_classes`."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr

from ..symbols.tensorflow_names import whole_name

_ATTRIBUTES = {"output_shapes": "shape", "output_types": "dtype", "output_classes": "value_type"}
"""With what the specs say of each element instead."""
DATASET_METHODS = frozenset(
    "apply batch cache concatenate filter flat_map interleave map padded_batch prefetch repeat shard shuffle skip take "
    "make_one_shot_iterator make_initializable_iterator element_spec".split()
)
"""Members of a dataset; whoever reads them of something takes that for one."""


def dataset_attributes(module: Module) -> list[Replace]:
    """``dataset.output_shapes`` becomes ``tf.nest.map_structure(lambda spec: spec.shape, dataset.element_spec)``.

    Raises Unsupported where it is not seen whether something is a dataset.
    """
    reads = [node for node in module.nodes(ast.Attribute) if node.attr in _ATTRIBUTES]
    stored = {n.attr for n in reads if not isinstance(n.ctx, ast.Load)}  # attributes of the program's own classes
    defined = {node.name for node in module.nodes(ast.FunctionDef)}
    changes: list[Replace] = []
    for node in reads:
        if node.attr in stored | defined or module.resolve(node) is not None:
            continue
        if not is_dataset(module, node.value):
            raise Unsupported(f"it is not seen whether that of which `.{node.attr}` is read is a dataset", node)
        template = (
            f"{_tensorflow(module, node)}.nest.map_structure(lambda spec: spec.{_ATTRIBUTES[node.attr]}, {{specs}})"
        )
        new = expr(template, specs=expr("{dataset}.element_spec", dataset=module.cst.expression(node.value)))
        changes.append(Replace(node, new))
    return changes


def is_dataset(module: Module, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is made of `tf.data`, or is used as a dataset."""
    if depth > 9:
        return False
    if isinstance(node, ast.Call):
        if (module.resolve(node.func) or "").startswith(("tensorflow.data.", "tensorflow.contrib.data.")):
            return True
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in DATASET_METHODS
            and is_dataset(module, node.func.value, depth + 1)
        )
    if not isinstance(node, ast.Name):
        return False
    scope = module.scope(node).lookup(node.id)
    for load, where in module.analysis.loads:
        parent = module.parent(load)
        if load.id == node.id and where.lookup(load.id) is scope and isinstance(parent, ast.Attribute):
            call = module.parent(parent)
            if parent.attr in DATASET_METHODS and isinstance(call, ast.Call) and call.func is parent:
                return True
    targets = [binding.node for binding in module.bindings(node)]
    statements = [module.statement(target) for target in targets if isinstance(target, ast.Name)]
    return bool(statements) and all(
        isinstance(s, ast.Assign) and s.value is not node and is_dataset(module, s.value, depth + 1) for s in statements
    )


def _tensorflow(module: Module, node: ast.AST) -> str:
    """The file's name for TensorFlow, of which either has `compat.v1`."""
    name = whole_name(module)
    if name is None:
        raise Unsupported("the file has no name for TensorFlow as a whole", node)
    return name
