"""The datasets that trainings, evaluations and predictions are given."""

from __future__ import annotations

import ast

from ..inputs import Input
from ..loop import Loop
from ..page import Page
from ..specs import Validation
from ..use import Use


class DataWriter:
    """Writes the datasets of a file."""

    def __init__(self, loop: Loop, page: Page) -> None:
        self.loop, self.page = loop, page

    def written(self, data: Input) -> str:
        """The dataset that an input function returns."""
        for array in self.loop.arrays:
            if data.function in array.functions:
                return array.name or array.written(self.page)
        return data.written(self.page.module, self.page.text, tf=self.page.tf)

    def validated(self, validation: Validation) -> str:
        """The data of evaluations amid a training."""
        limit, data = validation.limit, self.written(validation.input)
        number = self.number(limit, validation.unlimited) if isinstance(limit, ast.expr) else limit
        return f"{data}{'' if limit is None else f'.take({number})'}"

    def taken(self, use: Use) -> str:
        """At most so many batches, behind a dataset."""
        if use.limit is None:
            return ""
        number = self.number(use.limit, use.unlimited)
        return f", steps={number}" if use.sources[0].takes_batches and not use.unlimited else f".take({number})"

    def number(self, node: ast.expr, unlimited: bool) -> str:
        """How many elements a dataset gives, all of them where the number is None."""
        text = self.page.text(node)
        return f"-1 if {text} is None else {text}" if unlimited else text
