"""The two files of helpers beside programs that train on clusters: where each name comes from, and what happens to them later."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from modelfn.programs import LOSS, TRAIN_OP, manual_reason, migrate_all

from migrator.cli import cli
from migrator.discover.sources import decode
from migrator.engine.context import parse
from migrator.vendor.vendored_imports import borrowed
from migrator.vendor.vendored_library import definitions_of
from migrator.vendor.vendoring import CLUSTER_FILE_NAME, FILE_NAME, vendor

HEAD = "import tensorflow as tf\n"
MODEL = f"""{HEAD}

def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
PLAIN = "\n\nestimator = tf.estimator.Estimator(model_fn, model_dir='d')\nestimator.train(read, steps=2)\n"
MADE = (
    "\n\ndef settings():\n    return tf.estimator.RunConfig('d')\n"
    "\n\nestimator = tf.estimator.Estimator(model_fn, config=settings())\n"
)
"""Its loop stays with helpers: a function returns the configuration."""
ALONE = MADE + "estimator.train(read, steps=2)\n"
LOOP = MADE + (
    "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(read, max_steps=2), tf.estimator.EvalSpec(read))\n"
)
READ = "\n\ndef read():\n    return tf.data.Dataset.from_tensors(({'x': [[1.0]]}, [[1.0]]))\n"
BOTH = [CLUSTER_FILE_NAME, FILE_NAME]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with a state folder of its own."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "project"


def migrate(*arguments: str) -> Result:
    """Run the command in this process, where there are no others to wait for."""
    return CliRunner().invoke(cli.cli, [*arguments, "-j", "1"] if "--undo" not in arguments else arguments)


def apply(**files: str) -> Result:
    """Write programs, and migrate the folder."""
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)
    return migrate(".", "--apply")


def helpers() -> list[str]:
    """The files of helpers that there are."""
    return sorted(path.name for path in Path().glob("tf2_*"))


def test_a_program_for_clusters_gets_two_files_and_the_second_run_changes_nothing() -> None:
    assert apply(task=MODEL + READ + LOOP).exit_code == 0 and helpers() == BOTH
    text = Path("task.py").read_text()
    assert "\nfrom tf2_cluster import configure_distributed, make_strategy, train_and_evaluate\n" in text
    assert "\nfrom tf2_training import EvalSpec, RunConfig, TrainSpec\n" in text.replace("BatchMean, ", "")
    before = {name: Path(name).read_text() for name in ["task.py", *BOTH]}
    assert migrate(".", "--apply").exit_code == 0
    assert {name: Path(name).read_text() for name in before} == before
    lent, prefixes = borrowed(before[CLUSTER_FILE_NAME], "tf2_training")
    assert lent <= set(definitions_of(before[FILE_NAME])) and prefixes == {""}
    assert "tf2_cluster" not in before[FILE_NAME]


def test_a_program_for_one_device_gets_one_file() -> None:
    assert apply(task=MODEL + READ + ALONE).exit_code == 0 and helpers() == [FILE_NAME]


def test_a_program_that_trains_by_fit_gets_none() -> None:
    assert apply(task=MODEL + READ + PLAIN).exit_code == 0 and helpers() == []
    assert "\nmodel.fit(" in Path("task.py").read_text()


def test_files_of_a_package_import_each_other_by_a_dot() -> None:
    task = HEAD + "\nfrom .model import model_fn\n" + READ + LOOP
    files = {"p/__init__.py": "", "p/model.py": MODEL, "p/task.py": task, "p/tools/__init__.py": ""}
    after = migrate_all(files)
    assert "from .tf2_cluster import train_and_evaluate\nfrom .tf2_training import " in after["p/task.py"]
    assert "from .tf2_cluster import configure_distributed, make_strategy\n" in after["p/model.py"]
    assert "\nfrom .tf2_training import (\n" in after["p/tf2_cluster.py"]


def test_files_of_a_package_that_a_script_imports() -> None:
    task = HEAD + "\nfrom p.model import model_fn\n" + READ + LOOP
    after = migrate_all({"p/__init__.py": "", "p/model.py": MODEL, "task.py": task})
    assert "from p.tf2_cluster import train_and_evaluate\nfrom p.tf2_training import " in after["task.py"]
    assert "\nfrom .tf2_training import (\n" in after["p/tf2_cluster.py"]


