"""`tf.contrib.learn.Experiment` as what it does with its Estimator: `train`, `evaluate` or `train_and_evaluate`.

What makes an Experiment for `learn_runner.run` runs it itself, and is called where that was.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.calls import arguments, call_of
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, code, expr, statements, with_arguments, with_body, with_parameters
from migrator.vocabulary.unsupported import Unsupported

from ..loop.comments import comments
from ..loop.settings import is_same
from ..symbols.tensorflow_names import tensorflow_root
from . import schedules
from .experiments import EXPERIMENT, Experiment, experiment_of
from .runs import Maker, Run, maker_of, runs_at, runs_of

_BY_POSITION = ("run_config", "hparams")
_EACH = (
    "which checkpoints an Experiment evaluates amid a training depends on the clock and min_eval_frequency; those that are "
    "saved by steps are evaluated now"
)
_KEPT = "exports of earlier runs are not deleted, as an ExportStrategy does by exports_to_keep"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Spells out what an Experiment does.

    ```python
    import tensorflow as tf


    def experiment_fn(run_config, hparams):
        estimator = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
        return tf.contrib.learn.Experiment(estimator, train_input_fn, eval_input_fn, train_steps=1000)


    config = tf.contrib.learn.RunConfig(model_dir="model")
    tf.contrib.learn.learn_runner.run(experiment_fn, run_config=config, schedule="train")
    ```
    becomes
    ```python
    import tensorflow as tf


    def experiment_fn(run_config, hparams):
        estimator = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
        estimator.train(train_input_fn, max_steps=1000)


    config = tf.contrib.learn.RunConfig(model_dir="model")
    experiment_fn(run_config=config, hparams=None)
    ```
    """
    for path in paths:
        tried: set[str] = set()
        while (found := _next(drafts.project.modules[path], tried)) is not None:
            module = drafts.project.modules[path]
            tried.add(module.segment(found))
            try:
                drafts.apply(_changes(drafts, module, found))
            except Unsupported as stuck:
                drafts.obstacles[path, module.segment(found.func)] = stuck.reason
            except SyntaxError:
                drafts.obstacles[path, module.segment(found.func)] = "what it does cannot be written"


def _next(module: Module, tried: set[str]) -> ast.Call | None:
    """An Experiment of a file that was not tried yet."""
    for node, name in module.references() if b"Experiment" in module.source else ():
        call = call_of(module, node) if name == EXPERIMENT else None
        if call is not None and module.segment(call) not in tried:
            return call
    return None


