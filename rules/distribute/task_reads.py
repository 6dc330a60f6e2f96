"""What a RunConfig says of the place of its process in a cluster, as the resolver of TF_CONFIG says it."""

from __future__ import annotations

import ast

from migrator.resolve.module import Module

_JOBS = "{resolver}.cluster_spec().as_dict()"
OF_TASKS = {
    "is_chief": '{resolver}.task_type in (None, "chief", "master")',
    "task_type": '{resolver}.task_type or "worker"',
    "cluster_spec": "{resolver}.cluster_spec()",
    "num_ps_replicas": f'len({_JOBS}.get("ps", []))',
    "num_worker_replicas": f'sum(len(hosts) for job, hosts in {_JOBS}.items() if job in ("chief", "master", "worker")) or 1',
}
"""Fields, and what takes their place. Not the number of a task, by which data are shared out: there is one process that makes
the data of all workers of parameter servers."""
_LOOSE = frozenset({"is_chief", "task_type", "num_worker_replicas"})
"""Those whose text is no operand."""
_OUTER = (ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Starred)


def task_text(module: Module, read: ast.Attribute, resolver: str) -> str:
    """What takes the place of a field."""
    text = OF_TASKS[read.attr].format(resolver=resolver)
    return f"({text})" if read.attr in _LOOSE and isinstance(module.parent(read), _OUTER) else text


def resolver_of(module: Module, statement: ast.stmt) -> str:
    """The variable that takes the place of the configuration which a statement makes."""
    return module.unused_name("resolver", statement)


def resolver_line(tf: str, resolver: str) -> str:
    """The statement that takes the place of that one."""
    return f"{resolver} = {tf}.distribute.cluster_resolver.TFConfigClusterResolver()"
