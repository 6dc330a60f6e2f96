"""`tf.contrib.layers.optimize_loss` spelled out with an optimizer, so that native migrates it as any other train op.

What it computes is `optimize_loss` of TensorFlow 1.15, contrib/layers/python/layers/optimizers.py.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.emit.render import Renderer
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.spelled import spelled
from migrator.normalise.draft.stuck import Stuck
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from ..symbols.tensorflow_names import PLAIN, VERSION_1, root_name, whole_name
from .optimizers import OPTIMIZERS

NAME = "tensorflow.contrib.layers.optimize_loss"
_SIGNATURE = (
    "loss global_step learning_rate optimizer gradient_noise_scale gradient_multipliers clip_gradients "
    "learning_rate_decay_fn update_ops variables name summaries colocate_gradients_with_ops increment_global_step"
)
_BY_NAME = {
    "Adagrad": "AdagradOptimizer({})",
    "Adam": "AdamOptimizer({})",
    "Ftrl": "FtrlOptimizer({})",
    "Momentum": "MomentumOptimizer({}, momentum=0.9)",
    "RMSProp": "RMSPropOptimizer({})",
    "SGD": "GradientDescentOptimizer({})",
}
_SUMMARIES = ("loss", "learning_rate", "global_gradient_norm")
_REFUSED = ("gradient_noise_scale", "gradient_multipliers", "update_ops", "variables")
_IGNORED = frozenset({"colocate_gradients_with_ops"})


def spelled_out(module: Module, call: ast.Call) -> list[Change]:
    """The statements that do what a call of `optimize_loss` does; none for other calls. Raises Stuck."""
    if module.resolve(call.func) != NAME:
        return []
    try:
        given = {name: value for name, value in bind(call, _SIGNATURE, "optimize_loss").items() if not is_none(value)}
    except Unsupported as problem:
        raise Stuck(problem.reason, call) from problem
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
            raise Stuck("optimize_loss stands where no statement can be put before it", self.call)
        for ancestor in module.ancestors(self.call):
            if ancestor is statement:
                break
            if not isinstance(ancestor, (ast.Call, ast.keyword)):
                raise Stuck("optimize_loss stands where no statement can be put before it", self.call)
        return spelled(module, self.call, "train_op", lambda name, unit: self._lines(name))

    def _lines(self, name: str) -> list[str]:
        self._check()
        given, tf, loss = self.given, self._tensorflow(), self.module.segment(self.given["loss"])
        scope, summaries = self._scope(), self._summaries()
        rate, lines = self._rate(summaries, scope, tf)
        optimizer = self._optimizer(rate, tf)
        step = f"global_step={tf}.train.get_global_step()"
        written = [f'{tf}.summary.scalar("{scope}/loss", {loss})'] if "loss" in summaries else []
        norm = "global_gradient_norm" in summaries
        clip = given.get("clip_gradients")
        if norm or clip is not None:
            made = optimizer if optimizer.isidentifier() else self._unused("optimizer")
            lines += [f"{made} = {optimizer}"] if made != optimizer else []
            gradients, variables = self._unused("gradients"), self._unused("variables")
            lines.append(f"{gradients}, {variables} = zip(*{made}.compute_gradients({loss}))")
            before = f'{tf}.summary.scalar("{scope}/global_norm/gradient_norm", {tf}.global_norm({gradients}))'
            lines += [before] if norm else []
            if clip is not None:
                limit = self.module.segment(clip)
                lines.append(f"{gradients}, _ = {tf}.clip_by_global_norm({gradients}, {limit})")
                lines += written
                after = before.replace("/gradient_norm", "/clipped_gradient_norm")
                lines += [after] if norm else []
            else:
                lines += written
            update = f"{made}.apply_gradients(zip({gradients}, {variables}), {step})"
        else:
            lines += written
            update = f"{optimizer}.minimize({loss}, {step})"
        lines.append(f"with {tf}.control_dependencies({tf}.get_collection({tf}.GraphKeys.UPDATE_OPS)):")
        return [*lines, f"    {name} = {update}"]

    def _check(self) -> None:
        for name in _REFUSED:
            if name in self.given:
                raise Stuck(f"`{name}` of optimize_loss is not migrated yet", self.given[name])
        increment = self.given.get("increment_global_step")
        if increment is not None and not (isinstance(increment, ast.Constant) and increment.value is True):
            raise Stuck("`increment_global_step` of optimize_loss is not migrated yet", increment)
        clip = self.given.get("clip_gradients")
        if isinstance(clip, ast.Lambda) or (clip is not None and self.module.resolve(clip) is not None):
            raise Stuck("a function as `clip_gradients` of optimize_loss is not migrated yet", clip)
        if "loss" not in self.given or "optimizer" not in self.given:
            raise Stuck("optimize_loss lacks arguments", self.call)

    def _rate(self, summaries: tuple[str, ...], scope: str, tf: str) -> tuple[str | None, list[str]]:
        """The learning rate, and the statements that compute it."""
        value, decay = self.given.get("learning_rate"), self.given.get("learning_rate_decay_fn")
        if decay is None:
            return None if value is None else self.module.segment(value), []
        if value is None:
            raise Stuck("optimize_loss lacks arguments", self.call)
        rate = self._applied(decay, [self.module.segment(value), f"{tf}.train.get_global_step()"])
        name = self._unused("learning_rate")
        lines = [f"{name} = {rate}"]
        if "learning_rate" in summaries:
            lines.append(f'{tf}.summary.scalar("{scope}/learning_rate", {name})')
        return name, lines

    def _optimizer(self, rate: str | None, tf: str) -> str:
        node = self.given["optimizer"]
        if isinstance(node, ast.Constant) and node.value in _BY_NAME and rate is not None:
            return f"{tf}.train.{_BY_NAME[node.value].format(rate)}"
        if self._makes_optimizer(node):
            return self.module.segment(node)
        if isinstance(node, ast.Name) and len(self.module.bindings(node)) == 1:
            statement = self.module.parent(self.module.bindings(node)[0].node)
            if isinstance(statement, ast.Assign) and self._makes_optimizer(statement.value):
                return node.id
        made = isinstance(node, ast.Lambda) and self._makes_optimizer(node.body)
        if made or self.module.resolve(node) in OPTIMIZERS:
            return self._applied(node, [] if rate is None else [rate])
        raise Stuck("the optimizer of optimize_loss is not seen", node)

    def _makes_optimizer(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.module.resolve(node.func) in OPTIMIZERS

    def _applied(self, function: ast.expr, arguments: list[str]) -> str:
        """A call of a function, or the body of a lambda with the arguments in it."""
        if not isinstance(function, ast.Lambda):
            return f"{self.module.segment(function)}({', '.join(arguments)})"
        parameters = [argument.arg for argument in function.args.args]
        others = function.args.vararg or function.args.kwarg or function.args.kwonlyargs or function.args.defaults
        inner = [node for node in walk(function.body) if isinstance(node, (ast.Lambda, ast.comprehension))]
        if len(parameters) != len(arguments) or others or inner:
            raise Stuck("a function that optimize_loss calls is not followed", function)
        values = dict(zip(parameters, arguments))

        def value(node: ast.AST) -> str | None:
            text = values.get(node.id) if isinstance(node, ast.Name) else None
            plain = text is None or isinstance(ast.parse(text, mode="eval").body, (ast.Constant, ast.Name, ast.Call))
            return text if plain else f"({text})"

        return Renderer(self.module).expression(function.body, value)

    def _scope(self) -> str:
        name = self.given.get("name")
        if name is None:
            return "OptimizeLoss"
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return name.value
        raise Stuck("the name of optimize_loss is not seen", name)

    def _summaries(self) -> tuple[str, ...]:
        node = self.given.get("summaries")
        if node is None:
            return _SUMMARIES
        values = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        found = tuple(str(value.value) for value in values if isinstance(value, ast.Constant))
        if len(found) < len(values) or not set(found) <= set(_SUMMARIES):
            raise Stuck("these summaries of optimize_loss are not migrated yet", node)
        return found

    def _tensorflow(self) -> str:
        """How the file names TensorFlow 1 as a whole."""
        name = whole_name(self.module)
        if name is not None:
            return name
        root = root_name(self.call.func)
        if self.module.raw_names(root) <= PLAIN | {VERSION_1}:
            return root.id
        raise Stuck("the file has no name for TensorFlow as a whole", self.call)

    def _unused(self, name: str) -> str:
        return self.module.unused_name(name, self.call)
