"""The edits that write an export with an `ExportArchive` of Keras, or with `tf.saved_model.save`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from migrator.analyse.results.exports import PREDICTIONS
from migrator.resolve.module import Module
from migrator.rewrite import Insert, Rename, Replace, code, defined, rows, with_parameters
from migrator.vocabulary.diagnostics import Edit

from ..callbacks.functions import EPOCH, Functions
from ..loop.comments import comments
from ..loop.flow.restores import Restores
from ..loop.page import Page
from ..loop.use import Use
from ..loop.writing.names import Names
from .comparisons import BEST, CURRENT, inlined
from .exporters import Exporter
from .exports import Export
from .fed_features import Computed, FedTogether, Receiver
from .fed_specs import Specs
from .filled_dicts import changed_edits
from .receivers import imported_for
from .signatures import Served, Signatures, name_of_signatures


class ExportWriter:
    """Writes the exports of a file; of several workers the first one alone exports for good, if they are `shared`.

    Those that `archives` tells are written with an archive.
    """

    def __init__(
        self,
        page: Page,
        names: Names,
        shared: bool,
        archives: Callable[[Receiver, Signatures], bool],
        restores: Restores,
    ) -> None:
        self.page = page
        self.names = names
        self.restores = restores
        self.module = page.module
        self.shared = shared
        self.archives = archives
        self.specs = Specs(page)
        self._written: set[ast.FunctionDef | None] = set()
        """Functions that say what is fed, and are written already."""
        self._named: dict[ast.FunctionDef, str] = {}
        """Functions that return signatures, by those of a table that say what is fed."""
        self._specs: dict[ast.Assign, str] = {}
        """Statements that hold the features of serialized examples now."""

    def name_choices(self, found: Iterable[tuple[Module, Receiver]]) -> None:
        """Give the functions names that return signatures of a model, in the places of those of a table."""
        for fed in self._choices(found):
            if fed.function is not None:
                self._named[fed.function] = name_of_signatures(self.module, fed.function)

    def _choices(self, found: Iterable[tuple[Module, Receiver]]) -> Iterator[Receiver]:
        """What the functions of tables of this file say."""
        return (fed for _, each in found for where, fed in each.choices if where is self.module)

    def edits(self, exports: Sequence[Export]) -> Iterator[Edit]:
        """All edits."""
        exports = [export for export in exports if export.module is self.module]
        for export in exports:
            yield from self._export(export)
            yield from self._fed(export.fed)

    def _export(self, export: Export) -> list[Edit]:
        model = self.names.receiver(export.sources[0], export.receiver)
        path, last = "", ""
        if isinstance(export.held, ast.Assign) and export.decoded:
            path = self.page.text(export.held.targets[0])
        elif export.held is not None:
            path = self.page.free(export.call, "path", "export_path")
            name = self.page.text(export.held.targets[0]) if isinstance(export.held, ast.Assign) else ""
            last = f"{name} = {path}.encode()" if name else f"return {path}.encode()"
            if isinstance(export.held, ast.Call):
                last = self.page.text(export.held, {export.call: f"{path}.encode()"})
        parts, above = self._parts(export.folder), []
        if self.shared:
            folder, parts = self.page.closed(export.folder), self.module.unused_name("export_dir", export.call)
            chief = f"{model}.distribute_strategy.extended.should_checkpoint"
            above = [f"{parts} = {folder} if {chief} else {self.page.library('tempfile')}.mkdtemp()"]
        early, newest = self.restores.other(export, model)
        lines = [*early, *above, *self.lines(export.fed, export.signatures, model, parts, export.call, path, export)]
        if export.repeated and not isinstance(export.held, ast.Return):
            lines.append(self._wait)
        lines += [*newest, last] if last else newest
        return self.page.instead(self.module.statement(export.call), lines)

    def exported(self, use: Use, model: str, folder: str) -> list[str]:
        """The lines that export what the exporters of a training do, below a folder of checkpoints."""
        lines: list[str] = []
        for exporter in use.exporters:
            if use.every is None or exporter.final:
                lines += self._saved(use, exporter, model, folder)
        return lines

    def called(self, use: Use, model: str, folder: str, functions: Functions) -> list[str]:
        """Arguments of LambdaCallbacks that export after evaluations, as exporters of a training do."""
        found = []
        amid = [exporter for exporter in use.exporters if use.every is not None and not exporter.final]
        saved = [[*self._saved(use, exporter, model, folder), self._wait] for exporter in amid]
        numbers = {exporter.keep for exporter in amid}
        kept = self.module.unused_name("kept", use.call) if len(numbers) > 1 and None not in numbers else ""
        alike = [[*self._saved(use, exporter, model, folder, kept), self._wait][1:] for exporter in amid]
        if len(amid) > 1 and all(each == alike[0] for each in alike):
            name, exports = functions.name("export"), self.module.unused_name("exports", use.call)
            functions.define(name, f"{exports}, {kept}" if kept else exports, alike[0])
            folders = [self._below(exporter, folder) for exporter in amid]
            saved = [[f"{name}({below}{f', {each.keep}' if kept else ''})"] for below, each in zip(folders, amid)]
        for exporter, lines in zip(amid, saved):
            if exporter.kind == "LatestExporter":
                found.append(functions.add(EPOCH, "export_latest", lines))
                continue
            best = functions.name(self.page.free(use.call, "best", "best_logs"))
            functions.lines += [f"{best} = {{}}", ""]
            above, condition = [], f'not {best} or {best}["val_loss"] > logs["val_loss"]'
            if exporter.compare is not None:
                compare = exporter.compare
                short = (
                    inlined(self.module, compare, best, "logs", self.page.text)
                    if isinstance(compare, ast.Lambda)
                    else None
                )
                if short is None:
                    above = ['result = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}']
                    short = f"{self.page.closed(compare)}({BEST}={best}, {CURRENT}=result)"
                condition = f"not {best} or {short}"
            lines = [f"{best}.update({'result' if above else 'logs'})", *lines]
            found.append(functions.add(EPOCH, "export_best", lines, condition, above))
        return found

    @property
    def _wait(self) -> str:
        """The line behind an export, before another one."""
        return f"{self.page.library('time')}.sleep(1)  # the next one is named after another second"

    def _below(self, exporter: Exporter, folder: str) -> str:
        """The folder of an exporter."""
        return f'{self.page.library("os")}.path.join({folder}, "export", {self.page.text(exporter.name)})'

    def _saved(self, use: Use, exporter: Exporter, model: str, folder: str, kept: str = "") -> list[str]:
        """The lines of one export, which leave the newest ones: so many as a variable `kept` says, if there is one."""
        page, signatures = self.page, use.sources[0].signatures
        if exporter.keep is None or not (exporter.keeps or use.every is not None):
            parts = f'{folder}, "export", {self.page.text(exporter.name)}'
            return self.lines(exporter.fed, signatures, model, parts, use.call)
        exports, old = (self.module.unused_name(name, use.call) for name in ("exports", "old"))
        every = f'{page.library("os")}.path.join({exports}, "[0-9]" * 10)'
        return [
            f"{exports} = {self._below(exporter, folder)}",
            *self.lines(exporter.fed, signatures, model, exports, use.call),
            f"for {old} in sorted({page.tf}.io.gfile.glob({every}))[:-{kept or exporter.keep}]:",
            f"{page.unit}{page.tf}.io.gfile.rmtree({old})",
        ]

    def choices(self, found: Iterable[tuple[Module, Receiver]], signatures: Signatures) -> Iterator[Edit]:
        """The functions that give the signatures of a model, in the places of those of a table that say what is fed."""
        module, done = self.module, set[ast.FunctionDef]()
        for fed in self._choices(found):
            if fed.function is None or fed.function in done:
                continue
            done.add(fed.function)
            name = self._named[fed.function]
            lines, outputs = self._served(fed, signatures, "model", fed.function)
            made = defined(f"def {name}(model)", rows([*lines, f"return {{{outputs}}}"]))
            if module.parent(fed.given) is None:  # of another file
                yield from self.page.change(Insert(made, after=fed.function, apart=True))
            else:
                yield from self.page.change(Insert(made, before=module.statement(fed.given), above=True, apart=True))
                yield from self.page.replaced(fed.given, name)
            yield from self._fed(fed)

    def exporters(self, use: Use) -> Iterator[Edit]:
        """What becomes of the code that makes exporters."""
        for exporter in use.exporters:
            for statement in exporter.statements:
                yield from self._gone(statement)
            yield from self._fed(exporter.fed)

    def lines(
        self,
        fed: Receiver,
        signatures: Signatures,
        model: str,
        parts: str,
        at: ast.Call,
        path: str = "",
        export: Export | None = None,
    ) -> list[str]:
        """The statements of an export to a new folder below that of `parts`, which a variable may be called `path` for; an
        `export` may have to restore the weights."""
        os, time = self.page.library("os"), self.page.library("time")
        folder = f"{os}.path.join({parts}, str(int({time}.time())))"
        made = self._named.get(fed.function, "") if fed.function is not None else ""
        if isinstance(fed.given, (ast.Attribute, ast.Name)) and fed.choices:
            made = self._name_elsewhere(fed)
            owner = f"{self.page.text(fed.given.value)}." if isinstance(fed.given, ast.Attribute) else ""
            made = f"{owner}{made}" if owner else self.page.unbound(made)
        elif fed.choices:
            made = self.page.text(fed.given)
        verbs = signatures.verbs(fed.text) if len(fed.choices) < 2 else []
        if verbs and not path:
            path = self.page.free(at, "path", "export_path")
        lines = [f"{path} = {folder}"] if path else []
        if made:
            given, table = f"{made}({model})", self.module.unused_name("signatures", at)
            if restored := self._traced(export, model, (), table):
                lines, given = [f"{table} = {given}", *restored, *lines], table
            lines.append(f"{self.page.tf}.saved_model.save({model}, {path or folder}, signatures={given})")
        elif self.archives(fed, signatures):
            lines += self._archived(fed, signatures, model, path or folder, at, export)
        else:
            above, outputs = self._served(fed, signatures, model, at, export)
            lines = [*above, *lines]
            lines.append(f"{self.page.tf}.saved_model.save({model}, {path or folder}, signatures={{{outputs}}})")
        if verbs:
            methods = self.module.unused_name("methods", at)
            updater = f"{self.page.tf}.compat.v1.saved_model.signature_def_utils.MethodNameUpdater"
            lines.append(f"{methods} = {updater}({path})")
            lines += [f'{methods}.replace_method_name({key}, "tensorflow/serving/{verb}")' for key, verb in verbs]
            lines.append(f"{methods}.save()")
        return lines

    def _name_elsewhere(self, fed: Receiver) -> str:
        """What the function of another file is called that gives the signatures."""
        where, other = fed.choices[0]
        assert other.function is not None
        return name_of_signatures(where, other.function)

    def _served(
        self, fed: Receiver, signatures: Signatures, model: str, at: ast.AST, export: Export | None = None
    ) -> tuple[list[str], str]:
        """The statements that make the functions which are served, and the entries that name them."""
        functions = self._endpoints(fed, signatures, model, at)
        lines = [f"{name} = {self.page.tf}.function({given})" for name, (given, _) in functions.items()]
        lines = [*self._features_function(fed, at), *lines, *self._traced(export, model, functions)]
        names = {key: name for name, (_, keys) in functions.items() for key in keys}
        order = [*(each.key for each in signatures.given(fed.text)), *(f'"{key}"' for key, _ in signatures.by_text)]
        return lines, ", ".join(f"{key}: {names[key]}" for key in order if key in names)

    def _archived(
        self, fed: Receiver, signatures: Signatures, model: str, folder: str, at: ast.AST, export: Export | None
    ) -> list[str]:
        """The statements that export with an archive, which finds the variables of Keras 3 as well."""
        tf, archive = self.page.tf, self.module.unused_name("archive", at)
        above, lines = self._features_function(fed, at), []
        endpoints = self._endpoints(fed, signatures, model, at)
        traced = self._traced(export, model, endpoints)
        for name, (given, keys) in endpoints.items():
            named = bool(traced) or len(keys) > 1
            if named:
                above.append(f"{name} = {tf}.function({given})")
            lines += [f"{archive}.add_endpoint({key}, {name if named else given})" for key in keys]
        lines = [*above, *traced, f"{archive} = {tf}.keras.export.ExportArchive()", *lines]
        return [*lines, f"{archive}.write_out({folder})"]

    def _traced(self, export: Export | None, model: str, functions: Iterable[str], table: str = "") -> list[str]:
        """The lines that restore a checkpoint above an export, if it has to."""
        return self.restores.traced(export, model, functions, table) if export is not None else []

    def _endpoints(
        self, fed: Receiver, signatures: Signatures, model: str, at: ast.AST
    ) -> dict[str, tuple[str, list[str]]]:
        """Variables for what computes signatures, with the arguments of `tf.function` and the keys of each."""
        module, tf = self.module, self.page.tf
        served, found = signatures.given(fed.text), dict[str, tuple[str, list[str]]]()
        functions = self._functions(served, at)
        for each in served:
            given = self._serving(fed, model, each, at)
            found.setdefault(functions[each.method], (given, []))[1].append(each.key)
        for key, template in signatures.by_text if fed.text else ():
            name = module.unused_name("classify" if ".classify(" in template else "regress", at)
            spec = f'{tf}.TensorSpec([None], {tf}.string, name="inputs")'
            given = template.format(tf=tf, model=model, features=self._features(fed, "inputs", at))
            given = f"lambda inputs: {given}, input_signature=[{spec}]"
            found.setdefault(name, (given, []))[1].append(f'"{key}"')
        return found

    def _functions(self, served: Sequence[Served], at: ast.AST) -> dict[str, str]:
        """Variables for what computes signatures, by the methods of the model."""
        names = {each.method: each.method for each in served}
        if PREDICTIONS in names:
            names[PREDICTIONS] = "serve" if "serve" not in names else "predictions"
        return {method: self.module.unused_name(name, at) for method, name in names.items()}

    def _inner(self, at: ast.AST) -> tuple[str, str]:
        """Variables for what computes features, and for what that is fed."""
        return self.module.unused_name("features_of", at), self.module.unused_name("inputs", at)

    def _features_function(self, fed: Receiver, at: ast.AST) -> list[str]:
        """The statement that gets what computes features of the function around it, if there is one."""
        return [f"{', '.join(self._inner(at))} = {self._function(fed)}()"] if fed.inner is not None else []

    def _serving(self, fed: Receiver, model: str, served: Served, at: ast.AST) -> str:
        """The arguments of `tf.function` for a signature; what classifies calls its one input ``inputs``."""
        tf = self.page.tf
        if served.verb != "predict":
            spec = f'{tf}.TensorSpec([None], {tf}.string, name="inputs")'
            return f"lambda inputs: {served.of(model, self._features(fed, 'inputs', at))}, input_signature=[{spec}]"
        if fed.inner is not None:
            features_of, inputs = self._inner(at)
            return f"lambda {inputs}: {served.of(model, f'{features_of}({inputs})')}, input_signature=[{inputs}]"
        if fed.computed is not None:
            names = ", ".join(each.name for each in fed.computed.parameters)
            specs = ", ".join(self.specs.signature(each) for each in fed.computed.parameters)
            computed = served.of(model, f"{self._function(fed)}({names})")
            return f"lambda {names}: {computed}, input_signature=[{specs}]"
        if fed.features is not None:
            return f"{served.function(model)}, input_signature=[{self.page.text(fed.features)}]"
        if fed.parsed is None:
            return f"{served.function(model)}, input_signature=[{self._function(fed)}()]"
        spec = f'{tf}.TensorSpec([None], {tf}.string, name="examples")'
        parsed = f"{tf}.io.parse_example(examples, {self.page.text(fed.parsed)})"
        return f"lambda examples: {served.of(model, parsed)}, input_signature=[{spec}]"

    def _function(self, fed: Receiver) -> str:
        """The function of the program that says what is fed."""
        named = fed.function is not None and self.module.parent(fed.function) is self.module.tree
        return fed.function.name if named and fed.function is not None else self.page.text(fed.given)

    def _features(self, fed: Receiver, text: str, at: ast.AST) -> str:
        """The features of strings."""
        if fed.inner is not None:
            return f"{self._inner(at)[0]}({{{fed.fed[0][1]}: {text}}})"
        if fed.parsed is not None:
            return f"{self.page.tf}.io.parse_example({text}, {self.page.text(fed.parsed)})"
        if fed.computed is not None:
            return f"{self._function(fed)}({text})"
        return f"{{{fed.fed[0][1]}: {text}}}"

    def _parts(self, folder: ast.expr) -> str:
        """The arguments of `os.path.join` for a folder."""
        joined = isinstance(folder, ast.Call) and self.module.resolve(folder.func) == "os.path.join"
        if joined and isinstance(folder, ast.Call) and not folder.keywords:
            return ", ".join(self.page.text(part) for part in folder.args)
        return self.page.text(folder)

    def _gone(self, statement: ast.stmt | None) -> Iterator[Edit]:
        """A statement goes; its comments stay."""
        if statement is not None:
            lines = [text for _, text in comments(self.module, *self.module.span(statement))]
            yield from self.page.instead(statement, lines)

    def _fed(self, fed: Receiver) -> Iterator[Edit]:
        """A function that returned placeholders returns what they are like."""
        module = self.module
        if fed.function is not None and fed.function in self._written:
            return
        self._written.add(fed.function)
        if isinstance(fed.given, ast.Name) and fed.choices:
            alias = imported_for(module, fed.given)
            assert alias is not None
            name = self._name_elsewhere(fed)
            yield from module.cst.apply([Rename(alias, name, bound=self.page.unbound(name))])
        if fed.changed is not None:
            pass  # its statement becomes another one
        elif fed.statement in self._specs:
            yield from self.page.instead(fed.statement, [self._specs.pop(fed.statement)])
        elif not fed.kept:
            yield from self._gone(fed.statement)
        if fed.changed is not None:
            yield from changed_edits(self.page, fed, fed.changed)
        elif fed.returned is not None:
            whole, features = fed.returned
            told = module.cst.expression(features) if fed.inner is None else None
            new = told or code(f"{fed.inner.function.name}, {fed.inner.tensors}")  # type: ignore[union-attr]
            yield from module.cst.apply([Replace(whole, new)])
        for call, name in fed.fed if fed.features is None else ():
            yield from module.cst.apply([Replace(call, code(self.specs.of(call, name)))])
        if fed.computed is not None:
            yield from self._parameters(fed.computed)

    def known(self, fed: Receiver) -> Iterator[tuple[ast.AST, str]]:
        """What becomes of placeholders that an export writes with its own lines, or which stay where they are."""
        for call, name in fed.fed if fed.features is not None else ():
            yield call, self.specs.of(call, name)
        if fed.kept and fed.statement is not None and fed.parsed is not None:
            name = self.module.unused_name("feature_spec", fed.statement)
            self._specs.setdefault(fed.statement, f"{name} = {self.page.text(fed.parsed)}")
            yield fed.parsed, name

    def _parameters(self, computed: Computed) -> Iterator[Edit]:
        """Parameters of a function, in place of its placeholders."""
        file, names = self.module.cst, [each.name for each in computed.parameters]
        head = with_parameters(file.statement(computed.function), instead=names)
        yield from file.apply([Replace(computed.function, head)])
        for each in computed.parameters:
            yield from self._gone(each.statement)
            for statement in dict.fromkeys(s for s, _, _ in each.added) if isinstance(each, FedTogether) else ():
                yield from self._gone(statement)
