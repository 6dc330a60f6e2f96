"""Functions and classes of a program that nothing names: they stay for graphs, with the names of `tf.compat.v1`.

A file of helpers holds more of them than a program calls. What calls none of them moves without them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrator.diagnostics import Edit
from migrator.module import Module
from migrator.syntax import walk

from .contrib_graphs import contrib_edits, contrib_helper
from .estimator_kinds import KINDS
from .tensorflow_names import whole_name
from .tpu import short_name

# Names of variable scopes, which only TensorFlow 1 has, though much else that is migrated knows them.
GRAPH_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.AUTO_REUSE"})
_LOOKUPS = frozenset({"globals", "vars", "locals", "eval", "exec", "__import__"})
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def unused_spans(modules: Iterable[Module], module: Module) -> list[tuple[int, int]]:
    """The spans of the functions and classes at the top of `module` that nothing in `modules` names.

    What only such code names counts as unused, too. A name in a string counts as a use, since `getattr` and tables find code
    by it, and so does an import in a package's ``__init__.py``. What makes an Estimator is in use, whoever calls it, and so
    is `main`, which ``app.run()`` finds by its name. Where names are made up as the program runs, nothing is known to be
    unused.
    """
    modules = list(modules)
    if any(_finds_by_name(other) for other in modules):
        return []
    waiting: list[ast.AST] = []
    named: dict[str, list[ast.AST]] = {}
    for other in modules:
        package = other.path.endswith("__init__.py")
        starts = _starts(other)
        for statement in other.tree.body:
            if isinstance(statement, _DEFINITIONS) and not statement.decorator_list and statement not in starts:
                named.setdefault(statement.name, []).append(statement)
            elif package or not isinstance(statement, (ast.Import, ast.ImportFrom)) or _renames(statement):
                waiting.append(statement)
    used: set[ast.AST] = set()
    while waiting:
        for node in walk(waiting.pop()):
            for name in _names(node):
                found = [definition for definition in named.get(name, ()) if definition not in used]
                used.update(found)
                waiting += found
    used |= _starts(module)
    own = [s for s in module.tree.body if isinstance(s, _DEFINITIONS) and not s.decorator_list and s not in used]
    return [module.span(statement) for statement in own]


def _renames(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether what an import names is read by another name."""
    return any(alias.asname not in (None, alias.name) for alias in statement.names)


def _starts(module: Module) -> set[ast.AST]:
    """The functions and classes at the top of a module that are in use whether or not anything names them."""
    found: set[ast.AST] = {s for s in module.tree.body if isinstance(s, ast.FunctionDef) and s.name == "main"}
    for node, name in module.references() if b"stimator" in module.source else ():
        if name in KINDS or short_name(name) == "TPUEstimator":
            found |= {ancestor for ancestor in module.ancestors(node) if module.parent(ancestor) is module.tree}
    return found


def _finds_by_name(module: Module) -> bool:
    """Whether a module may find functions by names that are not written in it."""
    for call in module.nodes(ast.Call):
        function = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        literal = len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
        if function in _LOOKUPS or (function in ("getattr", "import_module") and not literal):
            return True
    return any(node.attr == "__dict__" for node in module.nodes(ast.Attribute))


def _names(node: ast.AST) -> tuple[str, ...]:
    """What a node may name."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.alias):
        return (node.name.rsplit(".", 1)[-1],)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        return (node.value,)
    return ()


def old_name(
    module: Module, node: ast.expr, name: str, tensorflow: str, need: Callable[[str, ast.AST], str]
) -> list[Edit] | None:
    """The edits that let a reference mean the graph's function, where the file will call TensorFlow `tensorflow`, and `need`
    asks for a vendored helper; None where nothing is known to hold it."""
    if name.startswith("tensorflow.contrib."):
        helper = contrib_helper(module, node, name)
        return contrib_edits(module, node, name) if helper is None else [module.edit(node, need(helper, node))]
    if whole_name(module) is None:
        return None
    return [module.edit(node, f"{tensorflow}.compat.v1.{name[len('tensorflow.') :]}")]
