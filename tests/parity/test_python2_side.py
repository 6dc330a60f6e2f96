"""Programs of Python 2: their conversions run in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, CaseError, Program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.run.conversion import converted_case
from migrator.python2 import converting


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "task.py").write_text("import model\nprint 'a'\n")
    (folder / "model.py").write_text("def f(d):\n    return d.keys()\n")
    (folder / "rows.csv").write_text("1,2\n")
    return folder


@pytest.mark.parametrize("single", [True, False])
def test_the_old_side_is_a_conversion(program: Path, tmp_path: Path, single: bool) -> None:
    old = Program(program / "task.py" if single else program, entry="" if single else "task.py", args=("--a",))
    case = converted_case(Case("a", old), tmp_path / "root")
    folder = case.old.folder
    assert case.remarks and folder != program and case.old.start() == "task.py" and case.old.args == ("--a",)
    assert (folder / "task.py").read_text() == "import model\nprint('a')\n"
    assert "list(d.keys())" in (folder / "model.py").read_text() and (folder / "rows.csv").exists()
    assert "print 'a'" in (program / "task.py").read_text()


def test_a_file_of_a_package_is_started_as_a_module(program: Path, tmp_path: Path) -> None:
    (program / "__init__.py").write_text("")
    (program.parent / "other.py").write_text("import program.task\n")
    (program / "task.py").write_text("import program.model\nimport model\nprint 'a'\n")
    old = Program(program.parent, module="program.task")
    case = converted_case(Case("a", old), tmp_path / "root")
    assert "from . import model" in (case.old.folder / "program" / "task.py").read_text()
    assert case.old.module == "program.task"


def test_python_3_stays_where_it_is(program: Path, tmp_path: Path) -> None:
    (program / "task.py").write_text("print('a')\n")
    case = converted_case(Case("a", Program(program / "task.py")), tmp_path / "root")
    assert not case.remarks and case.old.folder == program


def test_a_case_may_say_it(program: Path) -> None:
    file = program / "parity.toml"
    file.write_text('[[case]]\nprogram = "task.py"\nfrom-python2 = true\n')
    (case,) = load_cases(file, Case("", Program(program)))
    assert case.from_python2
    file.write_text('[[case]]\nprogram = "task.py"\nfrom-python2 = "yes"\n')
    with pytest.raises(CaseError, match="from-python2 must be true or false"):
        load_cases(file, Case("", Program(program)))


def test_without_fissix_the_extra_is_named(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "available", lambda: False)
    with pytest.raises(CaseError, match="python2"):
        converted_case(Case("a", Program(program / "task.py")), tmp_path / "root")
