"""Models that use one folder of checkpoints, one after the other: each begins with what the last one has saved there.

An Estimator reads the newest checkpoint wherever it is used, a model where it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Optional

from migrator.resolve.module import Module
from migrator.resolve.reaching import reaching
from migrator.resolve.reasons import reason_at

from ..sources import Place, Source, shares_folder
from ..use import Use

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def of_folders(places: Collection[Place], uses: Collection[Use]) -> str:
    """Why models cannot begin with what others have saved: one may be read after the training of another one, made before."""
    trainings = [use for use in uses if use.method == "train"]
    for place in (place for place in places if place.saves and place.path is None):
        if any(_is_outlived(place, training) for training in trainings if training is not place):
            return reason_at("two Estimators with one folder of checkpoints", place.module, place.at)
    return ""


def _is_outlived(place: Place, training: Use) -> bool:
    """Whether a training of another model may come between the place that makes one and a place that reads it."""
    two = any(_are_two(one, other) for one in place.sources for other in training.sources)
    if _is_trained_between(place, training):
        return True
    if not two and not set(place.sources) & set(training.sources):
        return False
    module = place.module
    made, other = _made(place), _made(training)
    functions = {module.nearest(node, ast.FunctionDef) for node in (place.at, training.call)}
    if made is None or other is None or module is not training.module or len(functions) > 1:
        return two
    if made is other or (not two and ast.dump(made.value) != ast.dump(other.value)):  # which may be of another folder
        return False
    begin, middle, end = (module.span(node) for node in (made, training.call, place.at))
    return begin < middle and (middle < end or _is_repeated(module, made, training.call, place.at))


def _is_trained_between(place: Place, training: Use) -> bool:
    """Whether a function that trains a model of the folder is called between a place and what makes its own model."""
    made, other, module = _made(place), _made(training), place.module
    function = training.module.nearest(training.call, ast.FunctionDef)
    if not isinstance(function, ast.FunctionDef) or module.nearest(place.at, ast.FunctionDef) is function:
        return False
    if made is None or other is None or training.module.nearest(other, ast.FunctionDef) is not function:
        return False  # it may train the model of the place
    if not {_folder(source) for source in place.sources} & {_folder(source) for source in training.sources}:
        return False
    calls = (call for call in module.nodes(ast.Call) if module.span(made) < module.span(call) < module.span(place.at))
    return any(function.name in (getattr(c.func, "id", ""), getattr(c.func, "attr", "")) for c in calls)


def _folder(source: Source) -> str:
    """The folder of an Estimator, as the program writes it."""
    folder = source.settings.directory
    return "" if folder is None else ast.dump(folder)


def _made(place: Place) -> Optional[ast.Assign]:
    """The statement that makes the model of a place."""
    return reaching(place.module, place.receiver)


def _are_two(one: Source, other: Source) -> bool:
    return one is not other and (shares_folder(one, other) or shares_folder(other, one))


def _is_repeated(module: Module, made: ast.stmt, *places: ast.AST) -> bool:
    """Whether a loop holds places, but not the statement that makes a model."""
    loops = [outer for outer in module.ancestors(places[0]) if isinstance(outer, _LOOPS)]
    return any(all(module.is_inside(p, o) for p in places) and not module.is_inside(made, o) for o in loops)
