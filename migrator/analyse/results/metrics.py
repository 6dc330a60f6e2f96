"""The entries of `eval_metric_ops`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import Metric, Writing, operand
from migrator.analyse.results.compiled import CompiledMetric
from migrator.analyse.results.derivedmetrics import DerivedMetric, derived_metric, value_name
from migrator.analyse.results.metricobjects import fed_metric, is_metric_object, metric_of
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Frame, Leaf
from migrator.analyse.statements.names import reads, targets
from migrator.analyse.variables.namepatterns import literal_pattern


@dataclass
class MetricEntry:
    """One evaluation metric: its key, the call that makes it, and the leaves that only carry it."""

    key: str
    call: ast.Call
    translate: Callable[[Writing], Metric]
    leaves: set[Leaf]
    at: Leaf
    """Where the metric is made."""
    attribute: str = ""
    metric: Metric | None = None
    name: ast.expr | None = None
    """The expression of the key, where each turn of a loop makes a metric."""
    loop: ast.For | ast.comprehension | None = None
    """That loop."""
    hidden: bool = False
    """Whether it is only a part of others, and none of `eval_metric_ops`."""
    group: ast.expr | None = None
    """The object that makes and updates several metrics, instead of the call of one."""
    arm: Frame | None = None
    """The condition, known when the model is built, under which there is this metric."""
    given: Leaf | None = None
    """The statement under the condition that gives the metric its key."""
    compiled: CompiledMetric | None = None
    """What `compile` takes in its place."""
    with_loss: bool = False
    """Whether `compute_loss` updates it."""

    @property
    def values(self) -> list[ast.expr]:
        """The arguments of the metric."""
        return [*self.call.args, *(k.value for k in self.call.keywords)]


Pair = tuple[ast.expr, ast.expr, Leaf]
"""Key and value of an entry, and the leaf that holds them."""


def metric_entries(plan: Plan) -> tuple[list[MetricEntry], list[DerivedMetric]]:
    """All metrics of the evaluation spec, in order, and those that are computed from others."""
    node = plan.field("eval", "eval_metric_ops")
    if node is None:
        return [], []
    carried: set[Leaf] = set()
    pairs: dict[tuple[str, Frame | None], Pair] = {}
    for key, metric, where in _pairs(plan, node, plan.specs["eval"].leaf, carried):
        said, arm = ast.dump(key), _arm(where)
        if any(other == said and not (arm == held or _apart(arm, held)) for other, held in pairs):
            raise Unsupported("a condition decides which metric has this key", metric)
        pairs[said, arm] = key, metric, where  # as in the dict, the last one of a key counts
    found = [_entry(plan, key, metric, where, carried) for key, metric, where in pairs.values()]
    entries = [entry for entry in found if isinstance(entry, MetricEntry)]
    derived = [entry for entry in found if isinstance(entry, DerivedMetric)]
    made = {entry.call for entry in entries}
    for part in plan.ordered({part for entry in derived for part in entry.parts}):
        call, name = plan.metric_call(part), value_name(part)
        if call is not None and name is not None and call not in made:
            while name in [*(entry.key for entry in entries), *(entry.key for entry in derived)]:
                name += "_part"
            hidden = _made(plan, name, call, part, call, set())
            hidden.hidden = True
            entries.append(hidden)
    return entries, derived


def _pairs(plan: Plan, node: ast.expr, at: Leaf, carried: set[Leaf]) -> list[Pair]:
    """Keys and values of the dict that `node` is at `at`, which may be built up in several steps. Raises Unsupported."""
    if isinstance(node, ast.Name):
        steps = plan.slicer.reaching(node.id, at.index, "eval", at)[::-1]
        for number, step in enumerate(steps):
            if step.arms and node.id in step.kills and not all(_apart(_arm(step), _arm(s)) for s in steps[:number]):
                raise Unsupported("the metrics are not written as a dict", step.node)
        found: list[Pair] = []
        for step in steps:
            gone = _removed(node.id, step)
            kept = [pair for pair in found if gone is None or ast.dump(pair[0]) != ast.dump(gone)]
            found = kept if gone is not None else [*found, *_step(plan, node.id, step, carried)]
        carried.update(steps)
        if steps:
            return found
    elif isinstance(node, ast.Dict):
        entries = [
            _pairs(plan, value, at, carried) if key is None else [(key, value, at)]
            for key, value in zip(node.keys, node.values)
        ]
        return [pair for entry in entries for pair in entry]
    elif isinstance(node, ast.DictComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        return [(node, node.value, at)]
    elif _group(plan, node) is not None:
        return [(ast.Constant("head_metrics"), node, at)]
    elif isinstance(node, ast.Call) and _makes_dict(plan, node):
        return _given(plan, node, at, carried)
    raise Unsupported("the metrics are not written as a dict", node)


def _removed(name: str, step: Leaf) -> ast.expr | None:
    """The key of ``metrics.pop(key)`` or ``del metrics[key]``, where these run in any case."""
    node = step.node
    if step.arms:
        return None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "pop" and call.args:
        return call.args[0] if isinstance(call.func.value, ast.Name) and call.func.value.id == name else None
    target = node.targets[0] if isinstance(node, ast.Delete) and len(node.targets) == 1 else None
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
        return target.slice
    return None


def _step(plan: Plan, name: str, step: Leaf, carried: set[Leaf]) -> list[Pair]:
    """The entries that one statement gives to the dict of that name."""
    node = step.node
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    target = targets[0] if len(targets) == 1 else None
    turned = isinstance(target, ast.Subscript) and _is_turn(plan, step)
    if step.arms and not turned and not _is_choice(plan, step):
        raise Unsupported("the metrics are not written as a dict", node)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        if isinstance(target, ast.Name):
            return _pairs(plan, node.value, step, carried)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return [(target.slice, node.value, step)]
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        if isinstance(call.func.value, ast.Name) and call.func.value.id == name:
            return _given(plan, call, step, carried)
    raise Unsupported("the metrics are not written as a dict", node)


def _given(plan: Plan, call: ast.Call, at: Leaf, carried: set[Leaf]) -> list[Pair]:
    """The entries that the arguments of `dict` or `update` stand for."""
    found: list[Pair] = []
    for argument in call.args:
        if isinstance(argument, (ast.List, ast.Tuple)):
            for item in argument.elts:
                if not isinstance(item, ast.Tuple) or len(item.elts) != 2:
                    raise Unsupported("the metrics are not written as a dict", item)
                found.append((item.elts[0], item.elts[1], at))
        else:
            found += _pairs(plan, argument, at, carried)
    for keyword in call.keywords:
        if keyword.arg is None:
            found += _pairs(plan, keyword.value, at, carried)
        else:
            found.append((ast.Constant(keyword.arg), keyword.value, at))
    return found


def _group(plan: Plan, node: ast.expr | None) -> ast.expr | None:
    """The object all of whose metrics a call stands for."""
    function = node.func if isinstance(node, ast.Call) else None
    marked = isinstance(function, ast.Attribute) and function.attr in plan.translations.metric_groups
    return function.value if isinstance(function, ast.Attribute) and marked else None


def _all_of(group: ast.expr, call: ast.Call) -> Callable[[Writing], Metric]:
    """All metrics of an object as one."""
    return lambda writing: Metric(f"{operand(group, writing)}.metrics", (), tuple((None, value) for value in call.args))


def _makes_dict(plan: Plan, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name) and call.func.id == "dict":
        return not plan.module.bindings(call.func)
    return plan.module.qualified(call.func) == "collections.OrderedDict"


def _is_turn(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement runs in each turn of one loop that is known when the model is built."""
    arms = leaf.arms
    return len(arms) == 1 and isinstance(arms[0].node, ast.For) and plan.times.head(arms[0]) is Time.STATIC


