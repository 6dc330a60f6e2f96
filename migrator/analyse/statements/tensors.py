"""Which expressions are seen to be one tensor each, and no list of tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body

_FUNCTIONS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "abs add add_n argmax boolean_mask cast clip_by_value concat cos cumsum divide einsum erf exp expand_dims fill "
        "floor gather gather_nd identity log matmul maximum minimum multiply negative norm not_equal one_hot ones "
        "ones_like pad pow reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape reverse round rsqrt "
        "scalar_mul sequence_mask sigmoid sign sin slice sqrt square squeeze squared_difference stack stop_gradient "
        "subtract tanh tensordot tile to_float transpose where zeros zeros_like truediv div nn.avg_pool nn.bias_add "
        "nn.conv1d nn.conv2d nn.crelu nn.dropout nn.elu nn.embedding_lookup nn.embedding_lookup_sparse nn.l2_normalize "
        "nn.leaky_relu nn.log_softmax nn.max_pool nn.relu nn.relu6 nn.selu nn.sigmoid nn.softmax nn.softplus nn.tanh "
        "linalg.matmul math.multiply"
    ).split()
)
_LAYERS = "tensorflow.layers."
_MOST = 6


def is_tensor(body: Body, node: ast.expr) -> bool:
    """Whether an expression of a body is one tensor: what a function of TensorFlow gives, or computed with one."""
    return _is_tensor(body.sublayers.project, body.module, node, 0)


def _is_tensor(project: Project, module: Module, node: ast.expr, depth: int) -> bool:
    if depth > _MOST:
        return False
    if isinstance(node, ast.BinOp):
        return any(_is_tensor(project, module, side, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.IfExp):
        return all(_is_tensor(project, module, arm, depth + 1) for arm in (node.body, node.orelse))
    if isinstance(node, ast.Name):
        return _is_named(project, module, node, depth)
    if not isinstance(node, ast.Call):
        return False
    name = module.resolve(node.func) or ""
    if name in _FUNCTIONS or (name.startswith(_LAYERS) and name[len(_LAYERS)].islower()):
        return True
    definition = project.definition(module, node.func)
    return definition is not None and _gives_tensor(project, definition, depth)


def _is_named(project: Project, module: Module, node: ast.Name, depth: int) -> bool:
    """Whether all values of a name are."""
    values = []
    for binding in module.bindings(node):
        statement = module.parent(binding.node) if isinstance(binding.node, ast.Name) else None
        if isinstance(statement, ast.AugAssign):
            continue  # it is what it was
        if not isinstance(statement, ast.Assign) or binding.node not in statement.targets:
            return False
        values.append(statement.value)
    return bool(values) and all(_is_tensor(project, module, value, depth + 1) for value in values)


def _gives_tensor(project: Project, definition: Definition, depth: int) -> bool:
    """Whether all that a function of the program returns is."""
    function, module = definition.node, definition.module
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    values = [each.value for each in own_returns(function)]
    return bool(values) and all(value is not None and _is_tensor(project, module, value, depth + 1) for value in values)
