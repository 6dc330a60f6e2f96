"""What stands around the call that makes a model: its seed above, its checkpoints below."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from types import MappingProxyType

from migrator.analyse.function.translate import is_none
from migrator.rewrite import Replace, code, commented, statements
from migrator.vocabulary.diagnostics import Edit

from ...distribute.spread import Spread
from ...distribute.task_reads import resolver_line, resolver_of
from ..comments import comments, of_a_model
from ..flow.building import restoring
from ..flow.held import kept as kept_by
from ..flow.rates import kept as kept_rates
from ..inputs import Input
from ..loop import Distribution, Loop
from ..page import Page
from ..places import is_simple
from ..settings import Settings
from ..sources import Source
from ..use import Use
from .names import Names
from .scopes import Compiled, in_scope, is_held


def made(
    loop: Loop,
    page: Page,
    names: Names,
    data: Callable[[Input], str],
    spread: Spread | None,
    compiled: Compiled = MappingProxyType({}),
) -> Iterator[Edit]:
    """The edits around all models that a file makes; one `spread` over devices may be made in the scope of its strategy.

    `compiled` gives, by calls that make models, the statement that compiles one of a name, where another one does not.
    """
    sources = [source for source in loop.sources if source.module is page.module]
    held: set[ast.stmt] = set()
    for source in sources:
        statement, call = source.settings.statement, source.construction.call
        yield from of_a_model(page.module, page.module.statement(call))
        for each in (each for each in source.settings.sessions if each not in held):
            held.add(each)
            yield from page.instead(each, [text for _, text in comments(page.module, *page.module.span(each))])
        lines = [*_placed(source.settings, page), *_seeded(source.settings, loop, page)]
        if statement is not None and statement not in held:
            held.add(statement)
            lines = [*(text for _, text in comments(page.module, *page.module.span(statement))), *lines]
            if source.settings.tasks:
                lines.append(resolver_line(page.tf, resolver_of(page.module, statement)))
            yield from page.instead(statement, lines)
            lines = []
        if names.is_gone(source) or names.is_handed_out(source):
            told = [text for _, text in comments(page.module, *page.module.span(page.module.statement(call)))]
            folder = source.settings.directory
            below = _restored(source, folder, names.model(source), page, names, None, []) if folder is not None else []
            back = [f"return {names.model(source)}"] if source.returned is not None else []
            yield from page.instead(page.module.statement(call), [*lines, *told, *below, *back])
            continue
        if source.model is not None:
            yield from page.replaced(call, page.text(source.model))
        if spread is not None and spread.makes_model:
            yield from spread.edits()
        scoped = in_scope(source, loop, page, names, spread, compiled)
        if scoped is not None:
            place = page.module.statement(call)
            rows = [*page.statements(place, lines), *scoped]
            yield from page.change(Replace(place, commented(page.module.cst.statement(place), rows)))
        elif statement is None and lines:
            yield from page.above(page.module.statement(call), lines)
        if is_held(loop, source) and scoped is None:
            params = source.construction.arguments["params"]
            yield from page.above(page.module.statement(call), [f"{source.params} = {page.text(params)}"])
            yield from page.replaced(params, source.params)
        if source.settings.directory is not None or call in compiled or source.warm is not None:
            rest = compiled.get(call) if scoped is None else None
            yield from _set_up(source, page, names, rest, scoped is None, loop, data)
        elif source.name is not None and scoped is None and (name := names.model(source)) != source.name:
            assert source.target is not None
            yield from page.replaced(source.target, name)


def _placed(settings: Settings, page: Page) -> list[str]:
    """The lines that say where ops may run, and whether that is logged."""
    return [f"{page.tf}.{function}({page.text(value)})" for function, value in settings.placements.items()]


def _seeded(settings: Settings, loop: Loop, page: Page) -> list[str]:
    """The lines that seed TensorFlow, if the program asks for it."""
    seed = settings.fields.get("tf_random_seed")
    if seed is None:
        return []
    line = f"{page.tf}.{_seeding(loop)}({page.text(seed)})"
    return [f"if {page.text(seed)} is not None:", f"{page.unit}{line}"] if settings.maybe_unseeded else [line]


def _seeding(loop: Loop) -> str:
    """The function that seeds TensorFlow: initializers of Keras ask for the one that also seeds Python and NumPy, which is
    not for programs that draw from these themselves."""
    return "random.set_seed" if loop.draws else "keras.utils.set_random_seed"


def _set_up(
    source: Source,
    page: Page,
    names: Names,
    compiled: Callable[[str], str] | None,
    named: bool,
    loop: Loop,
    data: Callable[[Input], str],
) -> Iterator[Edit]:
    """The lines below a model that compile it and restore its newest checkpoint; those that make it are written already if not
    `named`."""
    statement, call = page.module.statement(source.construction.call), source.construction.call
    model = names.model(source)
    if source.returned is not None and named:
        made = statements("{model} = {made}", model=code(model), made=page.module.cst.expression(call))
        yield from page.change(Replace(statement, made))
    elif named and source.name is not None and source.target is not None and model != source.name:
        yield from page.replaced(source.target, model)
    elif source.name is None and source.target is not None:
        model = page.text(source.target)
    lines = [compiled(model)] if compiled is not None else []
    if source.warm is not None:
        lines.append(f"{model}.warm_start = {page.helper('WarmStart')}({model}, {page.text(source.warm)})")
    if source.settings.directory is not None:
        built: list[str] | None = []
        for building in loop.built(source):
            use = building.place if building.above is None else None
            built = building.lines(model, data(use.input), page.unit) if isinstance(use, Use) else None
        lines += _restored(source, source.settings.directory, model, page, names, loop.distribution, built)
    yield from page.below(statement, [*lines, *([f"return {model}"] if source.returned is not None else [])])


def _restored(
    source: Source,
    directory: ast.expr,
    model: str,
    page: Page,
    names: Names,
    told: Distribution | None,
    built: list[str] | None,
) -> list[str]:
    """The lines that restore the newest checkpoint of a folder, behind those by which the weights are `built`; with None it is
    restored elsewhere."""
    keep = source.settings.fields.get("keep_checkpoint_max")
    kept = "5" if keep is None else page.text(keep)
    hours = source.settings.fields.get("keep_checkpoint_every_n_hours")
    every_hours = "" if hours is None else f"keep_checkpoint_every_n_hours={page.text(hours)}, "
    options = f'max_to_keep={"None" if kept == "0" else kept}, {every_hours}checkpoint_name="model.ckpt"'
    train = f"{page.tf}.train"
    checkpoint, checkpoints = names.checkpoint(source), names.checkpoints(source, model)
    plain = is_simple(directory) and not source.settings.temporary
    folder = _said(source, directory, page) if plain else f"{checkpoints}.directory"
    own, newest, lines = _folder(source, directory, page), f"{checkpoints}.latest_checkpoint", []
    if told is not None and told.has_workers:
        call = source.construction.call
        if not plain:
            folder = source.module.unused_name("model_dir", call)
            lines.append(f"{folder} = {own}")
        own, newest = source.module.unused_name("own_dir", call), f"{train}.latest_checkpoint({folder})"
        keeps = f"{model}.distribute_strategy.extended.should_checkpoint"
        lines += [
            "# All workers save, as they share what is saved, but the first one alone for good.",
            f"{own} = {folder} if {keeps} else {page.library('tempfile')}.mkdtemp()",
        ]
        folder = own
    summaries = _recording(source, model, page, folder, told) if source.recorded else []
    if source.named:
        lines.append(f"{checkpoint}.tf1_names = {page.helper('NamesInCheckpoint')}({model}, {checkpoint})")
    numbers = kept_by(source, ((use, use.fields) for use in names.loop.uses))
    summaries += [f"{model}.{name} = {page.text(value)}" for name, value in numbers]
    return [
        f"{checkpoint} = {train}.Checkpoint(model={model})",
        *lines,
        f"{checkpoints} = {train}.CheckpointManager({checkpoint}, {own}, {options})",
        *(
            restoring(checkpoint, newest, built, page.unit, own_rates(names.loop, source, model))
            if built is not None
            else ()
        ),
        *summaries,
    ]


def own_rates(loop: Loop, source: Source, model: str) -> tuple[list[str], list[str]]:
    """The lines above and below one that restores a model, by which each run trains at its own learning rate."""
    trained = any(use.method == "train" and source in use.sources for use in loop.uses)
    unused = functools.partial(source.module.unused_name, at=source.construction.call)
    return kept_rates(source.rates if trained else (), model, unused)


def _recording(source: Source, model: str, page: Page, folder: str, told: Distribution | None) -> list[str]:
    """The lines by which a model writes its summaries to a folder."""
    every = source.settings.fields.get("save_summary_steps")
    lines = [f"{model}.summary_writer = {page.tf}.summary.create_file_writer({folder})"]
    if told is not None and told.on_cluster:
        servers = f"{page.tf}.distribute.ParameterServerStrategy"
        test = f"if not isinstance({model}.distribute_strategy, {servers}):"
        lines = ["# Workers of parameter servers do not reach a writer.", test, f"{page.unit}{lines[0]}"]
    return [*lines, *([f"{model}.summary_steps = {page.text(every)}"] if every is not None else [])]


def _said(source: Source, directory: ast.expr, page: Page) -> str:
    """A folder where a model is made: a parameter, if that got a configuration."""
    parameter = source.settings.handed
    return page.text(directory) if parameter is None else parameter.name


def _folder(source: Source, directory: ast.expr, page: Page) -> str:
    """The folder of the checkpoints; one that goes with the process where the program may give none."""
    if not source.settings.temporary:
        return _said(source, directory, page)
    if isinstance(directory, ast.BoolOp) and len(directory.values) == 2 and is_none(directory.values[1]):
        directory = directory.values[0]
    text = _said(source, directory, page)
    loose = isinstance(directory, (ast.IfExp, ast.Lambda, ast.NamedExpr))
    return f"{f'({text})' if loose else text} or {page.library('tempfile')}.mkdtemp()"
