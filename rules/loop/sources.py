"""The Estimators of a program, or the models in their places: where each is made and held, and what its settings say."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.names import reads
from migrator.analyse.training.trainop import pauses
from migrator.analyse.variables.scopes import variable_pairs
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at
from migrator.resolve.symbols import Scope

from ..callbacks.model_hooks import ModelHooks, model_hooks
from ..estimator_calls.estimator_values import Construction
from ..estimator_calls.keras_estimator import given_to, name_of_output
from ..exports.signatures import Signatures, signatures_of, signatures_of_keras
from ..losses_metrics.matrices import reports_matrix
from ..losses_metrics.step_summaries import recorded, shown_metrics, written
from .flow.exclusive import exclusive
from .flow.rates import rates_of
from .flow.weights import Weights, weights_of
from .places import has_its_line, stays
from .settings import Settings, settings_of
from .variables import OfModelFn, Variables


@dataclass(frozen=True)
class Kind:
    """What a loop has to know of the model that an Estimator becomes."""

    has_dicts: bool = True
    """Whether the predictions of an example are a dict."""
    refused: str = ""
    """What of it asks for more than `fit`."""
    summaries: frozenset[ast.AST] = frozenset()
    """References to `tf.summary` of which it can write what they say."""
    recorded: bool = False
    """Whether some of them show how it trains."""
    signatures: Signatures = Signatures(refused="signatures of its SavedModels")
    hooks: ModelHooks = ModelHooks()
    compiled: bool = False
    """Whether it is compiled below the statement that makes it."""
    model: ast.expr | None = None
    """The Keras model that takes its place, which the program has made and compiled."""
    starts: bool = False
    """Whether it has a method that gives weights first values of a checkpoint, or is told of one."""
    needs_keras_2: bool = False
    """Whether Keras 3 cannot train it at all."""
    variables: Variables | None = None
    """How weights of it are read by the names of an Estimator, if they may be."""
    names: frozenset[ast.AST] = frozenset()
    """References to what is told to it, and goes with the Estimator or stays in its graph."""
    weights: Weights | None = None
    """How its weights are made, if by a call."""
    watched: bool = False
    """Whether its predictions may be given hooks, which it runs as they are."""
    takes_batches: bool = False
    """Whether hooks may take batches of their own beside those of the steps."""
    pauses: bool = False
    """Whether its step counts some of the batches only, as where gradients are summed up."""
    rates: tuple[str, ...] = ()
    """Attributes of it with those optimizers whose learning rate is a number that each run may be given anew."""
    partitioner: ast.expr | None = None
    """What parameter servers share its variables by, if that is an argument of its Estimator."""


@dataclass(frozen=True, eq=False)
class Source:
    """One Estimator."""

    construction: Construction
    settings: Settings
    has_dicts: bool
    summaries: frozenset[ast.AST]
    shown: bool
    """Whether its model_fn has summaries of the training."""
    signatures: Signatures
    target: ast.expr | None
    """What it is assigned to; None where it is made inside of another expression, or returned at once."""
    scope: Scope | None
    """That of the name that it is assigned to, if it is one, and holds nothing but Estimators that are made there."""
    model: ast.expr | None = None
    """The Keras model of the program that it was made of."""
    hooks: ModelHooks = ModelHooks()
    starts: bool = False
    """Whether its model has a method that gives weights first values of a checkpoint."""
    named: bool = False
    """Whether its checkpoints hold the names of TensorFlow 1, as a model of the program may begin with their values."""
    needs_keras_2: bool = False
    """Whether Keras 3 cannot train its model at all."""
    variables: Variables | None = None
    """How weights are read by their names, if they may be."""
    weights: Weights | None = None
    """How the weights of its model are made, if by a call."""
    params: str = ""
    """The variable that is to hold its parameters, for input functions, where the program writes them into its call."""
    watched: bool = False
    """Whether its predictions may be given hooks."""
    takes_batches: bool = False
    """Whether hooks may take batches of their own."""
    pauses: bool = False
    """Whether its step counts some of the batches only."""
    rates: tuple[str, ...] = ()
    """Attributes of its model with those optimizers whose learning rate is a number that each run may be given anew."""
    partitioner: ast.expr | None = None
    """What parameter servers share the variables of its model by, if that is an argument."""

    @property
    def warm(self) -> ast.expr | None:
        """What it is to start from."""
        start = self.construction.arguments.get("warm_start_from")
        return None if is_none(start) else start

    @property
    def recorded(self) -> bool:
        """Whether its model writes summaries of its own."""
        never = is_none(self.settings.fields.get("save_summary_steps", self.construction.call))
        folder = self.settings.directory is not None and not never
        return self.shown and (folder or "output_dir" in self.hooks.summaries)

    @property
    def module(self) -> Module:
        """The file that makes it."""
        return self.construction.module

    @property
    def returned(self) -> ast.Return | None:
        """The statement that makes and returns it."""
        statement = self.module.parent(self.construction.call)
        return statement if isinstance(statement, ast.Return) else None

    @property
    def name(self) -> str | None:
        """The name that holds it."""
        return self.target.id if isinstance(self.target, ast.Name) and self.scope is not None else None

    @property
    def is_copy(self) -> bool:
        """Whether it is made of a Keras model that has one name, under which the program may go on."""
        module, model = self.module, self.model
        if self.name is None or not isinstance(model, ast.Name) or len(module.bindings(model)) != 1:
            return False
        held = module.scope(model).lookup(model.id)
        loads = module.loads_of(self.name, self.scope)
        return has_its_line(module, self.construction.call) and all(
            module.scope(load).lookup(model.id) is held for load in loads
        )

    def is_read(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression is the name that holds it."""
        name = isinstance(node, ast.Name) and self.name == node.id and self.scope is not None
        return name and module is self.module and module.scope(node).lookup(str(self.name)) is self.scope


