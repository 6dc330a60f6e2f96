"""A lambda that stands for a model_fn becomes a `functools.partial`, or a function with a name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.statements.names import parameters, reads
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import module_name
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Import, Insert, Replace, Statement, code, statements
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

_LAYERS = (
    "tensorflow.keras.layers.",
    "tensorflow.layers.",
    "tensorflow.contrib.layers.",
    "tensorflow.get_variable",
    "tensorflow.Variable",
)


def lambda_function(drafts: Drafts, module: Module, node: ast.Lambda) -> list[Change]:
    """The edits that give a lambda's place to something that is followed. Raises Unsupported."""
    called = drafts.project.definition(module, node.body.func) if isinstance(node.body, ast.Call) else None
    if called is None:
        raise Unsupported("the model_fn is not found", node)
    partial = _partial(drafts, module, node)
    if partial is not None:
        functools, imports = functools_partial(module)
        changes = [*imports, Replace(node, code(f"{functools}({partial})"))]
        return Change.every((module, change) for change in changes)
    statement = module.statement(node)
    if module.indent(statement) is None or not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
        raise Unsupported("a lambda in the head of a compound statement is not followed", node)
    name = module_name(module, "model_fn", "lambda")
    made = Insert(_as_function(module, node, name), before=statement, apart=True)
    return Change.every([(module, made), (module, Replace(node, name))])


def _as_function(module: Module, node: ast.Lambda, name: str) -> list[Statement]:
    """The definition of a function that is a lambda with a name."""
    made: cst.Lambda = module.cst.expression(node)  # type: ignore[assignment]
    return statements("def {name}({params}):\n    return {body}", name=name, params=made.params, body=made.body)


def local_function(module: Module, call: ast.Call) -> list[Change]:
    """``make = lambda units: tf.layers.Dense(units)``, which `call` calls, becomes a function of that name."""
    statement = module.assignment(call.func) if isinstance(call.func, ast.Name) else None
    node = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(node, ast.Lambda) or not isinstance(call.func, ast.Name) or statement is None:
        return []
    made = [module.resolve(part.func) or "" for part in walk(node.body) if isinstance(part, ast.Call)]
    if not any(name.startswith(_LAYERS) for name in made) or not isinstance(
        module.parent(statement), (ast.FunctionDef, ast.Module)
    ):
        return []
    if module.indent(statement) is None or len(getattr(statement, "targets", ())) != 1:
        return []
    return Change.every([(module, Replace(statement, _as_function(module, node, call.func.id)))])


def _partial(drafts: Drafts, module: Module, node: ast.Lambda) -> str | None:
    """``f, a=1`` where the lambda hands its own parameters on to `f` under their names, with plain values added."""
    if not isinstance(node.body, ast.Call):
        return None
    definition = drafts.project.definition(module, node.body.func)
    if definition is None or not isinstance(definition.node, ast.FunctionDef):
        return None
    own = parameters(node)
    texts = [module.segment(node.body.func)]
    handed = set()
    for name, value in given(definition.node, node.body).items():
        if isinstance(value, ast.Name) and value.id == name and name in own:
            handed.add(name)
        elif reads(value) & own or name in ("params", "config") or not _is_lasting(module, value):
            return None
        else:
            texts.append(f"{name}={module.segment(value)}")
    return ", ".join(texts) if own - handed <= {"params", "config"} and {"features", "mode"} & own <= handed else None


def _is_lasting(module: Module, value: ast.expr) -> bool:
    """Whether a value is the same whenever it is computed: constants, and names that are bound once."""
    if any(isinstance(n, (ast.Call, ast.Subscript, ast.Attribute)) for n in walk(value)):
        return False
    return all(len(module.bindings(n)) == 1 for n in walk(value) if isinstance(n, ast.Name))


def functools_partial(module: Module) -> tuple[str, list[rewrite.Change]]:
    """How a file writes `functools.partial`, and the import that it needs for that."""
    for entry in module.imports:
        if entry.top_level and entry.target == "functools.partial":
            return entry.name, []
        if entry.top_level and entry.target == "functools":
            return f"{entry.name}.partial", []
    return "functools.partial", [Import("import functools")]
