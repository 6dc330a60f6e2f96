"""SavedModels that a program exports: what they are fed, and what their signatures are called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.exporters import EXPORT_SIGNATURE, EXPORTS
from ..loop.places import has_its_line, is_simple
from ..loop.sources import Place, Source
from .fed_features import Receiver
from .receivers import receiver_of
from .signatures import Signatures

_TOLD = {"export_dir_base", "serving_input_receiver_fn", "checkpoint_path", "strip_default_attrs"}
_LOOPS = (ast.For, ast.While)
_INSIDE = (ast.comprehension, ast.Lambda)


@dataclass(frozen=True)
class Export(Place):
    """A call of a method that exports."""

    module: Module
    call: ast.Call
    folder: ast.expr
    """Where it makes a folder of its own."""
    fed: Receiver
    receiver: ast.expr
    """What stands for the Estimator in it."""
    sources: tuple[Source, ...]
    held: ast.Assign | ast.Return | ast.Call | None = None
    """What reads the path which it returns: a statement, or a call that is one, such as of `print`."""
    path: ast.expr | None = None
    decoded: tuple[ast.Call, ...] = ()
    """The calls that make text of that path, if nothing else reads it."""

    @property
    def at(self) -> ast.expr:
        return self.call

    @property
    def repeated(self) -> bool:
        """Whether it may be made several times, each of which waits for another second."""
        return any(isinstance(outer, _LOOPS) for outer in self.module.ancestors(self.call))

    @property
    def names(self) -> tuple[ast.expr, ...]:
        """References to names of the library that go with it."""
        return self.fed.names

    @property
    def signatures(self) -> Signatures:
        """Its signatures."""
        return self.sources[0].signatures


def export_of(project: Project, module: Module, node: ast.expr, sources: tuple[Source, ...]) -> Export | str | None:
    """The export that is made of an Estimator at a place, or why it is not understood; None: there is none."""
    attribute = module.parent(node)
    call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(attribute, ast.Attribute) or attribute.attr not in EXPORTS or not isinstance(call, ast.Call):
        return None
    if call.func is not attribute:
        return "the Estimator is used elsewhere"
    try:
        given = bind(call, f"{EXPORT_SIGNATURE} {EXPORTS[attribute.attr]}", attribute.attr)
    except Unsupported as problem:
        return problem.reason
    if isinstance(given.get("as_text"), ast.Constant):  # how the file is written, which TensorFlow 2 does not ask
        del given["as_text"]
    told = {name: value for name, value in given.items() if not is_none(value)}
    if other := sorted(told.keys() - _TOLD):
        return f"`{other[0]}` of {attribute.attr}"
    held = module.parent(call)
    if not isinstance(held, (ast.Expr, ast.Return)) and not _is_named(held) and not _is_given(module, call):
        return f"what `{attribute.attr}` returns is read"
    start, end = module.span(call)
    if not has_its_line(module, call) or b"#" in module.source[start:end]:
        return "an export in the line of another statement"
    if any(isinstance(outer, _INSIDE) for outer in module.ancestors(call)):
        return "exports in an expression"
    fed = receiver_of(project, module, given["serving_input_receiver_fn"], call)
    if isinstance(fed, str):
        return fed
    signatures = sources[0].signatures
    if any(source.signatures != signatures for source in sources):
        return "one of several Estimators that serve differently"
    if not is_simple(node):
        return "an Estimator in an expression that is not simple"
    reason = signatures.refusing(fed.text, fed.maybe_no_dict)
    found = Export(module, call, given["export_dir_base"], fed, node, sources, path=told.get("checkpoint_path"))
    if isinstance(held, ast.Call):
        return reason or replace(found, held=held)
    if isinstance(held, (ast.Assign, ast.Return)):
        found = replace(found, held=held, decoded=_decoded(module, held))
    return reason or found


def _is_named(statement: ast.AST | None) -> bool:
    """Whether a statement gives one name to a value."""
    return (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
    )


def _is_given(module: Module, call: ast.Call) -> bool:
    """Whether a call that is a statement takes what another one returns, after nothing that may do something."""
    outer = module.parent(call)
    if not isinstance(outer, ast.Call) or not isinstance(module.parent(outer), ast.Expr):
        return False
    others = [outer.func, *outer.args, *(keyword.value for keyword in outer.keywords)]
    return all(each is call or isinstance(each, (ast.Name, ast.Constant)) for each in others)


def _decoded(module: Module, statement: ast.stmt) -> tuple[ast.Call, ...]:
    """The calls that make text of a path, where all that reads it does so."""
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(name, ast.Name) or len(module.bindings(name)) != 1:
        return ()
    methods = [module.parent(load) for load in module.loads_of(name.id, module.scope(name).lookup(name.id))]
    calls = [
        module.parent(method) for method in methods if isinstance(method, ast.Attribute) and method.attr == "decode"
    ]
    found = tuple(call for call in calls if isinstance(call, ast.Call) and call.func in methods)
    return found if len(found) == len(methods) else ()


def of_exports(found: Sequence[Export]) -> str:
    """Why exports stay."""
    once = len({ast.dump(export.folder) for export in found}) == len(found)
    return "" if once else "several exports to one folder"  # each waits for another second
