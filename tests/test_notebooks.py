"""Notebooks: only the code that changes is written anew, and what Python cannot parse stays."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_tools import notebook, sources

from migrator.discover.cells import CellBorder
from migrator.discover.magics import mask
from migrator.discover.notebooks import decode, script
from migrator.discover.sources import Unusable
from migrator.engine import runner
from migrator.engine.engine import migrate_component
from migrator.engine.registry import Registry
from migrator.engine.rule import Rule
from migrator.report.diffs import exact_diff, readable_diff
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Outcome, Severity
from migrator.vocabulary.settings import Settings

HEAD = "import tensorflow as tf"
ONLY = Settings(select=("TST",))


def migrate(registry: Registry, raw: bytes, settings: Settings = ONLY) -> Outcome:
    """Migrate one notebook with the sample rules."""
    return migrate_component([decode("a.ipynb", raw)], settings, registry)[0]


def left(outcome: Outcome) -> list[str]:
    """Codes and places of what is left."""
    return [f"{item.location} {item.code}" for item in outcome.remaining]


# -- the bytes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [1, 2, "\t", None])
@pytest.mark.parametrize("string", [False, True])
def test_nothing_but_the_changed_lines_is_written_anew(sample_rules: Registry, indent: Any, string: bool) -> None:
    raw = notebook("#md tf.old", HEAD, 'x = tf.old  # "é"\ny = 1', "tf.old\n", "z = 2", indent=indent, string=string)
    if not string:
        raw = raw.replace(b"y = 1", b"y = \\u0031")
    outcome = migrate(sample_rules, raw)
    assert outcome.after == raw.replace(b'"x = tf.old', b'"x = tf.new').replace(b'"tf.old\\n"', b'"tf.new\\n"')
    assert outcome.after.count(b"tf.new") == 2 and b"y = " in outcome.after


def test_numbers_may_be_long(sample_rules: Registry) -> None:
    raw = notebook(HEAD, "tf.old").replace(b'"metadata":', b'"n": %s, "metadata":' % (b"9" * 5000), 1)
    assert migrate(sample_rules, raw).after == raw.replace(b'"tf.old"', b'"tf.new"')


def test_line_ends_byte_order_marks_and_key_order_stay(sample_rules: Registry) -> None:
    raw = b"\xef\xbb\xbf" + notebook(HEAD, "a = 1\r\ntf.old\r\nb = 2").replace(b"\n", b"\r\n").rstrip()
    assert migrate(sample_rules, raw).after == raw.replace(b'"tf.old\\r', b'"tf.new\\r')
    flat = (
        b'{"nbformat":4,"cells":[{"source":["import tensorflow as tf\\n","tf.old"],"cell_type":"code"}],"x":[1.50e3]}'
    )
    assert migrate(sample_rules, flat).after == flat.replace(b'"tf.old', b'"tf.new')


def test_new_lines_are_written_as_the_old_ones(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, notebook(HEAD, "x = 1\ntf.lines\ny = 2", indent=3))
    assert sources(outcome.after)[1] == "x = 1\n# one\n# two\ntf.placed\ny = 2"
    assert json.dumps(json.loads(outcome.after), indent=3, ensure_ascii=False).encode() + b"\n" == outcome.after


def test_escapes_are_used_where_the_notebook_uses_them(sample_rules: Registry) -> None:
    escaped = notebook(HEAD, "tf.old  # é").replace("é".encode(), b"\\u00e9")
    assert b"tf.new  # \\u00e9" in migrate(sample_rules, escaped).after
    assert "tf.new  # é".encode() in migrate(sample_rules, notebook(HEAD, "tf.old  # é")).after


def test_a_second_run_changes_nothing(sample_rules: Registry) -> None:
    first = migrate(sample_rules, notebook(HEAD, "%time tf.old\ntf.old\ntf.lines"))
    assert first.status == "changed" and migrate(sample_rules, first.after).status == "unchanged"


# -- cells ------------------------------------------------------------------------------------------------------------


def test_places_are_cells_and_lines_in_them(sample_rules: Registry) -> None:
    raw = notebook("#md x", HEAD, "x = 1\n(tf.gone.x)", "%%time\n\ntf.gone.x")
    assert left(migrate(sample_rules, raw)) == ["a.ipynb:cell 3:2:2 TST003", "a.ipynb:cell 4:3:1 TST003"]


def test_places_after_a_rewrite(sample_rules: Registry) -> None:
    raw = notebook(HEAD, "tf.lines\ntf.gone.x", "tf.gone.x")
    dry, applied = migrate(sample_rules, raw), migrate(sample_rules, raw, Settings(select=("TST",), apply=True))
    assert left(dry) == ["a.ipynb:cell 2:2:1 TST003", "a.ipynb:cell 3:1:1 TST003"]
    assert left(applied) == ["a.ipynb:cell 2:4:1 TST003", "a.ipynb:cell 3:1:1 TST003"]


def test_a_comment_silences_its_line(sample_rules: Registry) -> None:
    assert left(migrate(sample_rules, notebook(HEAD, "1\ntf.gone.x  # migrate: ignore[TST003]\ntf.gone.x"))) == [
        "a.ipynb:cell 2:3:1 TST003"
    ]


def test_an_edit_that_crosses_cells_is_refused(sample_rules: Registry) -> None:
    source = decode("a.ipynb", notebook(HEAD, "x = 1", "y = 2"))
    data = source.data
    start = data.index(b"x = 1")
    for changed in (data[:start] + data[data.index(b"y = 2") :], data + b"# %% migrate: cell 9\n", data.upper()):
        with pytest.raises(CellBorder):
            source.with_data(changed)
    assert source.with_data(data.replace(b"x = 1", b"x = 3")).with_data(data).raw == source.raw


class Joiner(Rule):
    """Removes what lies between two calls."""

    code = "TST901"
    symbols = ("tensorflow.first",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One edit from the reference to the end of the module."""
        yield self.diagnostic(module, node, "joins", [module.edit((module.span(node)[0], len(module.source)), "0\n")])


