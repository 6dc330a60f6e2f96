"""What stands around the call that makes a model: its seed above, its checkpoints below."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from migrator.analyse.function.translate import is_none
from migrator.emit.factories.strategywriter import scope, strategy_function
from migrator.emit.polishing.polish import quoted
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, Statement, code, commented, statements
from migrator.rewrite import lines as statements_of
from migrator.rewrite import source as source_of
from migrator.vocabulary.diagnostics import Edit

from ...distribute.spread import Spread
from ...distribute.task_reads import resolver_line, resolver_of
from ...distribute.tpu_facts import strategy_lines
from ..comments import comments, of_a_model
from ..flow.building import restoring
from ..flow.held import kept as kept_by
from ..flow.rates import kept as kept_rates
from ..inputs import Input, given_parts
from ..loop import Distribution, Loop
from ..page import Page
from ..places import has_its_line, is_simple
from ..settings import Settings
from ..sources import Source
from ..use import Use

Compiled = Mapping[ast.Call, Callable[[str], str]]
_HEAD = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Statements that code of a file stands below."""
_PLAIN_NAMES = frozenset({"estimator", "classifier", "regressor", "est", "clf"})
"""Names that say no more than what kind of thing a model was."""


class Names:
    """What the models of a file are called, and the managers of their checkpoints."""

    def __init__(self, loop: Loop, page: Page) -> None:
        self.loop = loop
        self.page = page

    def model(self, source: Source) -> str:
        """`model` instead of `estimator`, where nothing else has that name; what an Estimator is assigned to; else `model`."""
        module, name = source.module, source.name
        if self.is_gone(source) and isinstance(source.model, ast.Name):
            return source.model.id
        if self.is_handed_out(source) and isinstance(source.model, ast.Name):
            return source.model.id
        if name is None:
            return self.page.module.unused_name("model", source.construction.call) if source.target is None else ""
        taken = module.bound_names | set(module.star_import)
        return "model" if self._is_renamed(source) and "model" not in taken else name

    def is_handed_out(self, source: Source) -> bool:
        """Whether a function returns the Estimator of a Keras model that has a name: it returns that model now."""
        model, plain = source.model, source.warm is None and source.settings.tpu.use is None
        if source.returned is None or not isinstance(model, ast.Name) or self.loop.distribution is not None:
            return False
        one = len(source.module.bindings(model)) == 1 and source.settings.directory is not None
        return plain and one and has_its_line(source.module, source.construction.call)

    def is_gone(self, source: Source) -> bool:
        """Whether the program goes on under the name of the Keras model that an Estimator was made of."""
        return source.is_copy and self.loop.is_local(source) and self._are_seen(source)

    def _is_renamed(self, source: Source) -> bool:
        """Whether its name says nothing, and another one may take its place."""
        plain = str(source.name).lower() in _PLAIN_NAMES
        return plain and self.loop.is_local(source) and self._are_seen(source)

    def _are_seen(self, source: Source) -> bool:
        """Whether all places that read its name are seen to become another one."""
        read = {place.receiver for place in self.loop.places if source in place.sources}
        read |= {node for use in self.loop.uses for node in use.hooks.estimators}
        return set(source.module.loads_of(str(source.name), source.scope)) <= read

    def receiver(self, source: Source, node: ast.expr) -> str:
        """A model where it is used."""
        return self.model(source) if source.is_read(self.page.module, node) else self.page.text(node)

    def checkpoint(self, source: Source) -> str:
        """The variable with the checkpoint, while it is restored."""
        return self._named(source, "checkpoint")

    def checkpoints(self, source: Source, model: str) -> str:
        """The manager of checkpoints: a variable where the model has one, else an attribute of the model."""
        return self._named(source, "checkpoints") if self.loop.is_local(source) else f"{model}.checkpoints"

    def restored(self, source: Source, model: str) -> str:
        """The same where the model is used."""
        return (
            self.checkpoint(source) if self.loop.is_local(source) else f"{self.checkpoints(source, model)}.checkpoint"
        )

    def _named(self, source: Source, name: str) -> str:
        """A variable for one of several models."""
        beside = {
            other.name
            for other in self.loop.sources
            if other.scope is source.scope and other.settings.directory is not None and self.loop.is_local(other)
        }
        more = len(beside) > 1 and self.loop.is_local(source)
        return source.module.unused_name(f"{source.name}_{name}" if more else name, source.construction.call)


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
            yield from page.instead(page.module.statement(source.construction.call), [*lines, *spread.construction()])
        elif call in compiled and loop.distribution is not None:
            place = page.module.statement(call)
            rows = [*statements_of("\n".join(lines)), *_on_servers(source, loop, page, names, compiled)]
            yield from page.change(Replace(place, commented(page.module.cst.statement(place), rows)))
        elif source.settings.tpu.use is not None:
            if is_held(loop, source):
                params = source.construction.arguments["params"]
                lines.append(f"{source.params} = {page.text(params)}")
                page.known[params] = source.params
            yield from page.instead(page.module.statement(call), [*lines, *_in_scope(source, loop, page, names)])
        elif statement is None and lines:
            yield from page.above(page.module.statement(call), lines)
        if is_held(loop, source) and source.settings.tpu.use is None:
            params = source.construction.arguments["params"]
            yield from page.above(page.module.statement(call), [f"{source.params} = {page.text(params)}"])
            yield from page.replaced(params, source.params)
        if source.settings.directory is not None or call in compiled or source.warm is not None:
            scoped = call in compiled and loop.distribution is not None
            named = (spread is None or not spread.makes_model) and source.settings.tpu.use is None and not scoped
            rest = compiled.get(call) if loop.distribution is None else None
            yield from _set_up(source, page, names, rest, named, loop, data)
        elif (
            source.name is not None
            and not (spread and spread.makes_model)
            and source.settings.tpu.use is None
            and (name := names.model(source)) != source.name
        ):
            assert source.target is not None
            yield from page.replaced(source.target, name)


