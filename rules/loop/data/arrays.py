"""Input functions that ``numpy_input_fn`` makes, as the datasets of their arrays."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vocabulary.diagnostics import Edit

from ...program.settled import returns_of
from ..page import Page
from ..use import Use

_NUMPY = "tensorflow.estimator.inputs.numpy_input_fn"
_SIGNATURE = "x y batch_size num_epochs shuffle queue_capacity num_threads"


@dataclass(frozen=True)
class ArrayInput:
    """One of them."""

    module: Module
    call: ast.Call
    arguments: dict[str, ast.expr]
    functions: tuple[ast.expr, ...]
    """What uses are given as their input functions: the call, or names that hold what it returns."""
    target: ast.Name | None = None
    """The name that holds what it returns, for nothing else."""
    name: str = ""
    """What it is called as a dataset."""

    def written(self, page: Page) -> str:
        """The dataset."""
        given, x = self.arguments, self.arguments["x"]
        data = page.text(x.value) if isinstance(x, ast.Starred) else page.text(x)
        data = f"({data}, {page.text(given['y'])})" if "y" in given else data
        epochs, size = given.get("num_epochs", ast.Constant(1)), given.get("batch_size")
        repeated = (
            ".repeat()" if is_none(epochs) else f".repeat({page.text(epochs)})" if hasattr(epochs, "lineno") else ""
        )
        repeated = "" if isinstance(epochs, ast.Constant) and epochs.value == 1 else repeated
        capacity = given.get("queue_capacity")
        among = "1000" if capacity is None else page.text(capacity)
        shuffled = f".shuffle({among})" if isinstance(given["shuffle"], ast.Constant) and given["shuffle"].value else ""
        batched = f".batch({'128' if size is None else page.text(size)})"
        return f"{page.tf}.data.Dataset.from_tensor_slices({data}){repeated}{shuffled}{batched}"

    def edits(self, page: Page) -> Iterator[Edit]:
        """Those of the statement that holds it."""
        if self.target is not None:
            yield from page.replaced(self.target, self.name)
            yield from page.replaced(self.call, self.written(page))


def array_inputs(project: Project, uses: Collection[Use]) -> Iterator[ArrayInput]:
    """All that the uses of a loop alone read, and those of their files that nothing reads."""
    yield from _read(project, uses)
    for module in {use.module.path: use.module for use in uses}.values():
        for call in module.nodes(ast.Call):
            target = _target(module, call, ()) if module.resolve(call.func) == _NUMPY else None
            arguments = _arguments(project, module, call) if target is not None else None
            scope = module.scope(target).holder(target.id) if target is not None else None
            if target is None or arguments is None or scope is None:
                continue
            if project.readers.elsewhere(module, scope, target.id):
                continue
            yield ArrayInput(module, call, arguments, (), target, _name(module, target))


def _read(project: Project, uses: Iterable[Use]) -> Iterator[ArrayInput]:
    given: dict[ast.Call, list[tuple[Module, ast.expr]]] = {}
    for use in uses:
        for data in use.inputs:
            statement = use.module.assignment(data.function)
            call = data.function if statement is None else statement.value
            if isinstance(call, ast.Call) and use.module.resolve(call.func) == _NUMPY:
                given.setdefault(call, []).append((use.module, data.function))
    for call, places in given.items():
        module, functions = places[0][0], tuple(node for _, node in places)
        arguments = _arguments(project, module, call)
        if arguments is None or any(where is not module for where, _ in places):
            continue
        if functions == (call,):
            yield ArrayInput(module, call, arguments, functions)
        elif (target := _target(module, call, functions)) is not None:
            yield ArrayInput(module, call, arguments, functions, target, _name(module, target))


def _arguments(project: Project, module: Module, call: ast.Call) -> dict[str, ast.expr] | None:
    """Its arguments, if they say what the dataset is."""
    start, end = module.span(call)
    if b"#" in module.source[start:end]:
        return None
    starred = [argument for argument in call.args if isinstance(argument, ast.Starred)]
    if starred:  # of features and labels
        if len(call.args) > 1 or not _is_pair(project, module, starred[0].value):
            return None
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        found: dict[str, ast.expr] = {"x": starred[0], **given}
        if len(given) < len(call.keywords) or "y" in given:
            return None
    else:
        try:
            found = bind(call, _SIGNATURE, "numpy_input_fn")
        except Unsupported:
            return None
    found = {name: value for name, value in found.items() if name != "y" or not is_none(value)}
    shuffle, threads, labels = found.get("shuffle"), found.get("num_threads"), found.get("y")
    known = isinstance(shuffle, ast.Constant) and isinstance(shuffle.value, bool)
    one = threads is None or (isinstance(threads, ast.Constant) and threads.value == 1)
    bound = module.bindings(labels) if isinstance(labels, ast.Name) else []
    maybe = any(binding.is_none or isinstance(binding.node, ast.arg) for binding in bound)
    return found if known and one and not maybe and "x" in found else None


def _is_pair(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether an expression is a call of a function that returns two values."""
    found = project.definition(module, node.func) if isinstance(node, ast.Call) else None
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return False
    returned = [statement.value for statement in returns_of(found.module, found.node)]
    return bool(returned) and all(isinstance(value, ast.Tuple) and len(value.elts) == 2 for value in returned)


def _target(module: Module, call: ast.Call, functions: tuple[ast.expr, ...]) -> ast.Name | None:
    """The name that holds what a call returns, if nothing but `functions` reads it."""
    statement = module.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return None
    scope = module.scope(target).holder(target.id)
    alone = len(scope.bindings.get(target.id, [])) == 1 and scope.kind != "class"
    return target if alone and all(load in functions for load in module.loads_of(target.id, scope)) else None


def _name(module: Module, target: ast.Name) -> str:
    """``train_dataset`` instead of ``train_input_fn``."""
    for suffix in ("input_fn", "input_func", "fn"):
        if target.id == suffix or target.id.endswith(f"_{suffix}"):
            return module.unused_name(f"{target.id[: -len(suffix)]}dataset", target)
    return target.id
