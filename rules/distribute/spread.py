"""How a program makes its model under a strategy, and shares its data out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrator.rewrite import Replace, expr
from migrator.vocabulary.diagnostics import Edit

from ..loop.flow.exclusive import exclusive
from ..loop.inputs import Input
from ..loop.loop import Distribution, Loop
from ..loop.page import Page
from ..loop.use import Use


class Spread:
    """Writes what has to do with the strategy of a loop. `called` says what its model is called at a use, or where it is made,
    and `data` writes the dataset of an input function."""

    def __init__(
        self,
        distribution: Distribution,
        loop: Loop,
        page: Page,
        called: Callable[[Use | None], str],
        data: Callable[[Input], str],
    ) -> None:
        self.distribution = distribution
        self.page = page
        self.module = page.module
        self.loop = loop
        self.called, self._data = called, data
        node = distribution.strategy
        self.makes_model = node is not None
        """Whether the program makes its model in the scope of a strategy that it has."""
        at = loop.first.construction.call
        self.name = node.id if isinstance(node, ast.Name) else self.module.unused_name("strategy", at)

    @property
    def _default(self) -> str:
        """The strategy of a program that asks for none."""
        return f"{self.page.tf}.distribute.get_strategy()"

    @property
    def _stands_alone(self) -> bool:
        """Whether the name of the strategy is for the configuration only, so that it need not be None any more."""
        node = self.distribution.strategy
        if not isinstance(node, ast.Name):
            return True
        return self.module.loads_of(node.id, self.module.scope(node).lookup(node.id)) == [node]

    def edits(self) -> Iterator[Edit]:
        """The edits of values that a name for the strategy has."""
        if isinstance(self.distribution.strategy, ast.Name) and self._stands_alone:
            changes = (Replace(none, expr(self._default)) for none in self.distribution.nones)
            yield from self.module.cst.apply(changes)

    def construction(self) -> list[str]:
        """The lines that make the model."""
        node, call = self.distribution.strategy, self.loop.first.construction.call
        assert node is not None
        made = f"{self.called(None)} = {self.page.text(call)}"
        if '"""' not in made and "'''" not in made:
            made = made.replace("\n", f"\n{self.page.unit}")
        lines, scope = [], self.name
        if not isinstance(node, ast.Name):
            text = self.page.text(node, dict.fromkeys(self.distribution.nones, self._default))
            lines.append(f"{self.name} = {text}")
        elif self.distribution.nones and not self._stands_alone:
            scope = f"({self.name} or {self._default})"
        return [*lines, f"with {scope}.scope():", f"{self.page.unit}{made}"]

    def _strategy(self, use: Use) -> str:
        """The strategy where the model is trained."""
        if not self.makes_model:
            return f"{self.called(use)}.distribute_strategy"
        scope = self.module.scope(self.loop.first.construction.call)
        here = self.module.scope(use.call).lookup(self.name) is scope.lookup(self.name)
        known = self._stands_alone or not self.distribution.nones
        return self.name if here and known else f"{self.called(use)}.distribute_strategy"

    def data(self, use: Use) -> str:
        """The data of a training, of which each replica takes whole batches; they never end, as no worker may come to an end."""
        node, taken = use.input.function, use.input.takes_context
        endless = "" if use.limit is not None else ".repeat()"
        given = use.input.written(self.module, self.page.text, "context", self.page.tf)
        function = f"lambda context: {given if taken else self._data(use.input)}{endless}"
        if taken and isinstance(node, (ast.Name, ast.Attribute)) and not use.input.given:
            function = self.page.text(node)
        return f"{self._strategy(use)}.distribute_datasets_from_function({function})"

    def above(self, use: Use) -> list[str]:
        """Lines above a use of a cluster: one worker evaluates all, as each would begin with the first batch."""
        if not self.distribution.on_cluster:
            return []
        if use.method == "evaluate":
            return self._by_one(use, use.input, use.limit)
        before = self.loop.uses[: self.loop.uses.index(use)]
        reaching = [each for each in before if exclusive(self.module, each.call, use.call) is None]
        again = use.repeated and any(map(self._evaluates, self.loop.uses))
        if again or any(map(self._evaluates, reaching[-1:])):
            return [f"{self.called(use)}.steps_per_execution = 1"]
        return []

    def _evaluates(self, use: Use) -> bool:
        """Whether a use of a cluster ends with an evaluation by one worker."""
        return use.method == "evaluate" or self.distribution.evaluates_behind(use)

    def _by_one(self, use: Use, data: Input, limit: ast.expr | int | None) -> list[str]:
        """The lines by which one worker evaluates all batches of some data, or so many of them."""
        text, steps = limit if isinstance(limit, int) or limit is None else self.page.text(limit), self._steps(use)
        own = self._data(data)
        number = self.count(data, own if text is None else f"{own}.take({text})") if data.data.ends else str(text)
        return [
            f"{steps} = {number}",
            f"{self.called(use)}.steps_per_execution = {steps}  # by one worker, as each reads the data from their start",
        ]

    @staticmethod
    def count(data: Input, text: str) -> str:
        """The number of batches of some data, which have an end; `text` makes them."""
        return f"len({text})" if data.data.counted else f"sum(1 for _ in {text})"

    def steps(self, use: Use, text: str) -> str:
        """For how many steps the data of a training suffice, which `text` makes: each replica takes a batch in each.

        Of those that a function shares out among the workers of a cluster, the first share counts.
        """
        if use.input.takes_context and self.distribution.on_cluster:
            replicas, tf = f"{self._strategy(use)}.num_replicas_in_sync", self.page.tf
            context = f"{tf}.distribute.InputContext({replicas}, 0, {replicas})"
            text = use.input.written(self.module, self.page.text, context, tf)
        count = self.count(use.input, text)
        return f"{count} // {self._strategy(use)}.num_replicas_in_sync" if self.makes_model else count

    def evaluation(self, use: Use, data: str) -> str:
        """The data of an evaluation on a cluster, and its steps: no worker may come to an end of its data.

        Workers that keep equal variables evaluate all batches each.
        """
        source = use.input if use.validation is None else use.validation.input
        data = f"{data}{'.repeat()' if source.data.ends else ''}"
        if self.distribution.has_workers:
            data = f"{self._strategy(use)}.distribute_datasets_from_function(lambda context: {data})"
        return f"{data}, steps={self._steps(use)}"

    def behind(self, use: Use, data: str, restoring: str) -> list[str]:
        """The lines below a training that evaluate it once on `data`, where that is not for its own steps to do."""
        if use.validation is None or not self.distribution.evaluates_behind(use):
            return []
        lines = [restoring] if self.distribution.evened and use.saves else []
        lines += self._by_one(use, use.validation.input, use.validation.limit)
        return [*lines, f"{self.called(use)}.evaluate({self.evaluation(use, data)})"]

    def amid(self, use: Use, data: str) -> tuple[list[str], list[str]]:
        """The lines above a training by epochs, and those at the end of each epoch, that evaluate it on `data`; none where `fit`
        does."""
        if use.validation is None or not self.distribution.calls_evaluations:
            return [], []
        count, alone = self._by_one(use, use.validation.input, use.validation.limit)
        results = self.module.unused_name("results", use.call)
        return [count], [
            alone,
            f"{results} = {self.called(use)}.evaluate({self.evaluation(use, data)}, return_dict=True)",
            f"{self.called(use)}.steps_per_execution = 1",
            f'logs.update({{f"val_{{name}}": value for name, value in {results}.items()}})',
        ]

    def _steps(self, use: Use) -> str:
        return self.module.unused_name("steps", use.call)

    def restored(self, use: Use) -> bool:
        """Whether a checkpoint has to be restored before a use, so that replicas have the means of their moving statistics."""
        if use.method == "train" or not self.distribution.evened or not use.saves:
            return False
        before = self.loop.uses[: self.loop.uses.index(use)][-1:]
        return all(last.method == "train" or self._block(last) is not self._block(use) for last in before)

    def _block(self, use: Use) -> ast.AST | None:
        """What a use stands in."""
        return self.module.parent(self.module.statement(use.call))
