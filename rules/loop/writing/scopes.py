"""Models that are made in the scope of a strategy, and the functions of a program that make it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Optional

from migrator.emit.factories.strategywriter import scope, strategy_function
from migrator.emit.polishing.polish import quoted
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Statement
from migrator.rewrite import lines as statements_of
from migrator.rewrite import source as source_of
from migrator.vocabulary.diagnostics import Edit

from ...distribute.spread import Spread
from ...distribute.tpu_facts import strategy_lines
from ..inputs import given_parts
from ..loop import Loop
from ..page import Page
from ..sources import Source
from .names import Names

Compiled = Mapping[ast.Call, Callable[[str], str]]
"""By calls that make models, what writes the statement that compiles one of a name."""
_HEAD = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Statements that code of a file stands below."""


def in_scope(
    source: Source, loop: Loop, page: Page, names: Names, spread: Optional[Spread], compiled: Compiled
) -> Optional[list[Statement]]:
    """The statements that make a model in the scope of a strategy; None where it is made outside of any, or in its factory."""
    call = source.construction.call
    place = page.module.statement(call)
    if spread is not None and spread.makes_model:
        return page.statements(place, spread.construction())
    if call in compiled and loop.distribution is not None:
        return list(_on_servers(source, loop, page, names, compiled[call]))
    if source.settings.tpu.use is not None:
        return page.statements(place, _on_tpu(source, loop, page, names))
    return None


def _on_tpu(source: Source, loop: Loop, page: Page, names: Names) -> list[str]:
    """The lines that make a model on a TPU, if one is to be used."""
    tpu, call = source.settings.tpu, source.construction.call
    assert tpu.use is not None
    use = "True" if tpu.always else page.text(tpu.use)  # which a program need not have written
    asked = not all(other.settings.tpu.always for other in _for_tpus(loop, page))
    given = ", ".join([*([use] if asked else []), *([page.text(tpu.resolver)] if tpu.resolver is not None else [])])
    target = names.model(source) or (page.text(source.target) if source.target is not None else "")
    lines = []
    if is_held(loop, source):
        params = source.construction.arguments["params"]
        lines.append(f"{source.params} = {page.text(params)}")
        page.known[params] = source.params
    last = source.returned is not None and source.settings.directory is None
    returned = last and tpu.loop is None
    made = f"{'return' if returned else f'{target} ='} {page.text(call)}".replace("\n", f"\n{page.unit}")
    lines += [f"with {_strategy_maker(page)}({given}).scope():", f"{page.unit}{made}"]
    if tpu.loop is not None and target and tpu.always:
        lines.append(f"{target}.steps_per_execution = {page.text(tpu.loop)}")
    elif tpu.loop is not None and target:
        lines += [f"if {use}:", f"{page.unit}{target}.steps_per_execution = {page.text(tpu.loop)}"]
    return [*lines, f"return {target}"] if last and not returned else lines


def _on_servers(
    source: Source, loop: Loop, page: Page, names: Names, compiled: Callable[[str], str]
) -> Iterator[Statement]:
    """The statements that make and compile a model in the scope of parameter servers, where TF_CONFIG has some."""
    call = source.construction.call
    target = names.model(source) or (page.text(source.target) if source.target is not None else "")
    text = page.text(call)
    if not any(isinstance(node, ast.Constant) and "\n" in str(node.value) for node in walk(call)):
        text = text.replace(f"\n{page.indent(call)}", "\n")  # as lines below a statement at the margin
    made = statements_of(quoted(f"{target} = {text}\n{compiled(target)}", page.module))
    partitioner = page.text(source.partitioner) if source.partitioner is not None else ""
    yield from scope(page.tf, partitioner, made)
    if source.returned is not None and source.settings.directory is None:
        yield from statements_of(f"return {target}")


def _strategy_maker(page: Page) -> str:
    """The function of a file that makes the strategy of a model."""
    return page.module.unused_name("make_strategy", page.module.tree)


def _for_tpus(loop: Loop, page: Page) -> list[Source]:
    """The models of a file that may be trained on a TPU."""
    return [s for s in loop.sources if s.module is page.module and s.settings.tpu.use is not None]


def strategies(loop: Loop, page: Page, compiled: Compiled) -> Iterator[Edit]:
    """The function that makes the strategy of the models of a file, above the first of them that may be trained on a TPU, or
    the one that takes the place of a canned Estimator on a cluster."""
    sources = _for_tpus(loop, page)
    if sources:
        above = head_of(page.module, sources[0].construction.call)
        found = any(source.settings.tpu.resolver is not None for source in sources)
        always = all(source.settings.tpu.always for source in sources)
        lines = strategy_lines(page.tf, page.unit, _strategy_maker(page), found, always)
        yield from page.change(Insert(statements_of("\n".join(lines)), before=above, above=True, apart=True))
    for source in (
        source for source in loop.sources if source.module is page.module and source.construction.call in compiled
    ):
        if loop.distribution is not None:
            function = strategy_function(page.tf, True, loop.validates, source.partitioner is None)
            made = statements_of(quoted("\n".join(map(source_of, function)), page.module))
            above = head_of(page.module, source.construction.call)
            yield from page.change(Insert(made, before=above, above=True, apart=True))


def head_of(module: Module, node: ast.AST) -> ast.stmt:
    """The function or class around a node on the outermost level of a file; else the statement that follows all of these."""
    above = [outer for outer in (node, *module.ancestors(node)) if isinstance(outer, ast.stmt)][-1]
    body = module.tree.body
    while not isinstance(above, _HEAD) and (index := body.index(above)) and not isinstance(body[index - 1], _HEAD):
        above = body[index - 1]
    return above


def is_held(loop: Loop, source: Source) -> bool:
    """Whether a variable gets the parameters of an Estimator, which input functions get as well."""
    inputs = [each for use in loop.uses if source in use.sources for each in use.inputs]
    given = [part for each in inputs for part in given_parts(each.given)]
    return bool(source.params) and any(isinstance(v, ast.Name) and v.id == source.params for v in given)
