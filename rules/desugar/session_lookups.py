"""Tensors that a hook looks up in the graph of its session: it looks them up in `begin`, where the graph is whole as well."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, statements
from migrator.vocabulary.unsupported import Unsupported

from ..symbols.tensorflow_names import tensorflow_root


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Moves the look-ups of a class of hooks that does nothing else with the session it is shown.

    ```python
    import tensorflow as tf


    class Norms(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.norm = session.graph.get_tensor_by_name("norm:0")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self.norm)
    ```
    becomes
    ```python
    import tensorflow as tf


    class Norms(tf.train.SessionRunHook):
        def begin(self):
            self.norm = tf.get_default_graph().get_tensor_by_name("norm:0")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self.norm)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each class."""
    del project
    if b"get_tensor_by_name" not in module.source:
        return
    for owner in module.nodes(ast.ClassDef):
        hooks = [base for base in owner.bases if (module.resolve(base) or "").endswith(".SessionRunHook")]
        methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
        created = methods.get("after_create_session")
        if hooks and created is not None and not created.decorator_list:
            yield _moved(module, hooks[0], created, methods.get("begin"))


def _moved(module: Module, base: ast.expr, created: ast.FunctionDef, begin: ast.FunctionDef | None) -> list[Change]:
    """The changes for one method `after_create_session`."""
    own, root = [arg.arg for arg in created.args.args], tensorflow_root(module, base)
    body = created.body[int(ast.get_docstring(created, clean=False) is not None) :]
    if len(own) != 3 or root is None or root[1] or not body or (begin is not None and len(begin.args.args) != 1):
        return []
    if begin is not None and begin.args.args[0].arg != own[0]:
        return []
    graphs: list[ast.Attribute] = []
    for statement in body:
        graph = _graph(statement, own)
        if graph is None:
            return []
        graphs.append(graph)
    read = [node for statement in body for node in walk(statement) if isinstance(node, ast.Name) and node.id in own[1:]]
    if len(read) != len(graphs):
        return []
    holes = {f"name_{n}": module.cst.expression(_name(statement)) for n, statement in enumerate(body)}
    lines = [
        f"{ast.unparse(statement.targets[0])} = {root[0]}.get_default_graph().get_tensor_by_name({{name_{n}}})"
        for n, statement in enumerate(body)
        if isinstance(statement, ast.Assign)
    ]
    moved = statements("\n".join(lines), **holes)
    try:
        if begin is not None:
            return Change.every([(module, Insert(moved, after=begin.body[-1])), (module, Remove(created, apart=True))])
        method = statements(f"def begin({own[0]}):\n    {{body}}", body=moved)
        return Change.of(module, Replace(created, method))
    except Unsupported:
        return []


def _graph(statement: ast.stmt, own: list[str]) -> ast.Attribute | None:
    """The ``session.graph`` of ``self.norm = session.graph.get_tensor_by_name(name)``."""
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or target.value.id != own[0]:
        return None
    method = value.func if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords else None
    graph = method.value if isinstance(method, ast.Attribute) and method.attr == "get_tensor_by_name" else None
    session = graph.value if isinstance(graph, ast.Attribute) and graph.attr == "graph" else None
    return (
        graph if isinstance(graph, ast.Attribute) and isinstance(session, ast.Name) and session.id == own[1] else None
    )


def _name(statement: ast.stmt) -> ast.expr:
    assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    return statement.value.args[0]