def _in_scope(source: Source, loop: Loop, page: Page, names: Names) -> list[str]:
    """The lines that make a model in the scope of a strategy, on a TPU if one is to be used."""
    tpu, call = source.settings.tpu, source.construction.call
    assert tpu.use is not None
    use = "True" if tpu.always else page.text(tpu.use)  # which a program need not have written
    asked = not all(other.settings.tpu.always for other in _on_tpu(loop, page))
    given = ", ".join([*([use] if asked else []), *([page.text(tpu.resolver)] if tpu.resolver is not None else [])])
    target = names.model(source) or (page.text(source.target) if source.target is not None else "")
    last = source.returned is not None and source.settings.directory is None
    returned = last and tpu.loop is None
    made = f"{'return' if returned else f'{target} ='} {page.text(call)}".replace("\n", f"\n{page.unit}")
    lines = [f"with {_strategy_maker(page)}({given}).scope():", f"{page.unit}{made}"]
    if tpu.loop is not None and target and tpu.always:
        lines.append(f"{target}.steps_per_execution = {page.text(tpu.loop)}")
    elif tpu.loop is not None and target:
        lines += [f"if {use}:", f"{page.unit}{target}.steps_per_execution = {page.text(tpu.loop)}"]
    return [*lines, f"return {target}"] if last and not returned else lines


def _on_servers(source: Source, loop: Loop, page: Page, names: Names, compiled: Compiled) -> Iterator[Statement]:
    """The statements that make and compile a model in the scope of parameter servers, where TF_CONFIG has some."""
    call = source.construction.call
    target = names.model(source) or (page.text(source.target) if source.target is not None else "")
    text = page.text(call)
    if not any(isinstance(node, ast.Constant) and "\n" in str(node.value) for node in walk(call)):
        text = text.replace(f"\n{page.indent(call)}", "\n")  # as lines below a statement at the margin
    made = statements_of(quoted(f"{target} = {text}\n{compiled[call](target)}", page.module))
    partitioner = page.text(source.partitioner) if source.partitioner is not None else ""
    yield from scope(page.tf, partitioner, made, loop.evaluates_amid, True)
    if source.returned is not None and source.settings.directory is None:
        yield from statements_of(f"return {target}")


def _strategy_maker(page: Page) -> str:
    """The function of a file that makes the strategy of a model."""
    return page.module.unused_name("make_strategy", page.module.tree)


def _on_tpu(loop: Loop, page: Page) -> list[Source]:
    """The models of a file that may be trained on a TPU."""
    return [s for s in loop.sources if s.module is page.module and s.settings.tpu.use is not None]


def strategies(loop: Loop, page: Page, compiled: Compiled) -> Iterator[Edit]:
    """The function that makes the strategy of the models of a file, above the first of them that may be trained on a TPU, or
    the one that takes the place of a canned Estimator on a cluster."""
    sources = _on_tpu(loop, page)
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
