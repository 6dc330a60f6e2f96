"""What the writers of a model's methods have in common: what each of them is handed of the others."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.results.compiled import CompiledLoss
from migrator.analyse.results.metrics import MetricEntry
from migrator.analyse.results.outputs import Outputs
from migrator.analyse.results.singleoutput import SingleOutput
from migrator.emit.chain import Chain
from migrator.emit.classwriter import ClassWriter
from migrator.emit.render import Renderer
from migrator.rewrite import Row


class ModelWriter(ClassWriter):
    """The class of a model while it is written. `factory` is a free name of the module."""

    plan: Plan
    outputs: Outputs
    """What `call` returns."""
    single: SingleOutput | None
    """The one tensor that it returns, if it does."""
    needed: dict[str, list[str]]
    """Names of the forward pass that the loss, the metrics and servers read, by mode."""
    losses: dict[str, ast.expr]
    partial: list[ast.Name]
    """Losses that optimizers minimize beside that of the spec."""
    compiled: CompiledLoss | None
    entries: list[MetricEntry]
    """The loss that `compile` takes, if Keras has it."""
    test_step: Sequence[Row]
    evaluated: list[str]
    """Features that metrics look up, and no training."""
    only_evaluates: bool
    """Whether training goes without metrics."""
    chain: Chain | None = None
    """The layers, where they are all that there is."""

    def __init__(
        self,
        plan: Plan,
        renderer: Renderer,
        tf: str,
        class_name: str,
        factory: str,
        together: int,
        facts: dict[str, bool],
        need: Callable[[str], str],
    ) -> None:
        super().__init__(plan, renderer, tf, class_name, facts, need)
        self.factory = factory
        self.together = together
        """Steps that Keras runs in one call."""

    def names(self, where: str) -> dict[str, str]:
        """How a method other than `__init__` writes the names of the model_fn."""
        found = super().names(where)
        if "config" in found:
            found["config"] = "self.run_config"
        if where != "call":
            found[self.plan.features] = "x"
            if self.plan.labels is not None:
                found[self.plan.labels] = "y"
            found.update(self.outputs.names)
            found.update({n: self.shared.metrics[n] for n in self.shared.metrics if self._is_unpacked(n)})
        return found

    def _is_unpacked(self, name: str) -> bool:
        """Whether a name holds the value or the update of a metric, not both: ``value, update = tf.metrics.…``."""
        nodes = [leaf.node for leaf in self.plan.definitions(name)]
        return all(isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name) for node in nodes)

    def predicted_entries(self) -> list[tuple[str, ast.expr | str]]:
        """What `call` returns of that what predictions and servers read."""
        out = self.outputs
        if out.predicted is None and out.predicted_single is None and out.excluded is None:
            raise Unsupported("predictions need all that the loss needs", self.plan.specs["infer"].leaf.node)
        keys = [*(out.predicted or ()), out.predicted_single]
        return [(key, value) for key, value in out.entries if key in keys or value in self.needed["infer"]]