def test_a_notebook() -> None:
    cells = [MODEL + READ, LOOP.strip()]
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    notebook = {"cells": made, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    Path("train.ipynb").write_text(json.dumps(notebook))
    assert migrate(".", "--apply").exit_code == 0 and helpers() == BOTH
    after = "".join("".join(cell["source"]) for cell in json.loads(Path("train.ipynb").read_text())["cells"])
    assert "from tf2_cluster import configure_distributed, make_strategy, train_and_evaluate\n" in after


def test_names_that_are_taken_are_written_with_their_modules() -> None:
    taken = "\n\ndef train_and_evaluate():\n    return 1\n\n\ndef train():\n    return 2\n"
    text = migrate_all({"task.py": MODEL + taken + READ + LOOP + "estimator.train(read, steps=3)\n"})["task.py"]
    assert "\ntf2_cluster.train_and_evaluate(" in text and "\ntf2_training.train(" in text
    assert "\nimport tf2_cluster, tf2_training\n" in text or "\nimport tf2_cluster\nimport tf2_training\n" in text


@pytest.mark.parametrize("module", ["tf2_cluster", "tf2_training"])
def test_a_name_of_the_program_for_such_a_module_is_told(module: str) -> None:
    taken = f"\n\ndef train_and_evaluate():\n    return 1\n\n\ndef train():\n    return 2\n\n\n{module} = 1\n"
    reason = manual_reason(MODEL + taken + READ + LOOP + "estimator.train(read, steps=3)\n")
    assert f"`{module}`, the name of a file of helpers, stands for something else here" in reason


def test_such_a_name_is_in_nobody_s_way_where_no_helper_is_written_with_its_module() -> None:
    text = migrate_all({"task.py": MODEL + "\n\ntf2_cluster = 1\n" + READ + LOOP})["task.py"]
    assert "from tf2_cluster import configure_distributed, make_strategy, train_and_evaluate\n" in text


@pytest.mark.parametrize("name", BOTH)
def test_a_file_of_somebody_else_stays(name: str) -> None:
    Path(name).write_text("mine = 1\n")
    result = apply(task=MODEL + READ + LOOP)
    assert result.exit_code == 1 and f"needs {name}, but a file of that name exists: move it away" in result.output
    assert Path(name).read_text() == "mine = 1\n" and helpers() == [name] and "Estimator" in Path("task.py").read_text()


def test_a_folder_of_that_name_would_be_imported_in_place_of_the_file() -> None:
    Path("tf2_cluster").mkdir()
    result = apply(task=MODEL + READ + LOOP)
    assert result.exit_code == 1 and "tf2_cluster.py, which Python would not find beside a folder" in result.output
    assert helpers() == ["tf2_cluster"]


@pytest.mark.parametrize("name", BOTH)
def test_edited_files_grow(name: str) -> None:
    assert apply(one=MODEL + READ + MADE).exit_code == 0 and helpers() == BOTH
    edited = Path(name).read_text() + "\n\nMINE = 1\n"
    Path(name).write_text(edited)
    assert apply(two=MODEL + READ + LOOP).exit_code == 0
    files = {path: Path(path).read_text() for path in BOTH}
    lines = iter(files[name].split("\n"))
    assert all(line in lines for line in edited.split("\n")) and "\nMINE = 1\n\n\n" in files[name]
    assert (
        "\nclass CheckpointEvaluator:" in files[FILE_NAME] and "\ndef train_and_evaluate(" in files[CLUSTER_FILE_NAME]
    )
    assert borrowed(files[CLUSTER_FILE_NAME], "tf2_training")[0] <= set(definitions_of(files[FILE_NAME]))
    for text in files.values():
        ast.parse(text)


def test_an_edited_file_for_one_device_that_cannot_grow_is_told() -> None:
    assert apply(one=MODEL + READ + ALONE).exit_code == 0
    edited = Path(FILE_NAME).read_text().replace("    model_dir: str | None = None", "    model_dir: str | None = 'm'")
    Path(FILE_NAME).write_text(edited)
    result = apply(two=MODEL + READ + LOOP)
    assert result.exit_code == 1 and "`RunConfig` is for one device there and was edited" in result.output
    assert Path(FILE_NAME).read_text() == edited and helpers() == [FILE_NAME]


def test_the_same_where_the_program_imports_it_already() -> None:
    assert apply(task=MODEL + READ + ALONE).exit_code == 0
    edited = Path(FILE_NAME).read_text().replace("    model_dir: str | None = None", "    model_dir: str | None = 'm'")
    Path(FILE_NAME).write_text(edited)
    more = MODEL.replace(HEAD, "").replace("def model_fn", "def other_fn") + LOOP.replace("model_fn", "other_fn")
    result = apply(task=Path("task.py").read_text() + re.sub(r"\bestimator\b(?= =|,)", "other", more))
    assert "E011" in result.output and "`RunConfig` is for one device there and was edited" in result.output
    assert Path(FILE_NAME).read_text() == edited and helpers() == [FILE_NAME]


def test_programs_for_one_device_and_for_clusters_share_a_folder() -> None:
    assert apply(one=MODEL + READ + ALONE, two=MODEL + READ + LOOP).exit_code == 0 and helpers() == BOTH
    assert "tf2_cluster" not in Path("one.py").read_text()
    once = {name: Path(name).read_text() for name in BOTH}
    for name in BOTH:
        Path(name).unlink()
    for name in ("one", "two"):  # one after the other
        assert apply(**{name: MODEL + READ + (ALONE if name == "one" else LOOP)}).exit_code == 0
    assert {name: Path(name).read_text() for name in BOTH} == once


def test_a_migrated_program_that_gets_another_estimator() -> None:
    assert apply(task=MODEL + READ + LOOP).exit_code == 0
    files = {name: Path(name).read_text() for name in BOTH}
    more = MODEL.replace(HEAD, "").replace("def model_fn", "def other_fn") + re.sub(
        r"\bestimator\b(?= =|,)", "other", LOOP
    )
    more = more.replace("Estimator(model_fn", "Estimator(other_fn")
    assert apply(task=Path("task.py").read_text() + more).exit_code == 0
    text = Path("task.py").read_text()
    assert "Estimator" not in text and text.count("\nfrom tf2_cluster import") == 1
    assert {name: Path(name).read_text() for name in BOTH} == files


def test_undo_takes_both_files_back() -> None:
    program = MODEL + READ + LOOP
    assert apply(task=program).exit_code == 0
    result = migrate("--undo")
    assert result.output.startswith("restored task.py\nremoved tf2_cluster.py\nremoved tf2_training.py\nTaken back: ")
    assert helpers() == [] and Path("task.py").read_text() == program


def test_undo_keeps_both_files_where_their_program_was_edited() -> None:
    assert apply(task=MODEL + READ + LOOP).exit_code == 0
    Path("task.py").write_text(Path("task.py").read_text() + "# mine\n")
    result = migrate("--undo")
    for name in BOTH:
        assert f"kept {name}: task.py, which was written with it, is not restored" in result.output
    assert helpers() == BOTH


def one_file() -> str:
    """All helpers in one file, as when there was no other."""
    files = vendor(
        ["configure_distributed", "make_strategy", "train_and_evaluate", "EvalSpec", "TrainSpec", "BatchMean"]
    )
    cluster = files[CLUSTER_FILE_NAME]
    start = re.search(r"\nfrom tf2_training import \((.|\n)*?\n\)\n", cluster)
    assert start is not None
    imports = cluster[cluster.index("import atexit") : start.start()]
    return files[FILE_NAME].replace("import contextlib\n", imports, 1) + "\n\n" + cluster[start.end() :].lstrip("\n")


def test_programs_with_all_helpers_in_one_file_stay_as_they_are() -> None:
    assert apply(task=MODEL + READ + LOOP).exit_code == 0
    text = Path("task.py").read_text().replace("from tf2_cluster", "from tf2_training")
    Path("task.py").write_text(text)
    Path(CLUSTER_FILE_NAME).unlink()
    Path(FILE_NAME).write_text(old := one_file())
    assert migrate(".", "--apply").exit_code == 0 and helpers() == [FILE_NAME]
    assert (Path("task.py").read_text(), Path(FILE_NAME).read_text()) == (text, old)
    assert apply(other=MODEL + READ + LOOP).exit_code == 0 and helpers() == [FILE_NAME]
    assert (Path("task.py").read_text(), Path(FILE_NAME).read_text()) == (text, old)
    assert "from tf2_training import (\n    BatchMean,\n" in Path("other.py").read_text()


def test_what_they_lack_comes_in_a_second_file() -> None:
    Path(FILE_NAME).write_text(old := one_file())
    canned = "Estimator(model_fn", "LinearRegressor([tf.feature_column.numeric_column('x')]"
    assert apply(task=HEAD + READ + LOOP.replace(*canned)).exit_code == 0 and helpers() == BOTH
    text = Path("task.py").read_text()
    assert "\nfrom tf2_cluster import canned_strategy, linear_regressor\n" in text
    assert "\nfrom tf2_training import EvalSpec, RunConfig, TrainSpec, train_and_evaluate\n" in text
    now = Path(FILE_NAME).read_text()
    assert (
        all(definition.source in now for definition in definitions_of(old).values()) and "\nclass CannedModel(" in now
    )


def test_what_a_file_imports_from_there_goes_on_to_come_from_there() -> None:
    imports = f"{HEAD}\nfrom tf2_training import configure_distributed, make_strategy\n"
    task = MODEL.replace(HEAD, imports) + READ + LOOP + "print(make_strategy(), configure_distributed)\n"
    Path(FILE_NAME).write_text(old := one_file())
    assert apply(task=task).exit_code == 0 and helpers() == [FILE_NAME] and Path(FILE_NAME).read_text() == old
    assert (
        "tf2_training import BatchMean, EvalSpec, RunConfig, TrainSpec, train_and_evaluate\n"
        in Path("task.py").read_text()
    )


def test_a_program_that_cannot_be_written_adds_nothing_to_the_helpers_of_others() -> None:
    assert apply(task=MODEL + READ + ALONE).exit_code == 0
    alone = Path(FILE_NAME).read_text()
    assert migrate("--undo").exit_code == 0
    other = Path("other.py")
    other.write_text((MODEL + READ + LOOP).replace("GradientDescentOptimizer", "RMSPropOptimizer"))
    other.chmod(0o444)
    result = migrate(".", "--apply")
    assert "other.py:1:1: E004 not written: it is read-only; nor was tf2_cluster.py\n" in result.output
    assert result.exit_code == 1 and helpers() == [FILE_NAME] and Path(FILE_NAME).read_text() == alone


def test_helpers_that_cannot_be_written_are_the_reason_of_all_that_need_more_of_them() -> None:
    assert apply(task=MODEL + READ + ALONE).exit_code == 0
    Path(FILE_NAME).chmod(0o444)
    rms = (MODEL + READ + ALONE).replace("GradientDescentOptimizer", "RMSPropOptimizer")
    result = apply(one=rms, two=rms, three=MODEL + READ + ALONE)
    assert f"{FILE_NAME}:1:1: E004 not written: it is read-only; nor were one.py, two.py\n" in result.output
    assert f"one.py:4:1: program model_fn: manual: {FILE_NAME} was not written" in result.output
    assert Path("one.py").read_text() == rms and "keras" in Path("three.py").read_text()


def test_equal_files_of_helpers_are_read_once() -> None:
    def tree(path: str, text: str) -> ast.AST:
        return parse(decode(path, text.encode())).tree

    text = vendor(["train"])[FILE_NAME]
    assert tree(f"one/{FILE_NAME}", text) is tree(f"other/{FILE_NAME}", text)
    assert tree(f"one/{FILE_NAME}", text) is not tree(f"other/{FILE_NAME}", text + "\n")
    assert tree("one/task.py", text) is not tree("other/task.py", text)
