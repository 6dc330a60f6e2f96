"""Helpers that are short enough to stand in the program itself: without annotations, as the code around them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterator, Mapping

from migrator.resolve.parsing import syntax_tree
from migrator.resolve.syntax import walk
from migrator.resolve.text import Text
from migrator.vendor.vendored_runtime import training_library
from migrator.vocabulary.diagnostics import Edit

LINES = 40
"""How long all the helpers of a file may be together."""


def short_helpers(names: Collection[str]) -> Mapping[str, str] | None:
    """The texts of helpers, and of those that they refer to, by their names and in running order.

    None where they are long, or need more than TensorFlow.
    """
    return _short_helpers(frozenset(names))


@functools.lru_cache(maxsize=64)
def _short_helpers(names: frozenset[str]) -> Mapping[str, str] | None:
    library = training_library("columns", False)
    if not names <= library.definitions.keys():
        return None
    closure = library.closure(names)
    if sum(len(definition.source.splitlines()) for definition in closure) > 2 * LINES:
        return None  # annotations and line breaks do not make up for it
    texts = {definition.name: without_annotations(definition.source) for definition in closure}
    used = {node.id for text in texts.values() for node in walk(syntax_tree(text)) if isinstance(node, ast.Name)}
    long = sum(len(text.splitlines()) for text in texts.values()) > LINES
    return None if long or used & (library.imports.keys() - {"tf"}) else texts


def without_annotations(source: str) -> str:
    """The text of a class or function without the annotations of parameters, results and variables."""
    text = Text("helper", source)
    cuts: list[Edit] = []
    for node in walk(syntax_tree(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            arrow = text.source.rindex(b"->", 0, text.span(node.returns)[0])
            cuts.append(text.edit((len(text.source[:arrow].rstrip()), text.span(node.returns)[1]), ""))
        if isinstance(node, ast.arguments):
            cuts += _of_parameters(text, node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            cuts.append(_equal(text, text.span(node.target)[1], node.annotation, " = "))
        elif isinstance(node, ast.AnnAssign):  # with the blank lines and comments above it
            first, last = text.line_span(text.span(node))
            above = text.skip_back(first)
            cuts.append(text.edit((text.line_span((above, above))[1], last), ""))
    found = text.source
    for cut in sorted(cuts, key=lambda cut: -cut.start):
        found = found[: cut.start] + cut.text.encode() + found[cut.end :]
    return found.decode() if source.endswith("\n") else found.decode().removesuffix("\n")


def _of_parameters(text: Text, node: ast.arguments) -> Iterator[Edit]:
    positional = [*node.posonlyargs, *node.args]
    plain = len(positional) - len(node.defaults)
    defaults = dict(zip(positional[plain:], node.defaults))
    defaults.update((one, value) for one, value in zip(node.kwonlyargs, node.kw_defaults) if value is not None)
    for one in (*positional, *node.kwonlyargs, *filter(None, (node.vararg, node.kwarg))):
        end = text.span(one)[0] + len(one.arg.encode())
        if one.annotation is not None and one in defaults:
            yield _equal(text, end, one.annotation, "=")
        elif one.annotation is not None:
            yield text.edit((end, text.span(one.annotation)[1]), "")


def _equal(text: Text, start: int, annotation: ast.expr, equal: str) -> Edit:
    """What stands between a name and its value without the annotation."""
    end = text.source.index(b"=", text.span(annotation)[1]) + 1
    return text.edit((start, end + len(text.source[end:]) - len(text.source[end:].lstrip(b" "))), equal)
