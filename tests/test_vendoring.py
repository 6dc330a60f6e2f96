"""Helper files: complete, trimmed, stable, and the property of their owners."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from migrator import vendoring
from migrator.vendoring import MARKER, Edited, Library, is_vendored, merge, read_library, runtime_library, vendor

RUNTIME = Path(vendoring.__file__).parent / "runtime"

BASE = '''"""Docs of the module."""

from __future__ import annotations

import dataclasses
import json as js

import numpy as np

LIMIT = 3
"""How many."""
SECOND = LIMIT + 1


# Why it is here.
@dataclasses.dataclass(frozen=True)
class Base:
    """A base."""

    size: int = LIMIT  # trailing


def unused() -> None:
    """Never wanted."""
    js.dumps(np.zeros(1))


__all__ = ["Base"]
'''
TOP = '''from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from migrator.runtime.base import LIMIT, Base


class Derived(Base):
    """Uses another module."""

    def run(self, f: Callable[[], Any]) -> Any:
        return tf.identity(f()) * _helper()


def _helper() -> int:
    return LIMIT


ALIAS = Derived
'''


@pytest.fixture
def library() -> Library:
    """Two runtime modules, of which `a_top` needs `base`."""
    return read_library({"a_top": TOP, "base": BASE})


def make(library: Library, *names: str, existing: str | None = None) -> str:
    """Vendor from a library of the test."""
    return vendoring._vendor(library, names, existing)


def test_what_is_needed_and_no_more(library: Library) -> None:
    text = make(library, "Derived")
    assert list(vendoring._definitions(text)) == ["LIMIT", "Base", "Derived", "_helper"]
    assert "unused" not in text and "json" not in text and "SECOND" not in text and "migrator.runtime" not in text
    assert text.startswith(MARKER + '\n"""Helpers of the migrated program')
    assert "# Why it is here.\n@dataclasses.dataclass(frozen=True)\nclass Base:" in text
    assert 'LIMIT = 3\n"""How many."""\n\n\n# Why' in text
    assert "size: int = LIMIT  # trailing" in text
    head = text[text.index("from __future__") : text.index("LIMIT")]
    assert head == (
        "from __future__ import annotations\n\nimport dataclasses\nfrom collections.abc import Callable\n"
        "from typing import Any\n\nimport tensorflow as tf\n\n"
    )


def test_definitions_come_before_their_use(library: Library) -> None:
    assert list(library.definitions) == ["LIMIT", "SECOND", "Base", "unused", "Derived", "_helper", "ALIAS"] or list(
        library.definitions
    ).index("Base") < list(library.definitions).index("Derived")
    names = list(vendoring._definitions(make(library, "ALIAS", "SECOND")))
    assert names.index("LIMIT") < names.index("SECOND") and names.index("Derived") < names.index("ALIAS")


def test_the_same_wish_gives_the_same_text(library: Library) -> None:
    assert make(library, "Base", "unused") == make(library, "unused", "Base", "unused")
    text = make(library, "Derived")
    assert make(library, "Derived", existing=text) == text == make(library, "LIMIT", existing=text)


def test_earlier_wishes_are_kept(library: Library) -> None:
    both = make(library, "Base", "unused")
    assert make(library, "unused", existing=make(library, "Base")) == both
    assert make(library, existing=both) == both


def test_an_edited_file_keeps_every_line(library: Library) -> None:
    edited = (
        make(library, "Base").replace("size: int = LIMIT", "size: int = 7") + "\n\ndef mine():\n    return Base()\n"
    )
    text = make(library, "Derived", "unused", existing=edited)
    kept = [line for line in text.split("\n") if line in edited.split("\n")]
    assert [line for line in edited.split("\n") if line] == [line for line in kept if line][
        : len([x for x in edited.split("\n") if x])
    ] or all(line in text.split("\n") for line in edited.split("\n"))
    assert text.count("class Base") == 1 and "size: int = 7" in text and "def mine():" in text
    assert text.index("def mine") < text.index("class Derived")
    assert text.count("import tensorflow as tf") == text.count("import json as js") == 1
    ast.parse(text)
    assert make(library, "Derived", "unused", existing=text) == text


def test_a_file_emptied_by_its_owner_is_filled_again(library: Library) -> None:
    text = make(library, "Base", existing=MARKER + "\n")
    assert text.startswith(MARKER) and "import dataclasses" in text and "class Base" in text
    ast.parse(text)


def test_a_file_that_does_not_parse_is_not_touched(library: Library) -> None:
    with pytest.raises(SyntaxError):
        make(library, "Base", existing=MARKER + "\ndef (:\n")


