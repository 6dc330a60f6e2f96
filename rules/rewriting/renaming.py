"""References to functions that become something of another name: model_fns, and helpers that become layers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator

from migrator.analyse.function.body import Body
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.sublayers import Sublayers
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans
from migrator.rewrite import Change, Import, Remove, Rename, Replace, code

from ..estimator_calls.estimator_values import Construction
from ..model_fns.model_fns import PARTIAL, HandedOn, ModelFn, check_partial


def idle_imports(module: Module, gone: Iterable[ast.expr]) -> Iterator[Change]:
    """Removals of imports of functools that only served partial model_fns, references to which are `gone`."""
    nodes = {id(n) for reference in gone for n in walk(reference)}
    for entry in module.imports:
        if entry.target in ("functools", PARTIAL) and len(getattr(entry.statement, "names", [])) == 1:
            uses = module.loads(entry.name)
            if uses and all(id(node) in nodes for node in uses):
                yield Remove(entry.statement)


def model_fn_changes(
    model: ModelFn,
    project: Project,
    module: Module,
    constructions: Iterable[Construction],
    inside: Spans,
    handed_on: HandedOn,
) -> Iterator[Change]:
    """References to a model_fn by name, but for those `inside` of model_fns: imports, `return model_fn` of a builder, and
    where it is handed on to an Estimator that is made elsewhere."""
    given = [c.arguments["model_fn"] for c in constructions if c.module is module and "model_fn" in c.arguments]
    constructed = {id(n) for argument in given for n in walk(argument)}
    name = model.definition.name
    for entry in module.imports:
        if entry.alias.name == name and project.exported(entry.target, module) == model.definition:
            yield Rename(entry.alias, model.factory)
            yield from _listed(module, name, model.factory)
    for member in module.nodes(ast.Attribute):  # `model.model_fn` of another file
        if member in handed_on.values and project.definition(module, member) == model.definition:
            yield Rename(member, model.factory)
    for node in module.loads(name):
        if id(node) in constructed or inside.hold(module.span(node)):
            continue
        if project.definition(module, node) != model.definition:
            continue
        parent = module.parent(node)
        partial = isinstance(parent, ast.Call) and module.resolve(parent.func) == PARTIAL
        if isinstance(parent, ast.Call) and partial and parent.args[:1] == [node]:
            assert model.plan is not None
            check_partial(parent, model.plan)
        elif not isinstance(parent, ast.Return) and node not in handed_on.values:
            raise Unsupported("the model_fn is used for more than an Estimator", node)
        yield Rename(node, model.factory)


def value_changes(sublayers: Sublayers, module: Module) -> Iterator[Rename]:
    """References to helpers that are handed around, which become those of classes."""
    for reference, made in sublayers.values.references.items():
        if made.module is module and made.definition in sublayers.found:
            assert isinstance(reference, (ast.Name, ast.Attribute))
            yield Rename(reference, sublayers.found[made.definition].class_name)


def kept_functions(sublayers: Sublayers, project: Project, unused: Callable[[Module], Spans]) -> set[Definition]:
    """The helpers that become layers and are called in `unused` code as well, for which they stay, with all that they call."""
    kept: set[Definition] = set()
    code = {module: spans for module in project.modules.values() if [*(spans := unused(module))]}
    while code:
        more = {
            definition
            for definition in sublayers.found.keys() - kept
            for module, spans in code.items()
            if module.may_name((definition.name,))
            if any(spans.hold(module.span(node)) for node in project.uses(definition, module))
        }
        kept |= more
        code = {}
        for each in more:
            code[each.module] = Spans([*code.get(each.module, ()), each.module.span(each.node)])
    return kept


def layer_changes(
    definition: Definition,
    sublayers: Sublayers,
    project: Project,
    module: Module,
    unused: Spans,
    bodies: Collection[Body],
    kept: bool,
) -> Iterator[Change]:
    """Imports of a helper that becomes a layer; any other use of it stands in the way, but in `unused` code.

    Where it is `kept` for such code, packages pass on both.
    """
    sublayer = sublayers.found[definition]
    known = {id(call.func) for _, call in sublayer.calls} | {id(node) for node in sublayers.values.references}
    known |= {id(node) for body in bodies for statement in body.flow.joined for node in walk(statement)}
    uses = [(node, unused.hold(module.span(node))) for node in project.uses(definition, module)]
    apart = any(idle for _, idle in uses)
    if apart and module is not definition.module:
        if not all(idle for _, idle in uses):
            raise Unsupported("a helper that makes layers is used outside of the model as well", uses[0][0])
        return
    for entry in module.imports:
        if entry.alias.name == definition.name and project.exported(entry.target, module) == definition:
            if entry.alias.asname is not None:
                raise Unsupported("a helper that makes layers is imported under another name", entry.statement)
            listed = [*_listed(module, definition.name, sublayer.class_name)]
            if not kept or not passes_on(module, project, [definition]):
                yield from (Rename(entry.alias, sublayer.class_name), *listed)
                continue
            if listed:
                raise Unsupported(
                    "a helper that makes layers stays for others, and `__all__` names it", entry.statement
                )
            assert isinstance(entry.statement, ast.ImportFrom)
            source = "." * entry.statement.level + (entry.statement.module or "")
            yield Import(f"from {source} import {sublayer.class_name}", below=entry.statement)
    for node, idle in uses:
        if id(node) not in known and not idle:
            raise Unsupported("a helper that makes layers is used outside of the model as well", node)


def passes_on(module: Module, project: Project, definitions: Collection[Definition]) -> bool:
    """Whether a package imports one of the functions for others, and does nothing with it itself."""
    if not module.path.endswith("__init__.py"):
        return False
    return any(
        entry.alias.name == definition.name
        and not module.loads(entry.name)
        and project.exported(entry.target, module) == definition
        for entry in module.imports
        if entry.top_level and isinstance(entry.statement, ast.ImportFrom)
        for definition in definitions
    )


def _listed(module: Module, name: str, new: str) -> Iterator[Change]:
    """Changes of ``__all__``."""
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign) and "__all__" in [
            t.id for t in statement.targets if isinstance(t, ast.Name)
        ]:
            for node in walk(statement.value):
                if isinstance(node, ast.Constant) and node.value == name:
                    yield Replace(node, code(module.segment(node).replace(name, new)))
