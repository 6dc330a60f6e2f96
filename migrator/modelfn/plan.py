"""The analysis of one model_fn: its specs per mode, the layers it makes, and which statements belong to which phase."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Flow, Leaf, Slicer
from migrator.modelfn.modes import MODES, Modes, mode_of_symbol
from migrator.modelfn.names import reads
from migrator.modelfn.sites import Site, find_sites
from migrator.modelfn.times import Time, Times, is_cheap
from migrator.modelfn.translate import Translations, bind

if TYPE_CHECKING:
    from migrator.module import Module

SPEC = "tensorflow.estimator.EstimatorSpec"
SPEC_FIELDS = (
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks scaffold "
    "evaluation_hooks prediction_hooks"
)
_LATER = {
    "training_chief_hooks": "hooks in an EstimatorSpec are not migrated yet",
    "training_hooks": "hooks in an EstimatorSpec are not migrated yet",
    "evaluation_hooks": "hooks in an EstimatorSpec are not migrated yet",
    "prediction_hooks": "hooks in an EstimatorSpec are not migrated yet",
    "scaffold": "a scaffold is not migrated yet",
}


@dataclass(frozen=True)
class Spec:
    """The EstimatorSpec that is returned in one mode."""

    leaf: Leaf
    fields: dict[str, ast.expr]


class Plan:
    """Everything that the writer has to know about a model_fn."""

    def __init__(self, module: Module, function: ast.FunctionDef, translations: Translations) -> None:
        self.module = module
        self.function = function
        self.translations = translations
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        if function.args.vararg or function.args.kwarg:
            raise Unsupported("a model_fn with *args or **kwargs is not followed", function)
        if not names or names[0] in ("self", "cls"):
            raise Unsupported("a model_fn that is a method is not migrated yet", function)
        self.features = names[0]
        self.labels = "labels" if "labels" in names else None
        self.mode = "mode" if "mode" in names else None
        self.statics = [n for n in names if n not in (self.features, self.labels, self.mode)]
        self.modes = Modes(self.mode, lambda node: mode_of_symbol(module.resolve(node)))
        body = function.body
        self.docstring = ast.get_docstring(function, clean=False)
        if self.docstring is not None:
            body = body[1:]
        self.flow = Flow(body, self.modes, self._stays_whole)
        self.slicer = Slicer(self.flow)
        dynamic = {n for n in (self.features, self.labels) if n is not None}
        self.times = Times(self.flow, self.modes, dynamic, module.resolve, translations)
        self.specs = self._specs()
        self.updates_run = any(
            isinstance(n, ast.Attribute) and n.attr == "UPDATE_OPS" or isinstance(n, ast.Constant) and n.value == "update_ops"
            for n in ast.walk(function)
        )
        self.sites = find_sites(self)
        self.site_of: dict[int, Site] = {id(site.call): site for site in self.sites}
        self.tainted = self._tainted()
        self._slices()

    # -- structure ----------------------------------------------------------------------------------------------------

    def _stays_whole(self, node: ast.stmt) -> bool:
        """Compound statements without layers, specs or mode tests move in one piece, unless they are scopes."""
        if isinstance(node, ast.With):
            return False
        for child in ast.walk(node):
            if isinstance(child, ast.Return):
                return False
            if isinstance(child, ast.Call):
                name = self.module.resolve(child.func)
                if name is not None and (name in self.translations.layers or name in self.translations.metrics):
                    return False
                if name is not None and name in self.translations.training:
                    return False
            if isinstance(child, ast.Name) and child.id == self.mode:
                return False
        return True

    def _specs(self) -> dict[str, Spec]:
        found: dict[str, Spec] = {}
        for leaf in self.flow.leaves:
            if not isinstance(leaf.node, ast.Return):
                continue
            call = self._followed(leaf.node.value, leaf)
            if not isinstance(call, ast.Call) or self.module.resolve(call.func) != SPEC:
                raise Unsupported("the returned value is not seen to be an EstimatorSpec", leaf.node)
            fields = bind(call, SPEC_FIELDS, "EstimatorSpec")
            for name in list(fields):
                value = fields[name]
                if isinstance(value, ast.Constant) and value.value is None:
                    del fields[name]
                elif name in _LATER:
                    raise Unsupported(_LATER[name], value)
            for mode in leaf.modes:
                found.setdefault(mode, Spec(leaf, fields))
        if self.flow.falls_through:
            missing = ", ".join(m for m in MODES if m in self.flow.falls_through)
            if not found:
                raise Unsupported("no EstimatorSpec is returned", self.function)
            for mode in MODES:
                if mode in self.flow.falls_through and mode in found:
                    raise Unsupported(f"the function may end without a spec in mode {missing}", self.function)
        if "train" not in found and "eval" not in found:
            raise Unsupported("no EstimatorSpec with a loss is returned", self.function)
        return found

    def _followed(self, node: ast.expr | None, leaf: Leaf) -> ast.expr | None:
        """The expression behind a name that was assigned once."""
        seen = 0
        while isinstance(node, ast.Name) and seen < 5:
            leaves = self.slicer.reaching(node.id, leaf.index, None, leaf)
            if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign) or len(leaves[0].node.targets) != 1:
                return node
            if not isinstance(leaves[0].node.targets[0], ast.Name):
                return node
            leaf, node = leaves[0], leaves[0].node.value
            seen += 1
        return node

    def followed(self, node: ast.expr, mode: str) -> tuple[ast.expr, Leaf | None]:
        """A spec field's expression, and the leaf that assigns it if a name stands between."""
        leaf: Leaf | None = None
        at = self.specs[mode].leaf
        for _ in range(5):
            if not isinstance(node, ast.Name):
                break
            leaves = self.slicer.reaching(node.id, at.index, mode, at)
            if len(leaves) != 1 or not isinstance(leaves[0].node, ast.Assign) or len(leaves[0].node.targets) != 1:
                break
            if not isinstance(leaves[0].node.targets[0], ast.Name):
                break
            at = leaf = leaves[0]
            node = leaves[0].node.value
        return node, leaf

    # -- phases -------------------------------------------------------------------------------------------------------

    def field(self, mode: str, name: str) -> ast.expr | None:
        """An argument of the EstimatorSpec of `mode`."""
        spec = self.specs.get(mode)
        return spec.fields.get(name) if spec is not None else None

    def slice_of(self, node: ast.expr | None, mode: str) -> set[Leaf]:
        """Leaves that a spec field depends on."""
        if node is None:
            return set()
        leaf = self.specs[mode].leaf
        return self.slicer.closure(reads(node), leaf.index, mode, leaf)

    def _tainted(self) -> set[Leaf]:
        """Leaves whose value depends on the labels."""
        tainted: set[Leaf] = set()
        if self.labels is None:
            return tainted
        changed = True
        while changed:
            changed = False
            for leaf in self.flow.leaves:
                if leaf in tainted or leaf.mode_only:
                    continue
                for name in self.slicer.inputs(leaf):
                    sources = self.slicer.reaching(name, leaf.index, None, leaf)
                    if (name == self.labels and not sources) or any(s in tainted for s in sources):
                        tainted.add(leaf)
                        changed = True
                        break
                    if name == self.labels and not any(name in s.kills for s in sources):
                        tainted.add(leaf)
                        changed = True
                        break
        return tainted

    def _slices(self) -> None:
        self.prediction_slice = self.slice_of(self.field("infer", "predictions"), "infer")
        self.loss_slices = {m: self.slice_of(self.field(m, "loss"), m) for m in ("train", "eval") if m in self.specs}
        self.metric_slice = self.slice_of(self.field("eval", "eval_metric_ops"), "eval")
        self.train_slice = self.slice_of(self.field("train", "train_op"), "train")
        wrong = next((leaf for leaf in self.prediction_slice if leaf in self.tainted), None)
        if wrong is not None:
            raise Unsupported("predictions depend on the labels", wrong.node)
        outside = set(self.metric_slice).union(*self.loss_slices.values())
        call = set(self.prediction_slice)
        making = {site.leaf for site in self.sites}
        for leaf in outside:
            if leaf in making and leaf not in self.tainted:
                call.add(leaf)
                for mode in leaf.modes:
                    call |= self.slicer.closure(self.slicer.inputs(leaf), leaf.index, mode, leaf)
        self.call_leaves = self._ordered(leaf for leaf in call if not leaf.mode_only)
        chosen = set(self.call_leaves)
        self.loss_leaves = self._ordered(
            leaf for slice_ in self.loss_slices.values() for leaf in slice_ if leaf not in chosen and not leaf.mode_only
        )
        self.metric_leaves = self._ordered(
            leaf for leaf in self.metric_slice if leaf not in chosen and not leaf.mode_only
        )

    @staticmethod
    def _ordered(leaves: Iterable[Leaf]) -> list[Leaf]:
        return sorted(set(leaves), key=lambda leaf: leaf.index)

    # -- static values ------------------------------------------------------------------------------------------------

    def time(self, leaf: Leaf) -> Time:
        """When the values that a leaf defines are known."""
        if leaf.defs:
            return max(self.times.name(name) for name in leaf.defs)
        return self.times.of(leaf.node)

    def is_static(self, leaf: Leaf) -> bool:
        """Whether a leaf can run when the model is built."""
        return self.time(leaf) is Time.STATIC

    def sites_in(self, leaf: Leaf) -> list[Site]:
        """The sites that stand in a leaf."""
        return [site for site in self.sites if site.leaf is leaf]

    def definitions(self, name: str) -> list[Leaf]:
        """The leaves that define a local name."""
        return [leaf for leaf in self.flow.leaves if name in leaf.defs and not leaf.mode_only]

    def is_local(self, name: str) -> bool:
        """Whether the body (or a loop head in it) binds the name."""
        return any(name in leaf.defs for leaf in self.flow.leaves)

    def is_copied(self, name: str) -> bool:
        """Whether a static name is computed again where it is needed, instead of being kept on the model."""
        for leaf in self.definitions(name):
            node = leaf.node
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                if node.value is None or not is_cheap(node.value) or self._makes(node.value):
                    return False
            elif not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
                return False
        return True

    def _makes(self, node: ast.expr) -> bool:
        return any(id(child) in self.site_of for child in ast.walk(node))
