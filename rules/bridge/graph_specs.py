"""Hooks and Scaffolds of an EstimatorSpec whose model_fn stays a graph: they stay what they are, as names of compat.v1."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from ..estimator_calls.driver import Driver
from ..estimator_calls.sessions import on_own_graph
from ..hooks.hooks import IN_GRAPH, PROFILER, SAVING, hook_of
from ..hooks.logged_names import assigned_value
from ..symbols.tensorflow_names import via_version_1_import

_FAMILIES = ("tensorflow.train", "tensorflow.estimator")
_HOOKS = frozenset(
    "LoggingTensorHook StopAtStepHook StepCounterHook NanTensorHook SummarySaverHook FinalOpsHook GlobalStepWaiterHook".split()
)
_PROTOCOL = frozenset("SessionRunHook SessionRunArgs SessionRunContext SessionRunValues".split())
SAVER = "tensorflow.train.Saver"
SAVER_SIGNATURE = (
    "var_list reshape sharded max_to_keep keep_checkpoint_every_n_hours name restore_sequentially saver_def builder "
    "defer_build allow_empty write_version pad_step_number save_relative_paths filename"
)
SCAFFOLD_SIGNATURE = "init_op init_feed_dict init_fn ready_op ready_for_local_init_op local_init_op summary_op saver"
_RUN = frozenset({"init_fn", "local_init_op", "saver"})
_INITIALIZERS = frozenset({"tensorflow.local_variables_initializer", "tensorflow.global_variables_initializer"})


class GraphSpecs:
    """What the functions of one module that return an EstimatorSpec say about sessions: all, or those in `spans`."""

    def __init__(self, module: Module, driver: Driver, spans: Spans | None = None) -> None:
        self.module, self.driver = module, driver
        self._stays = spans is None
        specs = [n for n, name in module.references() if name == SPEC or name.endswith(".TPUEstimatorSpec")]
        specs = [n for n in specs if spans is None or spans.hold(module.span(n))]
        self.functions = {f for node in specs for f in module.ancestors(node) if isinstance(f, ast.FunctionDef)}

    def check(self, obstacles: Obstacles) -> None:
        """Refuse what a graph without a session cannot do."""
        keywords = [n for function in self.functions for n in walk(function) if isinstance(n, ast.keyword)]
        for node in sorted(keywords, key=lambda node: (node.value.lineno, node.value.col_offset)):
            with obstacles:
                if node.arg == "feed_dict":
                    raise Unsupported("a feed_dict has tensors as keys, which TensorFlow 2 does not take", node.value)

    def reference(self, node: ast.expr, name: str) -> None:
        """Migrate a reference to a name around hooks, if it is one. Raises Unsupported."""
        family, _, short = name.rpartition(".")
        inside = any(parent in self.functions for parent in self.module.ancestors(node))
        known = hook_of(name)
        outside = known is None or known in IN_GRAPH  # others become callbacks there
        if known == SAVING and inside:  # a session runs it
            self.driver.replace(node, f"{self.driver.tensorflow()}.compat.v1.train.{short}")
            return
        if known is not None and short not in _HOOKS and (inside or (known == PROFILER and not self._trains(node))):
            raise Unsupported(f"a {short} that is not given to a training is not migrated yet", node)
        if family in _FAMILIES and (short in _PROTOCOL or (short in _HOOKS and (inside or outside))):
            if short == "SessionRunArgs":
                self._fetches(node)
            if short == "StepCounterHook":
                self.driver.replace(node, self.driver.need(short, node))
            elif self._stays and family == "tensorflow.train" and via_version_1_import(self.module, node):
                self.driver.handled.add(node)
            else:
                self.driver.replace(node, f"{self.driver.tensorflow()}.compat.v1.train.{short}")
        elif name in _INITIALIZERS and not on_own_graph(self.module, node):
            self.driver.replace(node, f"{self.driver.tensorflow()}.no_op")  # the model starts its variables
        elif name == SAVER and self._is_of_hook(node):
            raise Unsupported("a hook with a Saver of its own finds variables by names of a graph", node)
        elif name == "tensorflow.train.Scaffold":
            call = self.module.parent(node)
            if isinstance(call, ast.Call) and call.func is node:
                self._scaffold(call)

    def _is_of_hook(self, node: ast.expr) -> bool:
        """Whether a class of hooks is around a node."""
        owner = self.module.nearest(node, ast.ClassDef)
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        return any((self.module.resolve(base) or "").endswith("SessionRunHook") for base in bases)

    def _trains(self, node: ast.expr) -> bool:
        """Whether the function around a hook also trains."""
        around = self.module.nearest(node, ast.FunctionDef) or self.module.tree
        attributes = [n for n in walk(around) if isinstance(n, ast.Attribute)]
        names = {n.attr for n in attributes if self.module.resolve(n) != "tensorflow.train"}
        return bool(names & {"train", "TrainSpec", "train_and_evaluate"})

    def _fetches(self, node: ast.expr) -> None:
        """Refuse what a hook asks for besides values."""
        call = self.module.parent(node)
        if isinstance(call, ast.Call) and call.func is node:
            for name, value in bind(call, "fetches feed_dict options", "SessionRunArgs").items():
                if name != "fetches" and not is_none(value):
                    raise Unsupported(f"a hook that gives `{name}` is not migrated yet", value)

    def _scaffold(self, call: ast.Call) -> None:
        for name, value in bind(call, SCAFFOLD_SIGNATURE, "Scaffold").items():
            if is_none(value):
                continue
            if name not in _RUN:
                raise Unsupported(f"`{name}` of a Scaffold is not migrated yet", value)
            if name == "saver":
                self._saver(value)

    def _saver(self, node: ast.expr) -> None:
        """A Saver of a Scaffold may say how many checkpoints are kept, but not which variables are restored."""
        made = assigned_value(self.module, node)
        if not isinstance(made, ast.Call) or self.module.resolve(made.func) != SAVER:
            raise Unsupported("the Saver of a Scaffold is not seen", node)
        given = bind(made, SAVER_SIGNATURE, "Saver")
        if not is_none(given.get("var_list")):
            raise Unsupported("a Scaffold whose Saver holds some variables only is not migrated yet", given["var_list"])
        text = "the Saver of the Scaffold no longer writes checkpoints: RunConfig says how many are kept"
        self.driver.remark(node, text)