class Place:
    """A place that reads an Estimator."""

    module: Module
    receiver: ast.expr
    """What stands for the Estimator in it."""
    sources: tuple[Source, ...]
    """Those that it may be."""

    @property
    def at(self) -> ast.expr:
        """Where it stands."""
        raise NotImplementedError

    @property
    def path(self) -> ast.expr | None:
        """The checkpoint that it is to read, if not the newest one."""
        return None

    @property
    def saves(self) -> bool:
        """Whether its Estimator has a folder of checkpoints."""
        return self.sources[0].settings.directory is not None

    @property
    def by_name(self) -> bool:
        """Whether it reads the name that the Estimator gets where it is made."""
        return all(source.is_read(self.module, self.receiver) for source in self.sources)


def kind_of(plans: list[Plan]) -> Kind:
    """What is to be known of a model_fn, or of those that an Estimator may be made with."""
    refused = next(filter(None, map(_refused, plans)), "")
    kinds = {_has_dicts(plan) for plan in plans}
    if len(kinds) != 1:
        return Kind(refused=refused or "model_fns whose predictions are of different kinds")
    dicts = kinds.pop()
    served = {signatures_of(plan, dicts) for plan in plans}
    signatures = served.pop() if len(served) == 1 else Signatures(refused="model_fns that serve differently")
    hooks = model_hooks(plans)
    if isinstance(hooks, str):
        refused, hooks = refused or hooks, ModelHooks()
    summaries = frozenset().union(*map(written, plans), *(shown_metrics(p) for p in plans if hooks.values.shown))
    starts = any(plan.starting for plan in plans)
    if starts and len(plans) > 1:
        refused = refused or "values of a checkpoint for one of several model_fns"
    named = (
        OfModelFn(tuple((name, path) for name, path, _ in variable_pairs(plans[0]) if name))
        if len(plans) == 1
        else None
    )
    shown = any(map(recorded, plans))
    return Kind(
        dicts, refused, summaries, shown, signatures, hooks,
        starts=starts, variables=named, weights=weights_of(plans), pauses=any(map(pauses, plans)),
        rates=rates_of(plans),
    )  # fmt: skip


def kind_of_keras(project: Project, construction: Construction) -> Kind:
    """What is to be known of a Keras model that `model_to_estimator` takes. Raises Unsupported."""
    given = given_to(construction)
    construction.arguments.update((name, given[name]) for name in ("model_dir", "config") if name in given)
    output = name_of_output(project)
    kind = Kind(has_dicts=False, model=given["keras_model"])
    return replace(kind, signatures=signatures_of_keras(output)) if output else kind


def _refused(plan: Plan) -> str:
    """What of a model_fn asks for more than `fit`."""
    told = "config" in plan.statics and "config" in reads(plan.function.body)
    if plan.averaged or plan.config_fields or told:
        return "averages, a Scaffold or the configuration in its model_fn"
    return "a metric that is an array" if reports_matrix(plan) else ""


