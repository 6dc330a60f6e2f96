"""The edits that write a loop with `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from migrator.analyse.function.plan import Plan
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.text import within
from migrator.vocabulary.diagnostics import Edit

from .comments import comments
from .plan import Loop, Use
from .rows import Comprehension, Rows, free_names, rows_of

_PLAIN_NAMES = frozenset({"estimator", "classifier", "regressor", "est", "clf"})
"""Names that say no more than what kind of thing a model was."""


class LoopWriter:
    """Writes one loop. `renderer` writes parts of the file, with the edits of their names."""

    def __init__(self, loop: Loop, plan: Plan, renderer: Callable[[Module], Renderer], tf: str) -> None:
        self.loop = loop
        self.tf = tf
        self.plan = plan
        self.module = loop.module
        self._renderer = renderer
        self.model = self._model_name()
        self.checkpoint, self.checkpoints = (
            self.module.unused_name(name, loop.target) for name in ("checkpoint", "checkpoints")
        )
        self.written: set[ast.expr] = set()
        """Expressions that are part of a larger one that was written anew."""

    def text(self, node: ast.expr, instead: Mapping[ast.AST, str] = MappingProxyType({})) -> str:
        """An expression with the edits of the names in it, and with other texts `instead` of some of these."""
        return self._renderer(self.module).expression(node, instead.get)

    def edits(self) -> Iterator[Edit]:
        """All edits, but for that of the construction."""
        module = self.module
        if self.model != self.loop.target.id:
            yield module.edit(self.loop.target, self.model)
        yield from self._settings()
        for use in self.loop.uses:
            yield from self._comments(use)
            yield from self._specs(use)
            data = use.input.written(module, self.text)
            if use.method == "train":
                yield module.edit(use.call, f"\n{self._indent(use.call)}".join(self._training(use, data)))
            elif use.method == "evaluate":
                yield module.edit(use.call, f"{self.model}.evaluate({data}{self._taken(use)}, return_dict=True)")
            else:
                yield from self._prediction(use, data)

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def _settings(self) -> Iterator[Edit]:
        """What the configuration said, around the construction."""
        module, settings = self.module, self.loop.settings
        made = module.statement(self.loop.construction.call)
        seed = settings.fields.get("tf_random_seed")
        before = [f"{self.tf}.{self._seeding()}({self.text(seed)})"] if seed is not None else []
        if settings.statement is not None:
            start, end = module.span(settings.statement)
            before = [*(text for _, text in comments(module, start, end)), *before]
            yield self._instead(settings.statement, before)
        elif before:
            yield module.insert(module.span(made)[0], "".join(f"{line}\n{self._indent(made)}" for line in before))
        if settings.directory is None:
            return
        keep = settings.fields.get("keep_checkpoint_max")
        kept = "5" if keep is None else self.text(keep)
        options = f'max_to_keep={"None" if kept == "0" else kept}, checkpoint_name="model.ckpt"'
        train = f"{self.tf}.train"
        lines = [
            f"{self.checkpoint} = {train}.Checkpoint(model={self.model})",
            f"{self.checkpoints} = {train}.CheckpointManager({self.checkpoint}, {self.text(settings.directory)}, {options})",
            f"if {self.checkpoints}.latest_checkpoint:",  # one of an Estimator, say, would else be passed over
            f"{self._unit()}{self.checkpoint}.restore({self.checkpoints}.latest_checkpoint)"
            ".assert_existing_objects_matched()",
        ]
        end = module.line_span(made)[1]
        lead = "" if module.source[end - 1 : end] == b"\n" else "\n"
        yield module.insert(end, lead + "".join(f"{self._indent(made)}{line}\n" for line in lines))

    def _instead(self, statement: ast.stmt, lines: list[str]) -> Edit:
        """Lines in place of a statement."""
        text = f"\n{self._indent(statement)}".join(lines)
        return self.module.edit(statement, text) if text else self.module.delete_statement(statement)

    def _seeding(self) -> str:
        """The function that seeds TensorFlow: initializers of Keras ask for the one that also seeds Python and NumPy, which is
        not for programs that draw from these themselves."""
        return "random.set_seed" if self.loop.draws else "keras.utils.set_random_seed"

    def _interval(self) -> str:
        interval = self.loop.interval
        if not isinstance(interval, ast.expr):
            return str(interval)
        closed = isinstance(interval, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
        return self.text(interval) if closed else f"({self.text(interval)})"

    def _training(self, use: Use, data: str) -> list[str]:
        """The lines of a training."""
        limit, directory = use.limit, self.loop.settings.directory
        goes_on = self.loop.goes_on(use)
        if use.every is not None:
            return self._epochs(use, data, goes_on)
        lines = []
        steps = ""
        if limit is not None and use.to_step and goes_on:
            steps = self.module.unused_name("steps", use.call)
            lines.append(f"{steps} = {_operand(limit, self.text)} - {self.model}.optimizer.iterations.numpy()")
            lines.append(f"if {steps} > 0:")
            data += f".take({steps})"
        elif limit is not None:
            data += f".take({self.text(limit)})"
        data += self._validation(use)
        inner = [f"{self.model}.fit({data}{self._callbacks()})"]
        if directory is not None:
            inner.append(f"{self.checkpoints}.save({self.model}.optimizer.iterations)")
        return [*lines, *(f"{self._unit() if steps else ''}{line}" for line in inner)]

    def _epochs(self, use: Use, data: str, goes_on: bool) -> list[str]:
        """The lines of a training with an evaluation after every so many steps."""
        assert use.every is not None and use.limit is not None
        every, last, steps = self.text(use.every), self.text(use.limit), f"{self.model}.optimizer.iterations"
        epochs = f"-(-{last} // {every})" if use.divided is None else str(use.divided)
        done, first = "", ""
        if goes_on:
            done = self.module.unused_name("done", use.call)
            first = f"initial_epoch={done} // {every}, "
        parts = []
        if use.stops(goes_on):
            stop = f'setattr({self.model}, "stop_training", {steps}.numpy() >= {last})'
            parts.append(f"on_train_batch_end=lambda batch, logs: {stop}")
        if self.loop.settings.directory is not None:
            parts.append(f"on_epoch_end=lambda epoch, logs: {self.checkpoints}.save({steps})")
        told = f"steps_per_epoch={every}, {first}epochs={epochs}{self._validation(use)}"
        fit = f"{self.model}.fit({data}, {told}{self._called(parts)})"
        return [f"{done} = {steps}.numpy()", f"if {done} < {last}:", f"{self._unit()}{fit}"] if done else [fit]

    def _validation(self, use: Use) -> str:
        """The argument of `fit` for the data of evaluations."""
        if use.validation is None:
            return ""
        limit = use.validation.limit
        data = use.validation.input.written(self.module, self.text)
        taken = "" if limit is None else f".take({self.text(limit) if isinstance(limit, ast.expr) else limit})"
        return f", validation_data={data}{taken}"

    def _specs(self, use: Use) -> Iterator[Edit]:
        """Statements that hold specs go; their comments stay."""
        for spec in use.validation.specs if use.validation is not None else ():
            if spec.statement is not None:
                kept = self._kept(use)
                found = comments(self.module, *self.module.span(spec.statement))
                lines = [text for at, text in found if not within((at, at + 1), kept)]
                yield self._instead(spec.statement, lines)

    def _callbacks(self) -> str:
        """The callbacks of a training in one epoch."""
        if self.loop.interval is None or self.loop.settings.directory is None:
            return self._called([])
        save = f"{self.checkpoints}.save({self.model}.optimizer.iterations)"
        return self._called(
            [f"on_train_batch_end=lambda batch, logs: (batch + 1) % {self._interval()} == 0 and {save}"]
        )

    def _called(self, parts: list[str]) -> str:
        """The argument of `fit` for callbacks: a LambdaCallback of `parts`, and the summaries of a folder."""
        settings, callbacks = self.loop.settings, f"{self.tf}.keras.callbacks"
        found = [f"{callbacks}.LambdaCallback({', '.join(parts)})"] if parts else []
        if settings.directory is None:
            return f", callbacks=[{found[0]}]" if found else ""
        node, every = settings.directory, settings.fields.get("save_summary_steps")
        simple = isinstance(node, (ast.Name, ast.Attribute, ast.Constant))
        folder = self.text(node) if simple else f"{self.checkpoints}.directory"
        frequency = "100" if every is None else self.text(every)
        found.append(f"{callbacks}.TensorBoard({folder}, update_freq={frequency})")
        return f", callbacks=[{', '.join(found)}]"

    def _unit(self) -> str:
        """One level of indentation."""
        function = next((n for n in self.module.nodes(ast.FunctionDef)), None)
        if function is None:
            return "    "
        return self._indent(function.body[0])[len(self._indent(function)) :] or "    "

    def _indent(self, node: ast.AST) -> str:
        """The blanks before a statement."""
        module, statement = self.module, self.module.statement(node)
        line = module.source[module.line_span(statement)[0] : module.span(statement)[0]].decode()
        return line if not line.strip() else ""

    # -- evaluations --------------------------------------------------------------------------------------------------

    def _taken(self, use: Use) -> str:
        """At most so many batches."""
        return f".take({self.text(use.limit)})" if use.limit is not None else ""

    def _comments(self, use: Use) -> Iterator[Edit]:
        """Comments between the arguments of a call, above its statement."""
        module, (start, end) = self.module, self.module.span(use.call)
        if b"#" not in module.source[start:end]:
            return
        kept = self._kept(use)
        lines = [text for at, text in comments(module, start, end) if not within((at, at + 1), kept)]
        if lines:
            at = module.span(module.statement(use.call))[0]
            indent = module.source[module.line_span(module.statement(use.call))[0] : at].decode()
            yield module.insert(at, "".join(f"{line}\n{indent}" for line in lines))

    def _kept(self, use: Use) -> list[tuple[int, int]]:
        """Where those parts of a call lie that are written anew."""
        limits = [value for name, value in use.arguments.items() if name in ("steps", "max_steps")]
        parts = [*use.input.parts(self.module), *limits]
        if use.validation is not None:
            parts += [*use.validation.input.parts(self.module), *use.validation.parts]
        return [self.module.span(node) for node in parts]

    def _model_name(self) -> str:
        """`model` instead of `estimator`, where nothing else has that name."""
        name, taken = self.loop.target.id, self.module.bound_names | set(self.module.star_import)
        return "model" if name.lower() in _PLAIN_NAMES and "model" not in taken else name

    # -- predictions --------------------------------------------------------------------------------------------------

    def _prediction(self, use: Use, data: str) -> Iterator[Edit]:
        module, call = self.module, use.call
        parent = module.parent(call)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next":
            yield from self._first(use, parent, data)
            return
        predict = f"{self.model}.predict({data})"
        name = self._held(call)
        places = module.loads_of(name.id, module.scope(name).holder(name.id)) if name is not None else [call]
        if not self.has_dicts():
            whole = len(places) == 1 and (places[0] is call or name is not None) and self._is_gone_through(places[0])
            yield module.edit(call, predict if whole else f"iter({predict})")
            return
        rows = rows_of(module, places[0]) if len(places) == 1 else None
        names = free_names(module, rows) if rows is not None else None
        if rows is not None and names is not None and name is not None:
            yield module.edit(call, predict)
            yield from self._columns(rows, names, name.id)
        elif rows is not None and names is not None and len(names) == 1:
            yield from self._columns(rows, names, predict)
        elif rows is not None and names is not None and (before := self._before(call)) is not None:
            held = module.unused_name("predictions", call)
            yield self._statement(before, f"{held} = {predict}")
            yield from self._columns(rows, names, held)
        else:
            yield from self._dicts(use, predict, name)

    def _is_gone_through(self, node: ast.expr) -> bool:
        """Whether a place goes over all rows from the first one on, so that an array is as good as an iterator."""
        parent = self.module.parent(node)
        if isinstance(parent, (ast.For, ast.comprehension)):
            return parent.iter is node
        function = parent.func if isinstance(parent, ast.Call) and node in parent.args else None
        return (
            isinstance(function, ast.Name)
            and function.id in ("list", "tuple", "enumerate", "zip", "sorted")
            and not self.module.is_bound(function.id, function)
        )

    def has_dicts(self) -> bool:
        """Whether the predictions of an example are a dict."""
        node = self.plan.field("infer", "predictions")
        if node is None:
            return True
        value = self.plan.followed(node, "infer")[0]
        tensor = isinstance(value, (ast.Subscript, ast.BinOp)) or self._is_library_call(value)
        return not tensor

    def _is_library_call(self, node: ast.expr) -> bool:
        name = self.plan.module.resolve(node.func) if isinstance(node, ast.Call) else None
        return name is not None and name.startswith("tensorflow.")

    def _held(self, call: ast.Call) -> ast.Name | None:
        """The name that a statement gives the predictions, if it stands for nothing else."""
        module, statement = self.module, self.module.parent(call)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return None
        scope = module.scope(target).holder(target.id)
        return target if len(scope.bindings.get(target.id, [])) == 1 else None

    def _columns(self, rows: Rows, names: dict[str, str], arrays: str) -> Iterator[Edit]:
        """A loop over those arrays whose entries it reads."""
        module = self.module
        columns = [f"{arrays}[{module.segment(rows.reads[key][0].slice)}]{rows.picked}" for key in names]
        iterated, target = ", ".join(columns), ", ".join(names.values())
        if len(columns) > 1 and not rows.zipped:
            iterated = f"zip({iterated})"
            target = f"({target})" if rows.enumerated else target
        yield module.edit(rows.source, iterated)
        yield module.edit(rows.target, target)
        for key, places in rows.reads.items():
            for place in places:
                yield module.edit(place, names[key])

    def _dicts(self, use: Use, predict: str, name: ast.Name | None) -> Iterator[Edit]:
        """One dict for each example, as before."""
        module, call, before = self.module, use.call, self._before(use.call)
        predict = self._chosen(use, predict)
        if before is None:
            held = "outputs"
            rows = f"(dict(zip({held}, row)) for {held} in [{predict}] for row in zip(*{held}.values()))"
            yield module.edit(call, rows)
            return
        held = module.unused_name("outputs" if name is not None and name.id == "predictions" else "predictions", call)
        yield self._statement(before, f"{held} = {predict}")
        row = f"dict(zip({held}, row)) for row in zip(*{held}.values())"
        parent = module.parent(call)
        if isinstance(parent, ast.Call) and parent.args == [call] and not parent.keywords:
            if isinstance(parent.func, ast.Name) and parent.func.id == "list" and not module.is_bound("list", call):
                yield module.edit(parent, f"[{row}]")
            else:
                yield module.edit(call, row)
        else:
            yield module.edit(call, f"({row})")

    def _chosen(self, use: Use, predict: str) -> str:
        """Those of the predictions that a program asks for."""
        keys = use.arguments.get("predict_keys")
        if keys is None:
            return predict
        chosen = f"== {self.text(keys)}" if isinstance(keys, ast.Constant) else f"in {self.text(keys)}"
        return f"{{key: values for key, values in {predict}.items() if key {chosen}}}"

    def _first(self, use: Use, parent: ast.Call, data: str) -> Iterator[Edit]:
        """``next(predictions)``: those of the first batch are enough."""
        module, predict = self.module, f"{self.model}.predict({data}.take(1))"
        above = module.parent(parent)
        if not self.has_dicts():
            yield module.edit(parent, f"{predict}[0]")
        elif isinstance(above, ast.Subscript) and above.value is parent and isinstance(above.slice, ast.Constant):
            yield module.edit(above, f"{predict}[{module.segment(above.slice)}][0]")
        elif (before := self._before(use.call)) is not None:
            held = module.unused_name("predictions", use.call)
            yield self._statement(before, f"{held} = {self._chosen(use, predict)}")
            yield module.edit(parent, f"{{key: values[0] for key, values in {held}.items()}}")
        else:
            chosen = self._chosen(use, predict)
            yield module.edit(parent, f"{{key: values[0] for key, values in {chosen}.items()}}")

    # -- statements ---------------------------------------------------------------------------------------------------

    def _before(self, node: ast.expr) -> ast.stmt | None:
        """The statement that a line may be put before, to the same effect; None where that is not so."""
        module, statement = self.module, self.module.statement(node)
        start = module.span(statement)[0]
        first = module.line_span(statement)[0]
        if module.source[first:start].strip():
            return None
        below: ast.AST = node
        for outer in module.ancestors(node):
            if outer is statement:
                break
            if isinstance(outer, (ast.Lambda, ast.IfExp, ast.BoolOp)):
                return None
            if isinstance(outer, Comprehension) and not (
                outer.generators[0].iter is below or below is outer.generators[0]
            ):
                return None
            if isinstance(outer, ast.comprehension) and outer.iter is not below:
                return None
            below = outer
        if isinstance(statement, ast.While) or (isinstance(statement, ast.For) and below is not statement.iter):
            return None
        chained = isinstance(statement, ast.If) and module.source[start : start + 4] == b"elif"
        return None if chained or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.With)) else statement

    def _statement(self, before: ast.stmt, text: str) -> Edit:
        """A statement on a line of its own."""
        module = self.module
        start, first = module.span(before)[0], module.line_span(before)[0]
        indent = module.source[first:start].decode()
        return module.insert(start, f"{text}\n{indent}")


def dropped(loop: Loop) -> frozenset[str]:
    """Arguments of an Estimator that are written elsewhere."""
    return frozenset({"config", "model_dir"} & set(loop.construction.arguments))


def _operand(node: ast.expr, text: Callable[[ast.expr], str]) -> str:
    """An expression on the left of a minus."""
    loose = (ast.IfExp, ast.Lambda, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.NamedExpr)
    bits = isinstance(node, ast.BinOp) and isinstance(
        node.op, (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
    )
    return f"({text(node)})" if isinstance(node, loose) or bits else text(node)
