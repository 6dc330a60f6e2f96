"""Functions and classes of a program that nothing names: they stay for graphs, with the names of `tf.compat.v1`.

A file of helpers holds more of them than a program calls. What calls none of them moves without them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from migrator.resolve.module import Module
from migrator.resolve.syntax import is_main_block, walk
from migrator.resolve.text import Span, Spans
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Edit

from ..bridge.contrib_graphs import contrib_edits, contrib_helper
from ..distribute.tpu_facts import short_name
from ..estimator_calls.estimator_kinds import KINDS
from ..estimator_calls.sessions import SESSIONS
from ..symbols.tensorflow_names import whole_name

# Names of variable scopes, which only TensorFlow 1 has, though much else that is migrated knows them.
GRAPH_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.AUTO_REUSE"})
_LOOKUPS = frozenset({"globals", "vars", "locals", "eval", "exec", "__import__"})
_ASKING = frozenset({"getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller", "patch"})
"""What finds code by a name that is written in its call."""
_ESTIMATORS = ("Estimator", "Classifier", "Regressor", "model_to_estimator", "train_and_evaluate")
"""How the names end that a main block needs to train an Estimator."""
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class _Said:
    """A statement at the top of a file, and what is said in it."""

    statement: ast.stmt
    names: frozenset[str]
    """What it may name."""
    texts: frozenset[str]
    """Its strings."""


def unused_spans(modules: Iterable[Module], module: Module) -> Spans:
    """The spans of the functions and classes at the top of `module` that nothing in `modules` names.

    What only such code names counts as unused, too, and what only the main block of another program does, that makes no
    Estimator. The name of a class in a string counts as a use, since registries find it by that; that of a function does
    where a module is handed on, so that what gets it may ask for it, and where `getattr` does. So does an import in a
    package's ``__init__.py``. What makes an Estimator is in use, whoever calls it, and so is `main`, which ``app.run()`` finds
    by its name. Where names are made up as the program runs, nothing is known to be unused.
    """
    program = tuple(modules)
    known: tuple[tuple[Module, ...], Spans] | None = module.memo.get("unused code")
    if known is None or known[0] != program:
        known = module.memo["unused code"] = program, Spans(_unused(program, module))
    return known[1]


def _unused(modules: tuple[Module, ...], module: Module) -> list[Span]:
    known: tuple[tuple[Module, ...], set[ast.AST] | None] | None = modules[0].memo.get("used code")
    if known is None or known[0] != modules:
        known = modules[0].memo["used code"] = modules, _used(modules)
    used = known[1]
    own = [s for s in module.tree.body if isinstance(s, _DEFINITIONS) and not s.decorator_list]
    return [] if used is None else [module.span(statement) for statement in own if statement not in used]


def _used(modules: Sequence[Module]) -> set[ast.AST] | None:
    """The statements at the top of the modules that are in use; None where names are made up as the program runs."""
    handed = _hands_on_modules(modules)
    if any(_finds_by_name(other, handed) for other in modules):
        return None
    named: dict[str, list[_Said]] = {}
    roots: list[_Said] = []
    mains: list[_Said] = []
    for other in modules:
        package = other.path.endswith("__init__.py")
        starts = _starts(other)
        for said in _statements(other):
            statement = said.statement
            if isinstance(statement, _DEFINITIONS) and not statement.decorator_list and statement not in starts:
                named.setdefault(statement.name, []).append(said)
            elif package or not isinstance(statement, (ast.Import, ast.ImportFrom)) or _renames(statement):
                (mains if is_main_block(statement) else roots).append(said)
    programs = [main for main in mains if _makes_estimators(main, named, handed)]
    return {said.statement for said in _reached([*roots, *(programs or mains)], named, handed)}


def _statements(module: Module) -> list[_Said]:
    """The statements at the top of a module."""
    found: list[_Said] | None = module.memo.get("said at the top")
    if found is None:
        found = module.memo["said at the top"] = [*map(_said, module.tree.body)]
    return found


def _said(statement: ast.stmt) -> _Said:
    nodes = walk(statement)
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return _Said(statement, frozenset(name for node in nodes for name in _names(node)), frozenset(texts))


def _renames(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether what an import names is read by another name."""
    return any(alias.asname not in (None, alias.name) for alias in statement.names)


def _starts(module: Module) -> set[ast.AST]:
    """The functions and classes at the top of a module that are in use whether or not anything names them."""
    blocks = any(
        is_main_block(statement) for statement in module.tree.body
    )  # these say which `main` is that of the program
    functions = [s for s in module.tree.body if isinstance(s, ast.FunctionDef) and not blocks]
    found: set[ast.AST] = {function for function in functions if function.name == "main"}
    for node in _estimators(module):
        found |= {ancestor for ancestor in module.ancestors(node) if module.parent(ancestor) is module.tree}
    return found


def _estimators(module: Module) -> Iterator[ast.expr]:
    """The places where a module names a kind of Estimator."""
    for node, name in module.references() if b"stimator" in module.source else ():
        if name in KINDS or short_name(name) == "TPUEstimator":
            yield node


def makes_estimator(module: Module) -> bool:
    """Whether a module names a kind of Estimator."""
    return next(_estimators(module), None) is not None


