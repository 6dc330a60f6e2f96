"""Writes the function that builds and compiles the model: what `train_op` said, as an optimizer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.modelfn.classwriter import parameter
from migrator.modelfn.errors import Unsupported
from migrator.modelfn.flow import Leaf
from migrator.modelfn.names import reads
from migrator.modelfn.scopes import scope_calls
from migrator.modelfn.translate import Time, is_none
from migrator.modelfn.writer import Writer

if TYPE_CHECKING:
    from migrator.modelfn.generate import Generator
    from migrator.modelfn.plan import Plan

GROUP = "tensorflow.group"
COLLECTION = "tensorflow.get_collection"
DEPENDENCIES = "tensorflow.control_dependencies"


class _Tracing(Writer):
    """Notes which names the written text reads."""

    def __init__(self, generator: Generator) -> None:
        super().__init__(generator.shared, "factory", {})
        self.read: set[str] = set()

    def transform(self, node: ast.AST) -> str | None:
        text = super().transform(node)
        if isinstance(node, ast.Name) and text is None:
            self.read.add(node.id)
        return text

    def closure(self, results: list[ast.expr], effects: list[Leaf], before: list[Leaf]) -> tuple[list[str], list[Leaf]]:
        """Text of `results`, and the leaves that this text and `effects` really need after translation."""
        texts = [self.text(result) for result in results]
        chosen: list[Leaf] = []
        for leaf in sorted(before, key=lambda leaf: leaf.index, reverse=True):
            if leaf.defs & self.read or leaf in effects:
                chosen.append(leaf)
                self.shared.renderer.statement(leaf.node, self.transform, "")
                for frame in leaf.frames:
                    if not isinstance(frame.node, ast.With):
                        self.read |= frame.reads()
        return texts, chosen[::-1]


def minimize_call(plan: Plan) -> tuple[ast.Call, Leaf] | None:
    """The ``optimizer.minimize(loss)`` behind the train op and its leaf; None if there is no training spec."""
    node = plan.field("train", "train_op")
    if node is None:
        if "train" in plan.specs and plan.field("train", "loss") is not None and "eval" not in plan.specs:
            raise Unsupported("the training spec has no train_op", plan.specs["train"].leaf.node)
        return None
    spec = plan.specs["train"].leaf
    value, at = plan.followed_in(node, spec, "train")
    parts: list[tuple[ast.expr, Leaf]] = []
    if isinstance(value, ast.Call) and plan.module.resolve(value.func) == GROUP:
        found = None
        for part in [e for a in value.args for e in (a.elts if isinstance(a, (ast.List, ast.Tuple)) else [a])]:
            inner, where = plan.followed_in(part, at, "train")
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "minimize":
                if found is not None:
                    raise Unsupported("several optimizers are not migrated yet", part)
                found = inner, where
            elif _only_updates(plan, part, at):
                parts.append((part, at))
            else:
                raise Unsupported("the train op does more than to minimize the loss", part)
        value, at = found if found is not None else (value, at)
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "minimize":
        raise Unsupported("the train op is not seen to be `optimizer.minimize(loss)`", node)
    updates = _check_dependencies(plan, at) or any(_only_updates(plan, part, where) for part, where in parts)
    if plan.updates_run and not updates and any(site.layer.moving for site in plan.sites):
        raise Unsupported("UPDATE_OPS are collected, but the train op does not run them", value)
    loss = plan.field("train", "loss")
    given = value.args[0] if value.args else next((k.value for k in value.keywords if k.arg == "loss"), None)
    if given is None or loss is None or not _same_value(plan, given, at, loss, spec):
        raise Unsupported("the train op minimizes something else than the loss of the spec", value)
    named = {k.arg for k in value.keywords} - {"loss", "global_step", "name"}
    if named or len(value.args) > 2:
        raise Unsupported("arguments of minimize() other than loss and global_step are not migrated yet", value)
    step = value.args[1] if len(value.args) > 1 else None
    step = next((k.value for k in value.keywords if k.arg == "global_step"), step)
    if is_none(step):
        raise Unsupported("minimize() without global_step: the step never advances", value)
    return value, at


def _same_value(plan: Plan, one: ast.expr, one_at: Leaf, other: ast.expr, other_at: Leaf) -> bool:
    """Whether two expressions stand for one value: the same text, and no name in it rebound in between."""
    if ast.dump(one) != ast.dump(other):
        first, first_at = plan.followed_in(one, one_at, "train")
        second, second_at = plan.followed_in(other, other_at, "train")
        return first is second and first_at is second_at
    return all(
        plan.slicer.reaching(name, one_at.index, "train", one_at)
        == plan.slicer.reaching(name, other_at.index, "train", other_at)
        for name in reads(one)
    )


def _only_updates(plan: Plan, node: ast.expr, at: Leaf) -> bool:
    """Whether an expression is the collection of update ops, which Keras layers run by themselves."""
    value, at = plan.followed_in(node, at, "train")
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(_only_updates(plan, e, at) for e in value.elts)
    if isinstance(value, ast.Starred):
        return _only_updates(plan, value.value, at)
    if not isinstance(value, ast.Call):
        return False
    if plan.module.resolve(value.func) == GROUP:
        return all(_only_updates(plan, a, at) for a in value.args)
    if plan.module.resolve(value.func) != COLLECTION or len(value.args) + len(value.keywords) != 1:
        return False
    moving = [site for site in plan.sites if site.layer.moving is not None and site.leaf.index > at.index]
    if moving:
        raise Unsupported("UPDATE_OPS are collected before the layer is made", value)
    key = value.args[0] if value.args else None
    if isinstance(key, ast.Constant):
        return key.value == "update_ops"
    return key is not None and (plan.module.resolve(key) or "").endswith(".UPDATE_OPS")


def _check_dependencies(plan: Plan, at: Leaf) -> bool:
    """Refuse control dependencies that are more than update ops; whether there are any."""
    found = False
    for frame in at.frames:
        if not isinstance(frame.node, ast.With):
            continue
        for item in frame.node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and plan.module.resolve(call.func) == DEPENDENCIES:
                if not all(_only_updates(plan, argument, at) for argument in call.args):
                    raise Unsupported("a control dependency that is more than UPDATE_OPS is not migrated yet", call)
                found = True
    return found


def factory_lines(generator: Generator) -> list[str]:
    """The lines of the factory."""
    plan, shared = generator.plan, generator.shared
    tracing = _Tracing(generator)
    results: list[ast.expr] = []
    found = minimize_call(plan)
    last = len(plan.flow.leaves)
    if found is not None:
        minimize, at = found
        assert isinstance(minimize.func, ast.Attribute)
        results.append(minimize.func.value)
        last = at.index
    partitioner = _partitioner(plan)
    if partitioner is not None:
        results.append(partitioner)
    leaves_so_far = plan.flow.leaves[:last]
    before = [leaf for leaf in leaves_so_far if "train" in leaf.modes and not isinstance(leaf.node, ast.Return)]
    effects = generator.side_effects(training=True)
    texts, leaves = tracing.closure(results, effects, before)
    for leaf in leaves:
        if plan.time(leaf) > Time.MODE:
            if plan.time(leaf) is Time.DYNAMIC or not _schedule_only(plan, leaf):
                raise Unsupported("the optimizer depends on a tensor", leaf.node)

    for leaf in leaves:
        for name in sorted(leaf.defs):
            once = not plan.is_copied(name) and leaf not in effects and not _schedule_only(plan, leaf)
            if once and leaf in generator.init_leaves:
                raise Unsupported(f"`{name}` is used by the model and by the optimizer, and computed once", leaf.node)
    clash = {name for leaf in leaves for name in leaf.defs} & {"model", "config", "model_dir"}
    if clash:
        raise Unsupported(f"`{sorted(clash)[0]}` is a name that the generated function needs", leaves[0].node)
    indent = generator.indent + generator.unit
    parameters = [parameter(plan, name) for name in plan.statics if name != "config"]
    parameters += ["config=None", "model_dir=None"]
    lines = [f"{generator.indent}def {generator.factory}({', '.join(_defaults_last(parameters))}):"]
    lines.append(f'{indent}"""Builds and compiles `{generator.class_name}`; checkpoints go to `model_dir`."""')
    inner = indent + generator.unit
    body = Writer(shared, "factory", {}).block(leaves, inner)
    early: list[str] = []
    if partitioner is not None:
        needed = _support_of(plan, partitioner, leaves)
        early = Writer(shared, "factory", {}).block(needed, indent)
        rest = [leaf for leaf in leaves if leaf not in needed]
        body = Writer(shared, "factory", {}).block(rest, inner)
        early = [line for line in early if line.strip()]
        if not isinstance(partitioner, ast.Name):
            early.append(f"{indent}partitioner = {texts[-1]}")
            texts[-1] = "partitioner"
        strategy = f"{shared.need('make_strategy')}(config, variable_partitioner={texts[-1]})"
    else:
        strategy = f"{shared.need('make_strategy')}(config)"
    lines += early
    lines.append(f"{indent}with {strategy}.scope():")
    lines.append(f"{inner}model = {generator.class_name}({', '.join(generator.init_statics)})")
    while body and not body[0].strip():
        body.pop(0)
    lines += body
    if found is not None and found[1] not in leaves and not isinstance(found[1].node, ast.Return):
        for node in (*found[1].lead, found[1].node):
            lines += shared.renderer.comments(node, inner)
    lines.append(
        f"{inner}model.compile({f'optimizer={texts[0]}, steps_per_execution=100' if found is not None else ''})"
    )
    arguments = ["model", "config"]
    arguments += ["params=params", "model_dir=model_dir"] if "params" in plan.statics else ["model_dir=model_dir"]
    lines.append(f"{indent}return {shared.need('configure')}({', '.join(arguments)})")
    return lines


def _schedule_only(plan: Plan, leaf: Leaf) -> bool:
    """Whether the leaf is a learning rate schedule or an optimizer: a tensor in TF1, an object in Keras."""
    node = leaf.node
    if not isinstance(node, ast.Assign):
        return False
    value = node.value
    return any(
        isinstance(child, ast.Call) and plan.module.resolve(child.func) in plan.translations.training
        for child in ([value] if isinstance(value, ast.Call) else [])
    )


def _partitioner(plan: Plan) -> ast.expr | None:
    """The one partitioner of the model's variables."""
    found: list[ast.expr] = []
    for leaf in plan.flow.leaves:
        for call in scope_calls(plan, leaf):
            found += [k.value for k in call.keywords if k.arg == "partitioner"]
    for site in plan.sites:
        found += [k.value for k in site.call.keywords if k.arg == "partitioner"]
    distinct = {ast.dump(node): node for node in found if not is_none(node)}
    if len(distinct) > 1:
        raise Unsupported("more than one partitioner is not migrated yet", list(distinct.values())[1])
    return next(iter(distinct.values()), None)


def _support_of(plan: Plan, node: ast.expr, leaves: list[Leaf]) -> list[Leaf]:
    wanted = reads(node)
    found = []
    for leaf in reversed(leaves):
        if leaf.defs & wanted:
            found.append(leaf)
            wanted |= plan.slicer.inputs(leaf)
    return found[::-1]


def _defaults_last(parameters: list[str]) -> list[str]:
    return [p for p in parameters if "=" not in p] + [p for p in parameters if "=" in p]
