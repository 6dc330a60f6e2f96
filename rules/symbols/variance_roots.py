"""Layer normalization by hand: a form that TensorFlow 2.15 cannot optimize."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr
from migrator.vocabulary.diagnostics import Diagnostic

from .tensorflow_names import tensorflow_root


class VarianceRoot(Rule):
    """Multiply by `tf.math.rsqrt` of a variance instead of dividing by its root.

    ## What it does
    Where a name holds the variance that `tf.nn.moments` returns, a division by `(variance + epsilon) ** 0.5`, by the same with
    `tf.pow`, or by `tf.sqrt(variance + epsilon)`, becomes a product with `tf.math.rsqrt(variance + epsilon)`.

    ## Why
    TensorFlow 2.15 looks for layer normalization in the graphs of functions, to run it as one kernel on CPUs, and stumbles over
    this form of it: the process ends with `CHECK failed: it != end(): key not found: value`. Graphs that an Estimator ran in a
    session were spared.

    ## Example
    ```python
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    x = (x - mean) / ((variance + 1e-8) ** 0.5)
    ```
    becomes
    ```python
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    x = (x - mean) * tf.math.rsqrt(variance + 1e-8)
    ```

    ## Fix safety
    Safe: it is what TensorFlow makes of the division.
    """

    code = "EST015"
    name = "variance-root"
    url = "https://www.tensorflow.org/api_docs/python/tf/nn/moments"
    symbols = ("tensorflow.nn.moments",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """Look at one reference."""
        call, root = call_of(module, node), tensorflow_root(module, node)
        made = module.parent(call) if call is not None else None
        if root is None or not isinstance(made, ast.Assign) or len(made.targets) != 1 or made.value is not call:
            return
        target = made.targets[0]
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[1], ast.Name):
            return
        variance = target.elts[1]
        scope = module.scope(variance).holder(variance.id)
        if [binding.node for binding in module.bindings(variance)] != [variance]:
            return
        for load in module.loads_of(variance.id, scope):
            total = module.parent(load)
            power = module.parent(total) if isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add) else None
            division = module.parent(power) if power is not None else None
            if not isinstance(total, ast.BinOp) or not _is_root(module, power, total):
                continue
            if isinstance(division, ast.BinOp) and isinstance(division.op, ast.Div) and division.right is power:
                tf, imports = root
                numerator = module.cst.expression(division.left)
                value = module.cst.expression(total).with_changes(lpar=[], rpar=[])
                new = expr("{numerator} * {tf}.math.rsqrt({value})", numerator=numerator, tf=tf, value=value)
                message = "TensorFlow 2.15 may stop at a division by the root of a variance; a product is the same"
                yield self.diagnostic(module, load, message, changes=[*imports, Replace(division, new)])


def _is_root(module: Module, node: ast.AST | None, base: ast.expr) -> bool:
    """Whether an expression is the square root of another one."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Pow) and node.left is base and _is_half(node.right)
    if not isinstance(node, ast.Call) or node.keywords or node.args[:1] != [base]:
        return False
    name = (module.resolve(node.func) or "").replace(".math.", ".")
    return name == "tensorflow.sqrt" if len(node.args) == 1 else name == "tensorflow.pow" and _is_half(node.args[1])


def _is_half(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0.5
