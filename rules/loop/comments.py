"""Comments of a program that are in the way of what is written anew, and those that say what a training no longer does."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from migrator.resolve.module import Module
from migrator.rewrite import Comments
from migrator.vocabulary.diagnostics import Edit

from .use import Use

_ESTIMATOR = re.compile(
    r"\b(the|an?|our|your|this)( custom| canned)? (?:tf\.estimator\.)?(?:tpu)?estimator\b(?![.(])", re.IGNORECASE
)
"""``the Estimator``, and not the name of a class."""


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


def of_a_model(module: Module, statement: ast.stmt) -> list[Edit]:
    """Edits of the comment right above a statement that made an Estimator, and makes a model now."""
    lines = tuple(_ESTIMATOR.sub(_model, line) for line in module.comments_above(statement))
    return module.cst.apply([Comments(statement, lines)])


def of_what_is_gone(use: Use) -> list[str]:
    """Comments on what an Estimator did in a training, and `fit` does not."""
    found = []
    if use.saves and not use.counted and use.interval is not None:
        found.append("# A cluster saves a checkpoint at the end alone.")
    asked = use.validation is not None and use.validation.throttled is not None
    if asked and use.every is None and "save_checkpoints_steps" not in use.fields:
        found.append("# It is evaluated once, at the end: nothing goes by throttle_secs.")
    left = [name for line in use.logged for name in line.left]
    if left:
        found.append(f"# Not logged any more: {', '.join(left)}, of more numbers than one.")
    if use.hooks.idle:
        found.append("# No evaluation stops it early, as there is one at the end alone.")
    return found


def _model(found: re.Match[str]) -> str:
    article, kind = found[1], found[2] or ""
    return f"{article[0] if article.lower() == 'an' and not kind else article}{kind} model"
