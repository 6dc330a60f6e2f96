"""Writes `predict_step`: the predictions of what `call` returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from migrator.analyse.results.fedlabels import returns_predictions
from migrator.analyse.results.outputs import literal_items
from migrator.analyse.results.singleoutput import SingleOutput
from migrator.analyse.statements.flow import Leaf
from migrator.emit.writer import Writer
from migrator.rewrite import Row, code, expr, rows, statements, trimmed

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

_LONG = 100


def predict_method(generator: ModelWriter, output: SingleOutput) -> Sequence[Row]:
    """The method; nothing where `call` predicts, or nobody does."""
    if output.predictions is None or output.predicts_alone:
        return []
    plan = generator.plan
    result, dropped = _result(generator, output)
    leaves = [leaf for leaf in output.predicting if leaf is not dropped]
    support = generator.static_names(leaves, [result])

    def written(support: set[Leaf]) -> list[Row]:
        names = {name: text for name, text in generator.names("predict").items() if text not in ("x", "y", "y_pred")}
        writer = Writer(generator.shared, "predict", names)
        body = writer.rows(plan.ordered({*leaves, *support}))
        comments = writer.remarks([] if dropped is None else [dropped.node])
        return [*body, *comments, *dict_or_value(writer, result)]

    given = expr("super().predict_step(data)")
    unpacked: list[Row] = []
    if output.reads_features:
        unpack = "{features}, _, _ = {tf}.keras.utils.unpack_x_y_sample_weight(data)"
        unpacked += statements(unpack, features=plan.features, tf=generator.shared.tf)
        given = expr("self({features}, training=False)", features=plan.features)
    return statements(
        """
        def predict_step(self, data):
            {unpacked}
            {output} = {given}
            {body}
        """,
        unpacked=unpacked,
        output=output.name,
        given=given,
        body=trimmed(written(generator.lean(support, written))),
    )


def picked_method(generator: ModelWriter) -> Sequence[Row]:
    """The method where `call` returns a dict: those of its entries that are predictions."""
    out = generator.outputs
    if out.predicted is None and out.predicted_single is None and out.excluded is None:
        return []
    if returns_predictions(generator.plan) and [key for key, _ in generator.predicted_entries()] == out.predicted:
        return []
    if out.excluded is not None:
        test = f"!= {out.excluded[0]}" if len(out.excluded) == 1 else f"not in ({', '.join(out.excluded)})"
        return statements(
            """
            def predict_step(self, data):
                outputs = super().predict_step(data)
                return {{key: value for key, value in outputs.items() if {test}}}
            """,
            test=code(f"key {test}"),
        )
    if out.predicted_single is not None:
        return statements(
            """
            def predict_step(self, data):
                return super().predict_step(data)[{key}]
            """,
            key=code(out.predicted_single),
        )
    assert out.predicted is not None
    if len(out.predicted) == 1:
        return statements(
            """
            def predict_step(self, data):
                return {{{key}: super().predict_step(data)[{key}]}}
            """,
            key=code(out.predicted[0]),
        )
    return statements(
        """
        def predict_step(self, data):
            outputs = super().predict_step(data)
            return {{key: outputs[key] for key in {keys}}}
        """,
        keys=code(f"({', '.join(out.predicted)})"),
    )


def _result(generator: ModelWriter, output: SingleOutput) -> tuple[ast.expr, Leaf | None]:
    """What is returned, and the statement that only gives it a name."""
    result = output.predictions
    assert result is not None
    last = output.predicting[-1] if output.predicting else None
    node = last.node if last is not None else None
    if isinstance(result, ast.Name) and isinstance(node, ast.Assign) and last is not None and not last.arms:
        made = generator.plan.slicer.reaching(result.id, len(generator.plan.flow.leaves), "infer")
        if made == [last] and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return node.value, last
    return result, None


def dict_or_value(writer: Writer, value: ast.expr) -> list[Row]:
    """The `return` of a value, the entries of a dict on lines of their own where it is long."""
    items = literal_items(value)
    if items is None or not items:
        return writer.lines(f"return {writer.text(value)}")
    return returned_dict(writer, [(key, writer.text(item)) for key, item in items])


def returned_dict(writer: Writer, pairs: Iterable[tuple[str, str]]) -> list[Row]:
    """The `return` of a dict, its entries on lines of their own where it is long."""
    entries = [f"{key}: {text}" for key, text in pairs]
    line = f"return {{{', '.join(entries)}}}"
    if len(writer.indent + line) <= _LONG and "\n" not in line:
        return rows([line])
    return writer.lines("return {", *(f"{writer.unit}{entry}," for entry in entries), "}")
