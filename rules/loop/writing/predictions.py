"""The edits that write predictions, of which an Estimator gives one after the other, with the arrays that Keras gives."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from migrator.rewrite import Replace, code, with_arguments
from migrator.vocabulary.diagnostics import Edit

from ...hooks.session_hooks import reads_step_before
from ..page import Page
from ..places import line_above
from ..rows import Rows, free_names, listed, named, rows_of
from ..use import WHOLE, Use


class PredictionWriter:
    """Writes the predictions of a file."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.module = page.module

    def edits(self, use: Use, model: str, data: str) -> Iterator[Edit]:
        """Those of one call of ``predict``, of what `model` and `data` say."""
        module, call = self.module, use.call
        parent = module.parent(call)
        if use.by_batches:
            yield from self._by_batches(
                use, f"map({model}.predict_on_batch, {data}.map(lambda features, *_: features))"
            )
            return
        if use.is_first and isinstance(parent, ast.Call):
            yield from self._first(use, parent, f"{model}.predict({data}.take(1), verbose=0)")
            return
        predict = f"{model}.predict({data}{self._hooks(use)}, verbose=0)"
        if not use.sources[0].has_dicts:
            _, places = named(module, call)
            through = len(places) == 1 and self._is_gone_through(places[0])
            yield from self.page.replaced(call, predict if through else f"iter({predict})")
            rows = rows_of(module, places[0]) if through and use.sources[0].model is not None else None
            for place in (place for found in rows.reads.values() for place in found) if rows is not None else ():
                yield from self.page.change(Replace(place, module.cst.expression(place.value)))
            return
        whole = listed(module, call)
        name, places = named(module, whole)
        rows = rows_of(module, places[0]) if len(places) == 1 else None
        names = free_names(module, rows) if rows is not None else None
        if rows is not None and names is not None and name is not None:
            yield from self.page.replaced(whole, predict)
            yield from self._columns(rows, names, name.id)
        elif rows is not None and names is not None and len(names) == 1:
            yield from self._columns(rows, names, predict)
        elif rows is not None and names is not None and (before := line_above(module, call)) is not None:
            held = module.unused_name("predictions", call)
            yield from self.page.above(before, [f"{held} = {predict}"])
            yield from self._columns(rows, names, held)
        else:
            yield from self._dicts(use, predict, name)

    def _hooks(self, use: Use) -> str:
        """The argument for hooks that a graph runs as they are."""
        if "hooks" not in use.arguments:
            return ""
        behind = ", steps_behind=1" if reads_step_before(self.module) else ""
        return f", callbacks={self.page.helper('graph_hooks')}({self.page.text(use.arguments['hooks'])}{behind})"

    def _by_batches(self, use: Use, batches: str) -> Iterator[Edit]:
        """Predictions that are made as they are read: of whole batches where the program wants these, else of examples."""
        chosen = self._chosen(use, "outputs")
        picked = batches if chosen == "outputs" else f"({chosen} for outputs in {batches})"
        if WHOLE in use.arguments:
            yield from self.page.replaced(use.call, picked)
            return
        _, places = named(self.module, use.call)
        rows = rows_of(self.module, places[0]) if len(places) == 1 and use.sources[0].has_dicts else None
        names = free_names(self.module, rows) if rows is not None else None
        if rows is not None and names is not None and len(names) == 1 and rows.source is use.call and not rows.zipped:
            key = next(self.module.segment(reads[0].slice) for reads in rows.reads.values())
            (name,) = names.values()
            display = self._display(use.call)
            if display is not None:
                instead: dict[ast.AST, str] = dict.fromkeys(itertools.chain.from_iterable(rows.reads.values()), name)
                element = self.page.text(display.elt, instead)
                loops = f"for outputs in {batches} for {name} in outputs[{key}]"
                ifs = "".join(f" if {self.page.text(test, instead)}" for test in display.generators[0].ifs)
                opened, closed = "[]" if isinstance(display, ast.ListComp) else "{}"
                yield from self.page.replaced(display, f"{opened}{element} {loops}{ifs}{closed}")
                return
            yield from self._generated(use.call, f"{name} for outputs in {batches} for {name} in outputs[{key}]")
            yield from self.page.replaced(rows.target, name)
            yield from self._reads(rows, names)
            return
        dicts = use.sources[0].has_dicts
        row, each = ("dict(zip(outputs, row))", "zip(*outputs.values())") if dicts else ("row", "outputs")
        yield from self._generated(use.call, f"{row} for outputs in {picked} for row in {each}")

    def _display(self, call: ast.Call) -> ast.ListComp | ast.SetComp | None:
        """The list or set that is made of all predictions, by one loop."""
        loop = self.module.parent(call)
        display = self.module.parent(loop) if isinstance(loop, ast.comprehension) else None
        if not isinstance(display, (ast.ListComp, ast.SetComp)) or len(display.generators) > 1:
            return None
        return display if self.module.unused_name("outputs", call) == "outputs" else None

    def _generated(self, call: ast.Call, rows: str) -> Iterator[Edit]:
        """A generator of rows in place of a call; as the only argument of another one it needs no parentheses."""
        module, parent = self.module, self.module.parent(call)
        if not isinstance(parent, ast.Call) or parent.args != [call] or parent.keywords:
            yield from self.page.replaced(call, f"({rows})")
        elif isinstance(parent.func, ast.Name) and parent.func.id == "list" and not module.is_bound("list", call):
            yield from self.page.replaced(parent, f"[{rows}]")
        else:
            yield from self.page.change(Replace(call, code(f"_({rows})").args[0].value))  # type: ignore[attr-defined]

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

    def _columns(self, rows: Rows, names: dict[str, str], arrays: str) -> Iterator[Edit]:
        """A loop over those arrays whose entries it reads."""
        module = self.module
        columns = [f"{arrays}[{module.segment(rows.reads[key][0].slice)}]{rows.picked}" for key in names]
        iterated, target = ", ".join(columns), ", ".join(names.values())
        call, targets = module.parent(rows.source), module.parent(rows.target)
        if len(columns) > 1 and rows.zipped and isinstance(call, ast.Call) and isinstance(targets, ast.Tuple):
            at = call.args.index(rows.source)
            given = with_arguments(module.cst.call(call), drop=[at], insert={at: list(map(code, columns))})
            among = [target if each is rows.target else module.segment(each) for each in targets.elts]
            yield from self.page.change(Replace(call, given), Replace(targets, code(", ".join(among))))
        else:
            iterated = f"zip({iterated})" if len(columns) > 1 else iterated
            yield from self.page.replaced(rows.source, iterated)
            yield from self.page.replaced(rows.target, target)
        yield from self._reads(rows, names)

    def _reads(self, rows: Rows, names: dict[str, str]) -> Iterator[Edit]:
        """Reads of entries of an example, each by its name."""
        for key, places in rows.reads.items():
            for place in places:
                yield from self.page.replaced(place, names[key])

    def _dicts(self, use: Use, predict: str, name: ast.Name | None) -> Iterator[Edit]:
        """One dict for each example, as before."""
        module, call, before = self.module, use.call, line_above(self.module, use.call)
        predict = self._chosen(use, predict)
        if before is None:
            held = "outputs"
            rows = f"(dict(zip({held}, row)) for {held} in [{predict}] for row in zip(*{held}.values()))"
            yield from self.page.replaced(call, rows)
            return
        held = module.unused_name("outputs" if name is not None and name.id == "predictions" else "predictions", call)
        yield from self.page.above(before, [f"{held} = {predict}"])
        row = f"dict(zip({held}, row)) for row in zip(*{held}.values())"
        yield from self._generated(call, row)

    def _chosen(self, use: Use, predict: str) -> str:
        """Those of the predictions that a program asks for."""
        keys = use.arguments.get("predict_keys")
        if keys is None:
            return predict
        chosen = f"== {self.page.text(keys)}" if isinstance(keys, ast.Constant) else f"in {self.page.text(keys)}"
        return f"{{key: values for key, values in {predict}.items() if key {chosen}}}"

    def _first(self, use: Use, parent: ast.Call, predict: str) -> Iterator[Edit]:
        """``next(predictions)``: those of the first batch are enough."""
        module = self.module
        above = module.parent(parent)
        if not use.sources[0].has_dicts:
            yield from self.page.replaced(parent, f"{predict}[0]")
        elif isinstance(above, ast.Subscript) and above.value is parent and isinstance(above.slice, ast.Constant):
            yield from self.page.replaced(above, f"{predict}[{module.segment(above.slice)}][0]")
        elif (before := line_above(module, use.call)) is not None:
            held = module.unused_name("predictions", use.call)
            yield from self.page.above(before, [f"{held} = {self._chosen(use, predict)}"])
            yield from self.page.replaced(parent, f"{{key: values[0] for key, values in {held}.items()}}")
        else:
            chosen = self._chosen(use, predict)
            yield from self.page.replaced(parent, f"{{key: values[0] for key, values in {chosen}.items()}}")
