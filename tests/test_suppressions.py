"""Comments and settings that silence diagnostics, and comments that have nothing to silence."""

from __future__ import annotations

import pytest
from notebook_tools import notebook

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.engine.registry import Registry
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.settings import Settings
from migrator.vocabulary.suppressions import Entry, suppressions

HEAD = "import tensorflow as tf\n"


def migrate(registry: Registry, body: str, settings: Settings | None = None, path: str = "a.py") -> Outcome:
    """Migrate one file with the sample rules."""
    rules = Registry(tuple(rule for rule in registry.file_rules if rule.code.startswith("TST")))
    return migrate_component([decode(path, (HEAD + body).encode())], settings or Settings(), rules)[0]


def left(outcome: Outcome) -> list[str]:
    """Codes and lines of what is left."""
    return [f"{item.code}:{item.location.line}:{item.location.column}" for item in outcome.remaining]


@pytest.mark.parametrize(
    ("comment", "entries"),
    [
        ("# migrate: ignore", [Entry(1, 4, "", False)]),
        ("#migrate:ignore[EST1]", [Entry(1, 4, "EST1", False)]),
        ("# note  # migrate: ignore[EST1, EST205]", [Entry(1, 12, "EST1", False), Entry(1, 12, "EST205", False)]),
        ("# migrate: ignore-file", [Entry(1, 4, "", True)]),
        ("# migrate: ignore-file[EST]", [Entry(1, 4, "EST", True)]),
        ("# migrate: ignored", []),
        ("# migrate: ignore-files", []),
        ("# migrate: ignore[EST1", []),
        ("# migrate: ignore-", []),
        ("# migrate: ignore, as it is generated (see EST101)", [Entry(1, 4, "", False)]),
        ("# migrate: ignore  # noqa: E501", [Entry(1, 4, "", False)]),
        ("# migrate: ignore EST101", []),
        ("# migrate: ignore: est1, EST205", []),
        ("# migrate: ignore [EST]", []),
        ("# migrate: ignore-file EST101", []),
        ("# migrate: ignore[]", []),
    ],
)
def test_comments(comment: str, entries: list[Entry]) -> None:
    assert list(suppressions(f"x  {comment}\n").entries) == entries
    assert suppressions(f"x = '{comment}'\n").entries == ()


@pytest.mark.parametrize(
    ("comment", "columns"),
    [
        ("# migrate: ignor[EST001]", [1]),
        ("# migrate: ignore[EST001", [1]),
        ("# note  # Migrate: Ignore-files[EST001]", [9]),
        ("# migrate: ignroe", [1]),
        ("# migrate: noqa[EST001]", [1]),
        ("# migrate: ignore-fiel[EST001]", [1]),
        ("# migrate: ignore EST001", [1]),
        ("x  # migrate: ignore: est1, EST205", [4]),
        ("# migrate: ignore-file (EST001)", [1]),
        ("# migrate: ignore-EST001", [1]),
        ("# migrate: ignore []", [1]),
        ("# migrate: ignore[]", [1]),
        ("# migrate ignore", [1]),
        ("# migrate ignore[EST001]", [1]),
        ("# migrate-ignore-file", [1]),
        ("# migrator: ignore EST001", [1]),
        ("# migrate: disable=EST001", [1]),
        ("# migrate: skip", [1]),
        ("# migrate: noqa", [1]),
        ("# migrate: ignore[EST001]", []),
        ("# migrate: skip the first row", []),
        ("# migrate ignores what is old", []),
        ("# migrate ignore lists first", []),
        ("# to migrate: nothing", []),
        ("# migrate: ignored by the loader", []),
        ("# migrate: in two steps", []),
        ("# migrate: it", []),
        ("# migrate: input_fn [old]", []),
        ("# migrate this", []),
    ],
)
def test_misspelt_comments_are_seen(comment: str, columns: list[int]) -> None:
    assert [column for _, column in suppressions(f"{comment}\n").misspelt] == columns


def test_misspelt_comments_are_named(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, "tf.old  # migrate: ignor[TST001]\n")
    assert left(outcome) == ["E014:2:9"] and outcome.status == "changed"
    assert "write `# migrate: ignore[CODE]`" in outcome.remaining[0].message


@pytest.mark.parametrize("comment", ["# migrate: ignore TST001", "# migrate ignore"])
def test_comments_without_brackets_or_colon_silence_nothing(sample_rules: Registry, comment: str) -> None:
    outcome = migrate(sample_rules, f"tf.old  {comment}\n")
    assert left(outcome) == ["E014:2:9"] and outcome.status == "changed"


def test_a_line_and_a_file_can_be_silenced(sample_rules: Registry) -> None:
    assert left(migrate(sample_rules, "tf.gone.x  # migrate: ignore[TST003]\ntf.gone.x\n")) == ["TST003:3:1"]
    silent = migrate(sample_rules, "tf.gone.x\ntf.old\ntf.gone.y\n# migrate: ignore-file[TST003, TST001]\n")
    assert left(silent) == [] and silent.status == "unchanged"
    assert migrate(sample_rules, "# migrate: ignore-file[TST003]\ntf.old\ntf.gone.x\n").status == "changed"


def test_unused_comments_are_named(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, "x = 1  # migrate: ignore\ntf.old  # migrate: ignore[TST003]\n")
    assert left(outcome) == ["E014:2:8", "E014:3:9"] and outcome.status == "changed"
    assert "nothing of TST003 on this line" in outcome.remaining[1].message
    outcome = migrate(sample_rules, "tf.gone.x\n# migrate: ignore-file[TST001, TST003]\n")
    assert left(outcome) == ["E014:3:1"] and "nothing of TST001 in this file" in outcome.remaining[0].message


def test_comments_are_used_in_later_rounds_too(sample_rules: Registry) -> None:
    body = "tf.lines\ntf.old\ntf.gone.x  # migrate: ignore\n"
    for apply in (False, True):
        assert left(migrate(sample_rules, body, Settings(apply=apply))) == []


def test_a_selection_of_codes_says_nothing_about_comments(sample_rules: Registry) -> None:
    body = "tf.fine  # migrate: ignore[TST001]\n"
    assert left(migrate(sample_rules, body, Settings(select=("TST",)))) == []
    assert left(migrate(sample_rules, body, Settings(ignore=("TST001",)))) == []


def test_unused_comments_of_notebooks_are_placed_in_their_cell(sample_rules: Registry) -> None:
    raw = notebook("import tensorflow as tf", "1\n2  # migrate: ignore")
    outcome = migrate_component([decode("a.ipynb", raw)], Settings(), Registry())[0]
    assert [str(item.location) for item in outcome.remaining] == ["a.ipynb:cell 2:2:4"]


def test_settings_silence_files(sample_rules: Registry) -> None:
    settings = Settings(per_file_ignores=(("legacy/*", ("TST003",)), ("b.py", ("TST001",))))
    body = "tf.old\ntf.gone.x\n"
    assert left(migrate(sample_rules, body, settings)) == ["TST003:3:1"]
    assert left(migrate(sample_rules, body, settings, "legacy/a.py")) == []
    assert migrate(sample_rules, body, settings, "legacy/b.py").status == "unchanged"
