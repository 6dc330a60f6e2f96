"""What becomes of code that calls an input_fn itself and takes its batch apart, where that returns a dataset from now on.

Such a caller reads an iterator of its own, and so becomes what `one_shot` makes of that. One that only looks at the batch gets
what the dataset says of it. Any other use is refused: what was one batch would be the dataset, or two batches by two names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, expr, statements

from ..estimator_calls.following import Follower
from .array_inputs import ARRAY_INPUTS
from .dataset_attributes import DATASET_METHODS
from .looked_at import looked_at
from .one_shot import ONE_SHOT, block_of, dataset_name, made_of

Place = tuple[Module, ast.expr]
_PLACES = 5000
"""So many places of a program that a batch may reach are looked at: more have only libraries, of any batch."""
_WORDS = (b"make_one_shot_iterator", b"make_initializable_iterator", b"_input_fn")


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Let callers that return what they make of a batch read it of an iterator, in the modules of a program.

    ```python
    import tensorflow as tf


    def read(path):
        dataset = tf.data.TFRecordDataset(path).map(parse).batch(8)
        return dataset.make_one_shot_iterator().get_next()


    def input_fn():
        features, labels = read("train")
        features["size"] = tf.size(features["x"])
        return features, labels


    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def read(path):
        dataset = tf.data.TFRecordDataset(path).map(parse).batch(8)
        return dataset.make_one_shot_iterator().get_next()


    def input_fn():
        dataset = read("train")
        features, labels = dataset.make_one_shot_iterator().get_next()
        features["size"] = tf.size(features["x"])
        return features, labels


    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn)
    ```
    """
    while changes := _changes(drafts.project, [drafts.project.modules[path] for path in paths]):
        drafts.apply(changes)


def refuse_read_batches(project: Project, modules: Iterable[Module]) -> None:
    """Raise Unsupported where anything else uses the batch of an input_fn of `modules`."""
    for module, node in _taken_apart(project, modules):
        raise Unsupported(
            f"`{module.segment(node)}` is a batch that is used here, and would be a dataset in TensorFlow 2: first use it in "
            "input_fns only, which return what they make of it",
            node,
        )


def _changes(project: Project, modules: list[Module]) -> list[Change]:
    try:
        found = list(_taken_apart(project, modules))
    except Unsupported:
        return []
    changes: list[Change] = []
    for module, node in found:
        line = _assignment(module, node)
        function = module.nearest(node, (ast.FunctionDef, ast.Lambda))
        if line is None or module not in modules:
            continue
        if looked_at(module, line):
            if not _may_miss_files(module, line.value):
                specs = expr("{made}.element_spec", made=module.cst.expression(line.value))
                changes += Change.of(module, Replace(line.value, specs))
            continue
        if not isinstance(function, ast.FunctionDef):
            continue
        block = block_of(module, line)
        rest = block[block.index(line) + 1 :]
        inner = set(walk(function))
        others = [other for _, other in found if other in inner and _assignment(module, other) is not line]
        if not rest or not isinstance(rest[-1], ast.Return) or rest[-1].value is None or others:
            continue
        value = line.value
        if isinstance(value, ast.Name):
            changes += Change.of(module, Replace(value, expr(f"{value.id}.{ONE_SHOT}().get_next()")))
            continue
        try:
            name = dataset_name(module, function, line, fresh=True)
        except Unsupported:
            continue
        made = statements("{name} = {value}", name=name, value=module.cst.expression(value))
        fetch = expr(f"{name}.{ONE_SHOT}().get_next()")
        changes += Change.of(module, Insert(made, before=line), Replace(value, fetch))
    return list(dict.fromkeys(changes))


def _may_miss_files(module: Module, made: ast.expr) -> bool:
    """Whether a call may list files that there are none of: a dataset lists them at once, an iterator with its first batch."""
    named = {node.attr for node in module.nodes(ast.Attribute)}
    return "list_files" in named and any(isinstance(n, ast.Constant) and n.value == "" for n in walk(made))


def _assignment(module: Module, node: ast.expr) -> ast.Assign | None:
    """The statement by which the batch, or its parts, get their names."""
    line = module.statement(node)
    if isinstance(line, ast.Assign) and line.value is node:
        return line if len(line.targets) == 1 else None
    given = module.assignment(node)
    return given if given is not None and isinstance(given.value, ast.Call) else None


def _taken_apart(project: Project, modules: Iterable[Module]) -> Iterator[Place]:
    """Where code wants something of the batch of an input_fn of `modules` that returns a dataset from now on.

    Raises Unsupported where there are too many places to look at.
    """
    follower = Follower(project, [], _PLACES)
    for module in modules:
        if any(word in module.source for word in _WORDS):
            _follow(follower, module)
    values = follower.run()
    if follower.exhausted:
        raise Unsupported("the batches of its input functions go too many ways to be followed", values.reads[0][1])
    lost = {node for _, node, _ in values.lost}
    for module, node in values.reads:
        if node in lost or _wants_part(module, node):
            yield module, node


def _follow(follower: Follower, module: Module) -> None:
    """Follow the batches of the input functions of a module that return datasets from now on."""
    functions = set()
    for call in module.nodes(ast.Call):
        if module.resolve(call.func) in ARRAY_INPUTS:
            follower.follow_result(module, call)
        elif made_of(module, call) is not None:
            functions.add(module.nearest(call, (ast.FunctionDef, ast.Lambda)))
    for function in functions:
        if isinstance(function, ast.Lambda):
            follower.follow(module, function.body, ())
        elif isinstance(function, ast.FunctionDef):
            for value in own_returns(function):
                if value.value is not None:
                    follower.follow(module, value.value, ())


def _wants_part(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.keyword):
        parent = module.parent(parent)
    if isinstance(parent, ast.Attribute):
        return parent.attr not in DATASET_METHODS
    if isinstance(parent, ast.Call):
        return parent.func is not node and (module.resolve(parent.func) or "").startswith("tensorflow.")
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    return isinstance(parent, ast.Subscript) and parent.value is node
