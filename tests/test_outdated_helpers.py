"""Helper files of an earlier migration: what is other code in this version is told of, and stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.engine.runner import migrate
from migrator.vendor.outdated import outdated
from migrator.vendor.vendoring import CLUSTER_FILE_NAME, FILE_NAME, vendor
from migrator.vocabulary.settings import Settings

FILES = vendor(["GraphModel", "train_and_evaluate", "configure_distributed"])


@pytest.mark.parametrize("name", [FILE_NAME, CLUSTER_FILE_NAME])
@pytest.mark.parametrize("features", ["columns", "preprocessing"])
@pytest.mark.parametrize("distributed", [True, False])
def test_what_this_version_writes_is_up_to_date(name: str, features: str, distributed: bool) -> None:
    texts = vendor(["GraphModel", "train_and_evaluate", "linear_classifier"], None, features, distributed)
    assert outdated(name, texts.get(name, "")) == []


def test_other_code_is_told_of() -> None:
    text = FILES[FILE_NAME]
    assert outdated(FILE_NAME, text.replace("self.tables: list[Any] = []", "self.tables: list[Any] = [None]")) == [
        "Graph"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # that the model_fn makes", ""),
        ("\n\n\nclass ", "\n\n\n\n# one of ours\nclass "),
        ("import tensorflow as tf\n", "import tensorflow as tf\n\n\ndef ours():\n    return 1\n"),
    ],
)
def test_comments_and_code_of_others_count_for_nothing(old: str, new: str) -> None:
    text = FILES[FILE_NAME]
    assert old in text and outdated(FILE_NAME, text.replace(old, new, 1)) == []


@pytest.mark.parametrize("text", ["", "class Graph:\n    pass\n", FILES[FILE_NAME] + "\ndef (:\n"])
def test_other_files_are_not_looked_at(text: str) -> None:
    assert outdated(FILE_NAME, text) == []


@pytest.mark.parametrize(("comment", "said"), [("", True), ("# migrate: ignore-file[E018]\n", False)])
def test_a_run_says_so_and_changes_nothing(tmp_path: Path, comment: str, said: bool) -> None:
    text = FILES[FILE_NAME].replace("self.tables: list[Any] = []", "self.tables: list[Any] = [None]") + comment
    (tmp_path / FILE_NAME).write_text(text)
    (tmp_path / "task.py").write_text("from tf2_training import GraphModel\n")
    outcomes = migrate([str(tmp_path)], Settings()).outcomes
    assert [outcome.status for outcome in outcomes] == ["unchanged", "unchanged"]
    assert [item.code for outcome in outcomes for item in outcome.remaining] == (["E018"] if said else [])