def test_a_rule_that_crosses_cells_is_taken_back() -> None:
    outcome = migrate(Registry((Joiner(),)), notebook(HEAD, "tf.first\n1", "2"), Settings())
    assert outcome.status == "unchanged" and "E013" in [item.code for item in outcome.remaining]
    assert "would cross the border of cells" in str(outcome.remaining)
    assert sources(migrate(Registry((Joiner(),)), notebook(HEAD, "tf.first\n1"), Settings()).after)[1] == "0"


def test_a_magic_in_the_way_of_a_rewrite_stops_it(sample_rules: Registry) -> None:
    raw = notebook(HEAD, "def program():\n    1\n    %time 2")
    outcome = migrate(sample_rules, raw)
    assert outcome.status == "unchanged" or b"%time 2" in outcome.after


def test_syntax_errors_name_their_cell(sample_rules: Registry) -> None:
    raw = notebook(HEAD, "tf.old", "x = 1\nprint 'x'")
    outcome = migrate(sample_rules, raw)
    assert outcome.status == "failed" and outcome.after == raw
    assert left(outcome) == ["a.ipynb:cell 3:2:1 E001"]


# -- magics -----------------------------------------------------------------------------------------------------------

MAGICS = """\
%matplotlib inline
!pip install \\
    tensorflow==1.15
import tensorflow as tf
if x:
    !ls {tf.old}
files = !ls
a, b = %time tf.old
tf.old
tf.Estimator?
?tf.old
y = (3
  % 2)
s = '''
%not a magic
'''
z = 5 \\
  % 3
pip install x
print("%d" % tf.old)  # ok?
x != tf.old
"""


def test_magics_are_kept(sample_rules: Registry) -> None:
    raw = notebook(MAGICS, "%%time\ntf.old", "%%bash\necho tf.old", "%%capture out\n%env X=1")
    after = sources(migrate(sample_rules, raw).after)
    changed = (
        MAGICS.replace("\ntf.old\n", "\ntf.new\n").replace("% tf.old", "% tf.new").replace("!= tf.old", "!= tf.new")
    )
    assert after == [changed, "%%time\ntf.new", "%%bash\necho tf.old", "%%capture out\n%env X=1"]


@pytest.mark.parametrize(
    "line",
    [
        "x = y % 2",
        "x %= 2",
        "x = '!'",
        "f(a, b=c % d)",
        "a = b = 'x?'",
        "cat = 1",
        "cat in d",
        "ls",
        "# why?",
        "x != y",
    ],
)
def test_python_is_not_taken_for_magic(line: str) -> None:
    assert mask(line, "__magic_").text == line


@given(
    st.lists(st.sampled_from([*MAGICS.splitlines(), "%%time", "'''", "(", ")", "", "    pass", "é = 'x"]), max_size=9)
)
def test_masks_can_be_taken_off_again(lines: list[str]) -> None:
    source = "\n".join(lines)
    masked = mask(source, "__magic_")
    assert masked.unmask(masked.text) == source
    assert masked.text.count("\n") == source.count("\n")


def test_cells_of_other_languages_get_a_remark(sample_rules: Registry) -> None:
    raw = notebook(HEAD, "%%writefile trainer/model.py\nimport tensorflow as tf\ntf.old", "%%bash\nls")
    outcome = migrate(sample_rules, raw)
    assert outcome.after == raw and left(outcome) == ["a.ipynb:cell 2:1:1 E013"]
    assert "migrate trainer/model.py by itself" in outcome.remaining[0].message