def _is_choice(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement runs under one condition that is known when the model is built."""
    arm = _arm(leaf)
    if arm is None or len(leaf.arms) > 1:
        return False
    return plan.times.head(arm) is Time.STATIC and not plan.modes.mentions(arm.node.test)  # type: ignore[union-attr]


def _arm(leaf: Leaf) -> Frame | None:
    """The condition around a statement, if that is all there is around it."""
    return leaf.arms[0] if leaf.arms and isinstance(leaf.arms[0].node, ast.If) else None


def _apart(one: Frame | None, other: Frame | None) -> bool:
    """Whether of two arms never both run."""
    return one is not None and other is not None and one.node is other.node and one.arm != other.arm


def _turned(plan: Plan, key: ast.expr, value: ast.expr, where: Leaf, carried: set[Leaf]) -> MetricEntry:
    """The metrics that the turns of a loop, or of a dict comprehension, make."""
    loop: ast.For | ast.comprehension
    leaf = where
    if isinstance(key, ast.DictComp):
        loop, key = key.generators[0], key.key
        if where.loops or plan.times.of(loop.iter) is not Time.STATIC:
            raise Unsupported("the metrics are not written as a dict", key)
    else:
        loop = where.loops[0]
        followed, leaf = plan.followed_in(value, where, "eval")
        value = followed or value
        if leaf.loops != where.loops:
            raise Unsupported("a metric that a loop names is not made in it", value)
    made = targets(loop.target)
    outside = (reads(loop.iter) | reads(key)) - made
    if not reads(key) & made or not all(_known_in_the_end(plan, name, where) for name in outside):
        raise Unsupported("the key of a metric in a loop is not made of the loop alone", key)
    name = (plan.module.resolve(value.func) or "") if isinstance(value, ast.Call) else ""
    rule = plan.translations.metrics.get(name)
    if rule is None or not isinstance(value, ast.Call):
        raise Unsupported("a metric in a loop is none that is known", value)
    call, found = value, rule
    pattern = literal_pattern(key) or name.rsplit(".", 1)[1]
    leaves = carried | ({leaf} if leaf.loops else set())
    entry = MetricEntry(pattern, call, lambda writing: found(call, writing), leaves, leaf, name=key, loop=loop)
    for argument in entry.values if isinstance(loop, ast.comprehension) else ():
        plan.check_still(reads(argument) - made, leaf, plan.specs["eval"].leaf, "eval")
    return entry


def _known_in_the_end(plan: Plan, name: str, at: Leaf) -> bool:
    """Whether the model, when all of it is built, knows a name by the value that it has at `at`."""
    given = plan.definitions(name)
    return plan.times.name(name) is Time.STATIC and set(given) == set(plan.slicer.reaching(name, at.index, None, at))


def _entry(plan: Plan, key: ast.expr, value: ast.expr, where: Leaf, carried: set[Leaf]) -> MetricEntry | DerivedMetric:
    if where.loops or isinstance(key, ast.DictComp):
        return _turned(plan, key, value, where, carried)
    key = _named_constant(plan, key)
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        raise Unsupported("the key of a metric is not a literal", key)
    call, leaf = plan.followed_in(value, where, "eval")
    if isinstance(call, ast.Tuple):
        call, leaf = _unpacked(plan, call, leaf)
    if where.arms:
        entry = _made(plan, key.value, call, leaf, value, carried)
        entry.arm, entry.given = _arm(where), where
        return entry
    group = _group(plan, call)
    if group is not None and isinstance(call, ast.Call):
        return MetricEntry(key.value, call, _all_of(group, call), carried | {leaf}, leaf, group=group)
    if isinstance(call, ast.Tuple):
        derived = derived_metric(plan, key.value, call, leaf)
        derived.skipped |= carried | {leaf}
        return derived
    return _made(plan, key.value, call, leaf, value, carried)


def _made(plan: Plan, key: str, call: ast.expr | None, leaf: Leaf, value: ast.expr, carried: set[Leaf]) -> MetricEntry:
    """The entry of a metric that `call` makes in `leaf`."""
    if isinstance(call, ast.Call) and is_metric_object(plan, call):
        fed, at = fed_metric(plan, call, leaf)
        held: ast.Call = call
        return MetricEntry(key, fed, lambda writing: metric_of(plan, held, fed, writing), carried | {leaf, at}, at)
    name = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
    rule = plan.translations.metrics.get(name) if name is not None else None
    if rule is None or not isinstance(call, ast.Call):
        raise Unsupported(f"the metric `{key}` is none that is known", value)
    made: ast.Call = call
    found = rule
    entry = MetricEntry(key, made, lambda writing: found(made, writing), carried | {leaf}, leaf)
    for argument in entry.values:
        plan.check_still(reads(argument), leaf, plan.specs["eval"].leaf, "eval")
    return entry


def _unpacked(plan: Plan, pair: ast.Tuple, at: Leaf) -> tuple[ast.expr, Leaf]:
    """The metric behind ``(value, update_op)`` where ``value, update_op = metric`` stands above."""
    names = [item.id for item in pair.elts if isinstance(item, ast.Name)]
    leaves = [leaf for name in names for leaf in plan.slicer.reaching(name, at.index, "eval", at)]
    node = leaves[0].node if len(names) == 2 and len(leaves) == 2 and leaves[0] is leaves[1] else None
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if isinstance(node, ast.Assign) and isinstance(target, ast.Tuple):
        if [getattr(item, "id", None) for item in target.elts] == names:
            return node.value, leaves[0]
    return pair, at


def _named_constant(plan: Plan, key: ast.expr) -> ast.expr:
    """The text behind a name that the module gives to it once."""
    found = plan.module.bindings(key) if isinstance(key, ast.Name) else []
    statement = plan.module.statement(found[0].node) if len(found) == 1 and found[0].node is not None else None
    if isinstance(statement, ast.Assign) and plan.module.parent(statement) is plan.module.tree:
        return statement.value
    return key
