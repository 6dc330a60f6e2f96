"""Makes the plan of a model_fn: which statements belong to the forward pass, the loss and the metrics."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.parts import Parts
from migrator.analyse.function.placing import place
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.specs import read_specs, spec_names
from migrator.analyse.function.study import find_layers, outline, study
from migrator.analyse.function.translate import Translations
from migrator.analyse.layers.embeddings import find_embeddings
from migrator.analyse.layers.objects import holder
from migrator.analyse.results.absentfeatures import absent_keys, without_absent
from migrator.analyse.results.fedlabels import check_order, is_fed
from migrator.analyse.results.metricobjects import feeding_leaves
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.conditions import check_static
from migrator.analyse.statements.effects import effects
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.statements.slicing import Closure
from migrator.analyse.training.partiallosses import partial_losses
from migrator.analyse.training.rates import find_rates
from migrator.analyse.training.spec_hooks import SpecHooks
from migrator.analyse.variables.startvalues import starting_leaves
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_DOUBLE = frozenset({"tensorflow.float64", "tensorflow.double", "tensorflow.to_double"})


def make_plan(module: Module, function: ast.FunctionDef, translations: Translations, sublayers: Parts) -> Plan:
    """The plan of a model_fn. Raises Unsupported, for the first of all obstacles."""
    plan = Plan(module, function, translations, sublayers)
    plan.opened = spec_names(module, function)

    def extend() -> None:
        """Read the specs, and let the tensors of their hooks become statements."""
        with plan.obstacles:
            plan.specs = read_specs(plan)
            if set(plan.specs) == {"infer"}:
                _only_predicts(plan)
        plan.spec_hooks = SpecHooks(plan, plan.obstacles)
        plan.watched = plan.spec_hooks.watched

    study(plan, extend)
    plan.labels = plan.given_labels
    with plan.obstacles:
        find_layers(plan)
    with plan.obstacles:
        plan.spec_hooks.check()
        for conditions, _ in plan.config_fields:
            check_static(plan, conditions, "a Scaffold")
    plan.obstacles.refuse()
    with plan.obstacles:
        plan.starting |= starting_leaves(plan)
    with plan.obstacles:
        plan.rates = find_rates(plan)
        _check_rates(plan)
    plan.obstacles.refuse()
    plan.tainted = plan.tainted_leaves()
    find_embeddings(plan, plan.tainted)
    _slices(plan)
    return plan


def _only_predicts(plan: Plan) -> None:
    """Read a function that refuses to train and to evaluate as one without modes: what it does is done in all of them."""
    plan.modes.only = "infer"
    outline(plan)
    plan.specs = {"infer": read_specs(plan)["infer"]}


def _check_rates(plan: Plan) -> None:
    """Refuse to read a learning rate elsewhere before it has its last value."""
    computing = {leaf for rate in plan.rates for leaf in (*rate.leaves, rate.at)}
    final: dict[str, set[Leaf]] = {}
    for rate in plan.rates:
        if isinstance(rate.value, ast.Name):
            name = rate.value.id
            final.setdefault(name, set()).update(plan.slicer.reaching(name, rate.at.index, "train", rate.at))
    for leaf in plan.flow.leaves:
        for name in final if "train" in leaf.modes and leaf not in computing else ():
            if name in plan.slicer.inputs(leaf):
                if set(plan.slicer.reaching(name, leaf.index, "train", leaf)) != final[name]:
                    raise Unsupported("the learning rate is read before it has its last value", leaf.node)


def _slices_after(plan: Plan) -> None:
    """What the losses and the metrics depend on."""
    plan.loss_slices = {m: plan.slice_of(plan.field(m, "loss"), m) for m in ("train", "eval") if m in plan.specs}
    plan.metric_slice = plan.slice_of(plan.field("eval", "eval_metric_ops"), "eval")
    plan.feeding = feeding_leaves(plan)
    for leaf in plan.feeding:
        plan.metric_slice |= plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "eval", leaf)
    plan.partial_losses = partial_losses(plan)
    if "train" in plan.loss_slices:
        for name, leaf in plan.partial_losses.items():
            plan.loss_slices["train"] |= plan.slicer.closure({name}, leaf.index, "train", leaf)


def drop_unread(plan: Plan) -> None:
    """Forget what the losses and the metrics do not read any more."""
    effects = plan.losses.difference(*plan.loss_slices.values())
    _slices_after(plan)
    plan.losses = effects.union(*plan.loss_slices.values())
    for leaf in effects:
        inputs = {name for name in plan.slicer.inputs(leaf) if not plan.is_schedule(name)}
        for mode in leaf.modes:
            plan.losses |= plan.slicer.closure(inputs, leaf.index, mode, leaf)


def _slices(plan: Plan) -> None:
    plan.prediction_slice = plan.slice_of(plan.field("infer", "predictions"), "infer")
    _slices_after(plan)
    plan.gradients -= set(plan.prediction_slice).union(plan.metric_slice, *plan.loss_slices.values())
    wrong = next((leaf for leaf in plan.prediction_slice if leaf in plan.tainted), None)
    if wrong is not None:
        raise Unsupported("predictions depend on the labels", wrong.node)
    outside = set(plan.metric_slice).union(*plan.loss_slices.values())
    call = set(plan.prediction_slice)
    making = {site.leaf for site in plan.sites}
    plan.fed = is_fed(plan)
    objects = _applying({name for name in map(holder, plan.sites) if name is not None}, outside)
    making |= {leaf for leaf in outside if _calls_any(leaf, objects)}
    making |= {leaf for leaf in map(plan.flow.leaf_of, plan.lookups) if leaf is not None}
    needed = {mode: Closure(plan.slicer, mode) for mode in ALL_MODES}
    for leaf in outside:
        if leaf in making and (plan.fed or leaf not in plan.tainted):
            call |= {leaf}.union(*(needed[mode].of(leaf) for mode in leaf.modes))
    _with_all_modes(plan, call)
    losses = set().union(*plan.loss_slices.values())
    if losses & plan.tainted:
        shared = losses & set(plan.metric_slice)
        if not plan.fed and _only_trains(plan, call, losses):
            shared = losses  # all but what reads the labels
        call |= _shared_forward(plan, without_absent(plan, shared if plan.fed else shared - plan.tainted))
    for leaf in effects(plan):
        if leaf in plan.feeding:
            continue
        with plan.obstacles:
            place(plan, leaf, call, losses, plan.tainted)
    plan.losses = losses
    plan.forward = plan.ordered(leaf for leaf in call if not leaf.mode_only)
    plan.keep_in_call(plan.forward)
    plan.collections.check_kept(plan.call_leaves)
    check_order(plan)
    plan.absent = absent_keys(plan)
    with plan.obstacles:
        _check_precision(plan)


def _only_trains(plan: Plan, call: set[Leaf], losses: set[Leaf]) -> bool:
    """Whether nothing of the forward pass is known but its weights, and plain names hold what the loss is computed of."""
    plain = (isinstance(leaf.node, ast.Assign) and isinstance(leaf.node.targets[0], ast.Name) for leaf in losses)
    return not any(plan.time(leaf) is Time.DYNAMIC for leaf in call) and all(plain)


def _check_precision(plan: Plan) -> None:
    """Refuse a loss in double precision, which the layers of TensorFlow 1 have where their inputs do, and Keras's not."""
    for leaf in plan.loss_leaves:
        for node in walk(leaf.node):
            if isinstance(node, ast.Attribute) and plan.module.resolve(node) in _DOUBLE:
                raise Unsupported("a loss in double precision, where Keras layers are in single precision", node)


