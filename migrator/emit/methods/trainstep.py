"""Writes `train_step` where the program computes with gradients: its own statements, on the gradients of a tape."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import binds, reads
from migrator.analyse.training.conditionalsteps import condition_of
from migrator.analyse.training.optimizervalues import makes_optimizer
from migrator.analyse.training.replicas import check_replicas
from migrator.analyse.training.scaledlosses import NAME, scaled
from migrator.analyse.training.sums import sums_text
from migrator.analyse.training.trainop import TrainOp, loss_text
from migrator.analyse.training.trainways import GROUP, appended, parts_of
from migrator.analyse.training.updates import (
    GRADIENTS,
    Update,
    differentiation_arguments,
    gradient_arguments,
    is_method,
)
from migrator.analyse.variables.variablechoices import asks_for_variable, chosen
from migrator.analyse.variables.variablelists import written
from migrator.emit.methods.conditionalwriter import dependency_rows, holds_op, op_rows, turn_rows
from migrator.emit.methods.stepmethod import plain_step_method, step_method
from migrator.emit.methods.variabletags import name_in_tag
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, rows, statements, trimmed

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

    from migrator.analyse.function.plan import Plan
    from migrator.emit.modelwriter import ModelWriter

_OWN = frozenset({"x", "y", "y_pred", "sample_weight", "tape", "loss", "losses"})
_ALL = "self.trainable_variables"


class TrainStepWriter(Writer):
    """The statements between the gradients and the optimizer. `read` are the names that the written text reads."""

    def __init__(self, generator: ModelWriter, train_op: TrainOp) -> None:
        super().__init__(generator.shared, "train", generator.names("train"))
        self.model = generator.plan
        self.train_op = train_op
        self.updates = {update.call: update for update in train_op.updates}
        self.read: set[str] = set()
        self.derivatives = 0
        self.scaled: dict[str, str] = {}
        """Multiples of the loss that gradients are of, by their names."""
        self.scales: set[str] = set()
        """The names that these multiples read."""
        self.at: Leaf = train_op.updates[-1].at
        loss = generator.plan.field("train", "loss")
        self.loss_name = loss.id if isinstance(loss, ast.Name) else ""
        named = self._named_variables()
        self.list_of_variables = named or (_ALL if self._binds_variables() else "variables")
        """How the text names the variables of the model."""
        self.names_variables = False
        self.reads_loss = False
        """Whether the text reads the loss beside the gradients of it."""

    def transform(self, node: ast.AST) -> str | None:
        """Gradients come from the tape; the step that the optimizer takes is a statement."""
        added = appended(node)
        if added is not None and self._is_update(added):
            return self.text(added)
        if isinstance(node, ast.ListComp):
            choice = chosen(self.plan, node, self.at)
            if choice is not None:
                return written(self.plan, choice, node)
        if isinstance(node, ast.Compare) and asks_for_variable(self.model, node, self.at):
            raise Unsupported("the train op compares variables, which tensors do not answer", node)
        if isinstance(node, ast.Assign):
            steps = self._steps(node.value)
            return "\n".join(map(self.text, steps)) if steps else self._unzipped(node)
        if isinstance(node, ast.Call):
            if self._is_update(node):
                return self._update(self.updates[node])
            if is_method(node, "apply_gradients", "minimize"):
                raise Unsupported("an optimizer takes a step that the train op does not run", node)
            if is_method(node, "compute_gradients"):
                variables = self._variables_of(node)
                pairs = f"zip({self._gradient(self._loss_of(node), variables)}, {variables})"
                parent = self.model.module.parent(node)
                read_once = isinstance(parent, (ast.comprehension, ast.For)) or is_method(parent, "apply_gradients")
                return pairs if read_once else f"list({pairs})"
            name = self.resolve(node.func)
            if name == GRADIENTS:
                given = differentiation_arguments(node)
                loss = self._loss(given.get("ys"), node)
                return self._gradient(loss, self.text(given["xs"]))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not self.is_inner(node):
            if makes_optimizer(self.model, self.model.followed_in(node, self.at, "train")[0]):
                raise Unsupported("the train op hands an optimizer on", node)
            self.reads_loss |= node.id == self.loss_name or node.id in self.model.partial_losses
            if node.id == self.loss_name:
                return 'losses["loss"]' if self.model.partial_losses else "loss"
            if node.id in self.model.partial_losses:
                return f'losses["{node.id}"]'
            text = super().transform(node)
            if text is None:
                self.read.add(node.id)
            return text
        if isinstance(node, ast.Attribute) and node.attr in ("name", "op"):
            tag = name_in_tag(self, node, self.at)
            if tag is not None:
                return tag
            raise Unsupported("the train op reads names of variables, which differ in Keras", node)
        return super().transform(node)

    def leaf(self, leaf: Leaf) -> list[Row]:
        """One statement."""
        self.at = leaf
        for site in self.model.sites_in(leaf):
            if site.layer.weight and not self.model.is_static(leaf):
                raise Unsupported("a name stands for a variable first, and for something else below", leaf.node)
        sums = next((sums for sums in self.model.sums.values() if leaf in sums.leaves), None)
        if sums is not None:
            comments = self.remarks([leaf.node])
            return [*comments, *self.lines(sums_text(sums, self))] if leaf is sums.leaves[-1] else comments
        if self.only_runs(leaf):
            return []
        if holds_op(self, leaf.node):
            assert isinstance(leaf.node, (ast.Assign, ast.Expr, ast.Return)) and leaf.node.value is not None
            return [*self.remarks([leaf.node]), *op_rows(self, leaf.node.value)]
        return super().leaf(leaf)

    def only_runs(self, leaf: Leaf) -> bool:
        """Whether a statement matters for the control dependencies around it alone."""
        runs = any(change.at is leaf for change in self.train_op.changes) and not holds_op(self, leaf.node)
        return runs and all(update.at is not leaf for update in self.train_op.updates)

    def compound(self, node: ast.stmt, leaves: list[Leaf], depth: int) -> list[Row]:
        """A loop, condition or scope around leaves."""
        if isinstance(node, ast.For) and any(node is sums.loop for sums in self.model.sums.values()):
            return self.rows(leaves, depth + 1)
        if isinstance(node, ast.With):
            self.at = leaves[-1]
            return [*dependency_rows(self, node), *super().compound(node, leaves, depth)]
        if isinstance(node, ast.If) and condition_of(self.model, node) is not None:
            return turn_rows(self, node, {arm: self.arm(leaves, depth, arm) for arm in ("body", "orelse")})
        return super().compound(node, leaves, depth)

    def _is_update(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and node in self.updates

    def _steps(self, value: ast.expr) -> list[ast.expr]:
        """The steps of optimizers that an op is: one, or those of a group; none where it is more than these."""
        if self._is_update(value):
            return [value]
        grouped = value.args if isinstance(value, ast.Call) and self.resolve(value.func) == GROUP else []
        found = [part for each in grouped for part in parts_of(each)]
        return found if all(map(self._is_update, found)) else []

    def _update(self, update: Update) -> str:
        optimizer, given = f"self.{self.train_op.attribute(update)}", update.arguments()
        if not update.minimizes:
            return f"{optimizer}.apply_gradients({self.text(given['grads_and_vars'])})"
        before, variables = "", self.all_variables() if "var_list" not in given else self.text(given["var_list"])
        if "var_list" in given and not variables.isidentifier() and variables != _ALL:
            name = next(n for n in ("variables", "trained", "trained_") if not self.model.is_local(n))
            before, variables = f"{name} = {variables}\n", name
        loss = self._loss(given.get("loss"), update.call)
        return f"{before}{optimizer}.apply_gradients(zip({self._gradient(loss, variables)}, {variables}))"

    def all_variables(self) -> str:
        """The text of the list of all variables."""
        self.names_variables |= self.list_of_variables != _ALL
        return self.list_of_variables

    def _gradient(self, loss: str, variables: str) -> str:
        self.derivatives += 1
        return f"tape.gradient({loss}, {variables})"

    def _loss_of(self, call: ast.Call) -> str:
        """The loss that ``compute_gradients`` differentiates."""
        return self._loss(gradient_arguments(call).get("loss"), call)

    def _loss(self, given: ast.expr | None, call: ast.Call) -> str:
        """How the step writes what gradients are of."""
        found = scaled(self.model, given, self.at)
        if found is None:
            return loss_text(self.model, given, self.at, call)
        name, value = found
        if name == NAME and self.model.is_local(NAME) or name in _OWN:
            raise Unsupported(f"`{name}` is a name that the generated train_step needs", call)
        reads_loss = self.reads_loss
        self.scaled[name] = self.text(value)
        self.scales |= reads(value)
        self.reads_loss = reads_loss  # a multiple of a replica's share is one of its gradients as well
        return name

    def _variables_of(self, call: ast.Call) -> str:
        """The variables that ``compute_gradients`` differentiates by."""
        given = gradient_arguments(call)
        wanted = given.get("var_list")
        if wanted is None or self.text(wanted) == _ALL:
            return self.all_variables()
        if not isinstance(wanted, ast.Name):
            raise Unsupported("a list of variables that is not a name is not migrated yet", wanted)
        return self.text(wanted)

    def _named_variables(self) -> str:
        """The name that the program has for all variables of the model, by what it unzips, and for nothing else."""
        stores = [
            node
            for leaf in self.model.gradients
            for node in walk(leaf.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        found = {node.id for node in stores if self._is_of_all(node)}
        name = next(iter(found)) if len(found) == 1 else ""
        return name if sum(node.id == name for node in stores) == 1 else ""

    def _is_of_all(self, node: ast.Name) -> bool:
        """Whether a name gets all variables of the model, out of pairs with their gradients."""
        parts = _parts_of_unzip(self.model.module.statement(node))
        return parts is not None and parts[1] is node and "var_list" not in gradient_arguments(parts[2])

    def _binds_variables(self) -> bool:
        """Whether the program means something else by the name `variables` than all variables of the model."""
        for leaf in self.model.gradients:
            for node in walk(leaf.node):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "variables":
                    if not self._is_of_all(node):
                        return True
        return False

    def _unzipped(self, node: ast.Assign) -> str | None:
        """``gradients, variables = zip(*optimizer.compute_gradients(loss))``, without a zip that is taken apart."""
        parts = _parts_of_unzip(node)
        if parts is None:
            return None
        gradients, variables = (self.text(part) for part in parts[:2])
        source, loss = self._variables_of(parts[2]), self._loss_of(parts[2])
        if source == variables:
            return f"{gradients} = {self._gradient(loss, variables)}"
        if node is self.at.node:
            return f"{variables} = {source}\n{gradients} = {self._gradient(loss, variables)}"
        return f"{gradients}, {variables} = {self._gradient(loss, source)}, {source}"


def _parts_of_unzip(node: ast.stmt | None) -> tuple[ast.Name, ast.Name, ast.Call] | None:
    """Both names and the call of ``gradients, variables = zip(*optimizer.compute_gradients(loss))``."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    if _is_call_of(value, "list", "tuple"):
        value = value.args[0]
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != 2 or not _is_call_of(value, "zip"):
        return None
    first, second = target.elts
    inner = value.args[0].value if isinstance(value.args[0], ast.Starred) else None
    if not isinstance(inner, ast.Call) or not is_method(inner, "compute_gradients"):
        return None
    return (first, second, inner) if isinstance(first, ast.Name) and isinstance(second, ast.Name) else None


