"""Classes of a program derived from LoggingTensorHook that leave the logging to it: one hook logs, another one does the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.functions.applied import substituted, written
from migrator.normalise.functions.lift import removal
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_super, target_name, walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, code, expr, statements, with_arguments, with_function, with_parameters
from migrator.vocabulary.unsupported import Unsupported

from ..bridge.reached import reached

if TYPE_CHECKING:
    import libcst as cst

_LOGGING = frozenset(f"tensorflow.{family}.LoggingTensorHook" for family in ("train", "estimator"))
_GOES_ON = frozenset({"begin", "after_run"})
"""What has to call that of the base, which logs there."""
_ATOMS = (ast.Name, ast.Attribute, ast.Constant)
_Place = tuple[Module, ast.expr]


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes two hooks where a program makes one of such a class.

    ```python
    import tensorflow as tf


    class Progress(tf.train.LoggingTensorHook):
        def __init__(self, name, tensors):
            super().__init__(tensors, every_n_iter=10)
            self.name = name

        def end(self, session):
            print("end of", self.name)


    def hooks_of(loss):
        return [Progress("first", {"loss": loss})]
    ```
    becomes
    ```python
    import tensorflow as tf


    class Progress(tf.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def end(self, session):
            print("end of", self.name)


    def hooks_of(loss):
        return [tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=10), Progress("first")]
    ```
    """
    start = [drafts.project.modules[path] for path in paths]
    around = {module.path for module in reached(drafts.project, start, False)} & drafts.project.editable
    drafts.apply_all(sorted({*paths, *around}), lambda _, module: _found(drafts, module))


def _found(drafts: Drafts, module: Module) -> Iterator[list[Change]]:
    """The changes for each such class of a file."""
    for node in module.tree.body if b"LoggingTensorHook" in module.source else ():
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and module.resolve(node.bases[0]) in _LOGGING:
            logger = _logger(drafts.project, module, node)
            if logger is not None:
                try:
                    yield _apart(drafts, logger)
                except Unsupported:
                    continue


@dataclass(frozen=True)
class _Logger:
    """One such class."""

    module: Module
    node: ast.ClassDef
    init: ast.FunctionDef | None
    made: ast.Call | None
    """What its constructor gives to that of the base."""
    calls: tuple[tuple[Module, ast.Call], ...]
    """Where its hooks are made."""
    supers: tuple[ast.stmt, ...]
    """Statements that do what the base does."""

    @property
    def logs_alone(self) -> set[str]:
        """Parameters that say nothing but what is logged."""
        if self.init is None or self.made is None:
            return set()
        inside = set(walk(self.made))
        read = {n.id for n in walk(self.init) if isinstance(n, ast.Name) and n not in inside}
        return set(parameters(self.init)[1:]) - read

    @property
    def emptied(self) -> list[ast.FunctionDef]:
        """Methods that do nothing else."""
        methods = [part for part in self.node.body if isinstance(part, ast.FunctionDef)]
        return [each for each in methods if all(line in self.supers or _is_text(line) for line in each.body)]

    @property
    def goes(self) -> bool:
        """Whether nothing is left of the class."""
        return all(part in self.emptied or _is_text(part) for part in self.node.body)


def _logger(project: Project, module: Module, node: ast.ClassDef) -> _Logger | None:
    """What is known of a class; None where it does more than to add to what the base does."""
    if node.keywords or node.decorator_list or not isinstance(node.bases[0], ast.Attribute):
        return None
    if project.subclasses(Definition(module, node)):
        return None
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    if len(methods) + sum(map(_is_text, node.body)) < len(node.body) or "before_run" in methods:
        return None
    if any(method.decorator_list or not method.args.args for method in methods.values()):
        return None
    supers: list[ast.stmt] = []
    for method in methods.values():
        own = [line for line in method.body if _of_base(line, method.name)]
        inside = [part for part in walk(method) if is_super(part)]
        needed = method.name in _GOES_ON or method.name == "__init__"
        if len(own) != len(inside) or len(own) > 1 or (needed and not own):
            return None
        supers += own
    stored = {n.attr for n in walk(node) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}
    for part in walk(node):  # what is that of the base
        if isinstance(part, ast.Attribute) and part.attr.startswith("_") and part.attr not in {*stored, *methods}:
            if part.attr != "__init__":
                return None
    if any(name.startswith("_log") or name == "_iter_count" for name in (*methods, *stored)):
        return None
    init = methods.get("__init__")
    made = next((s.value for s in supers if isinstance(s, ast.Expr) and init is not None and s in init.body), None)
    calls = list(_calls(project, module, node))
    if (init is not None and not isinstance(made, ast.Call)) or not calls or None in calls:
        return None
    known = tuple(call for call in calls if call is not None)
    silent = "end" in methods and not any(line in methods["end"].body for line in supers)
    if silent and any(map(_may_log_at_end, [made] if made is not None else [call for _, call in known])):
        return None
    return _Logger(module, node, init, made if isinstance(made, ast.Call) else None, known, tuple(supers))


def _may_log_at_end(call: ast.expr) -> bool:
    """Whether a hook is told to log at the end as well, which an `end` of its own would keep it from."""
    assert isinstance(call, ast.Call)
    return len(call.args) > 3 or bool({keyword.arg for keyword in call.keywords} & {"at_end", None})


