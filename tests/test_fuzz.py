"""Mutated real files: whatever they hold, nothing crashes, no byte is lost, what is written parses, a second run is empty.

`pytest tests/test_fuzz.py --fuzz 2000 --fuzz-files FOLDER` looks at more of them, and at files from elsewhere. A failure
names the file and the number that make it again.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from mutations import mutated_bytes, mutated_code

from migrator.discover.sources import decode
from migrator.engine import runner
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
BUGS = {"E005", "E006", "E007", "E008"}
DEEP = "nested too deeply for rule"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("seed", range(metafunc.config.getoption("--fuzz")))


@pytest.fixture(scope="module")
def programs(request: pytest.FixtureRequest) -> list[list[Path]]:
    """Files that belong together."""
    elsewhere = request.config.getoption("--fuzz-files")
    if elsewhere:
        return [[path] for path in sorted(Path(elsewhere).rglob("*.py")) if b"stimator" in path.read_bytes()]
    befores = sorted((ROOT / "fixtures").glob("*/*/before*"))
    return [sorted(path.rglob("*.py")) if path.is_dir() else [path] for path in befores]


def run(files: Sequence[tuple[str, bytes]]) -> list[Outcome]:
    """Migrate files of one program in this process."""
    return runner.work(runner._Task(tuple(files), (), Settings()))


def test_mutated_code(programs: list[list[Path]], seed: int) -> None:
    pick = random.Random(seed)
    files = [(path.name, path.read_bytes()) for path in pick.choice(programs)]
    index = pick.randrange(len(files))
    try:
        mutant, how = mutated_code(*files[index], pick)
    except (SyntaxError, UnicodeDecodeError):
        pytest.skip("a file that is no Python 3 to begin with")
    files[index] = (files[index][0], mutant)
    look(files, f"{[name for name, _ in files]} {how}")


def test_mutated_bytes(programs: list[list[Path]], seed: int) -> None:
    pick = random.Random(seed)
    files = [(path.name, path.read_bytes()) for path in pick.choice(programs)]
    index = pick.randrange(len(files))
    files[index] = (files[index][0], mutated_bytes(files[index][1], pick))
    look(files, f"{[name for name, _ in files]}")


def look(files: list[tuple[str, bytes]], where: str) -> None:
    """Migrate once, and again, and hold the results to what is promised."""
    given = dict(files)
    outcomes = run(files)
    assert sorted(outcome.path for outcome in outcomes if outcome.status != "created") == sorted(given), where
    said = [item for outcome in outcomes for item in outcome.remaining]
    assert not [str(item) for item in said if item.code in BUGS or re.search(f"has a bug|{DEEP}", item.message)], where
    for outcome in outcomes:
        if outcome.status == "created":
            ast.parse(outcome.after)
            continue
        assert outcome.before == given[outcome.path], where
        if outcome.status != "changed":
            assert outcome.after == outcome.before, where
            continue
        before, after = decode(outcome.path, outcome.before), decode(outcome.path, outcome.after)
        ast.parse(after.text)
        assert (before.encoding, before.bom) == (after.encoding, after.bom), where
        assert set(ends(outcome.after)) <= set(ends(outcome.before)) or not ends(outcome.before), where
    second = run([(outcome.path, outcome.after) for outcome in outcomes])
    again = [outcome.path for outcome in second if outcome.status in ("changed", "created")]
    assert not again, f"{where}: a second run changes {again}"


def ends(raw: bytes) -> list[bytes]:
    """The line ends of a file."""
    return re.findall(rb"\r\n|\r|\n", raw)
