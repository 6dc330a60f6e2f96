"""Writes what a SavedModel of a model computes: a method for each signature that is not its predictions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import format_call
from migrator.analyse.results.exports import Exports, Signature, is_default, served_by
from migrator.analyse.statements.flow import Leaf
from migrator.emit.methods.predictwriter import dict_or_value, returned_dict
from migrator.emit.writer import Writer
from migrator.rewrite import Row, names_of, statements, trimmed

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter


def serving_method(generator: ModelWriter, found: Exports) -> Sequence[Row]:
    """The method `serving_outputs`."""
    if not found.signatures and found.whole is None:
        return []
    if found.whole is not None:
        generator.static_names([], [found.whole])
        writer = Writer(generator.shared, "serving", generator.names("serving"))
        body = writer.lines(f"return {writer.text(found.whole)}.serving_outputs(self.predict_step(x))")
    else:
        body = _served(generator, found)
    return statements(
        '''
        def serving_outputs(self, x):
            """What a SavedModel computes, by signature."""
            {body}
        ''',
        body=body,
    )


def _served(generator: ModelWriter, found: Exports) -> list[Row]:
    """What is computed for all signatures, and a dict of it."""
    plan, shared = generator.plan, generator.shared
    values = [v for s in found.signatures if not s.predictions for v in s.values.values()]
    support = generator.static_names(found.leaves, values)
    writer = Writer(shared, "serving", generator.names("serving"))
    body = writer.rows(plan.ordered({*found.leaves, *support}))
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
        entries.append((key, text))
    body += returned_dict(writer, entries)
    return [*(statements("y_pred = self(x)") if "y_pred" in names_of(body) else []), *body]


def serving_methods(generator: ModelWriter, found: Exports) -> list[Sequence[Row]]:
    """The methods of a plain model that compute its signatures, for those that do not give its predictions."""
    return [_serving_method(generator, found, signature) for signature in found.signatures if not signature.predictions]


def _serving_method(generator: ModelWriter, found: Exports, signature: Signature) -> Sequence[Row]:
    plan, method = generator.plan, served_by(generator.plan, signature)
    if method in generator.taken:
        raise Unsupported(f"`{method}` is a name that the generated model needs", signature.key)
    needed: set[Leaf] = set()
    for value in signature.values.values():
        needed |= plan.slice_of(value, "infer")
    leaves = [leaf for leaf in found.leaves if leaf in needed]
    support = generator.static_names(leaves, signature.values.values())

    def written(support: set[Leaf]) -> list[Row]:
        names = {**generator.names("serving"), plan.features: plan.features}
        if generator.single is not None:
            names = {name: text for name, text in names.items() if text not in ("x", "y", "y_pred")}
        writer = Writer(generator.shared, "serving", names)
        return [*writer.rows(plan.ordered({*leaves, *support})), *_returned(plan, signature, writer)]

    return statements(
        """
        def {method}(self, {features}):
            {output} = self({features})
            {body}
        """,
        method=method,
        features=plan.features,
        output="y_pred" if generator.single is None else generator.single.name,
        body=trimmed(written(generator.lean(support, written))),
    )


def _returned(plan: Plan, signature: Signature, writer: Writer) -> list[Row]:
    """The `return` of a method that serves: outputs by name."""
    values = signature.values
    if signature.kind == "PredictOutput":
        value = values["outputs"]
        followed = plan.followed(value, "infer")[0]
        if isinstance(followed, ast.Dict):
            return dict_or_value(writer, followed if isinstance(value, ast.Dict) else value)
        pairs = [("output", value)]
    elif signature.kind == "RegressionOutput":
        pairs = [("outputs", values["value"])]
    else:
        pairs = list(values.items())
    entries = ", ".join(f"{name!r}: {writer.text(value)}" for name, value in pairs)
    return writer.lines(f"return {{{entries}}}".replace("'", '"'))
