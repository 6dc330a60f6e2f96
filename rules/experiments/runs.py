"""The places that run an Experiment: calls of its methods, and `learn_runner.run` with a function that makes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.normalise.functions.partials import PARTIAL
from migrator.resolve.calls import bind
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.reaching import read_once
from migrator.vocabulary.unsupported import Unsupported

from ..loop.places import moves

RUN = "tensorflow.contrib.learn.learn_runner.run"
_RUN = "experiment_fn output_dir schedule run_config hparams".split()
_GIVEN = ("output_dir", "run_config", "hparams")


@dataclass
class Run:
    """One of them."""

    module: Module
    node: ast.Call
    """What is replaced: the call of the method, or of `learn_runner.run`."""
    schedule: ast.expr | str | None
    maker: ast.Call | ast.Name | ast.Attribute | None = None
    """The function that makes the Experiment, or a call that makes that, or a call of it; None where it is at hand."""
    arguments: dict[str, ast.expr | None] = field(default_factory=dict)
    """What the function is given beside; None stands for itself."""
    gone: ast.stmt | None = None
    """A statement that holds the maker, and goes."""
    settings: dict[str, ast.expr] = field(default_factory=dict)
    """Arguments of the method."""

    @property
    def is_read(self) -> bool:
        """Whether what it returns is read."""
        return not isinstance(self.module.parent(self.node), ast.Expr)


def runs_at(module: Module, value: ast.expr) -> Iterator[Run | ast.Return]:
    """What is done with an expression that is an Experiment. Raises Unsupported where that is not followed."""
    parent = module.parent(value)
    if isinstance(parent, ast.Return):
        yield parent
        return
    places, made = [value], None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target, made = parent.targets[0], parent
        scope = module.scope(target)
        if len(scope.bindings.get(target.id, [])) != 1:
            raise Unsupported("the name of an Experiment has several values", target)
        places = [*module.loads_of(target.id, scope)]
    for place in places:
        attribute = module.parent(place)
        call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if isinstance(attribute, ast.Return) and made is not None:
            yield attribute
        elif isinstance(attribute, ast.Attribute) and isinstance(call, ast.Call) and call.func is attribute:
            yield Run(module, call, attribute.attr, settings=_settings(call))
        else:
            raise Unsupported("an Experiment is handed on", place)


def _settings(call: ast.Call) -> dict[str, ast.expr]:
    given = bind(call, ["delay_secs", "name"])
    if given is None or set(given) - {"delay_secs", "name"}:
        raise Unsupported("the arguments of a method of an Experiment are not seen", call)
    return given


@dataclass
class Maker:
    """A function that makes an Experiment, and the one around it that makes this function, if any."""

    definition: Definition
    outer: Definition | None = None

    @property
    def function(self) -> ast.FunctionDef:
        """The function."""
        assert isinstance(self.definition.node, ast.FunctionDef)
        return self.definition.node

    @property
    def called(self) -> ast.FunctionDef:
        """What runs it once it is rewritten."""
        outer = self.outer or self.definition
        assert isinstance(outer.node, ast.FunctionDef)
        return outer.node


def maker_of(module: Module, function: ast.FunctionDef) -> Maker:
    """A function that returns an Experiment. Raises Unsupported where the one around it does more than to return it."""
    if function.decorator_list or isinstance(module.parent(function), ast.ClassDef):
        raise Unsupported("a method or a decorated function makes an Experiment", function)
    found, around = Definition(module, function), module.parent(function)
    if not isinstance(around, ast.FunctionDef):
        return Maker(found)
    last = around.body[-1]
    returned = last.value if isinstance(last, ast.Return) else None
    alone = isinstance(returned, ast.Name) and returned.id == function.name and around.body[-2:-1] == [function]
    if not alone or len(module.loads_of(function.name, module.scope(returned or function))) != 1:
        return Maker(found)
    if around.decorator_list or not isinstance(module.parent(around), ast.Module):
        raise Unsupported("what makes the function that makes an Experiment is no plain function", around)
    if len([node for node in ast.walk(around) if isinstance(node, ast.Return)]) != _returns(function) + 1:
        raise Unsupported("what makes the function that makes an Experiment returns early", around)
    return Maker(found, Definition(module, around))


def _returns(function: ast.FunctionDef) -> int:
    return sum(isinstance(node, ast.Return) for node in ast.walk(function))


def runs_of(project: Project, maker: Maker) -> list[Run]:
    """What is done with a function that makes an Experiment. Raises Unsupported."""
    owner = maker.outer or maker.definition
    module, function = owner.module, maker.called
    scope = module.scope(module.parent(function) or module.tree).holder(function.name)
    found: list[Run] = []
    for other, node in project.readers.of(module, scope, function.name):
        found += _uses(other, node, maker.outer is not None)
    if not found:
        raise Unsupported("nothing here runs an Experiment", function)
    if other_files := [run.module.path for run in found if run.module.path not in project.editable]:
        raise Unsupported(f"an Experiment is run in {other_files[0]}, which stays", function)
    return found


def _uses(module: Module, node: ast.expr, is_made: bool) -> Iterator[Run]:
    """The runs that one mention of a function leads to; `is_made` where a call of it makes the function that is run."""
    value, gone = node, None
    outer = module.parent(node)
    if is_made or (isinstance(outer, ast.Call) and outer.args[:1] == [node] and _is_partial(module, outer)):
        if not isinstance(outer, ast.Call) or (is_made and outer.func is not node):
            raise Unsupported("a function that makes an Experiment is handed on", node)
        value, outer = outer, module.parent(outer)
    elif isinstance(outer, ast.Call) and outer.func is node:
        yield from _called(module, outer)
        return
    if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Name):
        loads = module.loads_of(outer.targets[0].id, module.scope(outer))
        held = read_once(module, loads[0]) if len(loads) == 1 else None
        if held is not outer or not moves(module, outer, loads[0], [value]):
            raise Unsupported("a function that makes an Experiment is handed on", node)
        gone, outer = held, module.parent(loads[0])
        place: ast.expr = loads[0]
    else:
        place = value
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    if not isinstance(call, ast.Call) or module.resolve(call.func) != RUN:
        raise Unsupported("a function that makes an Experiment is handed on", node)
    given = bind(call, _RUN)
    if given is None or set(given) - set(_RUN) or given.get("experiment_fn") is not place:
        raise Unsupported("the arguments of learn_runner.run are not seen", call)
    told: dict[str, ast.expr | None] = {name: given[name] for name in _GIVEN if name in given}
    if "run_config" in told:
        told.setdefault("hparams", None)
    assert isinstance(value, (ast.Call, ast.Name, ast.Attribute))
    yield Run(module, call, given.get("schedule"), value, told, gone)


def _called(module: Module, call: ast.Call) -> Iterator[Run]:
    """The runs of what a call of the function returns."""
    found = list(runs_at(module, call))
    if len(found) != 1 or not isinstance(found[0], Run) or found[0].settings:
        raise Unsupported("an Experiment that a function makes is handed on, or runs several times", call)
    run, made = found[0], module.parent(call)
    run.maker = call
    if isinstance(made, ast.Assign):
        if not moves(module, made, run.node, [call]):
            raise Unsupported("what an Experiment is made of may change before it runs", call)
        run.gone = made
    yield run


def _is_partial(module: Module, call: ast.Call) -> bool:
    return module.resolve(call.func) == PARTIAL
