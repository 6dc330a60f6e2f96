"""What a program's model is about, as far as the program says: a class, a folder, a file, a variable or a prediction of it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Sequence, Set

from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from ..estimator_calls.estimator_values import Construction
from ..loop.data.options import default_of, options

_MAX_HOPS = 5
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"v?\d+")
_NOUN = re.compile(
    r"""(?:An?[ ]|The[ ])? ([\w &-]+?)
    (?: [:,;.(] | [ ][-–][ ] | [ ](?:as|at|by|for|from|in|on|of|over|that|to|under|using|which|whose|with)\b )""",
    re.VERBOSE,
)
_POINTING = frozenset({"a", "an", "the", "its", "this", "these", "all"})
"""Words that no name has: a verb stands before them."""
_QUALITIES = frozenset(
    {"basic", "big", "complete", "full", "large", "minimal", "short", "simple", "small", "tiny", "toy", "very"}
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
# What folders of checkpoints and files of programs are called whatever they are about.
_SAYS_NOTHING = frozenset(
    """
    a after an and app as at b base before builder c canned checkpoint checkpoints chief ckpt ckpts cli cluster code
    core cpu custom cwd
    data default demo dest destination dir directory distributed entry entrypoint est estimator estimators eval evaluate
    evaluation evaluator example examples exp experiment experiments export exported exports file files final
    finished fit fn folder folders for function functions gpu graph helper helpers here home horovod init job keras
    launch launcher lib local log logdir logs main migrated migration mirrored mode model modeldir modeling models
    module multi multiworker my native new nn notebook of old on out output outputs package path paths pkg plain pred
    predict prediction predictions premade program ps result results root run runner running runs save saved
    savedmodel saver script scripts serve server serving session single solution somewhere src start starter storage
    store strategy summaries
    summary task tasks temp temporary tensorboard tensorflow test testing tests tf tf1 tf2 the there tmp tpu train
    trained trainer training try tutorial untitled use using util utils v1 v2 version with work workdir worker
    workers working
    """.split()
)


_PREDICTED = _SAYS_NOTHING | frozenset(
    """
    alpha alphas attention attentions best class classes confidence embedding embeddings feature features hidden id
    ids index label labels length lengths logit logits mask masks predicted prob probabilities probability probs score
    scores state states top value values weight weights
    """.split()
)
"""The same for predictions."""


def subject(
    project: Project, definition: Definition, constructions: Collection[Construction], owner: str = ""
) -> list[str]:
    """Words for what the model of a model_fn is about: those of the class `owner` that it was a method of; of the folder of its
    checkpoints, where all `constructions` (the Estimators that it may be the model_fn of) agree on it; of its file, or its
    package; of the variable that holds the Estimator; of what it predicts; of how the docstring of its file begins. None where
    none of these says anything."""
    return (
        _telling("_".join(_HUMP.findall(owner)))
        or _agreed([_said_folder(project, construction) for construction in constructions])
        or _telling(os.path.splitext(os.path.basename(definition.module.path))[0])
        or _said_package(project, definition.module)
        or _agreed([_said_variable(construction) for construction in constructions])
        or _said_predictions(definition)
        or _said_docstring(definition.module)
    )


def _agreed(found: Sequence[list[str]]) -> list[str]:
    """What all of several places say."""
    return found[0] if found and all(words == found[0] for words in found) else []


def _said_package(project: Project, module: Module) -> list[str]:
    """The words of the package of a file, as another file names it that imports the file."""
    folder, file = os.path.split(module.path)
    name = f"{os.path.basename(folder)}.{os.path.splitext(file)[0]}"
    targets = (entry.target for other in project.modules.values() for entry in other.imports)
    imported = any(target == name or target.startswith(f"{name}.") for target in targets)
    return _telling(os.path.basename(folder)) if folder and imported else []


def _said_variable(construction: Construction) -> list[str]:
    """The words of the variable that an Estimator is assigned to."""
    statement = construction.module.parent(construction.call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return _telling(name)


def _said_predictions(definition: Definition) -> list[str]:
    """The words of the one prediction whose name says something."""
    module, found = definition.module, set[tuple[str, ...]]()
    for call in (call for call in walk(definition.node) if isinstance(call, ast.Call)):
        given = [k.value for k in call.keywords if k.arg == "predictions"]
        if not given or not (module.resolve(call.func) or "").endswith("EstimatorSpec"):
            continue
        statement = module.assignment(given[0])
        value = given[0] if statement is None else statement.value
        for key in value.keys if isinstance(value, ast.Dict) else ():
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            found.add(tuple(_telling(name, _PREDICTED)))
    words = found - {()}
    return list(words.pop()) if len(words) == 1 else []


def _said_docstring(module: Module) -> list[str]:
    """The words of the noun with which the docstring of a file begins: ``Deep & Cross Network on clicks``."""
    head = _NOUN.match(ast.get_docstring(module.tree) or "")
    words = _WORD.findall(head[1]) if head is not None else []
    verb = bool(words) and words[0].endswith("s") and not words[0].endswith("ss")  # or a plural
    pointing = _POINTING & {word.lower() for word in words}
    library = any("estimator" in word.lower() for word in words)
    return [] if verb or pointing or library else _telling("_".join(words), _SAYS_NOTHING | _QUALITIES)


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
        for home, call in options(project, node.attr):
            default = default_of(call)
            if default is not None:
                yield from _paths(project, home, default, depth + 1)


def _telling(name: str, idle: Set[str] = _SAYS_NOTHING) -> list[str]:
    """The words of a name that say something, not being `idle`; none where they make no identifier, or too long a one."""
    plain = {word: word.lower().rstrip("0123456789") for word in _WORD.findall(name) if not _NUMBER.fullmatch(word)}
    words = [word for word, root in plain.items() if root not in idle and word.lower() not in idle]
    named = all(word.isascii() and word.isidentifier() for word in words)
    return words if named and len(words) <= 3 and max(map(len, words), default=0) > 1 else []
