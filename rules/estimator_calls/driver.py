"""Edits of the code around a model_fn: RunConfig, TrainSpec, EvalSpec, train, evaluate, predict, ModeKeys."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypedDict

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty, is_none
from migrator.resolve.calls import arguments, is_literal
from migrator.rewrite import Change, Rename, Replace, code, expr, with_arguments, with_function

from ..bridge.resource_variables import mark_resources
from ..distribute.strategies import CONFIG_FIELDS, distribute_fields, strategy_edits
from ..hooks.fed_hooks import take_fed
from ..hooks.hook_lists import migrate_hooks
from ..hooks.hooks import ANY, SAVING, hook_reference
from ..hooks.saver_listeners import migrate_listeners, saver_reference
from ..inputs.array_inputs import ARRAY_INPUTS
from ..model_fns.annotations import annotation_reference
from ..model_fns.modes import mode_reference
from .estimator_values import PREFIX
from .exporters import EXPORT_KEPT, EXPORT_SIGNATURE, EXPORTS, export_function, exporting_reference
from .file_edits import FileEdits
from .session_settings import drop_settings
from .variable_readers import OF_CANNED, READERS

if TYPE_CHECKING:
    import libcst as cst

METHODS = {
    "train": "input_fn hooks steps max_steps saving_listeners",
    "evaluate": "input_fn steps hooks checkpoint_path name",
    "predict": "input_fn predict_keys hooks checkpoint_path yield_single_examples",
    "get_variable_value": "name",
    "get_variable_names": "",
    "eval_dir": "name",
    **{name: f"{EXPORT_SIGNATURE} {last}" for name, last in EXPORTS.items()},
}
_KEPT = {
    "train": ("input_fn", "steps", "max_steps", "hooks", "saving_listeners"),
    "evaluate": ("input_fn", "steps", "name", "checkpoint_path", "hooks"),
    "predict": ("input_fn", "predict_keys", "checkpoint_path", "yield_single_examples", "hooks"),
    "get_variable_value": ("name",),
    "get_variable_names": (),
    "eval_dir": ("name",),
    **dict.fromkeys(EXPORTS, EXPORT_KEPT),
}
_LISTS = {"hooks": migrate_hooks, "saving_listeners": migrate_listeners}
# Arguments that may be dropped if they have one of these values.
_NEUTRAL = {"as_text": (False, True), "strip_default_attrs": (False, True)}
RUN_CONFIG = (
    "model_dir tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs session_config "
    "keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps train_distribute device_fn protocol "
    "eval_distribute experimental_distribute experimental_max_worker_delay_secs session_creation_timeout_secs "
    "checkpoint_save_graph_def"
)
# Fields that only say how a TF1 session or a TF1 cluster is set up.
SESSION_FIELDS = {
    "session_config": "sessions are gone; set threads and devices through tf.config",
    "session_creation_timeout_secs": "there is no session to wait for",
    "experimental_max_worker_delay_secs": "workers start when the coordinator asks for them",
    "checkpoint_save_graph_def": "checkpoints hold no graph",
    "protocol": "the cluster resolver knows the protocol",
    "device_fn": "the strategy places variables",
}
_STRATEGY_FIELDS = (*CONFIG_FIELDS, "experimental_distribute")
SPECS = {
    "TrainSpec": "input_fn max_steps hooks saving_listeners",
    "EvalSpec": "input_fn steps name hooks exporters start_delay_secs throttle_secs",
}
_SPEC_FIELDS = {
    "TrainSpec": ("input_fn", "max_steps", "hooks", "saving_listeners"),
    "EvalSpec": ("input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"),
}
_INTERVALS = ("save_checkpoints_steps", "save_checkpoints_secs")
UNSAVED = (
    "an Estimator that saves no checkpoint forgot each training: it evaluated, predicted and went on with new initial weights; "
    "the model has those that it was trained to"
)
# What RunConfig read from TF_CONFIG; the vendored `current_task()` has them now.
TASK_FIELDS = frozenset(
    {
        "is_chief", "task_type", "task_id", "num_worker_replicas", "num_ps_replicas", "cluster_spec",
        "global_id_in_cluster",
    }
)  # fmt: skip
PROPERTIES = {"model_dir": "run_config.model_dir", "config": "run_config", "params": "params"}


class _Changes(TypedDict):
    """What becomes of the arguments of a call, as `with_arguments` takes it."""

    named: dict[int, str]
    rename: dict[str, str]
    drop: list[int]


class Driver(FileEdits):
    """Edits the code around model_fns in one module."""

    def reference(self, node: ast.expr, name: str) -> bool:
        """Migrate one reference to a name under `tensorflow.estimator`; False if it is none that is known here."""
        short = name[len(PREFIX) :] if name.startswith(PREFIX) else ""
        parent = self.module.parent(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if annotation_reference(self, node, name):
            return True
        if short.startswith("ModeKeys"):
            mode_reference(self, node, short)
            return True
        if name in ARRAY_INPUTS:
            self.replace(node, self.need(ARRAY_INPUTS[name], node))
            return True
        if short == "RunConfig" and call is not None:
            self.run_config(node, call)
            return True
        if short in SPECS and call is not None:
            self.replace(node, self.need(short, node))
            self.arguments(call, SPECS[short], _SPEC_FIELDS[short], f"tf.estimator.{short}")
            return True
        if short == "train_and_evaluate" and call is not None:
            given = bind(call, "estimator train_spec eval_spec", "train_and_evaluate")
            self.replace(node, self.need("train_and_evaluate", node))
            for keyword in call.keywords:
                if keyword.arg == "estimator":
                    self.change(Rename(keyword, "model"))
            del given
            return True
        known = exporting_reference(self, node, short) or saver_reference(self, node, name)
        return known or hook_reference(self, node, name)

    def method(self, node: ast.expr, attribute: ast.Attribute, text: str) -> None:
        """``estimator.train(input_fn)`` becomes ``train(estimator, input_fn)``; `text` is the Estimator."""
        call = self.module.parent(attribute)
        name = attribute.attr
        if name in PROPERTIES and not (isinstance(call, ast.Call) and call.func is attribute):
            self.change(Rename(attribute, PROPERTIES[name]))
            return
        if name == "latest_checkpoint" and isinstance(call, ast.Call) and not call.args and not call.keywords:
            self._latest_checkpoint(node, call, text)
            return
        called = isinstance(call, ast.Call) and call.func is attribute
        if name not in METHODS or not called or (name in READERS and name not in self.readers):
            raise Unsupported(f"`.{name}` of an Estimator is not migrated yet", attribute)
        assert isinstance(call, ast.Call)
        helper = self.need(export_function(call, name) if name in EXPORTS else self.readers.get(name, name), node)
        if helper == OF_CANNED["get_variable_names"]:
            self.remark(
                attribute, "the names are those of the weights and the global step, without slots of optimizers"
            )
        self.exports |= name in EXPORTS
        # In `make(…).train(…)` the Estimator stays where it is: other edits may lie in it.
        estimator = code(text) if text else self.module.cst.expression(node)
        moved = self.module.cst.call(call).with_changes(func=expr(helper))
        first = len(self.edits)  # of what is inserted at one place, names come before what hooks become
        changes = self._arguments(call, METHODS[name], _KEPT[name], f"Estimator.{name}", _NEUTRAL)
        new = with_arguments(moved, insert={0: estimator}, **changes)
        self.edits[first:first] = self.module.cst.apply([Replace(call, new)])

    def _latest_checkpoint(self, node: ast.expr, call: ast.Call, text: str) -> None:
        """``estimator.latest_checkpoint()``, of a name or of anything else."""
        estimator = code(text) if text else self.module.cst.expression(node)
        template = "{tf}.train.latest_checkpoint({estimator}.run_config.model_dir)"
        self.change(Replace(call, expr(template, tf=self.tensorflow(), estimator=estimator)))

    def arguments(
        self,
        call: ast.Call,
        signature: str,
        kept: Iterable[str],
        what: str,
        neutral: Mapping[str, tuple[object, ...]] = MappingProxyType({}),
    ) -> None:
        """Drop what is empty or neutral, refuse the rest, name what moves."""
        first = len(self.edits)
        changes = self._arguments(call, signature, kept, what, neutral)
        if any(changes.values()):
            new = with_arguments(self.module.cst.call(call), **changes)
            self.edits[first:first] = self.module.cst.apply([Replace(call, new)])

    def _arguments(
        self,
        call: ast.Call,
        signature: str,
        kept: Iterable[str],
        what: str,
        neutral: Mapping[str, tuple[object, ...]],
    ) -> _Changes:
        """What becomes of the arguments of a call; see `arguments`."""
        kept = list(kept)
        found: _Changes = {"named": {}, "rename": {}, "drop": []}
        names = {id(value): name for name, value in bind(call, signature, what).items()}
        place, named = 0, False
        for at, argument in enumerate(arguments(call)):
            value = argument.value if isinstance(argument, ast.keyword) else argument
            name = names[id(value)]
            if name not in kept or name in (*_LISTS, "exporters"):
                if is_empty(value) or neutral.get(name) is ANY or is_literal(value, *neutral.get(name, ())):
                    found["drop"].append(at)
                    continue
                if name == "hooks" and take_fed(self, call, value):
                    found["drop"].append(at)
                    continue
                if name in _LISTS and name in kept:
                    named = True  # and so are the arguments behind it
                    if isinstance(argument, ast.keyword):
                        found["rename"][name] = "callbacks"
                    else:
                        found["named"][at] = "callbacks"
                    _LISTS[name](self, value, what)
                    continue
                if name not in kept:
                    raise Unsupported(f"`{name}` of {what} is not migrated yet", value)
            if isinstance(argument, ast.expr):
                if named or kept.index(name) != place:
                    found["named"][at] = name
                place += 1
        return found

    def run_config(
        self, node: ast.expr, call: ast.Call, dropped: Mapping[str, str] = MappingProxyType({})
    ) -> list[ast.expr]:
        """Migrate the making of a RunConfig; returns the values of arguments that go.

        `dropped` are further parameters, before the usual ones, that have no meaning any more, and why.
        """
        self.replace(node, self.need("RunConfig", node))
        return self.run_config_arguments(call, dropped)

    def run_config_arguments(self, call: ast.Call, dropped: Mapping[str, str] = MappingProxyType({})) -> list[ast.expr]:
        """Migrate the arguments that a RunConfig gets; returns the values of those that go. See `run_config`."""
        given = bind(call, " ".join((*dropped, RUN_CONFIG)), "RunConfig")
        reasons = {**dropped, **SESSION_FIELDS}
        doomed: list[ast.expr | ast.keyword] = []
        named: dict[int, str] = {}
        for at, argument in enumerate(arguments(call)):
            value = argument.value if isinstance(argument, ast.keyword) else argument
            name = next(n for n, v in given.items() if v is value)
            if name in reasons:
                doomed.append(argument)
                if not is_none(value):
                    self.remarks.append((value, f"RunConfig({name}=…) is dropped: {reasons[name]}"))
            elif name in _STRATEGY_FIELDS:
                doomed += self._strategy_field(argument, name)
            elif isinstance(argument, ast.expr) and doomed:
                named[at] = name
        saves = [given[name] for name in _INTERVALS if name in given]
        if saves and all(map(is_none, saves)) and not self._has_savers():
            self.remarks.append((saves[0], UNSAVED))
        gone = [argument.value if isinstance(argument, ast.keyword) else argument for argument in doomed]
        new = with_arguments(self.module.cst.call(call), named=named)
        if self.early_strategy and not set(given) & set(_STRATEGY_FIELDS):
            made = expr(f"{self.need(self.early_strategy, call)}()")
            place = next((argument for argument in doomed if isinstance(argument, ast.keyword)), None)
            if place is not None:  # where another one goes
                doomed.remove(place)
                at = arguments(call).index(place)
                new = with_arguments(new, rename={str(place.arg): "strategy"}, values={at: made})
            else:
                new = with_arguments(new, add={"strategy": made})
        self.change(Replace(call, new))
        self.edits += drop_settings(self.module, call, doomed)
        return gone

    def _has_savers(self) -> bool:
        """Whether a hook of the program may save checkpoints."""
        every = (name for module in self.project.modules.values() for _, name in module.references())
        return any(name.endswith(f".{SAVING}") for name in every)

    def _strategy_field(self, argument: ast.expr | ast.keyword, name: str) -> list[ast.expr | ast.keyword]:
        """Rename a field of RunConfig that holds a strategy; the argument itself where it is to be dropped."""
        if is_none(argument.value if isinstance(argument, ast.keyword) else argument):
            return [argument]
        if not isinstance(argument, ast.keyword):
            raise Unsupported(f"`{name}` of RunConfig by position is not migrated yet", argument)
        edits = distribute_fields(self.module, argument)
        self.edits += edits or ()
        return [argument] if edits is None else []

    def strategy(self, node: ast.expr, name: str, alias: str) -> None:
        """Migrate a reference to a distribution strategy."""
        edits, remark = strategy_edits(self.module, node, name, self.need, alias)
        self.edits += edits
        if edits:
            self.handled.add(node)
        if remark:
            self.remarks.append((node, remark))

    def replacement(self, call: ast.Call) -> None:
        """``config.replace(session_config=…)``: fields that are gone are dropped, those that are not there yet refused."""
        doomed: list[ast.expr | ast.keyword] = []
        for keyword in call.keywords:
            if keyword.arg in SESSION_FIELDS:
                doomed.append(keyword)
                text = f"RunConfig({keyword.arg}=…) is dropped: {SESSION_FIELDS[keyword.arg]}"
                self.remarks.append((keyword.value, text))
            elif keyword.arg in _STRATEGY_FIELDS:
                doomed += self._strategy_field(keyword, keyword.arg)
        self.edits += drop_settings(self.module, call, doomed)

    def graph_model(
        self, call: ast.Call, given: dict[str, ast.expr], helper: str = "graph_model", dropped: Collection[str] = ()
    ) -> None:
        """``Estimator(model_fn, params=p)`` becomes ``graph_model(model_fn, params=p)``, which runs the model_fn as it is.

        `helper` is the function to call instead, `dropped` are arguments that it does not take.
        """
        names = {id(value): name for name, value in given.items()}
        doomed, named = list[int](), dict[int, str]()
        for at, argument in enumerate(arguments(call)):
            value = argument.value if isinstance(argument, ast.keyword) else argument
            name = names[id(value)]
            if name in dropped:
                doomed.append(at)
            elif isinstance(argument, ast.expr) and name != "model_fn":
                named[at] = name
        self.replace(call.func, self.need(helper, call))
        self.change(Replace(call, with_arguments(self.module.cst.call(call), named=named, drop=doomed)))
        mark_resources(self, given.get("model_fn"))

    def construction(
        self,
        call: ast.Call,
        function: ast.expr,
        changes: Iterable[Change],
        has_params: bool,
        given: dict[str, ast.expr],
        partial: ast.Call | None = None,
        params: str = "",
        dropped: Collection[str] = (),
    ) -> None:
        """``Estimator(model_fn=f, params=p)`` becomes ``create_model(params=p)``.

        `function` is what is called instead, with `changes` of names in it; `partial` is the ``functools.partial(f, a=1)``
        that stands for it, whose arguments go to the call too; `params` is the text of the parameters of a TPUEstimator;
        `dropped` are arguments that the model has no use for.
        """
        file = self.module.cst
        names = {id(value): name for name, value in given.items()}
        doomed: list[int] = []
        named: dict[int, str] = {}
        rename: dict[str, str] = {}
        values: dict[int, cst.BaseExpression] = {}
        spread: dict[int, tuple[cst.Call, int]] = {}
        for at, argument in enumerate(arguments(call)):
            value = argument.value if isinstance(argument, ast.keyword) else argument
            name = names[id(value)]
            if name == "model_fn" and partial is not None and partial.keywords:
                spread[at] = file.call(partial), 1
            elif name == "model_fn" or name in dropped or (name == "params" and not has_params):
                doomed.append(at)
            elif name == "warm_start_from" and is_none(value):
                doomed.append(at)
            elif params and name not in ("config", "model_dir", "warm_start_from"):
                doomed.append(at)
            else:
                if name == "params" and is_none(value):
                    values[at] = code("{}")
                if isinstance(argument, ast.expr):
                    named[at] = name
        self.handled.add(call.func)
        add: dict[str, cst.BaseExpression] = {}
        if params:  # in the place of an argument that goes
            every = enumerate(arguments(call))
            places = {str(a.arg): at for at, a in every if isinstance(a, ast.keyword) and at in doomed}
            place = "use_tpu" if "use_tpu" in places else list(places)[-1]
            doomed.remove(places[place])
            rename[place], values[places[place]] = "params", code(params)
        elif has_params and "params" not in given:  # a model_fn that takes params got {}
            add["params"] = code("{}")
        made = with_function(file.call(call), file.expression(function))
        new = with_arguments(made, named=named, rename=rename, values=values, drop=doomed, spread=spread, add=add)
        self.change(Replace(call, new), *changes)
