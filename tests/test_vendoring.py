"""Helper files: complete, trimmed, stable, and the property of their owners."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from migrator.vendor import vendoring
from migrator.vendor.vendored_imports import borrowed
from migrator.vendor.vendored_library import (
    Library,
    definitions_of,
    parsed_statements,
    read_library,
    written_statements,
)
from migrator.vendor.vendored_runtime import cluster_library, training_library
from migrator.vendor.vendoring import CLUSTER_FILE_NAME, FILE_NAME, MARKER, Edited, is_vendored, merge, vendor

RUNTIME = Path(vendoring.__file__).parent.parent / "runtime"

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
    return vendoring._File(library).text(names, existing)


def test_what_is_needed_and_no_more(library: Library) -> None:
    text = make(library, "Derived")
    assert list(definitions_of(text)) == ["LIMIT", "Base", "Derived", "_helper"]
    assert "unused" not in text and "json" not in text and "SECOND" not in text and "migrator.runtime" not in text
    assert text.startswith(MARKER + '\n# SPDX-License-Identifier: Apache-2.0\n"""Helpers of the migrated program')
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
    names = list(definitions_of(make(library, "ALIAS", "SECOND")))
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
    first, second = vendor(["ModeKeys"])[FILE_NAME], vendor(["RunConfig"])[FILE_NAME]
    assert {FILE_NAME: merge(FILE_NAME, first, second)} == vendor(["ModeKeys", "RunConfig"])
    assert merge(FILE_NAME, None, first) == first == merge(FILE_NAME, first, first)


def test_merge_works_for_files_of_other_versions() -> None:
    first = f"{MARKER}\n\n\ndef one():\n    return 1\n"
    text = merge(FILE_NAME, first, f"{MARKER}\nimport json\n\n\ndef two():\n    return json\n")
    assert text.startswith(first.split("\n")[0]) and "import json" in text
    assert text.index("def one") < text.index("def two")
    ast.parse(text)


def test_the_mark_tells_ours_from_theirs() -> None:
    assert all(is_vendored(text) for text in vendor(["train_and_evaluate"]).values()) and is_vendored(
        "\ufeff" + MARKER + "\n"
    )
    assert not is_vendored("import tensorflow\n" + MARKER) and not is_vendored("")


# -- the real helpers -------------------------------------------------------------------------------------------------


def free_names(text: str) -> set[str]:
    """Names that a file reads and nobody gives it."""
    tree = ast.parse(text)
    known = set(vars(__import__("builtins"))) | set(definitions_of(text))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            known.add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)):
            known.add(str(node.name))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known


TWICE = set(training_library().definitions) & set(cluster_library().definitions)


@pytest.mark.parametrize(
    ("name", "distributed"),
    [(name, True) for name in sorted({*training_library().definitions, *cluster_library().definitions})]
    + [(name, False) for name in sorted(TWICE)],
)
def test_every_helper_stands_alone(name: str, distributed: bool) -> None:
    files = vendor([name], distributed=distributed)
    for text in files.values():
        assert free_names(text) == set() and "migrator" not in text.replace(MARKER, "")
    lent, prefixes = borrowed(files.get(CLUSTER_FILE_NAME, ""), "tf2_training")
    assert lent <= set(definitions_of(files.get(FILE_NAME, ""))) and prefixes <= {""}
    assert "tf2_cluster import" not in files.get(FILE_NAME, "")


def test_no_module_of_one_device_imports_one_of_clusters() -> None:
    files = [path for path in RUNTIME.rglob("*.py") if "cluster" not in path.relative_to(RUNTIME).parts]
    assert files and not [path.name for path in files if "migrator.runtime.cluster" in path.read_text()]


