"""Comments of a program that are in the way of what is written anew, or speak of what it no longer does."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from migrator.resolve.module import Module
from migrator.rewrite import Change, Comments
from migrator.vocabulary.diagnostics import Edit

_ESTIMATOR = re.compile(
    r"\b(the|an?|our|your|this)( custom| canned)? (?:tf\.estimator\.)?(?:tpu)?estimator\b(?![.(])", re.IGNORECASE
)
"""``the Estimator``, and not the name of a class."""
_TIMES = re.compile(rb"\b(start_delay_secs|throttle_secs)\s*=")


def has_comments(module: Module, node: ast.AST) -> bool:
    """Whether comments stand within a node."""
    start, end = module.span(node)
    return b"#" in module.source[start:end] and any(True for _ in comments(module, start, end))


def comments(module: Module, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The comments in a part of a file that is an expression, with their places."""
    reader = io.BytesIO(b"(" + module.source[start:end] + b")").readline
    lines = [0, *(m.end() for m in re.finditer(b"\n", module.source[start:end]))]
    for token in tokenize.tokenize(reader):
        if token.type == tokenize.COMMENT:
            column = len(token.line[: token.start[1]].encode()) - (1 if token.start[0] == 1 else 0)
            yield start + lines[token.start[0] - 1] + column, token.string


def of_lost_times(module: Module, at: int) -> bool:
    """Whether a comment stands behind an argument that says when to evaluate, and has no match: ``throttle_secs=60,  # …``"""
    before = module.source[module.source.rfind(b"\n", 0, at) + 1 : at]
    return _TIMES.search(before) is not None


def of_a_model(module: Module, statement: ast.stmt) -> list[Edit]:
    """Edits of the comment right above a statement that made an Estimator, and makes a model now."""
    lines = tuple(_ESTIMATOR.sub(_model, line) for line in module.comments_above(statement))
    return module.cst.apply([Comments(statement, lines)])


def of_what_goes(module: Module, statement: ast.stmt) -> list[Change]:
    """The change of the comment right above a statement that goes, where it names what the statement calls or binds."""
    called = {name.rpartition(".")[2] for _, name in module.references_in(statement) if name.startswith("tensorflow.")}
    names = {name for name in called if name[:1].isupper()}
    if isinstance(statement, ast.Assign):
        names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    words = {word for line in module.comments_above(statement) for word in re.findall(r"\w+", line)}
    return [Comments(statement, ())] if names & words else []


def _model(found: re.Match[str]) -> str:
    article, kind = found[1], found[2] or ""
    return f"{article[0] if article.lower() == 'an' and not kind else article}{kind} model"
