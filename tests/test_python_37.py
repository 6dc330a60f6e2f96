"""A program that stays may come to import a helper beside migrated ones: it loads on Python 3.7, the last of TensorFlow 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[1] / "migrator" / "runtime"
MODULES = sorted(RUNTIME.rglob("*.py"))
BUILT_IN = {"dict", "list", "tuple", "set", "frozenset", "type"}
LATER = re.compile(r"functools\.(cache|cached_property)|math\.(prod|dist|comb|perm)|.*\.remove(prefix|suffix)")
LATER_TYPING = {"Concatenate", "Final", "Literal", "ParamSpec", "Protocol", "Self", "TypeAlias", "TypedDict", "final"}


def too_new(source: str) -> Iterator[str]:
    """What Python 3.7 cannot parse, or evaluate while it loads a module or calls its functions."""
    try:
        tree = ast.parse(source, feature_version=(3, 7))
    except SyntaxError as error:
        yield f"{error.lineno}: {error.msg}"
        return
    generic, never_evaluated = set(BUILT_IN), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            generic |= {part.asname or part.name for part in node.names if node.module == "collections.abc"}
            if node.module == "typing":
                yield from (f"{node.lineno}: {part.name}" for part in node.names if part.name in LATER_TYPING)
        for field in ("annotation", "returns"):
            part = getattr(node, field, None)
            never_evaluated |= {id(inner) for inner in ast.walk(part)} if part is not None else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in generic:
            if id(node) not in never_evaluated:
                yield f"{node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Attribute) and LATER.fullmatch(ast.unparse(node)):
            yield f"{node.lineno}: {ast.unparse(node)}"
        if isinstance(node, (ast.Return, ast.Yield)) and isinstance(node.value, ast.Tuple):
            stars = any(isinstance(part, ast.Starred) for part in node.value.elts)
            if stars and not (ast.get_source_segment(source, node.value) or "").startswith("("):
                yield f"{node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and any(keyword.arg == "strict" for keyword in node.keywords):
            yield f"{node.lineno}: strict"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(RUNTIME)))
def test_helpers_load_on_the_python_of_tensorflow_1(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert "from __future__ import annotations" in text or not re.search(r"^(def|class) ", text, re.MULTILINE)
    assert list(too_new(text)) == []


@pytest.mark.parametrize(
    "source",
    [
        "class A(dict[str, int]): pass",
        "from collections.abc import Sequence\nPairs = Sequence[int]",
        "while (n := read()): pass",
        "def f(a, /): pass",
        "import functools\n@functools.cache\ndef f(): pass",
        "def f(a): return 1, *a",
        "name.removeprefix('a')",
        "zip(a, b, strict=True)",
    ],
)
def test_what_is_too_new_is_seen(source: str) -> None:
    assert list(too_new(source))


@pytest.mark.parametrize("source", ["x: dict[str, int] = {}", "def f(a: list[int]) -> tuple[int, ...]: pass"])
def test_annotations_are_not_evaluated(source: str) -> None:
    assert not list(too_new(source))
