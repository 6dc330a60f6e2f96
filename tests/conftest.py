"""Options and values that tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from migrator.engine import registry
from migrator.engine.registry import Registry

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up notes, in this process and in children
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# Shells start background jobs with interrupts ignored, which children would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How fast examples are made says how busy the machine is, and nothing about what is tested.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fixtures", action="store_true", help="rewrite what fixtures expect; review it with git diff"
    )
    parser.addoption(
        "--every-keras",
        action="store_true",
        help="on the newest TensorFlow train fixtures with tf_keras also where they are trained with Keras 3",
    )
    parser.addoption("--fuzz", type=int, default=60, metavar="N", help="how many mutated files to look at")
    parser.addoption("--fuzz-files", metavar="FOLDER", help="real files to mutate, instead of the fixtures")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs with --apply keep their journal here."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def sample_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """All rules with those of `tests/rulepack`, found as an installed rule pack is."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "rulepack"))
    registry.load.cache_clear()
    yield registry.load()
    registry.load.cache_clear()


@pytest.fixture
def sample_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test runs in this directory, which holds nothing but settings that select the sample rules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "pyproject.toml").write_text('[tool.migrate]\nselect = ["TST"]\n')
    return tmp_path