def _has_dicts(plan: Plan) -> bool:
    """Whether the predictions of an example are a dict."""
    node = plan.field("infer", "predictions")
    if node is None:
        return True
    value = plan.followed(node, "infer")[0]
    name = plan.module.resolve(value.func) if isinstance(value, ast.Call) else None
    tensor = isinstance(value, (ast.Subscript, ast.BinOp)) or (name is not None and name.startswith("tensorflow."))
    return not tensor


def sources_of(
    project: Project, constructions: Collection[Construction], kinds: Mapping[ast.Call, Kind]
) -> list[Source] | str:
    """All Estimators of a program, or why one of them is not understood."""
    found: list[Source] = []
    for construction in constructions:
        source = _source(project, constructions, kinds, construction)
        if isinstance(source, str):
            return reason_at(source, construction.module, construction.call)
        found.append(source)
    return found


def _source(
    project: Project,
    constructions: Collection[Construction],
    kinds: Mapping[ast.Call, Kind],
    construction: Construction,
) -> Source | str:
    """One Estimator, or why it is not understood."""
    calls = {construction.call for construction in constructions}
    warm = [other.call for other in constructions if not is_none(other.arguments.get("warm_start_from"))]
    named = bool(warm) or any(kind.starts for kind in kinds.values())
    if construction.call not in kinds:
        return "it has Estimators of another kind"
    kind = kinds[construction.call]
    settings = settings_of(project, construction, constructions)
    if isinstance(settings, str):
        return settings
    if kind.refused:
        return kind.refused
    module = construction.module
    target = _target(construction)
    params = construction.arguments.get("params")
    name = "" if params is None or is_none(params) or stays(module, params) else "params"
    name = module.unused_name(name, construction.call) if name and has_its_line(module, construction.call) else ""
    scope, own = _scope(module, target, calls), (kind.has_dicts, kind.summaries, kind.recorded, kind.signatures)
    source = Source(
        construction,
        settings,
        *own,
        target,
        scope,
        kind.model,
        kind.hooks,
        kind.starts or construction.call in warm,
        named,
        kind.needs_keras_2,
        kind.variables,
        kind.weights,
        name,
        kind.watched,
        kind.takes_batches,
        kind.pauses,
        kind.rates,
        kind.partitioner,
    )
    if named and (kind.compiled or kind.model is not None):
        return "values of a checkpoint, which may be that of an Estimator without a model_fn"
    if (settings.fields or kind.compiled) and not has_its_line(module, construction.call):
        return "the Estimator is made in the line of another statement"
    begins = source.warm is not None
    if begins and (settings.tpu.use is not None or (target is None and source.returned is None)):
        return "`warm_start_from` of an Estimator that is not held by a name"
    if (begins or settings.tpu.use is not None) and not has_its_line(module, construction.call):
        return "the Estimator is made in the line of another statement"
    if target is None and source.returned is None:
        if settings.tpu.use is not None:
            return "a TPUEstimator is made inside of another expression"
        if kind.compiled:
            return "a canned Estimator is made inside of another expression"
        if settings.directory is not None:
            return "an Estimator with a folder of checkpoints is made inside of another expression"
    return source


def shares_folder(one: Source, other: Source) -> bool:
    """Whether an Estimator may read, amid a function that made both, what the other one saved: a model does as it is made."""
    folders = [source.settings.directory for source in (one, other)]
    functions = [source.module.nearest(source.construction.call, ast.FunctionDef) for source in (one, other)]
    same = [None if folder is None else ast.dump(folder) for folder in folders]
    if same[0] is None or same[0] != same[1]:
        return False
    together = one.module is other.module and functions[0] is functions[1]
    if together and one.returned is not None and other.returned is not None:
        return False  # a call makes one of them
    if one.returned is not None or other.returned is not None:
        return True
    calls = (one.construction.call, other.construction.call)
    if not together or exclusive(one.module, *calls) or exclusive(one.module, *calls[::-1]):
        return False
    return one.scope is not other.scope or one.name != other.name or one.name is None


def _target(construction: Construction) -> ast.expr | None:
    """What an Estimator is assigned to."""
    statement = construction.module.parent(construction.call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    return target if isinstance(target, (ast.Name, ast.Attribute)) else None


def _scope(module: Module, target: ast.expr | None, calls: Collection[ast.Call]) -> Scope | None:
    """The scope of a name that only holds Estimators which are made where they are assigned to it."""
    if not isinstance(target, ast.Name):
        return None
    scope = module.scope(target).holder(target.id)
    for binding in scope.bindings.get(target.id, []):
        statement = module.parent(binding.node)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value not in calls:
            return None
    return scope
