"""What docs/ shows is true: code comes from fixtures or is migrated here, commands are run, links lead somewhere.

`pytest tests/test_docs.py --update-fixtures` writes code anew; commands and their output are written by hand.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs_tools import ROOT, Block, agrees, blocks, changes, definitions, names_of, rewrite, sessions

from migrator.engine import runner
from migrator.engine.registry import load
from migrator.report.closing import findings
from migrator.vocabulary.settings import Settings

PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))
ALL = [block for page in PAGES for block in blocks(page)]


def compare(block: Block, expected: str, request: pytest.FixtureRequest) -> None:
    """Hold a block to what it ought to be, or write that into the page."""
    if block.text != expected and request.config.getoption("--update-fixtures"):
        current = next(other for other in blocks(block.page) if (other.what, other.text) == (block.what, block.text))
        rewrite(current, expected)
    else:
        assert block.text == expected


@pytest.mark.parametrize("block", [block for block in ALL if block.what.startswith("from ")], ids=str)
def test_code_is_that_of_a_fixture(block: Block, request: pytest.FixtureRequest) -> None:
    path = block.what[len("from ") :].partition(":")[0].strip()
    compare(block, definitions((ROOT / path).read_text("utf-8"), names_of(block.what)), request)


@pytest.mark.parametrize("block", [block for block in ALL if block.what.startswith("diff of ")], ids=str)
def test_diffs_are_those_of_fixtures(block: Block, request: pytest.FixtureRequest) -> None:
    paths = block.what[len("diff of ") :].partition(":")[0].split(" and ")
    before, after = (definitions((ROOT / path).read_text("utf-8"), names_of(block.what)) for path in paths)
    compare(block, changes(before, after), request)


def programs() -> list[tuple[Block, list[Block]]]:
    """Each program that a page shows whole, with the blocks that show what becomes of it."""
    found: list[tuple[Block, list[Block]]] = []
    for block in ALL:
        if block.what.startswith("program:"):
            found.append((block, []))
        elif block.what.startswith(("becomes", "said of it")):
            assert found and found[-1][0].page == block.page, f"{block}: of which program?"
            found[-1][1].append(block)
    return found


@pytest.mark.parametrize(("program", "shown"), [pytest.param(*each, id=str(each[0])) for each in programs()])
def test_programs_become_what_is_shown(program: Block, shown: list[Block], request: pytest.FixtureRequest) -> None:
    (name,) = names_of(program.what)
    outcomes = runner.migrate_text(name, program.text.encode(), Settings()).outcomes
    assert shown, "nothing is shown of it"
    for block in shown:
        if block.what.startswith("becomes"):
            compare(block, definitions(outcomes[0].after.decode(), names_of(block.what)), request)
        else:
            compare(block, "".join(line.text + "\n" for line in findings(outcomes)), request)


def typed() -> list[tuple[Block, str]]:
    """Every command of a console block, each once."""
    return [(block, command) for block in ALL if block.language == "console" for command, _ in sessions(block.text)]


@pytest.mark.parametrize(("block", "command"), typed(), ids=str)
def test_commands_exist(block: Block, command: str) -> None:
    words = shlex.split(re.split(r"\s+#", command)[0])
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    if words[0] == "migrate":
        own = words[1 : words.index("--")] if "--" in words else words[1:]
        command_help = [words[1]] if words[1] in ("parity", "checkpoint", "rules", "explain") else []
        options = migrate([*command_help, "--help"], ROOT).stdout
        assert all(word.partition("=")[0] in options for word in own if word.startswith("-")), command
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M)
    else:
        assert words[0] in ("pip", "pytest", "git", "cd", "python"), f"no check for `{command}`"


@pytest.mark.parametrize("block", [block for block in ALL if block.what.startswith("run on ")], ids=str)
def test_commands_print_what_is_shown(block: Block, tmp_path: Path) -> None:
    folder = copied(block, tmp_path)
    for command, shown in sessions(block.text):
        words = shlex.split(re.split(r"\s+#", command)[0])
        if words[:2] == ["migrate", "parity"]:
            continue
        if words[0] == "git":
            continue
        done = migrate(words[1:], folder)
        printed = done.stdout + done.stderr
        assert agrees(without_numbers(shown), without_numbers(printed)), f"{command} printed:\n{printed}"


@pytest.mark.parity
@pytest.mark.parametrize(
    "block", [block for block in ALL if block.what.startswith("run on ") and "migrate parity" in block.text], ids=str
)
def test_comparisons_print_what_is_shown(block: Block, tmp_path: Path) -> None:
    folder = copied(block, tmp_path)
    for command, shown in sessions(block.text):
        if command.startswith("migrate parity"):
            done = migrate(shlex.split(command)[1:], folder)
            assert done.returncode == 0, done.stdout + done.stderr
            assert agrees(without_numbers(shown), without_numbers(done.stdout)), done.stdout


def without_numbers(text: str) -> str:
    """Measured numbers, and the room that they take, differ from machine to machine; counts grow with the tool."""
    text = re.sub(r" +", " ", re.sub(r"\d+\.?\d*(e[+-]\d+)?", "0", text))
    return re.sub(r"\b0 (change|line|file|program|variable|metric|loss|prediction array)(e?s)?\b", r"0 \1", text)


def copied(block: Block, tmp_path: Path) -> Path:
    """A folder with the copy of the file, or of the folder, that the commands of a console block are about."""
    path, _, name = block.what[len("run on ") :].partition(" as ")
    (tmp_path / "copy").mkdir()
    source, target = ROOT / path, tmp_path / "copy" / (name or Path(path).name)
    _ = shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return tmp_path / "copy"


def migrate(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "migrator", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)


def test_the_rules_are_described_as_they_are(request: pytest.FixtureRequest) -> None:
    from migrator.cli.explain import reference

    page = ROOT / "docs" / "rules.md"
    if request.config.getoption("--update-fixtures"):
        page.write_text(reference(load()), "utf-8")
    assert page.read_text("utf-8") == reference(load()), "run: migrate rules --markdown > docs/rules.md"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"`[^`\n]+`(?!\])", "", (ROOT / page).read_text("utf-8"))  # code may look like a link
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text):
        target = (ROOT / page).parent / link if link else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), f"{link}#{anchor}"


def anchors(text: str) -> set[str]:
    """The names that headings get."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_every_page_is_linked_from_the_first() -> None:
    first = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [page for page in PAGES if Path(page).name not in (*re.findall(r"\]\(([^)#]+)", first), "README.md")] == []


def test_fixtures_that_pages_name_exist() -> None:
    for page in PAGES:
        named = re.findall(r"`((?:fixtures|rules|migrator|tests|demo)/[\w/.]+)`", (ROOT / page).read_text("utf-8"))
        assert [name for name in named if not (ROOT / name).exists()] == []
