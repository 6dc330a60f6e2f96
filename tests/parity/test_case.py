from __future__ import annotations

from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, CaseError, Program, entry_below, given_program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.run import sandbox

DEFAULTS = Case("default", Program(Path("x"), python="old-python"), steps=3, new_python="new-python")


def load(tmp_path: Path, text: str) -> list[Case]:
    (tmp_path / "parity.toml").write_text(text)
    return load_cases(tmp_path, DEFAULTS)


def test_a_list_of_cases(tmp_path: Path) -> None:
    first, second = load(
        tmp_path,
        """
[[case]]
name = "dense"
old = "before.py"
new = "after.py"
args = ["--steps", 5]
steps = 10
rtol = 1e-4
mode = "live"
compare = ["losses", "weights"]
variables = [["a/kernel", "a.kernel"]]

[[case]]
program = "trainer"
entry = "task.py"
cwd = "data"
""",
    )
    assert first.old == Program(tmp_path / "before.py", args=("--steps", "5"), python="old-python")
    assert first.new == Program(tmp_path / "after.py", args=("--steps", "5"), python="new-python")
    assert (first.steps, first.tolerance.rtol, first.mode) == (10, 1e-4, "live")
    assert (first.compare, first.variables) == (("losses", "weights"), (("a/kernel", "a.kernel"),))
    assert (second.new, second.old.entry, second.steps) == (None, "task.py", 3)
    assert (first.old.cwd, second.old.cwd) == ("", "data")
    assert first.name.endswith("/dense") and second.name.endswith("/trainer")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a list of tables"),
        ("[case]\nprogram = 'x'", "expected a list of tables"),
        ("[[case]]\nold = 'x'", "needs either program, or old and new"),
        ("[[case]]\nprogram = 'x'\nold = 'y'\nnew = 'z'", "needs either program, or old and new"),
        ("[[case]]\nprogram = 'x'\nrtoll = 1", "unknown key rtoll; did you mean rtol?"),
        ("[[case]]\nprogram = 'x'\nzzzz = 1", "unknown key zzzz; known are args"),
        ("[[case]]\nprogram = 'x'\ncompare = ['loss']", "compare must be a list of some of losses"),
        ("[[case]]\nprogram = 'x'\ncompare = []", "compare must be a list of some of losses"),
        ("[[case]]\nprogram = 'x'\nmode = 'fast'", "mode must be one of replay, live, free, not 'fast'"),
        ("[[case]]\nprogram = 'x'\ndialect = 'v3'", "dialect must be one of auto, v1, v2"),
        ("[[case]]\nprogram = 'x'\nrtol = nan", "rtol must be a finite number of at least 0, not nan"),
        ("[[case]]\nprogram = 'x'\natol = -1", "atol must be a finite number of at least 0, not -1"),
        ("[[case]]\nprogram = 'x'\nsteps = 'ten'", "steps must be a whole number, 0 or more, not 'ten'"),
        ("[[case]]\nprogram = 'x'\nresume = -1", "resume must be a whole number, 0 or more, not -1"),
        ("[[case]]\nprogram = 'x'\nseeds = 1", "seeds must be a whole number, 2 or more, not 1"),
        ("[[case]]\nprogram = 'x'\ntimeout = 0", "timeout must be a number of seconds, not 0"),
        ("[[case]]\nprogram = 'x'\nargs = '--steps=1'", "args must be a list of strings and numbers"),
        ("[[case]]\nprogram = ['x']", "program must be a string"),
        ("[[case]]\nprogram = 'x'\nvariables = ['a', 'b']", "variables must be a list of pairs"),
        ("case = [1]", "case 1: expected a table"),
        ("[[case]\n", "parity.toml: "),
    ],
)
def test_mistakes_name_the_file_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CaseError, match="parity.toml") as error:
        load(tmp_path, text)
    assert message in str(error.value)


@pytest.mark.parametrize(("name", "head"), [("migrate.toml", "parity"), ("pyproject.toml", "tool.migrate.parity")])
def test_cases_stand_beside_the_options(tmp_path: Path, name: str, head: str) -> None:
    file = tmp_path / name
    file.write_text(f"[[{head}]]\nprogram = 'trainer'\nsteps = 7\n")
    (case,) = load_cases(file, DEFAULTS)
    assert (case.old.path, case.steps) == (tmp_path / "trainer", 7)
    file.write_text("[build-system]\n[tool]\nother = 1\n")
    with pytest.raises(CaseError, match=rf"expected a list of tables \[\[{head}\]\]"):
        load_cases(file, DEFAULTS)


