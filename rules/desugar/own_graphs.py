"""Sessions beside Estimators whose block makes all that they run: a graph of their own holds it.

In TensorFlow 1 that is the default graph, of which an Estimator, with a graph of its own, knows nothing. TensorFlow 2 has none.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.values.possible_values import possible_values
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_arguments

from ..estimator_calls.estimator_values import METHODS
from ..estimator_calls.sessions import on_own_graph

_SESSION = "tensorflow.Session"
_SHARED = (
    "tensorflow.estimator", "tensorflow.contrib.learn", "tensorflow.contrib.estimator", "tensorflow.train.Saver",
    "tensorflow.train.import_meta_graph", "tensorflow.get_default_session",
)  # fmt: skip
"""What a block does not name that stands apart from Estimators, and from what others put into the default graph."""
_NO_TENSORS = ("tensorflow.app", "tensorflow.flags", "tensorflow.logging", "tensorflow.gfile", "tensorflow.io.gfile")
_DEEP = 3


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives them that graph.

    ```python
    import tensorflow as tf

    with tf.Session() as sess:
        print(sess.run(tf.reduce_mean([1.0, 2.0])))
    estimator = tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf

    with tf.Session(graph=tf.Graph()) as sess:
        print(sess.run(tf.reduce_mean([1.0, 2.0])))
    estimator = tf.estimator.Estimator(model_fn)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"Session(" not in module.source or b"stimator" not in module.source:
        return
    if any(name.endswith(".set_random_seed") for _, name in module.references()):
        return  # which seeds the default graph
    for node in (node for node in walk(module.tree) if isinstance(node, ast.With)):
        made = node.items[0].context_expr if len(node.items) == 1 else None
        function = made.func if isinstance(made, ast.Call) else None
        if not isinstance(made, ast.Call) or not isinstance(function, ast.Attribute):
            continue
        if module.resolve(function) != _SESSION or on_own_graph(module, made) or not _is_bare(made):
            continue
        if _keeps_tensors(module, node) and _is_apart(project, module, node, node.body, 0):
            graph = expr("{tf}.Graph()", tf=module.cst.expression(function.value))
            yield Change.of(module, Replace(made, with_arguments(module.cst.call(made), add={"graph": graph})))


def _is_bare(made: ast.Call) -> bool:
    """Whether a session is given no graph."""
    try:
        return is_none(bind(made, "target graph config", "tf.Session").get("graph"))
    except Unsupported:
        return False


def _keeps_tensors(module: Module, block: ast.With) -> bool:
    """Whether nothing that a block makes is read behind it, but what its session gave."""
    held = block.items[0].optional_vars
    for node in (node for statement in block.body for node in walk(statement)):
        if isinstance(node, ast.Return) and not (node.value is None or _is_run(node.value, held)):
            return False
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        statement = module.statement(node)
        if isinstance(statement, ast.Assign) and _is_run(statement.value, held):
            continue
        scope = module.scope(node).holder(node.id)
        if any(not module.is_inside(load, block) for load in module.loads_of(node.id, scope)):
            return False
    return True


def _is_run(value: ast.expr, held: ast.expr | None) -> bool:
    """``sess.run(…)``."""
    function = value.func if isinstance(value, ast.Call) else None
    run = isinstance(function, ast.Attribute) and function.attr == "run"
    return run and held is not None and ast.unparse(function.value) == ast.unparse(held)  # type: ignore[union-attr]


def _is_apart(project: Project, module: Module, whole: ast.AST, body: Sequence[ast.AST], depth: int) -> bool:
    """Whether code reads no tensors from elsewhere, and trains nothing."""
    for node in (node for part in body for node in walk(part)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            return False
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        name = module.resolve(node) or ""
        if name.startswith(_SHARED):
            return False
        own = [binding.node for binding in module.bindings(node)] if isinstance(node, ast.Name) else []
        if isinstance(node, ast.Name) and not (own or hasattr(builtins, node.id)):
            return False  # of a star import, perhaps
        outside = [each for each in own if each is None or not module.is_inside(each, whole)]
        if outside and not name.startswith("tensorflow") and not _is_known(project, module, node, depth):
            return False
    return True


def _is_known(project: Project, module: Module, node: ast.expr, depth: int) -> bool:
    """Whether what a name from elsewhere stands for is no tensor, and makes none when it is called but where that happens."""
    found = project.definition(module, node)
    if found is not None:
        function = isinstance(found.node, ast.FunctionDef) and depth < _DEEP
        return function and _is_apart(project, found.module, found.node, [found.node], depth + 1)
    values = possible_values(project, module, node, whole=True)
    return values.stuck is None and all(_is_plain(project, *place) for place in values.values)


def _is_plain(project: Project, module: Module, value: ast.expr) -> bool:
    """Whether an expression makes no tensors: it names nothing of TensorFlow, nor calls what may."""
    for part in walk(value):
        if not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        name = module.resolve(part) or ""
        if name.startswith("tensorflow") and name != "tensorflow" and not name.startswith(_NO_TENSORS):
            return False
        bindings = module.bindings(part) if isinstance(part, ast.Name) else []
        if project.definition(module, part) is not None or any(isinstance(each.node, ast.arg) for each in bindings):
            return False
    return True