def _with_all_modes(plan: Plan, call: set[Leaf]) -> None:
    """Add to the forward pass what it needs in training and evaluation only: ``if training: x = tf.nn.dropout(x)``."""
    read: dict[str, set[Leaf]] = {"eval": set(plan.metric_slice)}
    for mode, leaves in plan.loss_slices.items():
        read[mode] = read.get(mode, set()) | leaves
    closures = {mode: Closure(plan.slicer, mode) for mode in read}
    stack = list(call)
    while stack:
        leaf = stack.pop()
        for which in sorted(leaf.modes & set(read)):
            if leaf in read[which]:
                needed = closures[which].of(leaf) - call
                call |= needed
                stack += needed


def _shared_forward(plan: Plan, leaves: set[Leaf]) -> set[Leaf]:
    """Of what both the loss and the metrics need of the features, the part that reads weights."""
    found: set[Leaf] = set()
    for leaf in leaves:
        needed = {leaf}
        for mode in leaf.modes:
            needed |= plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, mode, leaf)
        if any(plan.sites_in(other) for other in needed) and plan.time(leaf) is Time.DYNAMIC:
            found |= needed
    return found


def _applying(objects: set[str], leaves: set[Leaf]) -> set[str]:
    """Names that hold layers, and those of functions in a model_fn that apply them: ``def encoder(x): return net(x)``."""
    while more := {name for leaf in leaves for name in _functions(leaf, objects)} - objects:
        objects = objects | more
    return objects


def _functions(leaf: Leaf, objects: set[str]) -> set[str]:
    """The function that a statement makes which applies layers, by its name, or the further name that it gives one."""
    node = leaf.node
    if isinstance(node, ast.FunctionDef):
        return {node.name} if _calls_any(leaf, objects) else set()
    named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in objects
    return set(leaf.kills) if named else set()


def _calls_any(leaf: Leaf, names: set[str]) -> bool:
    """Whether a statement applies a layer that is held by one of the names."""
    calls = (node.func for node in walk(leaf.node) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id in names for function in calls)
