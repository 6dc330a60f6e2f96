"""The parts of benchmarks/corpus.py that need no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("corpus_benchmark", ROOT / "benchmarks" / "corpus.py")
assert _spec is not None and _spec.loader is not None
corpus = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = corpus  # dataclasses look their module up
_spec.loader.exec_module(corpus)


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.layers.dense",
        "tensorflow.log",
        "tensorflow.logging.info",
        "tensorflow.estimator.ModeKeys.TRAIN",
        "tensorflow.compat.v1.estimator.ModeKeys.TRAIN",
        "tensorflow.compat.v2.estimator.EstimatorSpec",
        "tensorflow.contrib.layers.fully_connected",
        "tensorflow.python.estimator.canned.head",
        "tensorflow.keras.estimator.model_to_estimator",
        "tensorflow_estimator.python.estimator",
    ],
)
def test_names_that_newer_releases_lack(name: str) -> None:
    assert corpus.lacks(name)


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow",
        "tensorflow.compat.v1",
        "tensorflow.compat.v1.layers.dense",
        "tensorflow.compat.v1.logging.info",
        "tensorflow.compat.v2.math.log",
        "tensorflow.math.log",
        "tensorflow.keras.layers.Dense",
        "tensorflow.float32.name",
        "tensorflow.python.ops.array_ops",
        "tensorflow_probability.distributions.Normal",
        "absl.logging.info",
    ],
)
def test_names_that_newer_releases_have(name: str) -> None:
    assert not corpus.lacks(name)


def test_a_package_is_migrated_and_looked_at(tmp_path: Path) -> None:
    source = tmp_path / "package"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "math.py").write_text("import tensorflow as tf\n\n\ndef f(x):\n    return tf.log(x)\n")
    (source / "old.py").write_text("import tensorflow as tf\nprint 'Python 2'\n")
    row = corpus.examine("package", source, tmp_path / "copies")
    assert (row.files, row.crashes, row.broken, row.again) == (2, 0, 0, 0)
    assert (row.before, row.after, row.names) == (1, 0, {})
    assert "tf.log(x)" in (source / "inner" / "math.py").read_text(), "the source itself stays as it is"


def test_files_that_were_no_python_before_are_not_broken(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("print 'x'\n")
    (tmp_path / "new.py").write_text("print('x')\n")
    assert corpus.parseable(tmp_path) == {"new.py"}


def test_reasons_have_no_place() -> None:
    programs = [
        {"tier": "manual", "reason": "`hooks` of train is not migrated yet (trainer/task.py:3)"},
        {"tier": "bridge", "reason": "several optimizers (line 14)"},
        {"tier": "native", "reason": ""},
    ]
    assert list(corpus.reasons(programs)) == [
        "manual: `hooks` of train is not migrated yet",
        "bridge: several optimizers",
    ]


def test_bugs_are_counted() -> None:
    remaining = [{"code": "E005"}, {"code": "E001"}, {"code": "EST100"}]
    assert corpus.crashes({"files": [{"remaining": remaining}, {"remaining": []}]}) == 1


def test_the_table_has_a_sum() -> None:
    one = corpus.Row("one", files=2, seconds=0.25, before=3, tiers={"native": 1, "bridge": 0, "manual": 2})
    other = corpus.Row("other", files=3, seconds=1.0, after=1, reasons={"manual: x": 2})
    lines = corpus.table([one, other]).splitlines()
    assert lines[2] == "| one | 2 | 0 | 0 | 0 | 1 | 0 | 2 | 3 | 0 | 0.2 |"
    assert lines[-1] == "| all | 5 | 0 | 0 | 0 | 1 | 0 | 2 | 3 | 1 | 1.2 |"
    assert corpus.total([one, other]).reasons == {"manual: x": 2}
    assert one.reasons == {} and one.tiers["native"] == 1, "adding up changes no row"


def test_only_the_marked_part_of_a_text_is_replaced() -> None:
    text = f"# Title\n{corpus.START}old\n{corpus.END}tail\n"
    changed = corpus.with_table(text, "new\n")
    assert changed == f"# Title\n{corpus.START}new\n{corpus.END}tail\n"
    assert corpus.with_table(changed, "new\n") == changed


def test_a_text_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no lines"):
        corpus.with_table("# Title\n", "new\n")


def test_readme_shows_the_table_of_this_script() -> None:
    text = (ROOT / "README.md").read_text()
    shown = text.partition(corpus.START)[2].partition(corpus.END)[0]
    assert shown.startswith(corpus.HEADER)
    packages = [line.split("|")[1].strip() for line in shown.splitlines()[2:]]
    assert packages == [*corpus.PACKAGES, "all"]
