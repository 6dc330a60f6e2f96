"""`tf.contrib.layers.optimize_loss` spelled out with an optimizer, so that native migrates it as any other train op.

What it computes is `optimize_loss` of TensorFlow 1.15, contrib/layers/python/layers/optimizers.py.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Statement, expr, statements

from ..symbols.tensorflow_names import PLAIN, VERSION_1, root_name, whole_name
from .conditional_steps import branched
from .optimizers import OPTIMIZERS

if TYPE_CHECKING:
    import libcst as cst

NAME = "tensorflow.contrib.layers.optimize_loss"
_SIGNATURE = (
    "loss global_step learning_rate optimizer gradient_noise_scale gradient_multipliers clip_gradients "
    "learning_rate_decay_fn update_ops variables name summaries colocate_gradients_with_ops increment_global_step"
)
_BY_NAME = {
    "Adagrad": "AdagradOptimizer({rate})",
    "Adam": "AdamOptimizer({rate})",
    "Ftrl": "FtrlOptimizer({rate})",
    "Momentum": "MomentumOptimizer({rate}, momentum=0.9)",
    "RMSProp": "RMSPropOptimizer({rate})",
    "SGD": "GradientDescentOptimizer({rate})",
}
_SUMMARIES = ("loss", "learning_rate", "global_gradient_norm")
_REFUSED = ("gradient_noise_scale", "gradient_multipliers", "update_ops", "variables")


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements that do what a call of `optimize_loss` does; none for other calls. Raises Unsupported.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
        train_op = tf.contrib.layers.optimize_loss(
            loss, tf.train.get_global_step(), learning_rate=0.1, optimizer="Adam", clip_gradients=5.0, summaries=[]
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    ```
    """
    if module.resolve(call.func) != NAME:
        return []
    apart = branched(module, call)
    if apart:
        return apart
    try:
        given = {name: value for name, value in bind(call, _SIGNATURE, "optimize_loss").items() if not is_none(value)}
    except Unsupported as problem:
        raise Unsupported(problem.reason, call) from problem
    return _Spelling(module, call, given).changes()