def _changes(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The changes for one Experiment. Raises Unsupported."""
    uses = list(runs_at(module, call))
    runs = [use for use in uses if isinstance(use, Run)]
    if len(runs) == len(uses):
        return Change.every((module, change) for change in _in_place(drafts, module, call, runs))
    function = module.nearest(call, ast.FunctionDef)
    if runs or function is None or len(uses) != 1:
        raise Unsupported("an Experiment is run and handed on", call)
    if len(own_returns(function)) != 1 or function.body[-1] is not uses[0]:
        raise Unsupported("what makes an Experiment returns several things", function)
    maker = maker_of(module, function)
    return Change.every(_Made(drafts, maker, call).changes())


def _root(module: Module, call: ast.Call) -> tuple[str, list[Rewrite]]:
    found = tensorflow_root(module, call.func)
    if found is None:
        raise Unsupported("TensorFlow has no name here", call)
    return found[0], [*found[1]]


def _in_place(drafts: Drafts, module: Module, call: ast.Call, runs: list[Run]) -> list[Rewrite]:
    """The changes where an Experiment is run in the function that makes it."""
    tf, changes = _root(module, call)
    made = experiment_of(module, call, tf)
    written = [(run, schedules.lines(_method(run), set(made.values), tf, _named(module, run))) for run in runs]
    kept = made.keep([line for _, text in written for line in text])
    creation = module.statement(call)
    made.last(creation, [run.node for run in runs if module.statement(run.node) is not creation])
    for run, text in written:
        _tell(drafts, made, str(run.schedule))
        if run.is_read and len(text) > 1:
            raise Unsupported("what a run of an Experiment returns is read", run.node)
        statement = module.statement(run.node)
        first = kept if statement is creation else []
        if run.is_read:
            changes.append(Replace(run.node, made.expression(text[0])))
        else:
            changes.append(Replace(statement, [*first, *made.filled(text)]))
    if all(module.statement(run.node) is not creation for run in runs):
        changes.append(Replace(creation, kept) if kept else Remove(creation))
    return [*changes, *(Remove(each) for each in made.gone)]


def _method(run: Run) -> str:
    if run.schedule not in (*schedules.SCHEDULES, *schedules.ALONE):
        raise Unsupported(f"`{run.schedule}` of an Experiment is not followed", run.node)
    return str(run.schedule)


def _named(module: Module, run: Run) -> str:
    """The argument by which a run names its evaluation."""
    name = run.settings.get("name")
    return f"name={module.segment(name)}" if name is not None else schedules.NAMED


def _tell(drafts: Drafts, made: Experiment, schedule: str) -> None:
    beside = [text for _, text in comments(made.module, *made.module.span(made.call))]
    if beside:
        drafts.remark(
            made.module, made.call, f"comments beside the arguments of an Experiment go with it: {'; '.join(beside)}"
        )
    if schedule == "train_and_evaluate" and "at_the_end" not in made.values:
        drafts.remark(made.module, made.call, _EACH)
    if "serving" in made.values and schedule in ("train_and_evaluate", "test", "local_run"):
        drafts.remark(made.module, made.call, _KEPT)


class _Made:
    """An Experiment that a function makes, for others to run."""

    def __init__(self, drafts: Drafts, maker: Maker, call: ast.Call) -> None:
        self.drafts = drafts
        self.maker = maker
        self.call = call
        self.module = maker.definition.module
        self.runs = runs_of(drafts.project, maker)

    def changes(self) -> list[tuple[Module, Rewrite]]:
        """All changes of the program. Raises Unsupported."""
        module, function = self.module, self.maker.function
        tf, first = _root(module, self.call)
        handed = self._handed()
        made = experiment_of(module, self.call, tf, handed)
        schedule, text = self._text(set(made.values), tf)
        kept = made.keep(text)
        creation, last = module.statement(self.call), function.body[-1]
        _tell(self.drafts, made, "train_and_evaluate" if schedule else self._constant(self.runs[0]) or "")
        if creation is not last:
            made.last(creation, [last])
        read = any(run.is_read for run in self.runs)
        if read and (kept or len(text) > 1):
            raise Unsupported("what a run of an Experiment returns is read", self.call)
        ran = statements("return {value}", value=made.expression(text[0])) if read else [*kept, *made.filled(text)]
        changes: list[Rewrite] = [*first, Replace(last, ran), *(Remove(each) for each in made.gone)]
        if creation is not last:
            changes.append(Remove(creation))
        unread = [name.id for name in [self._strategies()] if name is not None and handed is not None]
        changes += self._function([schedule] if schedule else [], unread)
        return [*((module, change) for change in changes), *self._calls(schedule, handed)]

    def _strategies(self) -> ast.Name | None:
        """The parameter of the function that is called, if it is one and read once, that the ExportStrategies are."""
        value = next((each.value for each in self.call.keywords if each.arg == "export_strategies"), None)
        bindings = self.module.bindings(value) if isinstance(value, ast.Name) else []
        args = self.maker.called.args
        if len(bindings) != 1 or bindings[0].node not in [*args.args, *args.kwonlyargs] or args.defaults:
            return None
        assert isinstance(value, ast.Name)
        return value if self.module.loads_of_parameter(value.id, self.maker.called) == [value] else None

    def _handed(self) -> ast.expr | None:
        """What the one call of the function gives that parameter, if the function can say it as well."""
        name, run = self._strategies(), self.runs[0]
        if name is None or len(self.runs) != 1 or run.module is not self.module or not isinstance(run.maker, ast.Call):
            return None
        if run.maker.func is not None and (run.module.resolve(run.maker.func) or "") == "functools.partial":
            return None
        value = next((each.value for each in run.maker.keywords if each.arg == name.id), None)
        read = [node for node in walk(value) if isinstance(node, ast.Name)] if value is not None else []
        return value if all(is_same(self.module, each, name) for each in read) else None

    def _text(self, given: set[str], tf: str) -> tuple[str, list[str]]:
        """The parameter that says what to run, if any, and the statements that run it."""
        told = {self._constant(run) for run in self.runs}
        if len(told) == 1 and None not in told:
            (method,) = told
            if method not in (*schedules.SCHEDULES, *schedules.ALONE):
                raise Unsupported(f"`{method}` of an Experiment is not followed", self.call)
            return "", schedules.lines(str(method), given, tf)
        if any(method is not None and method not in schedules.SCHEDULES for method in told):
            raise Unsupported("what an Experiment runs differs from run to run", self.call)
        name = self.module.unused_name("schedule", self.maker.function.body[0])
        return name, schedules.chosen(name, given, tf)

    def _constant(self, run: Run) -> str | None:
        """The method that is run, if it is seen."""
        if run.schedule is None:
            return "train_and_evaluate"
        if isinstance(run.schedule, ast.Constant):
            return str(run.schedule.value or "train_and_evaluate")
        return run.schedule if isinstance(run.schedule, str) else None

    def _function(self, more: list[str], unread: list[str]) -> list[Rewrite]:
        """The function, with the body of the one in it, and its parameters behind its own, without those `unread`."""
        file, function, called = self.module.cst, self.maker.function, self.maker.called
        head = file.statement(called)
        if called is not function:
            args = function.args
            if args.vararg or args.kwarg or args.defaults or args.kwonlyargs:
                raise Unsupported("the parameters of a function that makes an Experiment are not followed", function)
            own = [each.arg for each in (*args.posonlyargs, *args.args)]
            inner = set(self.module.scope(function).bindings)
            if inner & (set(self.module.scope(called).bindings) - {function.name}):
                raise Unsupported("a function and the one around it have names in common", function)
            body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
            head = with_body(head, [*file.statements(called.body[:-2]), *file.statements(body)])
            more = [*own, *more]
        elif not more and not unread:
            return []
        return [Replace(called, with_parameters(head, drop=unread, add=more))]

    def _parameter(self, run: Run, name: str) -> str:
        """What a function calls an argument of `learn_runner.run`, which gives it all but the folder by position."""
        own = parameters(self.maker.function)
        partial = isinstance(run.maker, ast.Call) and (run.module.resolve(run.maker.func) or "") == "functools.partial"
        bound = len(run.maker.args) - 1 if partial and isinstance(run.maker, ast.Call) else 0
        at = bound + _BY_POSITION.index(name) if name in _BY_POSITION else own.index(name) if name in own else len(own)
        if at >= len(own):
            raise Unsupported(f"a function that makes an Experiment takes no `{name}`", run.node)
        return own[at]

    def _calls(self, schedule: str, handed: ast.expr | None) -> list[tuple[Module, Rewrite]]:
        """The calls that run it, without what is `handed` to it."""
        found: list[tuple[Module, Rewrite]] = []
        for run in self.runs:
            file = run.module.cst
            added = {
                self._parameter(run, name): file.expression(value) if value is not None else code("None")
                for name, value in run.arguments.items()
            }
            if schedule:
                told = run.schedule
                written = file.expression(told) if isinstance(told, ast.expr) else code(repr(told))
                added[schedule] = written
            assert run.maker is not None
            if not isinstance(run.maker, ast.Call):
                call = expr("{function}()", function=file.expression(run.maker))
            elif (run.module.resolve(run.maker.func) or "") == "functools.partial":
                function = file.expression(run.maker.args[0])
                call = with_arguments(file.call(run.maker), drop=[0]).with_changes(func=function)
            else:
                drop = [at for at, each in enumerate(arguments(run.maker)) if getattr(each, "value", None) is handed]
                call = with_arguments(file.call(run.maker), drop=drop if handed is not None else [])
            found.append((run.module, Replace(run.node, with_arguments(call, add=added) if added else call)))
            if run.gone is not None:
                found.append((run.module, Remove(run.gone)))
        return found
