"""What a program's model is about, as far as the program says: the folder of its checkpoints, or the name of its file."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator

from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project

from ..estimator_calls.estimator_values import Construction
from ..loop.settings import default_of, defines

_MAX_HOPS = 5
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"v?\d+")
# What folders of checkpoints and files of programs are called whatever they are about.
_SAYS_NOTHING = frozenset(
    """
    a after an and as at b base before c checkpoint checkpoints chief ckpt ckpts cli cluster code cpu custom cwd
    data default demo dest destination dir directory distributed entry entrypoint estimator estimators eval evaluate
    evaluation evaluator example examples exp experiment experiments export exported exports file files final
    finished fit fn folder folders for function functions gpu graph helper helpers here home horovod init job keras
    launch launcher lib local log logdir logs main migrated migration mirrored mode model modeldir modeling models
    module multi multiworker my native new notebook of old on out output outputs path paths plain pred predict
    prediction predictions program ps result results root run runner running runs save saved savedmodel saver script
    scripts serve server serving session single solution somewhere start starter storage store strategy summaries
    summary task tasks temp temporary tensorboard tensorflow test testing tests tf tf1 tf2 the there tmp tpu train
    trained trainer training try tutorial untitled use using util utils v1 v2 version with work workdir worker
    workers working
    """.split()
)


def subject(project: Project, definition: Definition, constructions: Iterable[Construction]) -> list[str]:
    """Words for what the model of a model_fn is about: those of the folder of its checkpoints, where all `constructions` (the
    Estimators that it may be the model_fn of) agree on it, else those of its file; none where neither says anything."""
    folders = [_said_folder(project, construction) for construction in constructions]
    if folders and folders[0] and all(words == folders[0] for words in folders):
        return folders[0]
    return _telling(os.path.splitext(os.path.basename(definition.module.path))[0])


def words_about(project: Project, construction: Construction) -> list[str]:
    """The same for an Estimator without a model_fn."""
    folder = _said_folder(project, construction)
    return folder or _telling(os.path.splitext(os.path.basename(construction.module.path))[0])


def _said_folder(project: Project, construction: Construction) -> list[str]:
    """The words of the last part of an Estimator's `model_dir`, given to itself or to its configuration."""
    module, given = construction.module, construction.arguments
    places = [given.get("model_dir"), _of_configuration(module, given.get("config"))]
    paths = (path for node in places if node is not None for path in _paths(project, module, node, 0))
    return next((words for path in paths if (words := _telling(os.path.basename(path.rstrip("/\\"))))), [])


def _of_configuration(module: Module, node: ast.expr | None) -> ast.expr | None:
    statement = module.assignment(node) if node is not None else None
    call = statement.value if statement is not None else node
    given = call.keywords if isinstance(call, ast.Call) else []
    return next((keyword.value for keyword in given if keyword.arg == "model_dir"), None)


def _paths(project: Project, module: Module, node: ast.expr, depth: int) -> Iterator[str]:
    """Texts that the end of a path may be: of literals, and of what options are by default."""
    if depth > _MAX_HOPS:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Call) and (module.resolve(node.func) or "").startswith("os.path.") and node.args:
        yield from _paths(project, module, node.args[-1], depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _paths(project, module, node.right, depth + 1)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _paths(project, module, value, depth + 1)
    elif isinstance(node, ast.Name):
        statement = module.assignment(node)
        if statement is not None:
            yield from _paths(project, module, statement.value, depth + 1)
    elif isinstance(node, ast.Attribute):
        for home, call in project.calls():
            default = default_of(call) if defines(call, node.attr) else None
            if default is not None:
                yield from _paths(project, home, default, depth + 1)


def _telling(name: str) -> list[str]:
    """The words of a name that say something; none where they make no identifier, or too long a one."""
    words = [word for word in _WORD.findall(name) if not _NUMBER.fullmatch(word) and word.lower() not in _SAYS_NOTHING]
    plain = all(word.isascii() and word.isidentifier() for word in words)
    return words if plain and len(words) <= 3 and max(map(len, words), default=0) > 1 else []