@dataclass
class _Spelling:
    module: Module
    call: ast.Call
    given: Mapping[str, ast.expr]

    def changes(self) -> list[Change]:
        """The statements before that of the call, and the train op in the place of the call."""
        module, statement = self.module, self.module.statement(self.call)
        if module.indent(statement) is None or not isinstance(statement, (ast.Assign, ast.Return)):
            raise Unsupported("optimize_loss stands where no statement can be put before it", self.call)
        for ancestor in module.ancestors(self.call):
            if ancestor is statement:
                break
            if not isinstance(ancestor, (ast.Call, ast.keyword)):
                raise Unsupported("optimize_loss stands where no statement can be put before it", self.call)
        return spelled(module, self.call, "train_op", self._lines)

    def _lines(self, name: str) -> list[Statement]:
        self._check()
        tf, loss = self._tensorflow(), self.module.cst.expression(self.given["loss"])
        scope, summaries, clip = self._scope(), self._summaries(), self.given.get("clip_gradients")
        rate, lines = self._rate(summaries, scope, tf)
        optimizer = self._optimizer(rate, tf)

        def summary(tag: str, value: cst.BaseExpression) -> list[Statement]:
            template = '{tf}.summary.scalar("{scope}/{tag}", {value})'
            return statements(template, tf=tf, scope=scope, tag=tag, value=value)

        written = summary("loss", loss) if "loss" in summaries else []
        step = expr("{tf}.train.get_global_step()", tf=tf)
        norm = "global_gradient_norm" in summaries
        if norm or clip is not None:
            if not hasattr(optimizer, "value") or not isinstance(optimizer.value, str):  # all but a name
                made = self._unused("optimizer")
                lines += statements("{made} = {optimizer}", made=made, optimizer=optimizer)
                optimizer = expr(made)
            names = {"gradients": self._unused("gradients"), "variables": self._unused("variables")}
            taken = "{gradients}, {variables} = zip(*{optimizer}.compute_gradients({loss}))"
            lines += statements(taken, optimizer=optimizer, loss=loss, **names)
            total = expr("{tf}.global_norm({gradients})", tf=tf, gradients=names["gradients"])
            lines += summary("global_norm/gradient_norm", total) if norm else []
            if clip is not None:
                limit, gradients = self.module.cst.expression(clip), names["gradients"]
                clipped = "{gradients}, _ = {tf}.clip_by_global_norm({gradients}, {limit})"
                lines += statements(clipped, tf=tf, gradients=gradients, limit=limit)
            lines += written
            lines += summary("global_norm/clipped_gradient_norm", total) if norm and clip is not None else []
            template = "{optimizer}.apply_gradients(zip({gradients}, {variables}), global_step={step})"
            update = expr(template, optimizer=optimizer, step=step, **names)
        else:
            lines += written
            update = expr("{optimizer}.minimize({loss}, global_step={step})", optimizer=optimizer, loss=loss, step=step)
        held = "with {tf}.control_dependencies({tf}.get_collection({tf}.GraphKeys.UPDATE_OPS)):\n    {name} = {update}"
        return [*lines, *statements(held, tf=tf, name=name, update=update)]

    def _check(self) -> None:
        for name in _REFUSED:
            if name in self.given:
                raise Unsupported(f"`{name}` of optimize_loss is not migrated yet", self.given[name])
        increment = self.given.get("increment_global_step")
        if increment is not None and not (isinstance(increment, ast.Constant) and increment.value is True):
            raise Unsupported("`increment_global_step` of optimize_loss is not migrated yet", increment)
        clip = self.given.get("clip_gradients")
        if isinstance(clip, ast.Lambda) or (clip is not None and self.module.resolve(clip) is not None):
            raise Unsupported("a function as `clip_gradients` of optimize_loss is not migrated yet", clip)
        if "loss" not in self.given or "optimizer" not in self.given:
            raise Unsupported("optimize_loss lacks arguments", self.call)

    def _rate(
        self, summaries: tuple[str, ...], scope: str, tf: str
    ) -> tuple[cst.BaseExpression | None, list[Statement]]:
        """The learning rate, and the statements that compute it."""
        value, decay = self.given.get("learning_rate"), self.given.get("learning_rate_decay_fn")
        if decay is None:
            return None if value is None else self.module.cst.expression(value), []
        if value is None:
            raise Unsupported("optimize_loss lacks arguments", self.call)
        step = expr("{tf}.train.get_global_step()", tf=tf)
        rate = self._applied(decay, [self.module.cst.expression(value), step])
        name = self._unused("learning_rate")
        lines = statements("{name} = {rate}", name=name, rate=rate)
        if "learning_rate" in summaries:
            lines += statements('{tf}.summary.scalar("{scope}/learning_rate", {name})', tf=tf, scope=scope, name=name)
        return expr(name), lines

    def _optimizer(self, rate: cst.BaseExpression | None, tf: str) -> cst.BaseExpression:
        node = self.given["optimizer"]
        if isinstance(node, ast.Constant) and node.value in _BY_NAME and rate is not None:
            return expr("{tf}.train." + _BY_NAME[node.value], tf=tf, rate=rate)
        if self._makes_optimizer(node):
            return self.module.cst.expression(node)
        if isinstance(node, ast.Name) and len(self.module.bindings(node)) == 1:
            statement = self.module.parent(self.module.bindings(node)[0].node)
            if isinstance(statement, ast.Assign) and self._makes_optimizer(statement.value):
                return expr(node.id)
        made = isinstance(node, ast.Lambda) and self._makes_optimizer(node.body)
        if made or self.module.resolve(node) in OPTIMIZERS:
            return self._applied(node, [] if rate is None else [rate])
        raise Unsupported("the optimizer of optimize_loss is not seen", node)

    def _makes_optimizer(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.module.resolve(node.func) in OPTIMIZERS

    def _applied(self, function: ast.expr, arguments: list[cst.BaseExpression]) -> cst.BaseExpression:
        """A call of a function, or the body of a lambda with the arguments in it."""
        if not isinstance(function, ast.Lambda):
            return expr("{function}({given})", function=self.module.cst.expression(function), given=arguments)
        parameters = [argument.arg for argument in function.args.args]
        others = function.args.vararg or function.args.kwarg or function.args.kwonlyargs or function.args.defaults
        inner = [node for node in walk(function.body) if isinstance(node, (ast.Lambda, ast.comprehension))]
        if len(parameters) != len(arguments) or others or inner:
            raise Unsupported("a function that optimize_loss calls is not followed", function)
        values = dict(zip(parameters, arguments))
        reads = [node for node in walk(function.body) if isinstance(node, ast.Name) and node.id in values]
        return self.module.cst.filled(function.body, {node: values[node.id] for node in reads})

    def _scope(self) -> str:
        name = self.given.get("name")
        if name is None:
            return "OptimizeLoss"
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isprintable():
            if not set(name.value) & {'"', "\\"}:
                return name.value
        raise Unsupported("the name of optimize_loss is not seen", name)

    def _summaries(self) -> tuple[str, ...]:
        node = self.given.get("summaries")
        if node is None:
            return _SUMMARIES
        values = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        found = tuple(str(value.value) for value in values if isinstance(value, ast.Constant))
        if len(found) < len(values) or not set(found) <= set(_SUMMARIES):
            raise Unsupported("these summaries of optimize_loss are not migrated yet", node)
        return found

    def _tensorflow(self) -> str:
        """How the file names TensorFlow 1 as a whole."""
        name = whole_name(self.module)
        if name is not None:
            return name
        root = root_name(self.call.func)
        if self.module.raw_names(root) <= PLAIN | {VERSION_1}:
            return root.id
        raise Unsupported("the file has no name for TensorFlow as a whole", self.call)

    def _unused(self, name: str) -> str:
        return self.module.unused_name(name, self.call)
