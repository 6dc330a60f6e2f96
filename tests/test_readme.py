"""What README.md and CONTRIBUTING.md show is true: examples are run, commands and files exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN_BY_CI = ("make", "pip install", "migrate parity", "migrate checkpoint")
"""Slow commands: .ci/run runs `make`, and tests/parity the last two; here only their words are checked."""


def blocks(name: str, language: str) -> list[str]:
    """Fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)


def commands(name: str) -> list[str]:
    """What is typed after `$ `, without comments."""
    lines = [line for block in blocks(name, "console") for line in block.splitlines()]
    return [re.split(r"\s+#", line[2:])[0].strip() for line in lines if line.startswith("$ ")]


def migrate(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "migrator", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


EVERY = [(name, command) for name in ("README.md", "CONTRIBUTING.md") for command in commands(name)]


def test_the_first_screen_has_the_two_commands() -> None:
    assert commands("README.md")[:2] == ["make demo", "make test"]


@pytest.mark.parametrize(("name", "command"), EVERY)
def test_commands_exist(name: str, command: str) -> None:
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        extra = re.search(r"\[(.*)\]", words[-1])
        assert extra is None or f"\n{extra.group(1)} =" in (ROOT / "setup.cfg").read_text()
    else:
        assert words[0] == "migrate", f"{name}: no check for `{command}`"
        help_text = migrate(*(words[1:2] if words[1] in ("parity", "checkpoint") else []), "--help", cwd=ROOT).stdout
        own = words[: words.index("--")] if "--" in words else words
        assert all(word in help_text for word in own if word.startswith("-"))


@pytest.mark.parametrize("command", [command for name, command in EVERY if not command.startswith(RUN_BY_CI)])
def test_cheap_commands_do_what_they_say(command: str, tmp_path: Path) -> None:
    program = tmp_path / "path" / "to" / "program"
    program.mkdir(parents=True)
    (program / "program.py").write_text(blocks("README.md", "python")[0])
    result = migrate(*shlex.split(command)[1:], cwd=tmp_path)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    assert result.stdout.strip()


def test_before_becomes_after(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before, after = blocks("README.md", "python")
    (tmp_path / "program.py").write_text(before)
    result = migrate("program.py", "--apply", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    migrated = (tmp_path / "program.py").read_text()
    if request.config.getoption("--update-fixtures"):
        readme = ROOT / "README.md"
        readme.write_text(readme.read_text().replace(after, migrated))
        after = migrated
    assert migrated == after


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text())
    assert all((ROOT / link).exists() for link in links), links


def test_the_example_rule_passes_its_example_test(monkeypatch: pytest.MonkeyPatch) -> None:
    rule, tests = blocks("CONTRIBUTING.md", "python")
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "rules"))
    module = types.ModuleType("migrator.rules.symbols.devices")
    module.__package__ = "migrator.rules.symbols"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(rule, "devices.py", "exec"), module.__dict__)
    namespace: dict[str, object] = {}
    exec(compile(tests, "test_devices.py", "exec"), namespace)
    found = [value for name, value in namespace.items() if name.startswith("test_")]
    assert len(found) == 4
    for test in found:
        assert callable(test)
        test()
