"""Hyper-parameters of which a program reads only attributes: a `types.SimpleNamespace` holds them as well as `HParams` does."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence

from migrator import rewrite
from migrator.analyse.statements.loggers import LOGGERS
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.methods import method_of
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import AnnotatedAssign
from migrator.rewrite import Import, Replace, expr
from migrator.vocabulary.unsupported import Unsupported

from ..bridge.reached import reached
from ..canned.hyperparameters import HPARAMS, makes_hparams
from ..estimator_calls.estimator_values import ESTIMATOR, Construction
from ..estimator_calls.following import Follower

_SIGNATURE = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_METHODS = frozenset(
    "add_hparam set_hparam del_hparam get values parse parse_json to_json to_proto from_proto override_from_dict "
    "set_from_map set_model_structure get_model_structure".split()
)
_ITS_OWN = frozenset({"add_hparam", "set_hparam", "del_hparam", "override_from_dict", "parse_json"})
"""Methods whose names other objects hardly have."""
_PLACES = 2000


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes them one, where all that a program does with them is seen.

    ```python
    import tensorflow as tf

    def build(hparams):
        return tf.layers.Dense(hparams.units)

    build(tf.contrib.training.HParams(units=3))
    ```
    becomes
    ```python
    import types
    import tensorflow as tf

    def build(hparams):
        return tf.layers.Dense(hparams.units)

    build(types.SimpleNamespace(units=3))
    ```
    """
    group = [drafts.project.modules[path] for path in paths]
    named = [module for module in reached(drafts.project, group, False) if makes_hparams(module)]
    with contextlib.suppress(Unsupported):
        drafts.apply(Change.every(_changes(drafts.project, named)))


def _changes(project: Project, named: list[Module]) -> Iterator[tuple[Module, rewrite.Change]]:
    """The changes of the references to the class in some files; one that is no call is an annotation, or all stay."""
    places = [(module, node) for module in named for node, name in module.references() if name in HPARAMS]
    others = [(module, node) for module, node in places if call_of(module, node) is None]
    read = {node for module, node in places if _is_only_read(project, module, call_of(module, node))}
    if others and (len(read) + len(others) < len(places) or not all(_is_annotation(*place) for place in others)):
        return
    for module in named:
        name, imports = _namespace(module)
        nodes = [node for where, node in places if where is module and (others or node in read)]
        changes: list[rewrite.Change] = [*(imports if nodes else ()), *(Replace(node, expr(name)) for node in nodes)]
        yield from ((module, change) for change in changes)


def _is_annotation(module: Module, node: ast.expr) -> bool:
    """Whether an expression says what a value is."""
    outer = module.statement(node)
    said = [
        part.annotation
        for part in module.ancestors(node)
        if isinstance(part, (ast.arg, ast.AnnAssign, AnnotatedAssign))
    ]
    said += [outer.returns] if isinstance(outer, ast.FunctionDef) else []
    return any(node is part or module.is_inside(node, part) for part in said)


def _is_only_read(project: Project, module: Module, call: ast.Call | None) -> bool:
    """Whether attributes are all that is asked of what a call makes."""
    if call is None or call.args:
        return False
    if any(node.attr in _ITS_OWN for each in project.modules.values() for node in each.nodes(ast.Attribute)):
        return False
    follower = Follower(project, [Construction(module, call, {})], _PLACES)
    checked = 0
    reads = follower.run().reads
    while checked < len(reads):
        for where, node in reads[checked:]:
            checked += 1
            function = _model_fn(project, where, node)
            if function is not None:
                for load in function.module.loads_of_parameter("params", function.node):
                    follower.follow(function.module, load, ())
            elif not _reads_an_attribute(where, node):
                return False
        follower.run()
    return not follower.values.lost and not follower.exhausted


def _reads_an_attribute(module: Module, node: ast.expr) -> bool:
    """Whether a place asks for nothing but a value by its name, or hands the object on to a function that is followed."""
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr not in _METHODS and not parent.attr.startswith("_")
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call) and call.func is not node:
        name = module.resolve(call.func) or ""
        if name == "functools.partial":
            return True
        shown = isinstance(call.func, ast.Name) and not module.bindings(call.func) and call.func.id != "hasattr"
        return not shown and not name.startswith(("tensorflow.", *LOGGERS))
    return not isinstance(parent, (ast.Compare, ast.FormattedValue))


def _model_fn(project: Project, module: Module, node: ast.expr) -> Definition | None:
    """The model_fn whose params a place gives to an Estimator."""
    keyword = module.parent(node)
    call = module.parent(keyword) if isinstance(keyword, ast.keyword) else keyword
    if not isinstance(call, ast.Call) or module.resolve(call.func) != ESTIMATOR:
        return None
    given = bind(call, _SIGNATURE)
    if given is None or given.get("params") is not node or "model_fn" not in given:
        return None
    function = project.definition(module, given["model_fn"])
    if function is None:
        method = method_of(project, module, given["model_fn"])
        function = Definition(method.module, method.function) if method is not None else None
    return function if function is not None and isinstance(function.node, ast.FunctionDef) else None


def _namespace(module: Module) -> tuple[str, list[Import]]:
    """How a file writes the class, and the import that it lacks."""
    for entry in module.imports:
        if entry.top_level and entry.target == "types.SimpleNamespace":
            return entry.name, []
        if entry.top_level and entry.target == "types":
            return f"{entry.name}.SimpleNamespace", []
    if "types" in module.bound_names:
        return "SimpleNamespace", [Import("from types import SimpleNamespace")]
    return "types.SimpleNamespace", [Import("import types")]
