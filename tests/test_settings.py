"""Options from pyproject.toml and the command line."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from migrator.cli.cli import run
from migrator.vocabulary.settings import FEATURES, KEYS, STRATEGIES, TARGETS, Settings, SettingsError, from_table, load


def project(root: Path, text: str) -> Path:
    """A folder with a pyproject.toml."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text(text)
    return root


def test_all_keys(tmp_path: Path) -> None:
    project(
        tmp_path,
        '[tool.migrate]\nselect = ["EST1"]\nignore = ["EST105"]\nexclude = ["legacy"]\nunsafe = true\njobs = 3\n',
    )
    assert load([str(tmp_path / "some" / "file.py")]) == Settings(("EST1",), ("EST105",), ("legacy",), True, 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies(tmp_path: Path, strategy: str) -> None:
    (tmp_path / "migrate.toml").write_text(f'strategy = "{strategy}"\n')
    assert load([str(tmp_path)]).strategy == strategy


@pytest.mark.parametrize("name, choices", [("strategy", STRATEGIES), ("features", FEATURES), ("target", TARGETS)])
def test_the_command_line_offers_what_the_settings_take(name: str, choices: tuple[str, ...]) -> None:
    (option,) = (option for option in run.params if option.name == name)
    assert tuple(option.type.choices) == choices


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    project(tmp_path, "[tool.migrate]\njobs = 1\n")
    project(tmp_path / "inner", "[tool.migrate]\njobs = 2\n")
    assert load([str(tmp_path / "inner" / "x.py"), str(tmp_path)]).jobs == 2


@pytest.mark.parametrize(
    "text", ["", "[project]\nname = 'migrate'\n", "[tool.other]\nselect = 1\n", "not toml at all ["]
)
def test_files_without_our_table_mean_defaults(tmp_path: Path, text: str) -> None:
    assert load([str(project(tmp_path, text))]) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selects = []", "unknown key selects in .tool.migrate.; did you mean select"),
        ("zzz = 1", "known are select, ignore"),
        ("select = 'EST1'", "must be a list of strings"),
        ("exclude = [1]", "must be a list of strings"),
        ("unsafe = 1", "must be true or false"),
        ("jobs = -1", "must be a whole number"),
        ("jobs = true", "must be a whole number"),
        ("jobs = 1.5", "must be a whole number"),
        ("timeout = 'x'", "must be a number of seconds"),
        ("per_file_ignores = {}", "did you mean per-file-ignores"),
        ("per-file-ignores = []", "must be a table"),
        ("per-file-ignores = { 'a.py' = 'EST1' }", "a.py must be a list of strings"),
        ("style = 'keras'", "style in .tool.migrate. must be one of auto, native, bridge"),
        ("strategy = 'ps'", "must be one of auto, none, mirrored, multi_worker, parameter_server, tpu"),
        ("strategy = 1", "must be one of auto"),
        ("features = 'keras'", "must be one of columns, preprocessing"),
        ("target = '2.14'", "must be one of any, 2.15, 2.16"),
        ("parity = 'task.py'", r"must be a list of tables \[\[tool.migrate.parity\]\]"),
        ("parity = [1]", "must be a list of tables"),
        ("apply = true", "unknown key apply"),
        ("select = [", "not valid TOML"),
    ],
)
def test_mistakes_are_named_with_their_file(tmp_path: Path, text: str, message: str) -> None:
    project(tmp_path, f"[tool.migrate]\n{text}\n")
    with pytest.raises(SettingsError, match=message) as caught:
        load([str(tmp_path)])
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


def test_the_table_must_be_one() -> None:
    with pytest.raises(SettingsError, match="must be a table"):
        from_table([], "x")


@pytest.mark.parametrize(
    ("select", "ignore", "code", "wanted"),
    [
        ((), (), "EST101", True),
        ((), ("EST1",), "EST101", False),
        ((), ("EST1",), "EST201", True),
        (("EST1",), (), "EST201", False),
        (("EST101",), ("EST1",), "EST101", True),
        (("EST1",), ("EST1",), "EST101", False),
        (("EST2",), ("EST",), "EST101", False),
        (("EST2",), ("E",), "E001", True),
    ],
)
def test_the_longest_prefix_decides(select: tuple[str, ...], ignore: tuple[str, ...], code: str, wanted: bool) -> None:
    assert Settings(select, ignore).selects(code) is wanted


def test_settings_cross_processes_and_merge() -> None:
    settings = Settings(select=("EST1",), jobs=4)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.merged(jobs=None, unsafe=True) == Settings(select=("EST1",), jobs=4, unsafe=True)


# -- migrate.toml -----------------------------------------------------------------------------------------------------


def test_a_file_of_our_own(tmp_path: Path) -> None:
    project(tmp_path, "[tool.migrate]\njobs = 1\n")
    (tmp_path / "migrate.toml").write_text("jobs = 2\ntimeout = 1.5\n")
    assert load([str(tmp_path / "x.py")]) == Settings(jobs=2, timeout=1.5)
    project(tmp_path / "inner", "[tool.other]\n")
    assert load([str(tmp_path / "inner" / "x.py")]) == Settings()


def test_mistakes_in_a_file_of_our_own(tmp_path: Path) -> None:
    (tmp_path / "migrate.toml").write_text("selekt = []\n")
    with pytest.raises(SettingsError, match=r"migrate.toml: unknown key selekt; did you mean select\?"):
        load([str(tmp_path)])
    (tmp_path / "migrate.toml").write_text("jobs = ")
    with pytest.raises(SettingsError, match="not valid TOML"):
        load([str(tmp_path)])


@pytest.mark.parametrize(
    ("pattern", "name", "ignored"),
    [
        ("*_test.py", "deep/in/model_test.py", True),
        ("legacy", "legacy/a.py", True),
        ("legacy/*.py", "legacy/a.py", True),
        ("legacy/*.py", "other/legacy/a.py", True),
        ("legacy/*.py", "legacy.py", False),
        ("a.py", "ba.py", False),
    ],
)
def test_codes_are_ignored_by_file(tmp_path: Path, pattern: str, name: str, ignored: bool) -> None:
    (tmp_path / "migrate.toml").write_text(f'[per-file-ignores]\n"{pattern}" = ["EST1", "EST2"]\n')
    settings = load([str(tmp_path)])
    assert settings.ignored_in(str(tmp_path / name)) == (("EST1", "EST2") if ignored else ())


PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"


def test_the_page_names_every_key() -> None:
    assert re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text("utf-8"), re.M) == sorted(KEYS, key=ORDER.index)
    assert set(ORDER) == set(KEYS)


ORDER = """select ignore per-file-ignores exclude unsafe target style strategy features exact from-python2 jobs timeout
    parity""".split()


def test_files_of_the_page_are_read(tmp_path: Path) -> None:
    from migrator.parity.judge.case import Case, Program
    from migrator.parity.judge.casefile import load_cases

    shown = re.findall(r"<!-- settings: (\S+) -->\n```toml\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert [name for name, _ in shown] == ["migrate.toml", "pyproject.toml"]
    for name, text in shown:
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text(text)
        assert "EST1" in load([str(folder)]).select
        (case,) = load_cases(folder / name, Case("", Program(folder)))
        assert case.old.path == folder / "trainer"
