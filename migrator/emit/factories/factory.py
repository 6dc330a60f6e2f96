"""Writes the function that builds and compiles the model: what `train_op` said, as an optimizer."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import format_call
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.copies import is_copied
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.negation import negated
from migrator.analyse.training.optimizervalues import is_training
from migrator.analyse.training.rates import rate_rows
from migrator.analyse.variables.averages import same_conditions
from migrator.analyse.variables.partitioners import has_partitioners
from migrator.analyse.variables.partitioning import only_partitioner, splits_some
from migrator.analyse.variables.startvalues import METHOD as START
from migrator.analyse.variables.startvalues import names_kept
from migrator.emit.classwriter import parameter
from migrator.emit.factories.callbacklists import callback_rows
from migrator.emit.factories.compilewriter import compile_rows
from migrator.emit.factories.strategywriter import EXACT, scope, strategy_function
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, code, defined, is_definition, opened, rows, statements, trimmed, without_blanks

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.analyse.training.trainop import TrainOp
    from migrator.emit.modelwriter import ModelWriter


WARM = "warm_start_from"
"""The parameter of a factory for a checkpoint to begin with."""


class _FactoryWriter(Writer):
    """Writes a learning rate that the program computes as a schedule, and its class before its first use."""

    def __init__(self, generator: ModelWriter, train_op: TrainOp | None, renamed: dict[str, str] | None = None) -> None:
        super().__init__(generator.shared, "factory", renamed or {})
        self.indent = generator.indent + generator.unit
        self.rates = {id(rate.value): rate for rate in generator.plan.rates}
        self.written: set[str] = set()
        self.quoted = {node: text for hook in generator.plan.spec_hooks.hooks for node, text in hook.quoted().items()}
        self.clipping = train_op.clipping if train_op is not None else None
        self.chosen = {id(u.at.node): u for u in train_op.updates} if train_op is not None and train_op.choice else {}

    def transform(self, node: ast.AST) -> str | None:
        """A learning rate is an object in Keras; of a choice of train ops, that of the optimizer remains."""
        if id(node) in self.chosen:
            return f"optimizer = {self.text(self.chosen[id(node)].optimizer)}"
        if id(node) in self.quoted:
            return self.quoted[id(node)]
        clipping = self.clipping
        if clipping is not None and isinstance(node, ast.Call) and node in clipping.optimizers:
            made = super().transform(node)
            if made is None or not made.endswith(")"):
                raise Unsupported("gradients are clipped for an optimizer that is not migrated yet", node)
            inside = f"{made[:-1]}, " if not made.endswith("()") else made[:-1]
            return f"{inside}{clipping.argument}={self.text(clipping.limit)})"
        rate = self.rates.get(id(node))
        return f"{rate.schedule}()" if rate is not None else super().transform(node)

    def schedules(self, leaves: list[Leaf], depth: int) -> list[Row]:
        """The classes of schedules that the leaves of one statement at `depth` make."""
        found: list[Row] = []
        for rate in self.rates.values():
            if rate.at in leaves and len(rate.frames) == depth and rate.schedule not in self.written:
                self.written.add(rate.schedule)
                found += rate_rows(self.shared, rate, depth, self.names)
        return found

    def leaf(self, leaf: Leaf) -> list[Row]:
        """One statement."""
        return _below(self.schedules([leaf], len(leaf.frames)), super().leaf(leaf))

    def compound(self, node: ast.stmt, leaves: list[Leaf], depth: int) -> list[Row]:
        """A loop, condition or scope."""
        return _below(self.schedules(leaves, depth), super().compound(node, leaves, depth))


def _below(classes: list[Row], found: list[Row]) -> list[Row]:
    """Rows below classes, with one blank line between them."""
    return [*classes, *(trimmed(found) if classes else found)]


class _Tracing(_FactoryWriter):
    """Notes which names the written text reads."""

    def __init__(self, generator: ModelWriter, train_op: TrainOp | None) -> None:
        super().__init__(generator, train_op)
        self.read: set[str] = set()

    def transform(self, node: ast.AST) -> str | None:
        text = super().transform(node)
        if id(node) in self.rates:
            rate = self.rates[id(node)]
            made = {name for leaf in rate.leaves for name in leaf.defs}
            self.read |= reads(rate.value).union(*(leaf.uses for leaf in rate.leaves)) - made
            for leaf in rate.leaves:
                self.read |= set().union(*(frame.reads() for frame in leaf.frames))
        if isinstance(node, ast.Name) and text is None and not self.is_inner(node):
            self.read.add(node.id)
        return text

    def closure(self, results: list[ast.expr], effects: list[Leaf], before: list[Leaf]) -> tuple[list[str], list[Leaf]]:
        """Text of `results`, and the leaves that this text and `effects` really need after translation."""
        texts = [self.text(result) for result in results]
        chosen: list[Leaf] = []
        for leaf in sorted(before, key=lambda leaf: leaf.index, reverse=True):
            if leaf.defs & self.read or leaf in effects:
                chosen.append(leaf)
                self.look(leaf.node)
                for frame in leaf.frames:
                    if not isinstance(frame.node, ast.With):
                        self.read |= frame.reads()
        return texts, chosen[::-1]


def factory(generator: ModelWriter, train_op: TrainOp | None) -> Sequence[Row]:
    """The factory, below what makes the strategy of a cluster."""
    plan, shared = generator.plan, generator.shared
    tracing = _Tracing(generator, train_op)
    results: list[ast.expr] = []
    update = train_op.updates[-1] if train_op is not None else None
    last = len(plan.flow.leaves)
    effects = generator.side_effects(training=True)
    chosen: list[Leaf] = []
    if train_op is not None and train_op.choice:
        chosen = [update.at for update in train_op.updates]
        last = chosen[-1].index + 1
    elif train_op is not None and update is not None:
        others = [other for other, _ in train_op.others]
        main = next(update for update in train_op.updates if update not in others)
        results += [main.optimizer, *(other.optimizer for other in others)]
        if train_op.averages is not None:
            results += [train_op.averages.decay, *(condition.test for condition in train_op.averages.conditions)]
        last = update.at.index
    hooks = plan.spec_hooks.hooks
    late, read_late = _late_leaves(generator, train_op, last)
    tracing.read |= read_late
    partitioner = only_partitioner(plan)
    if partitioner is not None:
        results.append(partitioner)
    leaves_so_far = plan.flow.leaves[:last]
    before = [leaf for leaf in leaves_so_far if "train" in leaf.modes and not isinstance(leaf.node, ast.Return)]
    texts, leaves = tracing.closure(results, [*effects, *chosen], before)
    optimizer = "optimizer" if chosen else (texts[0] if update is not None else "")
    computing = [leaf for rate in plan.rates for leaf in rate.leaves]
    for leaf in [*leaves, *computing]:
        if plan.sites_in(leaf):
            raise Unsupported("a variable that the optimizer depends on is not migrated yet", leaf.node)
    for leaf in leaves:
        if plan.time(leaf) > Time.MODE and leaf not in chosen:
            if plan.time(leaf) is Time.DYNAMIC or not _schedule_only(plan, leaf):
                raise Unsupported("the optimizer depends on a tensor", leaf.node)

    for leaf in leaves:
        for name in sorted(leaf.defs):
            once = not is_copied(plan, name) and leaf not in effects and not _schedule_only(plan, leaf)
            if once and leaf in generator.init_leaves:
                raise Unsupported(f"`{name}` is used by the model and by the optimizer, and computed once", leaf.node)
    plain = shared.facts["plain"]
    own = {"model"} if plain else {"model", "config", "model_dir"}
    own |= {"strategy", "servers", EXACT} if plain and shared.facts["cluster"] else set()
    own |= {*(("callbacks", "evaluation_callbacks") if hooks else ())}
    own |= {WARM} if plan.warm is not None else set()
    bound = {name for leaf in (*leaves, *late) for name in leaf.defs}
    clash = bound & own
    outside = (tracing.read & own) - bound - set(plan.statics)
    if outside:
        raise Unsupported(f"`{sorted(outside)[0]}` is a name that the generated function needs", plan.function)
    if clash and hooks:
        raise Unsupported(f"`{sorted(clash)[0]}` is a name that the generated function needs", leaves[0].node)
    renamed = other_names(plan.function, clash)
    if renamed:
        texts = [_FactoryWriter(generator, train_op, renamed).text(result) for result in results]
        optimizer = texts[0] if update is not None and not chosen else optimizer
    cluster = plain and shared.facts["cluster"]
    distributed = cluster or (shared.facts["distributed"] and not plain)  # else the program has a scope around the call
    parameters = [parameter(plan, name) for name in plan.statics if name != "config"]
    warm = [WARM] if plan.warm is not None else []
    parameters += [] if plain else ["config=None", "model_dir=None", *(f"{name}=None" for name in warm)]
    writer = _FactoryWriter(generator, train_op, renamed)
    with writer.deeper() if distributed else contextlib.nullcontext():
        updates = train_op.updates if train_op is not None else ()
        schedules = writer.schedules([update.at for update in updates if update.at not in leaves], 0)
        needed = _support_of(plan, partitioner, leaves) if partitioner is not None else []
        body = [*writer.rows([leaf for leaf in leaves if leaf not in needed]), *schedules]
        compiled = compile_rows(generator, writer, optimizer)
    early: list[Row] = []
    if partitioner is not None:
        early = without_blanks(_FactoryWriter(generator, train_op, renamed).rows(needed))
        if not isinstance(partitioner, ast.Name):
            early += rows([f"partitioner = {texts[-1]}"])
            texts[-1] = "partitioner"
        if splits_some(plan):
            early += rows(["# The strategy splits all variables by this, not those of one scope alone."])
        strategy = texts[-1] if cluster else f"{shared.need('make_strategy')}(config, variable_partitioner={texts[-1]})"
    elif has_partitioners(plan):
        by_scope = shared.need("partition_by_scope")
        strategy = by_scope if cluster else f"{shared.need('make_strategy')}(config, variable_partitioner={by_scope})"
    elif cluster:
        strategy = ""
    elif distributed:
        strategy = f"{shared.need('make_strategy')}(config)"
    made = rows([f"model = {generator.class_name}({', '.join(generator.init_statics)})"])
    if generator.chain is not None:
        made = rows([f"model = {shared.tf}.keras.Sequential([{', '.join(generator.chain.texts)}])"])
    inside = trimmed(body)
    made += rows([""] if inside and is_definition(inside[0]) else []) + inside
    if train_op is not None:
        made += _remarks(generator, train_op, leaves)
        made += rows([f"model.{name} = {text}" for (_, name), text in zip(train_op.others, texts[1:])])
    if train_op is not None and train_op.averages is not None:
        kept = texts[2 : 2 + len(train_op.averages.conditions)]
        under = f" if {' and '.join(kept)} else None" if kept else ""
        made += rows([f"model.{train_op.averages.attribute} = {shared.need('WeightAverages')}({texts[1]}){under}"])
    made += compiled
    saved = "" if plain else "; checkpoints go to `model_dir`"
    what = f"`{generator.class_name}`" if generator.chain is None else "the model"
    head = rows([f'"""Builds and compiles {what}{saved}."""'])
    head += [*_config_rows(generator), *early]
    if cluster:
        compiled_metrics = any(entry.compiled for entry in generator.entries)
        made = [*scope(shared.tf, strategy, made, shared.facts["evaluated"], compiled_metrics)]
    elif distributed:
        made = [*statements("with {strategy}.scope():\n    {made}", strategy=code(strategy), made=made)]
    if plain:
        end = rows(["return model"])
    else:
        end = _configured(generator, train_op, late, distributed)
    signature = f"def {generator.factory}({', '.join(_defaults_last(parameters))})"
    above = []
    if cluster:
        asked = shared.facts["servers"], shared.facts["validated"]
        above = [*strategy_function(shared.tf, *asked), *rows(["", ""])]
    return [*above, defined(signature, [*head, *made, *end])]


def _remarks(generator: ModelWriter, train_op: TrainOp, leaves: list[Leaf]) -> list[Row]:
    """The comments above a train op of which nothing is left but the optimizer."""
    if not train_op.plain:
        return []
    clipping, at = train_op.clipping, train_op.updates[0].at
    nodes = [leaf.node for leaf in clipping.leaves] if clipping is not None else []
    nodes += [*at.lead, at.node] if at not in leaves and not isinstance(at.node, ast.Return) else []
    return _FactoryWriter(generator, train_op).remarks(nodes)


def _configured(generator: ModelWriter, train_op: TrainOp | None, late: list[Leaf], distributed: bool) -> list[Row]:
    """The end of the factory of a model that the helpers train: callbacks, and what they are given."""
    plan, shared, unit = generator.plan, generator.shared, generator.unit
    found = _FactoryWriter(generator, None).rows(late)
    arguments = ["model", "config"]
    arguments += ["params=params", "model_dir=model_dir"] if "params" in plan.statics else ["model_dir=model_dir"]
    for name, mode in (("callbacks", "train"), ("evaluation_callbacks", "eval")):
        found += callback_rows(generator, _FactoryWriter(generator, None), name, plan.spec_hooks.of(mode))
        arguments += [f"{name}={name}"] if plan.spec_hooks.of(mode) else []
    shown = [leaf for leaf in plan.metric_effects if "train" in leaf.modes and leaf not in plan.watched]
    arguments += ["training_metrics=True"] if shown else []
    configure = shared.need("configure_distributed" if distributed else "configure")
    endings = [f"{shared.need('begin_with')}(model, model.{START})"] if plan.starting else []
    if plan.warm is not None:
        endings.append(f"{shared.need('begin_warm')}(model, {WARM})")
    elif not plan.starting and names_kept(generator):
        endings.append(f"{shared.need('keep_names')}(model)")
    endings += [averaged] if (averaged := _averages_line(generator, train_op)) else []
    if averaged and train_op is not None and train_op.averages is not None and train_op.averages.conditions:
        kept = f"if model.{train_op.averages.attribute} is not None:\n{unit}"
        endings[-1:] = [f"{kept}{averaged}", "model"]
    made = f"{'' if endings else 'return '}{configure}({', '.join(arguments)})"
    if len(generator.indent + unit + made) > 100:
        made = "\n".join([made.partition("(")[0] + "(", f"{unit}{', '.join(arguments)}", ")"])
    last = [f"{'return ' if e is endings[-1] else ''}{e}" for e in endings]
    return [*found, *rows([made]), *rows(last)]


def _late_leaves(generator: ModelWriter, train_op: TrainOp | None, last: int) -> tuple[list[Leaf], set[str]]:
    """The statements from number `last` on, behind the optimizer, that hooks of the spec need, and all names that are read."""
    plan = generator.plan
    hooks = plan.spec_hooks.hooks
    modes = {hook.mode for hook in hooks}
    behind = [leaf for leaf in plan.flow.leaves[last:] if leaf.modes & modes and leaf not in plan.watched]
    behind = [leaf for leaf in behind if not isinstance(leaf.node, ast.Return)]
    tracing = _Tracing(generator, train_op)
    _, leaves = tracing.closure([value for hook in hooks for value in hook.values()], [], behind)
    for leaf in leaves:
        if plan.time(leaf) is not Time.STATIC or plan.sites_in(leaf):
            raise Unsupported("a hook of the spec needs what is not known when the model is built", leaf.node)
    for hook in hooks:
        for name, at in hook.read_at():
            changed = [leaf for leaf in plan.flow.leaves[at.index + 1 :] if name in leaf.defs and leaf.modes & modes]
            before = [leaf for leaf in plan.slicer.reaching(name, at.index, hook.mode, at) if leaf.index < last]
            changed += [leaf for leaf in before if "train" not in leaf.modes]
            if changed:
                raise Unsupported(f"`{name}`, which a hook of the spec reads, changes later", changed[0].node)
    return leaves, tracing.read


def _config_rows(generator: ModelWriter) -> list[Row]:
    """The run configuration with the fields that the model_fn sets."""
    plan, writer = generator.plan, _FactoryWriter(generator, None)
    found: list[Row] = []
    for conditions, fields in plan.config_fields:
        values = [*fields.values(), *(condition.test for condition in conditions)]
        for value in values:
            if isinstance(value, ast.expr) and any(plan.is_local(name) for name in reads(value)):
                raise Unsupported("a Saver is made from a value that the model_fn computes", value)
        given: list[tuple[str | None, str]] = [(name, writer.text(value)) for name, value in fields.items()]
        made = f"(config or {generator.shared.need('RunConfig')}())"
        inner = writer.lines(f"config = {format_call(f'{made}.replace', given)}")
        for condition in reversed(conditions):
            test = writer.text(condition.test)
            test = test if condition.arm == "body" else negated(condition.test, writer.text)
            inner = opened([f"{writer.indent}if {test}:"], inner)
        found += inner
    return found


def other_names(function: ast.FunctionDef, names: set[str]) -> dict[str, str]:
    """Names that a function does not use, by those of its own that the factory has for something else."""
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    found: dict[str, str] = {}
    for name in sorted(names):
        wanted = (f"own_{name}", *(f"own_{name}_{number}" for number in range(2, len(used) + 3)))
        found[name] = next(text for text in wanted if text not in used)
    return found


def _schedule_only(plan: Plan, leaf: Leaf) -> bool:
    """Whether the leaf is a learning rate schedule, another name of one, or an optimizer: a tensor in TF1, an object in Keras."""
    node = leaf.node
    if not isinstance(node, ast.Assign):
        return False
    named = isinstance(node.value, ast.Name) and not plan.rates and plan.is_schedule(node.value.id)
    return named or is_training(plan, node.value)


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


def _averages_line(generator: ModelWriter, train_op: TrainOp | None) -> str:
    """The text that puts averages in the place of weights; empty where no mode has it so. Raises Unsupported."""
    averaged, plan = generator.plan.averaged, generator.plan
    if not averaged:
        return ""
    node = next(iter(averaged.values())).node
    if train_op is None or train_op.averages is None:
        raise Unsupported("averages are restored that the train op does not keep", node)
    for choice in averaged.values():
        if not same_conditions(plan, choice.conditions, train_op.averages.conditions):
            raise Unsupported("averages take the place of the weights under another condition than they are kept", node)
    if "infer" in averaged and generator.shared.facts["exported"]:
        raise Unsupported("exports of averaged weights are not migrated yet", node)
    modes = (("eval", "evaluation"), ("infer", "prediction"))
    left_out = "".join(f", {name}=False" for mode, name in modes if mode not in averaged and mode in plan.specs)
    return f"{generator.shared.need('use_averages')}(model, model.{train_op.averages.attribute}{left_out})"
