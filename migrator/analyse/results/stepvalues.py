"""What callbacks read of a step of training where hooks read tensors of a graph: logs of `fit`, or what the optimizer holds."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.placing import place
from migrator.analyse.function.planning import drop_unread
from migrator.analyse.layers.weight_reads import weight_path
from migrator.analyse.results.metricreads import made_alike, read_metrics
from migrator.analyse.results.metrics import metric_entries
from migrator.analyse.results.opnames import op_name
from migrator.analyse.results.tags import summary_call
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.optimizervalues import rate_of
from migrator.resolve.syntax import is_name, walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.results.derivedmetrics import DerivedMetric
    from migrator.analyse.results.metrics import MetricEntry

_STEP_NAME = "global_step"
LOSS, RATE, STEP, METRIC, TENSOR, MANY, WEIGHT = "loss", "rate", "step", "metric", "tensor", "many", "weight"
_MODE, _EVALUATED = "train", "eval"
_IDENTITY = "tensorflow.identity"
_SAME_SHAPE = frozenset(f"tensorflow.{name}" for name in ("cast", "to_float", "sqrt", "math.sqrt", "exp", "log", "abs"))
_REDUCED = frozenset(f"tensorflow.{prefix}reduce_{what}" for prefix in ("", "math.") for what in ("mean", "sum", "max"))
_SCALARS = frozenset({"tensorflow.nn.l2_loss", "tensorflow.global_norm", "tensorflow.linalg.global_norm"})


@dataclass(frozen=True)
class StepValue:
    """One value: the loss, the learning rate, the step, a metric, a weight, another tensor of one number, or one of `many`."""

    kind: str
    key: str = ""
    """Of a metric; where the model holds a weight."""
    node: ast.expr | None = None
    leaf: Leaf | None = None
    """Where a tensor stands, and in which statement."""


@dataclass(frozen=True)
class StepValues:
    """The values of one model_fn by the names of their ops, and those of the tensors that hooks of its specs are given."""

    named: Mapping[str, StepValue] = field(default_factory=dict)
    given: Mapping[str, StepValue] = field(default_factory=dict)
    """By the names under which the hooks read them."""
    evaluated: Mapping[str, StepValue] = field(default_factory=dict)
    """The same for hooks of evaluations."""
    keys: frozenset[str] = frozenset()
    """Keys of the logs that are taken."""
    shown: bool = True
    """Whether metrics that summaries show are all among those of evaluations."""


def step_values(plan: Plan) -> StepValues:
    """What a training of this model_fn has to read."""
    if _MODE not in plan.specs:
        return StepValues()
    entries, derived = metric_entries(plan)
    named: dict[str, StepValue] = {_STEP_NAME: StepValue(STEP)}  # which the graph of any training has
    for name, places in _named(plan).items():
        value = _value(plan, entries, *places[0]) if len(places) == 1 else None
        if value is not None:
            named[name] = value
        elif name == _STEP_NAME:
            del named[name]
    found, evaluated = (
        {
            name: _value(plan, entries, leaf.node.value, leaf, mode)
            for leaf, name in plan.watched.items()
            if isinstance(leaf.node, ast.Expr) and mode in leaf.modes
        }
        for mode in (_MODE, _EVALUATED)
    )
    keys = {"loss", *(entry.key for entry in entries), *(metric.key for metric in derived)}
    own = [effect for effect in plan.metric_effects if not _shows_derived(plan, effect, derived)]
    shown = [leaf for effect in own for leaf in read_metrics(plan, effect)]
    known = all(_entry_of(plan, leaf, entries) is not None for leaf in shown)
    known_by_node = {id(v.node): v for v in named.values() if v.kind == TENSOR}
    given, told = (
        {n: _alike(plan, v, known_by_node) for n, v in values.items() if v is not None} for values in (found, evaluated)
    )
    return StepValues(named, given, told, frozenset(keys), known)


def _alike(plan: Plan, value: StepValue, known: Mapping[int, StepValue]) -> StepValue:
    """The value of the op that a name stands for, if that has a name of its own."""
    if value.kind != TENSOR or value.node is None or value.leaf is None:
        return value
    return known.get(id(_behind(plan, value.node, value.leaf)[0]), value)


def _named(plan: Plan) -> dict[str, list[tuple[ast.expr, Leaf]]]:
    """The calls that give their op a name."""
    found: dict[str, list[tuple[ast.expr, Leaf]]] = {}
    for leaf in plan.flow.leaves:
        for node in walk(leaf.node) if _MODE in leaf.modes and not leaf.mode_only else ():
            if isinstance(node, ast.Call) and not plan.is_maker(node):
                name = op_name(plan.module, node)
                if name is not None:
                    found.setdefault(name, []).append((node, leaf))
    return found


def _value(plan: Plan, entries: list[MetricEntry], node: ast.expr, leaf: Leaf, mode: str = _MODE) -> StepValue | None:
    """What an expression of the training is, or of an evaluation; None where that is not seen."""
    last, at = _behind(plan, node, leaf, mode)
    loss = plan.field(mode, "loss")
    if loss is not None and _same(plan, (last, at), _behind(plan, loss, plan.specs[mode].leaf, mode), mode):
        return StepValue(LOSS, node=node, leaf=leaf)
    if plan.is_step(last):
        return StepValue(STEP)
    if _is_rate(plan, (last, at)):
        return StepValue(RATE)
    made, held = _behind(plan, last.value, at, mode) if isinstance(last, ast.Subscript) else (last, at)
    if isinstance(made, ast.Subscript):  # `metrics["accuracy"][1]`
        made, held = _of_key(plan, made, held, mode)
    if isinstance(made, ast.Call) and plan.metric_call(held) is made:
        entry = _entry_of(plan, held, entries)
        return StepValue(METRIC, entry.key) if entry is not None else None
    if isinstance(made, ast.Name):
        sources = plan.slicer.reaching(made.id, held.index, mode, held)
        if any(plan.metric_call(source) is not None for source in sources):
            entry = _entry_of(plan, sources[0], entries) if len(sources) == 1 else None
            return StepValue(METRIC, entry.key) if entry is not None else None
    held_at = weight_path(plan, last)
    if held_at:
        return StepValue(WEIGHT, held_at)
    if any(isinstance(part, ast.Call) and plan.is_maker(part) for part in walk(last)):
        return StepValue(MANY) if id(last) in plan.site_of and at in plan.forward else None
    if plan.times.of(node) is not Time.DYNAMIC or leaf.loops:
        return None
    if _is_scalar(plan, last, at):
        return StepValue(TENSOR, node=node, leaf=leaf)
    return StepValue(MANY) if _is_of_examples(plan, last, at) else None


def _of_key(plan: Plan, node: ast.Subscript, at: Leaf, mode: str) -> tuple[ast.expr, Leaf]:
    """The expression behind a key of a dict that is written as one."""
    held, where = _behind(plan, node.value, at, mode)
    if isinstance(held, ast.Dict):
        for key, value in zip(held.keys, held.values):
            if key is not None and ast.dump(key) == ast.dump(node.slice):
                return _behind(plan, value, where, mode)
    return node, at


def _entry_of(plan: Plan, leaf: Leaf, entries: list[MetricEntry]) -> MetricEntry | None:
    """The metric of the evaluation that is the one which a statement makes."""
    call = plan.metric_call(leaf)
    for entry in entries if call is not None else ():
        single = entry.loop is None and entry.group is None and entry.arm is None and not entry.hidden
        if single and (entry.call is call or made_alike(plan, call, leaf, entry)):
            return entry
    return None


def _shows_derived(plan: Plan, effect: Leaf, derived: list[DerivedMetric]) -> bool:
    """Whether a statement reads nothing but a metric of the evaluation that is computed from others."""
    read = [plan.slicer.reaching(name, effect.index, _MODE, effect) for name in plan.slicer.inputs(effect)]
    pairs = {leaf for metric in derived for leaf in metric.skipped if isinstance(_given(leaf), ast.Tuple)}
    return any(map(pairs.intersection, read)) and all(set(leaves) <= pairs for leaves in read)


def _given(leaf: Leaf) -> ast.expr | None:
    return leaf.node.value if isinstance(leaf.node, ast.Assign) else None


def _behind(plan: Plan, node: ast.expr, at: Leaf, mode: str = _MODE) -> tuple[ast.expr, Leaf]:
    """The expression behind names and identities."""
    for _ in range(8):
        found, at = plan.followed_in(node, at, mode)
        node = found if found is not None else node
        if not (isinstance(node, ast.Call) and plan.module.resolve(node.func) == _IDENTITY and node.args):
            break
        node = node.args[0]
    return node, at


def _same(plan: Plan, one: tuple[ast.expr, Leaf], other: tuple[ast.expr, Leaf], mode: str = _MODE) -> bool:
    """Whether two expressions have one value."""
    if one[0] is other[0]:
        return True
    if not (isinstance(one[0], ast.Name) and isinstance(other[0], ast.Name) and one[0].id == other[0].id):
        return False
    return len({tuple(plan.slicer.reaching(one[0].id, at.index, mode, at)) for _, at in (one, other)}) == 1


def _is_rate(plan: Plan, value: tuple[ast.expr, Leaf]) -> bool:
    """Whether a value is what the one optimizer takes for its learning rate."""
    rates: dict[str, tuple[ast.expr, Leaf]] = {}
    for leaf in plan.flow.leaves:
        for call in walk(leaf.node) if _MODE in leaf.modes else ():
            rate = rate_of(plan, call) if isinstance(call, ast.Call) else None
            if rate is not None:
                rates[ast.dump(rate)] = _behind(plan, rate, leaf)
    known = next(iter(rates.values())) if len(rates) == 1 else None
    return known is not None and (_same(plan, known, value) or _is_constant(plan, known[0], value[0]))


def _is_constant(plan: Plan, one: ast.expr, other: ast.expr) -> bool:
    """Whether both are one name or part of it from outside of the model_fn."""
    local = any(plan.is_local(name) for name in reads(one))
    return not local and isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)) and ast.dump(one) == ast.dump(other)


def _holds_scalars(plan: Plan, name: str, deep: int) -> bool:
    """Whether a dict that begins without entries is given numbers alone: ``losses[task] = tf.reduce_mean(…)``."""
    begun, entries = [], []
    for leaf in plan.flow.leaves:
        target = leaf.node.targets[0] if isinstance(leaf.node, ast.Assign) and len(leaf.node.targets) == 1 else None
        if isinstance(leaf.node, ast.Assign) and isinstance(target, ast.Subscript) and is_name(target.value, name):
            entries.append((leaf.node.value, leaf))
        elif name in leaf.defs:
            begun.append(leaf.node.value if isinstance(leaf.node, ast.Assign) else leaf.node)
    if len(begun) != 1 or ast.unparse(begun[0]) not in ("{}", "dict()", "collections.OrderedDict()", "OrderedDict()"):
        return False
    return bool(entries) and all(_is_scalar(plan, value, leaf, deep + 1) for value, leaf in entries)


def _is_scalar(plan: Plan, node: ast.expr, at: Leaf, deep: int = 0) -> bool:
    """Whether a tensor is seen to be one number."""
    node, at = _behind(plan, node, at)
    if deep > 8:
        return False
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_scalar(plan, node.operand, at, deep + 1)
    if isinstance(node, ast.BinOp):
        return _is_scalar(plan, node.left, at, deep + 1) and _is_scalar(plan, node.right, at, deep + 1)
    if isinstance(node, ast.Name):
        return plan.times.of(node) is not Time.DYNAMIC or _is_norm(plan, node, at)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return _holds_scalars(plan, node.value.id, deep)
    name = plan.module.resolve(node.func) or "" if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or not name.startswith("tensorflow."):
        return isinstance(node, (ast.Attribute, ast.Subscript)) and plan.times.of(node) is not Time.DYNAMIC
    if name in _REDUCED:
        return len(node.args) <= 1 and not {k.arg for k in node.keywords} & {"axis", "keepdims", "keep_dims"}
    if name.startswith("tensorflow.losses."):
        return all(k.arg != "reduction" for k in node.keywords)
    if name in _SAME_SHAPE:
        return bool(node.args) and _is_scalar(plan, node.args[0], at, deep + 1)
    return name in _SCALARS


def _is_norm(plan: Plan, node: ast.Name, at: Leaf) -> bool:
    """Whether a name is the norm that `clip_by_global_norm` gives beside what it clips."""
    sources = plan.slicer.reaching(node.id, at.index, _MODE, at)
    statement = sources[0].node if len(sources) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    target = statement.targets[0]
    norm = target.elts[1] if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2 else None
    return (
        isinstance(norm, ast.Name)
        and norm.id == node.id
        and plan.module.resolve(statement.value.func) == "tensorflow.clip_by_global_norm"
    )


def _is_of_examples(plan: Plan, node: ast.expr, leaf: Leaf) -> bool:
    """Whether a tensor has values of each example: one of the forward pass, or what it was given."""
    reduced = any(isinstance(part, ast.Call) and _is_reduction(plan.module.resolve(part.func)) for part in walk(node))
    return not reduced and (reads(node) <= {plan.features, plan.labels} or leaf in plan.forward)


def _is_reduction(name: str | None) -> bool:
    last = (name or "").rpartition(".")[2]
    return last.startswith("reduce_") or last in ("l2_loss", "norm", "global_norm")


def settle_step_values(plan: Plan, wanted: Mapping[str, StepValue], shown: bool) -> list[ast.stmt]:
    """Let the model hand out, among the logs of a step, what callbacks `want` by key, and nothing that only gives an op a name.

    If metrics are `shown` by what shows logs, their summaries go as well; these are returned.
    """
    idle = {leaf for leaf in plan.flow.leaves if _is_idle(plan, leaf)}
    summaries = {leaf for leaf in plan.metric_effects if shown and _is_scalar_summary(plan, leaf)}
    gone = {*idle, *summaries, *plan.watched}
    plan.spec_hooks.become_logs()
    if not gone and not wanted:
        return []
    plan.watched.clear()
    for key, value in wanted.items():
        assert value.leaf is not None
        at, node = value.leaf, _handed_out(plan, value)
        statement = ast.copy_location(ast.Expr(node), at.node)
        leaf = Leaf(at.index, statement, at.modes & {_MODE}, at.guard & {_MODE}, at.frames)
        plan.watched[leaf] = key
        plan.flow.leaves.insert(at.index + 1, leaf)
        plan.flow.renumber()
    plan.losses -= gone
    plan.metric_effects[:] = [leaf for leaf in plan.metric_effects if leaf not in gone]
    drop_unread(plan)
    plan.tainted = plan.tainted_leaves()
    call, losses = {leaf for leaf in plan.forward if leaf not in gone}, set(plan.losses)
    plan.gradients = plan.gradients - gone | {leaf for leaf in plan.watched if _reads_gradients(plan, leaf)}
    for leaf in plan.watched:
        place(plan, leaf, call, losses, plan.tainted)
    plan.losses = losses
    plan.forward = plan.ordered(leaf for leaf in call if not leaf.mode_only)
    plan.keep_in_call(plan.forward)
    return [leaf.node for leaf in plan.ordered(summaries)]


def _reads_gradients(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement reads what the train op computes with gradients."""
    sources = (plan.slicer.reaching(name, leaf.index, _MODE, leaf) for name in plan.slicer.inputs(leaf))
    return any(not plan.gradients.isdisjoint(found) for found in sources)


def _handed_out(plan: Plan, value: StepValue) -> ast.expr:
    """A tensor as it is read behind its statement."""
    assert value.leaf is not None and value.node is not None
    statement, node = value.leaf.node, value.node
    if isinstance(statement, ast.Assign) and statement.value is node and isinstance(statement.targets[0], ast.Name):
        return ast.copy_location(ast.Name(statement.targets[0].id, ast.Load()), statement.targets[0])
    return node.args[0] if isinstance(node, ast.Call) and plan.module.resolve(node.func) == _IDENTITY else node


def _is_idle(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement does nothing but to give an op a name."""
    value = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    return isinstance(value, ast.Call) and plan.module.resolve(value.func) == _IDENTITY


def _is_scalar_summary(plan: Plan, leaf: Leaf) -> bool:
    call = summary_call(plan, leaf)
    return call is not None and plan.module.resolve(call.func) == "tensorflow.summary.scalar"
