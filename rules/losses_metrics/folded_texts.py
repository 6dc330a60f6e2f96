"""What a text is in one turn of a loop: ``"auc_" + task``, ``f"auc_{task}"`` or ``"auc_%s" % task`` for a known `task`."""

from __future__ import annotations

import ast
from collections.abc import Mapping


def folded_text(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """The text that one of the `known` names, or an expression of it and of literals, is; None for all other expressions."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.FormattedValue) else p for p in node.values]
        plain = all(
            not isinstance(p, ast.FormattedValue) or (p.conversion < 0 and p.format_spec is None) for p in node.values
        )
        texts = [_literal(part, known) for part in parts]
        return "".join(text for text in texts if text is not None) if plain and None not in texts else None
    if isinstance(node, ast.BinOp):
        left, right = _literal(node.left, known), _literal(node.right, known)
        if left is not None and right is not None and isinstance(node.op, ast.Add):
            return left + right
        if left is not None and right is not None and isinstance(node.op, ast.Mod) and left.count("%") == 1:
            return left.replace("%s", right) if "%s" in left else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        left, given = _literal(node.func.value, known), [_literal(argument, known) for argument in node.args]
        if left is not None and not node.keywords and len(given) == 1 and left.count("{") == 1 and "{}" in left:
            return left.replace("{}", given[0]) if given[0] is not None else None
    return None


def _literal(node: ast.expr, known: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    return folded_text(node, known)


def quoted(text: str) -> str:
    """It, as source."""
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)
