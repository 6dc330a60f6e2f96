"""Writes what a SavedModel of a model computes: a method for each signature that is not its predictions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import format_call
from migrator.analyse.results.exports import Exports, Signature, is_default, served_by
from migrator.analyse.statements.flow import Leaf
from migrator.emit.classwriter import trimmed
from migrator.emit.predictwriter import dict_or_value
from migrator.emit.writer import Writer

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter


def serving_lines(generator: ModelWriter, found: Exports) -> list[str]:
    """The method `serving_outputs`."""
    if not found.signatures and found.whole is None:
        return []
    plan, shared = generator.plan, generator.shared
    unit = generator.unit
    indent = generator.indent + unit * 2
    head = [
        f"{generator.indent}{unit}def serving_outputs(self, x):",
        f'{indent}"""What a SavedModel computes, by signature."""',
    ]
    if found.whole is not None:
        generator.static_names([], [found.whole])
        made = Writer(shared, "serving", generator.names("serving")).text(found.whole)
        return [*head, f"{indent}return {made}.serving_outputs(self.predict_step(x))"]
    values = [v for s in found.signatures if not s.predictions for v in s.values.values()]
    support = generator.static_names(found.leaves, values)
    writer = Writer(shared, "serving", generator.names("serving"))
    body = writer.block(plan.ordered({*found.leaves, *support}), indent)
    entries = []
    for signature in found.signatures:
        key = '"serving_default"' if is_default(plan, signature.key) else writer.text(signature.key)
        texts: list[tuple[str | None, str]] = [(name, writer.text(v)) for name, v in signature.values.items()]
        if signature.predictions:
            text = "self.predict_step(x)"
        elif signature.kind == "PredictOutput":
            text = texts[0][1]
        else:
            text = format_call(shared.need(signature.kind), texts)
        entries.append(f"{key}: {text}")
    result = f"{indent}return {{{', '.join(entries)}}}"
    lines = [result]
    if len(result) > 100 or "\n" in result:
        lines = [f"{indent}return {{", *(f"{indent}{unit}{entry}," for entry in entries), f"{indent}}}"]
    forward = [f"{indent}y_pred = self(x)"] if any("y_pred" in line for line in (*body, *lines)) else []
    return [*head, *forward, *body, *lines]


def serving_methods(generator: ModelWriter, found: Exports) -> list[str]:
    """The methods of a plain model that compute its signatures, for those that do not give its predictions."""
    methods: list[str] = []
    for signature in found.signatures:
        if not signature.predictions:
            methods += ["", *_serving_method(generator, found, signature)]
    return methods[1:]


def _serving_method(generator: ModelWriter, found: Exports, signature: Signature) -> list[str]:
    plan, unit = generator.plan, generator.unit
    indent, method = generator.indent + unit * 2, served_by(plan, signature)
    if method in generator.taken:
        raise Unsupported(f"`{method}` is a name that the generated model needs", signature.key)
    needed: set[Leaf] = set()
    for value in signature.values.values():
        needed |= plan.slice_of(value, "infer")
    leaves = [leaf for leaf in found.leaves if leaf in needed]
    support = generator.static_names(leaves, signature.values.values())

    def written(support: set[Leaf]) -> list[str]:
        names = {**generator.names("serving"), plan.features: plan.features}
        if generator.single is not None:
            names = {name: text for name, text in names.items() if text not in ("x", "y", "y_pred")}
        writer = Writer(generator.shared, "serving", names)
        lines = writer.block(plan.ordered({*leaves, *support}), indent)
        return [*lines, *_returned(plan, signature, writer, indent, unit)]

    lines = trimmed(written(generator.lean(support, written)))
    output = "y_pred" if generator.single is None else generator.single.name
    return [
        f"{generator.indent}{unit}def {method}(self, {plan.features}):",
        f"{indent}{output} = self({plan.features})",
        *lines,
    ]


def _returned(plan: Plan, signature: Signature, writer: Writer, indent: str, unit: str) -> list[str]:
    """The `return` of a method that serves: outputs by name."""
    values = signature.values
    if signature.kind == "PredictOutput":
        value = values["outputs"]
        followed = plan.followed(value, "infer")[0]
        if isinstance(followed, ast.Dict):
            return dict_or_value(writer, followed if isinstance(value, ast.Dict) else value, indent, unit)
        pairs = [("output", value)]
    elif signature.kind == "RegressionOutput":
        pairs = [("outputs", values["value"])]
    else:
        pairs = list(values.items())
    return [
        f"{indent}return {{{', '.join(f'{name!r}: {writer.text(value)}' for name, value in pairs)}}}".replace("'", '"')
    ]
