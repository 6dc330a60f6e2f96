"""A function that makes recurrent cells is told whether it trains, where it was told the mode to ask that alone.

def make_cell(units, mode):                               def make_cell(units, training):
    cell = GRUCell(units)                                     cell = GRUCell(units)
    if mode == tf.estimator.ModeKeys.TRAIN:                   if training:
        cell = DropoutWrapper(cell, 0.5)                          cell = DropoutWrapper(cell, 0.5)
    return cell                                               return cell

make_cell(8, mode)                                        make_cell(8, mode == tf.estimator.ModeKeys.TRAIN)
"""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.analyse.statements.modes import mode_of_symbol
from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.draft.draft import Change
from migrator.normalise.values.callers import given_by_callers
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Rename, Replace, code, with_arguments
from migrator.vocabulary.unsupported import Unsupported

_CELLS = ("tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.")
_ASKED = {ast.Eq: "{}", ast.Is: "{}", ast.NotEq: "not {}", ast.IsNot: "not {}"}


def told_to_train(project: Project, definition: Definition) -> list[Change]:
    """The edits for a function. Raises Unsupported where not all of its calls are seen."""
    module, function = definition.module, definition.node
    if not isinstance(function, ast.FunctionDef) or not makes_cells(module, function):
        return []
    for name in parameters(function):
        tests = _tests(module, function, name)
        if tests:
            new = next(n for n in ("training", "is_training", f"{name}_training") if n == name or _free(module, n))
            return _changes(project, definition, name, new, tests)
    return []


def makes_cells(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function makes recurrent cells."""
    called = (module.resolve(node.func) or "" for node in walk(function) if isinstance(node, ast.Call))
    return any(name.startswith(_CELLS) for name in called)


def _tests(module: Module, function: ast.FunctionDef, name: str) -> list[ast.Compare]:
    """The places that ask whether a parameter is the mode of training; none where anything else is done with it."""
    found: list[ast.Compare] = []
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        test = module.parent(node)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _ASKED:
            return []
        (other,) = {test.left, test.comparators[0]} - {node}
        scope = module.scope(node).lookup(name)
        if scope is None or scope.node is not function or mode_of_symbol(module.resolve(other)) != "train":
            return []
        found.append(test)
    return found


def _free(module: Module, name: str) -> bool:
    return name not in module.bound_names and not module.loads(name)


def _changes(project: Project, definition: Definition, name: str, new: str, tests: list[ast.Compare]) -> list[Change]:
    module, function = definition.module, definition.node
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    parameter = next(a for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg == name)
    wanted: list[tuple[Module, rewrite.Change]] = [(module, Rename(parameter, new))]
    for test in tests:
        wanted.append((module, Replace(test, code(_ASKED[type(test.ops[0])].format(new)))))
    default = defaults(function).get(name)
    for place, value in dict.fromkeys(given_by_callers(project, module, parameter)):
        keyword = place.parent(value)
        call = place.parent(keyword) if isinstance(keyword, ast.keyword) and value is not default else None
        asked = code(_asked(place, value))
        if isinstance(call, ast.Call) and isinstance(keyword, ast.keyword):
            at = len(call.args) + call.keywords.index(keyword)
            named = with_arguments(place.cst.call(call), rename={name: new}, values={at: asked})
            wanted.append((place, Replace(call, named)))
        else:
            wanted.append((place, Replace(value, asked)))
    if default is not None and not any(value is default for _, value in given_by_callers(project, module, parameter)):
        wanted.append((module, Replace(default, code(_asked(module, default)))))
    return Change.every(wanted)


def _asked(module: Module, value: ast.expr) -> str:
    """Whether the mode that an expression gives is that of training. Raises Unsupported."""
    mode = mode_of_symbol(module.resolve(value))
    if mode is not None:
        return str(mode == "train")
    known = {name: node for node, name in module.references() if mode_of_symbol(name) == "train"}
    if not isinstance(value, ast.Name) or not known:
        raise Unsupported("whether a function that makes recurrent cells trains is not seen", value)
    return f"{value.id} == {module.segment(next(iter(known.values())))}"