def test_unknown_names_are_errors(library: Library) -> None:
    with pytest.raises(KeyError):
        make(library, "nothing")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("def unused():\n    pass\n", "defines unused a second time"),
        ("import jax as np\n", "imports np differently"),
        ("json = 1\n", None),
        ("def np():\n    pass\n", "both import and define np"),
        ("from migrator.runtime.base import Base as B\n", "under another name"),
        ("import migrator.runtime.base\n", "one by one"),
    ],
)
def test_modules_that_cannot_be_merged(other: str, message: str | None) -> None:
    if message is None:
        assert "json" in read_library({"base": BASE, "other": other}).definitions
    else:
        with pytest.raises(ValueError, match=message):
            read_library({"base": BASE, "other": other})


def test_merge_joins_two_helper_files() -> None:
    first, second = vendor(["ClusterTask"]), vendor(["RunConfig"])
    assert merge(first, second) == vendor(["ClusterTask", "RunConfig"])
    assert merge(None, first) == first == merge(first, first)


def test_merge_works_for_files_of_other_versions() -> None:
    first = f"{MARKER}\n\n\ndef one():\n    return 1\n"
    text = merge(first, f"{MARKER}\nimport json\n\n\ndef two():\n    return json\n")
    assert text.startswith(first.split("\n")[0]) and "import json" in text
    assert text.index("def one") < text.index("def two")
    ast.parse(text)


def test_the_mark_tells_ours_from_theirs() -> None:
    assert is_vendored(vendor(["ClusterTask"])) and is_vendored("\ufeff" + MARKER + "\n")
    assert not is_vendored("import tensorflow\n" + MARKER) and not is_vendored("")


# -- the real helpers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(runtime_library().definitions))
def test_every_helper_stands_alone(name: str) -> None:
    text = vendor([name])
    tree = ast.parse(text)
    known = set(dir(__builtins__)) | set(vendoring._definitions(text)) | set(vars(__import__("builtins")))
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    top = {inner.id for inner in ast.walk(tree) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}
    bound = {
        inner.id for inner in ast.walk(tree) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)
    }
    arguments = {inner.arg for inner in ast.walk(tree) if isinstance(inner, ast.arg)}
    inner_names = {
        inner.name for inner in ast.walk(tree) if isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler))
    }
    assert top - known - bound - arguments - {str(n) for n in inner_names} == set()
    assert "migrator" not in text.replace(MARKER, "")


def test_all_helpers_together_parse_and_depend_on_tensorflow_alone() -> None:
    text = vendor(set(runtime_library().definitions) - {"BroadcastVariables"})  # which programs with Horovod ask for
    roots = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    assert roots - set(getattr(sys, "stdlib_module_names", roots)) <= {"tensorflow", "numpy", "__future__"}


def test_helpers_are_made_without_importing_tensorflow() -> None:
    code = (
        "import sys; from migrator.vendoring import vendor; vendor(['ClusterTask']); print('tensorflow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("path", sorted(RUNTIME.glob("*.py")), ids=lambda path: path.stem)
def test_runtime_modules_are_read_without_parsing_them(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert vendoring._written_statements(text) == vendoring._parsed_statements(text)


def test_statements_are_found_in_whatever_a_formatter_writes() -> None:
    text = '''"""A file
begins."""

import os  # so
from a import (
    b,
)

if os:
    from c import (
        d,
    )

# About X.
X: dict[str, int] = {
    "a = b": 1,
}
"""The text
Y = of
it, "quoted"."""
Y = """one
class Z:
"""

# Above a decorator.
@b
# between
@d(
    1,
)
class C(b):
    """Class.

    def f(): ...
    """

    x = 1
    # last


async def f(
    x,
):
    return x


print(X)
'''
    found = vendoring._written_statements(text)
    assert found == vendoring._parsed_statements(text)
    assert [one.name for one in found if one.name] == ["X", "Y", "C", "f"]


def test_helpers_for_one_device_grow_to_those_for_several() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)
    assert "eval_strategy" not in alone
    both = merge(alone, vendor(["RunConfig", "configure_distributed"]))
    assert "    eval_strategy: Any = None" in both and "def configure_distributed(" in both


def test_edited_helpers_for_one_device_grow_where_they_were_left_alone() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)
    edited = alone.replace('    """Trains from the newest', '    """Trains on from the newest')
    assert edited != alone
    both = merge(edited, vendor(["RunConfig", "configure_distributed", "make_strategy"]))
    assert "    eval_strategy: Any = None" in both and "def make_strategy(" in both and "Trains on from" in both
    assert merge(both, vendor(["RunConfig", "configure_distributed", "make_strategy"])) == both
    ast.parse(both)


def test_what_was_edited_is_not_replaced() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)
    edited = alone.replace("    model_dir: str | None = None", "    model_dir: str | None = 'model'")
    assert edited != alone
    with pytest.raises(Edited, match="`RunConfig` is for one device there and was edited"):
        merge(edited, vendor(["RunConfig", "configure_distributed"]))