def test_asking_for_tensorflow_1_gets_a_remark(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, notebook("import os\n%tensorflow_version 1.x\n" + HEAD))
    assert outcome.after == outcome.before and left(outcome) == ["a.ipynb:cell 1:2:1 E013"]


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        ("!pip install -q tensorflow==1.15", [1]),
        ("import os\n!pip3 install 'tensorflow-gpu>=1.14,<2' keras", [2]),
        ("%pip install --upgrade \\\n  tensorflow~=1.15.2", [1]),
        ("pip install tensorflow-cpu[and-cuda]==1.15.0", [1]),
        ("!{sys.executable} -m pip install tensorflow===1.15", [1]),
        ("!conda install -y tensorflow=1.15 && ls", [1]),
        ("%%bash\napt-get update\npip install 'tensorflow<2.0'", [3]),
        ("!pip install tensorflow-gpu", [1]),
        ("!pip install tensorflow==2.15.1 tensorflow_hub==0.1 tensorflow-estimator", []),
        ("!pip install tensorflow<3", []),
        ("!pip install tensorflow # ==1.15", []),
        ("# !pip install tensorflow==1.15", []),
        ("!pip install my-tensorflow==1.0 tensorflow-probability==0.8 tensorflow==21.0", []),
        ("%%html\npip install tensorflow==1.15", []),
    ],
)
def test_installing_tensorflow_1_gets_a_remark(sample_rules: Registry, cell: str, lines: list[int]) -> None:
    outcome = migrate(sample_rules, notebook(cell, HEAD))
    said = [item for item in outcome.remaining if "install" in item.message]
    assert outcome.after == outcome.before and [item.location.line for item in said] == lines
    assert all(item.location.cell == 1 and item.severity == Severity.INFO for item in said)


# -- what is no notebook ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not a notebook"),
        (b"import tensorflow", "not a notebook"),
        (b"[]", "not a notebook"),
        (b"{}", "has no nbformat"),
        (b'{"cells": [}', "not a notebook"),
        (notebook("x")[:-20], "not a notebook"),
        (notebook("x") + b"x", "not a notebook: Extra data"),
        (b'{"nbformat": 3, "worksheets": []}', "nbformat 3"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}', "not a notebook"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["\xff"]}]}', "not valid UTF-8"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["\\ud800"]}]}', "surrogate"),
        (notebook("# %% migrate: cell 1"), "left alone"),
        (b"[" * 100_000, "not a notebook"),
        (b'{"a": ' * 100_000, "not a notebook"),
    ],
)
def test_broken_notebooks_are_one_diagnostic(raw: bytes, reason: str) -> None:
    with pytest.raises(Unusable, match=reason) as caught:
        decode("a.ipynb", raw)
    assert caught.value.diagnostic.code in ("E012", "E003")


def test_notebooks_in_other_languages_are_left_alone(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, notebook("val x: Int = tensorflow.old", language="scala"))
    assert outcome.status == "unchanged" and outcome.remaining == ()


# -- trees ------------------------------------------------------------------------------------------------------------


def test_notebooks_are_found_and_belong_to_what_they_import(sample_rules: Registry, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(HEAD + "\ndef program(): 1\n")
    (tmp_path / "train.ipynb").write_bytes(notebook("%cd .\n" + HEAD, "import model", "tf.old"))
    (tmp_path / "other.ipynb").write_bytes(b"{}")
    (tmp_path / "bad.ipynb").write_bytes(b'{"tensorflow')
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "train.ipynb").write_bytes(notebook(HEAD, "tf.old"))
    result = runner.migrate([str(tmp_path)], ONLY)
    assert [(Path(outcome.path).name, outcome.status) for outcome in result.outcomes] == [
        ("bad.ipynb", "failed"),
        ("model.py", "changed"),
        ("other.ipynb", "unchanged"),
        ("tf2_training.py", "created"),
        ("train.ipynb", "changed"),
    ]


def test_the_diff_to_read_shows_cells(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, notebook(HEAD, "#md x", "!ls\ntf.old", "tf.old"))
    assert "".join(readable_diff(outcome)) == (
        "--- a/a.ipynb cell 3\n+++ b/a.ipynb cell 3\n@@ -1,2 +1,2 @@\n !ls\n-tf.old\n+tf.new\n"
        "--- a/a.ipynb cell 4\n+++ b/a.ipynb cell 4\n@@ -1 +1 @@\n-tf.old\n+tf.new\n"
    )


def test_the_exact_diff_can_be_applied(sample_rules: Registry, tmp_path: Path) -> None:
    outcome = migrate(sample_rules, notebook(HEAD, "tf.old"))
    (tmp_path / "a.ipynb").write_bytes(outcome.before)
    patch = "".join(exact_diff(outcome)).encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True)
    assert (tmp_path / "a.ipynb").read_bytes() == outcome.after


def test_a_script_is_made_of_the_code_cells() -> None:
    raw = notebook(
        "#md x",
        "%%time\nfrom __future__ import division\n!ls \\\n -l",
        "%%bash\nls",
        "f = !ls\nif f:\n    %pwd\ndisplay(f)",
    )
    text = script(raw)
    assert "!ls" not in text and "%" not in text and "bash" not in text
    out: list[Any] = []
    exec(compile(text, "x", "exec"), {"print": out.append})
    assert out == [None] and isinstance(ast.parse(text).body[0], ast.ImportFrom)
