"""Hooks of TensorFlow that become Keras callbacks of our own: how each is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.rewrite import Rename, Replace, code, with_arguments

from .logged_names import logged_names

if TYPE_CHECKING:
    from ..estimator_calls.file_edits import FileEdits

LOGGING, PROFILER, SAVING = "LoggingTensorHook", "ProfilerHook", "CheckpointSaverHook"
BROADCAST = "BroadcastGlobalVariablesHook"
# Those that a graph runs itself.
IN_GRAPH = frozenset({LOGGING, "StepCounterHook"})


@dataclass(frozen=True)
class Hook:
    """The callback, the hook's parameters, those that keywords must be renamed to, and what is added."""

    callback: str
    signature: str
    renamed: tuple[tuple[str, str], ...] = ()
    added: str = ""


_EVALUATED = "estimator metric_name {} eval_dir min_steps run_every_secs run_every_steps"
_ESTIMATOR = ("estimator", "model")
HOOKS = {
    LOGGING: Hook("TensorLogger", "tensors every_n_iter every_n_secs at_end formatter"),
    "StopAtStepHook": Hook("StopAtStep", "num_steps last_step"),
    BROADCAST: Hook("BroadcastVariables", "root_rank device"),
    "StepCounterHook": Hook("StepCounter", "every_n_steps every_n_secs output_dir summary_writer"),
    "GlobalStepWaiterHook": Hook("StepWaiter", "wait_until_step"),
    PROFILER: Hook("StepProfiler", "save_steps save_secs output_dir show_dataflow show_memory"),
    "InMemoryEvaluatorHook": Hook(
        "InMemoryEvaluator", "estimator input_fn steps hooks name every_n_iter", (_ESTIMATOR,)
    ),
    SAVING: Hook("CheckpointSaver", "checkpoint_dir save_secs save_steps saver checkpoint_basename scaffold listeners"),
    "make_early_stopping_hook": Hook(
        "StopWhen", "estimator should_stop_fn run_every_secs run_every_steps", (_ESTIMATOR,)
    ),
    **{
        f"stop_if_{name}_hook": Hook("stop_if_threshold_crossed", _EVALUATED.format("threshold"), (_ESTIMATOR,), added)
        for name, added in (("higher", "higher_is_better=True"), ("lower", ""))
    },
    **{
        f"stop_if_no_{name}_hook": Hook(
            "stop_if_no_improvement",
            _EVALUATED.format(f"max_steps_without_{name}"),
            (_ESTIMATOR, (f"max_steps_without_{name}", "max_steps")),
            added,
        )
        for name, added in (("increase", "higher_is_better=True"), ("decrease", ""))
    },
}
_FAMILIES = (
    "tensorflow.train",
    "tensorflow.estimator",
    "tensorflow.estimator.experimental",
    "tensorflow.contrib.estimator",
    "tensorflow.contrib.hooks",
)
_OF_HOROVOD = "horovod.tensorflow.keras"


# Arguments that go, where they have these values.
NEUTRAL: dict[str, tuple[object, ...]] = {
    "at_end": (False,),
    "summary_writer": (),
    "show_dataflow": (True, False),
    "show_memory": (True, False),
}


# Hooks that work on a session, and what to do instead.
_OF_SESSIONS = {
    "FinalOpsHook": "runs ops of a graph when a session ends: compute these values after the training, or in an evaluation",
    "NanTensorHook": "reads a tensor of a graph: leave it out for the loss, which every training checks",
    "SummarySaverHook": "runs summaries of a graph: tf.summary in the model writes them every save_summary_steps",
}


def of_a_session(name: str | None) -> str | None:
    """Why the hook that a qualified name means stays; None if that is not known."""
    family, _, last = (name or "").rpartition(".")
    return f"a {last} {_OF_SESSIONS[last]}" if family in _FAMILIES and last in _OF_SESSIONS else None


ANY: tuple[object, ...] = (object(),)
"""For an argument that goes whatever its value."""


def hook_of(name: str | None) -> str | None:
    """The hook that a qualified name means."""
    family, _, last = (name or "").rpartition(".")
    known = family == _OF_HOROVOD if last == BROADCAST else family in _FAMILIES
    return last if known and last in HOOKS else None


def watch_names(driver: FileEdits, tensors: ast.expr | None, call: ast.Call) -> None:
    """Note the names of the tensors that a hook logs, or that they are not seen."""
    try:
        driver.watched.update(logged_names(driver.project, driver.module, tensors, call))
    except Unsupported as problem:
        driver.unseen_names.append(problem)


def hook_reference(driver: FileEdits, node: ast.expr, name: str) -> bool:
    """Migrate one reference to a hook; False if it is none that is known here."""
    module = driver.module
    short = hook_of(name)
    call = module.parent(node)
    if short is None or not isinstance(call, ast.Call) or call.func is not node:
        return False
    hook = HOOKS[short]
    given = bind(call, hook.signature, short)
    kept = [n for n in hook.signature.split() if n not in NEUTRAL]
    driver.replace(node, driver.need(hook.callback, node))
    driver.arguments(call, hook.signature, kept, f"a {short}", NEUTRAL)
    if short == PROFILER:
        driver.remark(node, "the profile is for TensorBoard now, instead of a timeline-*.json for chrome://tracing")
    if short == LOGGING:
        watch_names(driver, given.get("tensors"), call)
    renamed = dict(hook.renamed)
    for keyword in call.keywords:
        if keyword.arg in renamed:
            driver.change(Rename(keyword, renamed[keyword.arg]))
    if hook.added:
        added, _, value = hook.added.partition("=")
        driver.change(Replace(call, with_arguments(module.cst.call(call), add={added: code(value)})))
    return True