def inside_unused(module: Module, node: ast.AST, unused: Spans) -> ast.FunctionDef | None:
    """The function or method in `unused` code that a node is in, below its head: it is not evaluated unless that is called."""
    if not unused.hold(module.span(node)):
        return None
    below = node
    for ancestor in module.ancestors(node):
        if isinstance(ancestor, ast.FunctionDef) and below in ancestor.body:
            return ancestor
        below = ancestor
    return None


def said_of_unused(function: ast.FunctionDef, name: str) -> str:
    """What the owner should know of a name of TensorFlow 1 that stays in a function that nothing calls."""
    if name in SESSIONS:
        keeps = "opens a session, and needs tf.compat.v1.disable_eager_execution() before"
    else:
        keeps = f"keeps {name.replace('tensorflow.', 'tf.', 1)}, and would stop at it"
    return f"`{function.name}` {keeps}: no code of the Estimator's program calls it"


def _reached(start: Iterable[_Said], named: Mapping[str, list[_Said]], handed: bool) -> set[_Said]:
    """`start`, and the definitions that it names, or that these name; where modules are `handed` on, strings name functions."""
    waiting = list(start)
    used = set(waiting)
    while waiting:
        said = waiting.pop()
        found = {each for name in named.keys() & said.names for each in named[name]}
        for text in named.keys() & said.texts:
            found |= {each for each in named[text] if handed or not isinstance(each.statement, ast.FunctionDef)}
        waiting += found - used
        used |= found
    return used


def _makes_estimators(main: _Said, named: Mapping[str, list[_Said]], handed: bool) -> bool:
    reached = _reached([main], named, handed)
    return any(name.endswith(_ESTIMATORS) for said in reached for name in said.names)


def _hands_on_modules(modules: Sequence[Module]) -> bool:
    """Whether any file of the program is more than the left side of a dot somewhere, so that `getattr` may get it."""
    own: set[str] = set()
    for module in modules:
        parts = os.path.splitext(module.path)[0].split(os.sep)
        own.update(".".join(parts[start:end]) for end in range(1, len(parts) + 1) for start in range(end))
    for module in modules:
        names = {entry.name for entry in module.imports if entry.target.lstrip(".") in own}
        for name in names:
            if not all(isinstance(module.parent(load), ast.Attribute) for load in module.loads(name)):
                return True
    return False


def _finds_by_name(module: Module, handed: bool) -> bool:
    """Whether a module may find functions by names that are not written in it; `getattr` does so if modules are handed on."""
    for call in module.nodes(ast.Call):
        function = _called(call)
        literal = len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
        if function == "import_module" and all(_is_asked_by_name(module, place) for place in _places(module, call)):
            continue
        if function in _LOOKUPS or (function == "import_module" or function == "getattr" and handed) and not literal:
            return True
    return any(
        node.attr == "modules" or (node.attr == "__dict__" and not _is_object(module, node.value, handed))
        for node in module.nodes(ast.Attribute)
    )


def _places(module: Module, call: ast.Call) -> list[ast.expr]:
    """What stands for the module that a call imports: the call, or what reads the name that it gets."""
    statement = module.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return [call]
    scope = module.scope(target).holder(target.id)
    return [*module.loads_of(target.id, scope)] if len(scope.bindings.get(target.id, [])) == 1 else [call]


def _is_asked_by_name(module: Module, node: ast.expr) -> bool:
    """Whether a module is only asked for what a name written here says: ``module.build``, ``getattr(module, "build")``."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and isinstance(parent.func, ast.Name):
        literal = len(parent.args) > 1 and isinstance(parent.args[1], ast.Constant)
        return parent.func.id == "getattr" and literal and not module.bindings(parent.func)
    return isinstance(parent, ast.Attribute) and parent.attr != "__dict__"


def _is_object(module: Module, node: ast.expr, handed: bool) -> bool:
    """Whether a name stands for objects alone that hold no functions of a module.

    Such are those that calls give, like ``parser.parse_args()``, and where no module is handed on, what functions get.
    """
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    places = [(binding.node, module.parent(binding.node)) for binding in bindings if binding.node is not None]
    return len(places) == len(bindings) > 0 and all(
        (isinstance(around, ast.Assign) and isinstance(around.value, ast.Call))
        or (isinstance(place, ast.arg) and not handed)
        for place, around in places
    )


def _names(node: ast.AST) -> tuple[str, ...]:
    """What a node may name."""
    if isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") == "run":
        return ("main",)  # `tf.app.run()`
    if isinstance(node, ast.Call) and _called(node) in _ASKING:
        texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        return tuple(text for text in texts if isinstance(text, str))
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.alias):
        return (node.name.rsplit(".", 1)[-1],)
    return ()


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def old_name(
    module: Module, node: ast.expr, name: str, tensorflow: str, need: Callable[[str, ast.AST], str]
) -> list[Edit] | None:
    """The edits that let a reference mean the graph's function, where the file will call TensorFlow `tensorflow`, and `need`
    asks for a vendored helper; None where nothing is known to hold it."""
    if name.startswith("tensorflow.contrib."):
        helper = contrib_helper(module, node, name)
        return contrib_edits(module, node, name) if helper is None else _named(module, node, need(helper, node))
    if whole_name(module) is None:
        return None
    return _named(module, node, f"{tensorflow}.compat.v1.{name[len('tensorflow.') :]}")


def _named(module: Module, node: ast.expr, name: str) -> list[Edit]:
    return module.cst.apply([Replace(node, name)])