def _of_base(line: ast.stmt, name: str) -> bool:
    """``super().begin()``"""
    call = line.value if isinstance(line, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == name
        and is_super(call.func.value)
    )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _calls(project: Project, module: Module, node: ast.ClassDef) -> Iterator[tuple[Module, ast.Call] | None]:
    """Where hooks of a class are made, as elements of lists or appended to them; None for other uses of the class."""
    for other, read in project.readers.of(module, module.analysis.root, node.name):
        call = other.parent(read)
        if is_super(call) if call is not None else False:
            continue
        made = isinstance(call, ast.Call) and call.func is read
        yield (other, call) if made and isinstance(call, ast.Call) and _place(other, call) is not None else None


def _place(module: Module, call: ast.Call) -> ast.expr | None:
    """What stands for a hook in the list of which it is an element, or to which it is appended: its call, or its name."""
    place: ast.expr = call
    statement = module.parent(call)
    name = target_name(statement) if statement is not None else None
    if isinstance(statement, ast.Assign) and name is not None:
        loads = module.loads_of(name, module.scope(statement))
        if len(loads) != 1 or module.assignment(loads[0]) is not statement:
            return None
        place = loads[0]
    outer = module.parent(place)
    return place if isinstance(outer, (ast.List, ast.Tuple)) or _appends(module, outer) else None


def _appends(module: Module, node: ast.AST | None) -> bool:
    """``hooks.append(…)`` in a line of its own."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and len(node.args) == 1
        and isinstance(module.parent(node), ast.Expr)
    )


def _apart(drafts: Drafts, logger: _Logger) -> list[Change]:
    """The changes for a class and its hooks. Raises Unsupported."""
    wanted: list[tuple[Module, Rewrite]] = []
    lists: dict[ast.AST, tuple[Module, dict[ast.AST, list[cst.BaseExpression]]]] = {}
    for module, call in logger.calls:
        hooks, names = _hooks(drafts, logger, module, call)
        wanted += [(module, each) for each in names.changes]
        place, made = _place(module, call), module.parent(call)
        outer = module.parent(place) if place is not None else None
        assert outer is not None and place is not None
        if isinstance(made, ast.Assign):
            names_of = [*([module.unused_name("logger", made)] if len(hooks) > 1 else []), str(target_name(made))]
            pairs = zip(names_of, hooks)
            both = [line for name, hook in pairs for line in statements("{name} = {hook}", name=name, hook=hook)]
            wanted.append((module, Replace(made, both)))
            hooks = [code(name) for name in names_of]
        if isinstance(outer, ast.Call):
            append = module.cst.expression(outer.func)
            lines = [line for hook in hooks for line in statements("{append}({hook})", append=append, hook=hook)]
            wanted.append((module, Replace(module.statement(outer), lines)))
        else:
            lists.setdefault(outer, (module, {}))[1][place] = hooks
    for outer, (module, instead) in lists.items():
        assert isinstance(outer, (ast.List, ast.Tuple))
        parts = [hook for each in outer.elts for hook in instead.get(each, [module.cst.expression(each)])]
        holes = {f"hook{number}": part for number, part in enumerate(parts)}
        text = ", ".join(f"{{{name}}}" for name in holes)
        wanted.append(
            (module, Replace(outer, expr(f"[{text}]" if isinstance(outer, ast.List) else f"({text},)", **holes)))
        )
    return Change.every([*wanted, *((logger.module, each) for each in _of_class(logger))], [logger.module])


def _hooks(
    drafts: Drafts, logger: _Logger, module: Module, call: ast.Call
) -> tuple[list[cst.BaseExpression], OuterNames]:
    """What takes the place of one hook. Raises Unsupported."""
    names, home, base = OuterNames(), logger.module, logger.node.bases[0]
    logging = written(drafts, module, call, home, base, names)
    if logger.init is None or logger.made is None:
        logs = with_function(module.cst.call(call), logging)
        return ([logs] if logger.goes else [logs, expr("{name}()", name=module.cst.expression(call.func))]), names
    told, both = given(logger.init, call, 1), set(parameters(logger.init)[1:]) - logger.logs_alone
    read = {node.id for node in walk(logger.made) if isinstance(node, ast.Name)}
    if any(not isinstance(value, _ATOMS) for name, value in told.items() if name in both & read):
        raise Unsupported("an argument would be computed more than once", call)
    logged = substituted(drafts, module, call, home, logger.init, logger.made, names, 1, {logger.made.func: logging})
    gone = [at for at, each in enumerate(arguments(call)) if _is_of(told, each) & logger.logs_alone]
    own = with_arguments(module.cst.call(call), drop=gone)
    return ([logged] if logger.goes else [logged, own]), names


def _is_of(told: dict[str, ast.expr], argument: ast.expr | ast.keyword) -> set[str]:
    """The parameter that an argument is for."""
    value = argument.value if isinstance(argument, ast.keyword) else argument
    return {name for name, each in told.items() if each is value}


def _of_class(logger: _Logger) -> Iterator[Rewrite]:
    """The changes of the class itself."""
    module, node, base = logger.module, logger.node, logger.node.bases[0]
    if logger.goes:
        yield removal(node)
        return
    assert isinstance(base, ast.Attribute)
    yield Replace(base, expr("{family}.SessionRunHook", family=module.cst.expression(base.value)))
    for method in logger.emptied:
        yield Remove(method, apart=True)
    if logger.init is not None and logger.init not in logger.emptied and logger.logs_alone:
        yield Replace(logger.init, with_parameters(module.cst.statement(logger.init), drop=[*logger.logs_alone]))
    for line in logger.supers:
        if not any(line in method.body for method in logger.emptied):
            yield Remove(line)