def test_all_helpers_together_parse_and_depend_on_tensorflow_alone() -> None:
    names = {*training_library().definitions, *cluster_library().definitions}
    files = vendor(names - {"BroadcastVariables"})  # which programs with Horovod ask for
    assert list(files) == [CLUSTER_FILE_NAME, FILE_NAME]
    roots = set()
    for node in [node for text in files.values() for node in ast.walk(ast.parse(text))]:
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    assert roots - set(getattr(sys, "stdlib_module_names", roots)) <= {
        "tensorflow",
        "absl",  # which TensorFlow needs itself
        "numpy",
        "__future__",
        "tf2_training",
    }


def test_helpers_are_made_without_importing_tensorflow() -> None:
    code = "import sys; from migrator.vendor.vendoring import vendor; vendor(['train_and_evaluate']); "
    code += "print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("path", sorted(RUNTIME.rglob("*.py")), ids=lambda path: str(path.relative_to(RUNTIME)))
def test_runtime_modules_are_read_without_parsing_them(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert written_statements(text) == parsed_statements(text)


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
    found = written_statements(text)
    assert found == parsed_statements(text)
    assert [one.name for one in found if one.name] == ["X", "Y", "C", "f"]


# -- one file, or two -------------------------------------------------------------------------------------------------

LOOP = ["RunConfig", "TrainSpec", "EvalSpec", "train_and_evaluate"]


def test_two_files_for_clusters_and_one_for_one_device() -> None:
    files = vendor([*LOOP, "configure_distributed", "make_strategy"])
    cluster, training = files[CLUSTER_FILE_NAME], files[FILE_NAME]
    assert (
        "\ndef make_strategy(" in cluster
        and "\nclass ReplicaRun(" in cluster
        and "\ndef train_and_evaluate(" in cluster
    )
    assert "\nclass CheckpointEvaluator:" in training and "\nclass LocalRun:" in training
    assert not set(definitions_of(cluster)) & set(definitions_of(training)) and "    strategy: Any" in training
    assert "from tf2_training import (\n    CheckpointEvaluator," in cluster and "TF_CONFIG" not in training
    assert list(vendor([*LOOP, "configure"], distributed=False)) == [FILE_NAME]
    assert "\ndef train_and_evaluate(" in vendor(LOOP, distributed=False)[FILE_NAME]


def test_what_reaches_a_helper_that_clusters_replace_goes_along_with_it() -> None:
    cluster = vendor(["dnn_classifier"])[CLUSTER_FILE_NAME]
    assert "\ndef dnn_classifier(" in cluster and "\ndef compile_canned(" in cluster
    assert list(vendor(["dnn_classifier"], distributed=False)) == [FILE_NAME]


def test_helpers_for_clusters_alone() -> None:
    assert list(vendor(["current_task"], distributed=False)) == [CLUSTER_FILE_NAME]


@pytest.mark.parametrize("name", [FILE_NAME, CLUSTER_FILE_NAME])
def test_files_grow_and_keep_what_they_have(name: str) -> None:
    less, more = vendor(["make_strategy", "train"]), vendor(["make_strategy", "train", *LOOP])
    assert merge(name, less[name], more[name]) == more[name] == merge(name, more[name], less[name])
    assert vendor(["make_strategy", *LOOP], existing=less) == more


@pytest.mark.parametrize("name", [FILE_NAME, CLUSTER_FILE_NAME])
def test_edited_files_grow_at_their_end(name: str) -> None:
    less, more = vendor(["make_strategy", "train"]), vendor(["make_strategy", "train", *LOOP])
    edited = (
        less[name].replace("import tensorflow as tf\n", "import tensorflow as tf\nimport mine\n") + "\n\nmine.run()\n"
    )
    text = merge(name, edited, more[name])
    assert set(definitions_of(text)) == set(definitions_of(more[name])) and free_names(text) == set()
    assert all(line in text.split("\n") for line in edited.split("\n")) and "mine.run()\n\n\n" in text
    assert text.count("import tensorflow as tf") == 1 and merge(name, text, more[name]) == text
    assert borrowed(text, "tf2_training")[0] >= borrowed(more[name], "tf2_training")[0]


def test_a_file_in_a_package_imports_its_neighbour() -> None:
    text = vendor(["train_and_evaluate", "configure_distributed"], prefixes=["."])[CLUSTER_FILE_NAME]
    assert "\nfrom .tf2_training import (\n    CheckpointEvaluator,\n" in text
    again = vendor(["make_strategy"], existing={CLUSTER_FILE_NAME: text}, prefixes=["."])
    assert "from tf2_training" not in again[CLUSTER_FILE_NAME] and "def make_strategy" in again[CLUSTER_FILE_NAME]


def test_a_file_of_a_package_and_of_a_script_tries_both() -> None:
    script, package = (vendor(LOOP, prefixes=[prefix])[CLUSTER_FILE_NAME] for prefix in ("", "."))
    both = merge(CLUSTER_FILE_NAME, script, package)
    assert "\ntry:\n    from .tf2_training import C" in both and "\n    from tf2_training import C" in both
    assert both == vendor(LOOP, prefixes=["", "."])[CLUSTER_FILE_NAME] == merge(CLUSTER_FILE_NAME, both, script)
    assert free_names(both) == set()
    with pytest.raises(Edited, match="it was edited, and imports `tf2_training`, which this program cannot"):
        merge(CLUSTER_FILE_NAME, script + "\n\nmine = 1\n", package)
    assert merge(CLUSTER_FILE_NAME, both + "\n\nmine = 1\n", package) == both + "\n\nmine = 1\n"


def test_columns_on_preprocessing_layers() -> None:
    names = ["linear_estimator", "dnn_classifier"]
    files = vendor(names, features="preprocessing")
    text = "".join(files.values())
    assert "class LinearColumns(" in text and "LinearFeatures" not in text
    less = vendor(names[:1], features="preprocessing")
    for name, text in files.items():
        assert merge(name, less[name], text) == text


def test_one_file_with_all_helpers_stays_as_it_is() -> None:
    """As they were made when there was no other."""
    files = vendor([*LOOP, "make_strategy", "configure_distributed"])
    cluster = files[CLUSTER_FILE_NAME].partition("    train,\n)\n")[2]
    old = files[FILE_NAME] + "\n\n" + cluster
    assert merge(FILE_NAME, old, files[FILE_NAME]) == old
    text = merge(FILE_NAME, old, vendor([*LOOP, "ModeKeys"])[FILE_NAME])
    assert text.startswith(old) and text.endswith('PREDICT = "infer"\n')


def test_helpers_for_one_device_grow_to_those_for_several() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)
    assert "eval_strategy" not in alone[FILE_NAME]
    both = vendor(["RunConfig", "configure_distributed"], existing=alone)
    assert (
        "    eval_strategy: Any = None" in both[FILE_NAME] and "def configure_distributed(" in both[CLUSTER_FILE_NAME]
    )
    new = vendor(["RunConfig", "train", "keras_2"])[FILE_NAME]
    assert merge(FILE_NAME, alone[FILE_NAME], new) == both[FILE_NAME]


def test_edited_helpers_for_one_device_grow_where_they_were_left_alone() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)[FILE_NAME]
    edited = alone.replace('    """Trains from the newest', '    """Trains on from the newest')
    assert edited != alone
    new = vendor(["RunConfig", "configure_distributed", "make_strategy"])[FILE_NAME]
    both = merge(FILE_NAME, edited, new)
    assert "    eval_strategy: Any = None" in both and "Trains on from" in both
    assert merge(FILE_NAME, both, new) == both
    ast.parse(both)


def test_what_was_edited_is_not_replaced() -> None:
    alone = vendor(["RunConfig", "configure", "train"], distributed=False)[FILE_NAME]
    edited = alone.replace("    model_dir: str | None = None", "    model_dir: str | None = 'model'")
    assert edited != alone
    with pytest.raises(Edited, match="`RunConfig` is for one device there and was edited"):
        vendor(["RunConfig", "configure_distributed"], existing={FILE_NAME: edited})