def test_folder_without_cases(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="holds no parity.toml"):
        load_cases(tmp_path, DEFAULTS)


def test_helper_files_start_no_program(tmp_path: Path) -> None:
    for name in ("p.py", "tf2_training.py", "tf2_cluster.py"):
        (tmp_path / name).write_text("x = 1\n")
    assert Program(tmp_path).start() == "p.py"
    (tmp_path / "q.py").write_text("x = 1\n")
    with pytest.raises(CaseError, match="found: p.py, q.py."):
        Program(tmp_path).start()


def test_start_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("x = 1\n")
    (tmp_path / "task.py").write_text("x = 1\n")
    assert Program(tmp_path).start() == "task.py"
    assert Program(tmp_path, entry="model.py").start() == "model.py"
    assert Program(tmp_path, module="pkg.task").start() == ""
    assert Program(tmp_path / "model.py").start() == "model.py"
    (tmp_path / "model.py").write_text("if __name__ == '__main__': pass\n")
    assert Program(tmp_path).start() == "model.py"
    (tmp_path / "other.py").write_text("if __name__ == '__main__': pass\n")
    with pytest.raises(CaseError, match="Give --entry FILE or -m MODULE .found: model.py, other.py."):
        Program(tmp_path).start()
    with pytest.raises(CaseError, match="no such file"):
        Program(tmp_path, entry="none.py").start()
    with pytest.raises(CaseError, match="no such file or folder"):
        Program(tmp_path / "none").start()


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import trainer.model as model\n", "trainer.task"),
        ("def main():\n    from trainer import model\n", "trainer.task"),
        ("from . import model\n", "trainer.task"),
        ("import model\n", ""),
        ("import other.trainer\n", ""),
        ("def (\n", ""),
    ],
)
def test_a_file_of_a_package_that_it_imports_is_a_module(tmp_path: Path, text: str, module: str) -> None:
    package = tmp_path / "trainer"
    package.mkdir()
    task = package / "task.py"
    task.write_text(text)
    assert given_program(task) == Program(task)
    (package / "__init__.py").touch()
    expected = Program(tmp_path.resolve(), module=module, args=("-v",)) if module else Program(task, args=("-v",))
    assert given_program(task, args=("-v",)) == expected
    assert given_program(tmp_path, entry="trainer/task.py") == Program(tmp_path, entry="trainer/task.py")


def test_an_entry_by_a_path_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        (folder / "trainer").mkdir(parents=True)
        (folder / "trainer" / "task.py").touch()
    monkeypatch.chdir(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(old)
    for given in (
        "trainer/task.py",
        "old/trainer/task.py",
        str(new / "trainer" / "task.py"),
        str(link / "trainer/task.py"),
    ):
        assert entry_below(given, [old, new]) == "trainer/task.py"
    assert entry_below("trainer/none.py", [old, new]) == "trainer/none.py"  # which is said where it is started
    assert entry_below("", [old]) == ""
    with pytest.raises(CaseError, match="not below old or new"):
        entry_below("/somewhere/task.py", [Path("old"), Path("new")])


def test_packages_in_packages(tmp_path: Path) -> None:
    inner = tmp_path / "company" / "trainer"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()
    (inner / "task.py").write_text("from company.trainer import model\n")
    (inner / "tool.py").write_text("from .. import model\n")
    assert given_program(inner / "task.py").module == "company.trainer.task"
    assert given_program(inner / "tool.py").module == "company.trainer.tool"


def test_working_copy_leaves_out_caches_and_links_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "LINK_FROM_BYTES", 100)
    source = tmp_path / "program"
    for name, text in (("a.py", "x"), (".git/config", "x"), ("data/big.csv", "y" * 200), ("env/pyvenv.cfg", "")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "dangling").symlink_to(tmp_path / "nowhere")
    box = sandbox.make(source / "work" / "old", Program(source / "a.py"))
    copied = sorted(str(path.relative_to(box.program)) for path in box.program.rglob("*"))
    assert copied == ["a.py", "data", "data/big.csv"]
    assert (box.program / "data/big.csv").is_symlink() and not (box.program / "a.py").is_symlink()
    assert box.temporary.is_dir()


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("")
    with pytest.raises(CaseError, match="move the program into a folder of its own"):
        sandbox.copy_program(tmp_path, tmp_path.parent / "copy")