def _is_call_of(node: ast.expr, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node is a call of a built-in function with one argument."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in names and len(node.args) == 1 and not node.keywords


def train_step_method(generator: ModelWriter, train_op: TrainOp) -> Sequence[Row]:
    """The method `train_step`; none where the optimizer minimizes the loss as it is."""
    plan = generator.plan
    effects = [leaf for leaf in plan.ordered(plan.gradients) if _has_effect(leaf.node)]
    replicated = generator.shared.facts["replicated"]
    if train_op.plain:
        if replicated:
            check_replicas(plan, train_op)
        if effects:
            raise Unsupported("gradients are computed, and the train op does not apply them", effects[0].node)
        return plain_step_method(generator) if plan.fed or generator.only_evaluates else []
    for leaf in effects:
        if leaf not in plan.watched and not _is_allowed(plan, leaf.node):
            raise Unsupported("a statement that only has an effect is not migrated yet", leaf.node)
    roots = [*effects, *(update.at for update in train_op.updates), *(change.at for change in train_op.changes)]
    leaves = _needed(generator, train_op, roots)
    support = generator.static_names(leaves, [])

    def written(
        support: set[Leaf], above: Collection[Leaf] = ()
    ) -> tuple[TrainStepWriter, list[Row], list[Row], list[Row]]:
        """What writes the step; what stands above the tape, the multiples of the loss, and what is below."""
        writer = TrainStepWriter(generator, train_op)
        before = trimmed(writer.rows(plan.ordered(above)))
        every = sorted({*leaves, *support}.difference(above), key=lambda leaf: leaf.index)
        for leaf in every:
            if leaf.defs & _OWN:
                name = sorted(leaf.defs & _OWN)[0]
                raise Unsupported(f"`{name}` is a name that the generated train_step needs", leaf.node)
        body = trimmed(writer.rows([leaf for leaf in every if not isinstance(leaf.node, ast.Return)]))
        for update in train_op.updates:
            if isinstance(update.at.node, ast.Return):
                writer.at = update.at
                body += writer.lines(*writer.text(update.call).split("\n"))
        scales = support & plan.slicer.closure(writer.scales, train_op.updates[-1].at.index, "train")
        if scales - {*above}:  # the tape reads them
            return written(support, {*above, *scales})
        multiples = writer.lines(*(f"{name} = {value}" for name, value in writer.scaled.items()))
        return writer, before, multiples, body

    lean = generator.lean(support, lambda some: [row for part in written(some)[1:] for row in part])
    writer, before, multiples, body = written(lean)
    averages = train_op.averages
    if averages is not None:
        variables, steps = writer.all_variables(), ", self.optimizer.iterations" if averages.counted else ""
        kept = f"if self.{averages.attribute} is not None:\n" if averages.conditions else ""
        begin, end = (
            f"self.{averages.attribute}.begin({variables})",
            f"self.{averages.attribute}.update({variables}{steps})",
        )
        if kept:
            begin, end = (f"{kept}{generator.unit}{call}" for call in (begin, end))
        body = [*rows([begin]), *body, *rows([end])]
    if replicated:
        check_replicas(plan, train_op, writer.reads_loss)
    named = statements(f"{writer.list_of_variables} = {_ALL}") if writer.names_variables else []
    return step_method(generator, [*named, *body], writer.derivatives > 1, multiples, before)


def _needed(generator: ModelWriter, train_op: TrainOp, roots: list[Leaf]) -> list[Leaf]:
    """The leaves of the train step: what the gradients, the summaries of them and the updates need after translation."""
    plan = generator.plan
    writer = TrainStepWriter(generator, train_op)
    chosen: list[Leaf] = []
    for leaf in reversed(plan.flow.leaves):
        if "train" not in leaf.modes or not (leaf in roots or leaf.defs & writer.read):
            continue
        if leaf not in roots and plan.is_static(leaf):
            continue
        if leaf not in plan.gradients and leaf not in roots and _time(plan, leaf) is Time.DYNAMIC:
            name = sorted(leaf.defs & writer.read)[0]
            raise Unsupported(f"the train op reads `{name}`, which the forward pass computes", leaf.node)
        chosen.append(leaf)
        writer.at = leaf
        sums = next((sums for sums in plan.sums.values() if leaf in sums.leaves), None)
        if sums is not None:
            writer.text(sums.loop.iter)
            writer.read |= set().union(*(part.defs for part in sums.leaves))
            continue
        if isinstance(leaf.node, ast.Return):
            for update in train_op.updates:
                if update.at is leaf:
                    writer.text(update.call)
            continue
        if holds_op(writer, leaf.node) or writer.only_runs(leaf):
            writer.leaf(leaf)
        else:
            writer.look(leaf.node)
        for frame in leaf.frames:
            if isinstance(frame.node, ast.With):
                dependency_rows(writer, frame.node)
            else:
                writer.read |= frame.reads()
    return chosen[::-1]


def _time(plan: Plan, leaf: Leaf) -> Time:
    """When the values of a statement are known: another one may give the same names values that are known later."""
    node = leaf.node
    return min(plan.time(leaf), plan.times.of(node.value)) if isinstance(node, ast.Assign) else plan.time(leaf)


def _has_effect(node: ast.stmt) -> bool:
    """Whether a statement is there for what it does, or holds one that is."""
    if isinstance(node, (ast.For, ast.If, ast.While, ast.Try)):
        return any(_has_effect(child) for child in walk(node) if isinstance(child, ast.stmt) and child is not node)
    return isinstance(node, (ast.Assert, ast.Raise)) or (isinstance(node, ast.Expr) and not binds(node))


def _is_allowed(plan: Plan, node: ast.stmt) -> bool:
    """Whether the effects of a statement are messages and summaries."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return bool(binds(node)) or plan.translations.effects(plan.module.resolve(function), ast.unparse(function))
    if isinstance(node, (ast.For, ast.If)):
        return all(_is_allowed(plan, child) for child in (*node.body, *node.orelse))
    return isinstance(node, (ast.Assign, ast.AugAssign, ast.Continue))
