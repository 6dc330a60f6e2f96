"""Writes `predict_step`: the predictions of what `call` returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.results.fedlabels import returns_predictions
from migrator.analyse.results.outputs import literal_items
from migrator.analyse.results.singleoutput import SingleOutput
from migrator.analyse.statements.flow import Leaf
from migrator.emit.classwriter import trimmed
from migrator.emit.writer import Writer

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

_LONG = 100


def predict_lines(generator: ModelWriter, output: SingleOutput) -> list[str]:
    """The method; nothing where `call` predicts, or nobody does."""
    if output.predictions is None or output.predicts_alone:
        return []
    plan, unit = generator.plan, generator.unit
    indent = generator.indent + unit * 2
    result, dropped = _result(generator, output)
    leaves = [leaf for leaf in output.predicting if leaf is not dropped]
    support = generator.static_names(leaves, [result])

    def written(support: set[Leaf]) -> list[str]:
        names = {name: text for name, text in generator.names("predict").items() if text not in ("x", "y", "y_pred")}
        writer = Writer(generator.shared, "predict", names)
        lines = writer.block(plan.ordered({*leaves, *support}), indent)
        comments = [] if dropped is None else generator.shared.renderer.comments(dropped.node, indent)
        return [*lines, *comments, *dict_or_value(writer, result, indent, unit)]

    if output.reads_features:
        head = [
            f"{indent}{plan.features}, _, _ = {generator.shared.tf}.keras.utils.unpack_x_y_sample_weight(data)",
            f"{indent}{output.name} = self({plan.features}, training=False)",
        ]
    else:
        head = [f"{indent}{output.name} = super().predict_step(data)"]
    lines = trimmed(written(generator.lean(support, written)))
    return [f"{generator.indent}{unit}def predict_step(self, data):", *head, *lines]


def picked_lines(generator: ModelWriter) -> list[str]:
    """The method where `call` returns a dict: those of its entries that are predictions."""
    out = generator.outputs
    if out.predicted is None and out.predicted_single is None and out.excluded is None:
        return []
    if returns_predictions(generator.plan) and [key for key, _ in generator.predicted_entries()] == out.predicted:
        return []
    indent = generator.indent + generator.unit * 2
    head = f"{generator.indent}{generator.unit}def predict_step(self, data):"
    if out.excluded is not None:
        test = f"!= {out.excluded[0]}" if len(out.excluded) == 1 else f"not in ({', '.join(out.excluded)})"
        return [
            head,
            f"{indent}outputs = super().predict_step(data)",
            f"{indent}return {{key: value for key, value in outputs.items() if key {test}}}",
        ]
    if out.predicted_single is not None:
        return [head, f"{indent}return super().predict_step(data)[{out.predicted_single}]"]
    assert out.predicted is not None
    if len(out.predicted) == 1:
        key = out.predicted[0]
        return [head, f"{indent}return {{{key}: super().predict_step(data)[{key}]}}"]
    return [
        head,
        f"{indent}outputs = super().predict_step(data)",
        f"{indent}return {{key: outputs[key] for key in ({', '.join(out.predicted)})}}",
    ]


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


def dict_or_value(writer: Writer, value: ast.expr, indent: str, unit: str) -> list[str]:
    """The `return` of a value, the entries of a dict on lines of their own where it is long."""
    items = literal_items(value)
    if items is None or not items:
        return f"{indent}return {writer.text(value)}".split("\n")
    pairs = [f"{key}: {writer.text(item)}" for key, item in items]
    line = f"{indent}return {{{', '.join(pairs)}}}"
    if len(line) <= _LONG and "\n" not in line:
        return [line]
    return [f"{indent}return {{", *(f"{indent}{unit}{pair}," for pair in pairs), f"{indent}}}"]
