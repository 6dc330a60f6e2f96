"""What surrounds comparisons on clusters; the comparisons themselves are cases of fixtures/distribution."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrator.parity.judge.case import Case, CaseError, Program
from migrator.parity.judge.casefile import load_cases
from migrator.parity.run.clusters import parse
from migrator.parity.run.seeds import Comparison, critical_t, two_sided_p


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("mwms:2", {"worker": 1, "chief": 1}, {"worker": 1, "chief": 1}),
        ("mwms:3,evaluator", {"worker": 2, "chief": 1, "evaluator": 1}, {"worker": 2, "chief": 1, "evaluator": 1}),
        ("ps:1w2ps", {"ps": 2, "chief": 1}, {"ps": 2, "worker": 1, "chief": 1}),
        (
            "ps:2w1ps",
            {"ps": 1, "worker": 1, "chief": 1, "evaluator": 1},
            {"ps": 1, "worker": 2, "chief": 1, "evaluator": 1},
        ),
    ],
)
def test_both_sides_have_as_many_trainers(text: str, old: dict[str, int], new: dict[str, int]) -> None:
    cluster = parse(text)
    assert (cluster.shape("old").jobs, cluster.shape("new").jobs) == (old, new)
    assert cluster.asynchronous == (text == "ps:2w1ps")


@pytest.mark.parametrize("text", ["ps", "mwms:1", "ps:0w1ps", "ps:1w0ps", "ps:1w", "mwms:2,ps", "ps:90w90ps", "tpu:1"])
def test_clusters_that_are_none(text: str) -> None:
    with pytest.raises(CaseError, match="--cluster"):
        parse(text)


def test_students_t() -> None:
    assert critical_t(0.05, 5) == pytest.approx(2.5706, abs=1e-4)
    assert critical_t(0.01, 2) == pytest.approx(9.9248, abs=1e-3)
    assert two_sided_p(1.0, 1) == pytest.approx(0.5, abs=1e-6)


def test_an_effect_within_the_noise_is_none() -> None:
    same = Comparison((1.0, 1.2, 1.4), (1.02, 1.19, 1.41), (1.01, 1.21, 1.39))
    assert not same.differs and same.p > 0.5
    worse = Comparison((1.0, 1.2, 1.4), (1.02, 1.19, 1.41), (1.3, 1.5, 1.7))
    assert worse.differs and worse.p < 1e-3 and "effect +2" in str(worse)


def test_a_sure_but_negligible_effect_is_none_and_a_loss_that_is_no_number_is_one() -> None:
    assert not Comparison((1.0, 2.0), (1.0, 2.0), (1.00001, 2.00001)).differs
    assert Comparison((1.0, 2.0), (1.0, 2.0), (1.0, 2.1)).differs
    assert Comparison((1.0, 2.0), (1.0, 2.0), (1.0, float("nan"))).differs


def test_a_case_names_its_cluster(tmp_path: Path) -> None:
    (tmp_path / "parity.toml").write_text('[[case]]\nprogram = "a.py"\ncluster = "ps:2w1ps"\nseeds = 3\n')
    (case,) = load_cases(tmp_path / "parity.toml", Case("", Program(tmp_path)))
    assert (case.cluster, case.seeds) == ("ps:2w1ps", 3)


@pytest.mark.parity
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="processes cannot be listed here")
def test_an_interrupted_comparison_leaves_no_process_behind(tmp_path: Path, sign: signal.Signals) -> None:
    (tmp_path / "old.py").write_text("import time\nimport tensorflow as tf\ntf.estimator\ntime.sleep(600)\n")
    (tmp_path / "new.py").write_text("")
    command = [sys.executable, "-m", "migrator", "parity", "old.py", "new.py", "--cluster", "ps:1w2ps"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while len(started := descendants(child.pid)) < 3 or len(within(tmp_path, started)) < 3:
            assert time.monotonic() < deadline, started
            time.sleep(0.1)
        child.send_signal(sign)
        assert "interrupted" in child.communicate(timeout=40)[1]
    finally:
        child.kill()
    assert child.returncode == 130
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()] and not list(tmp_path.glob("parity-*"))


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, and that these have."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [later for child in found for later in descendants(child)]


def within(folder: Path, processes: list[int]) -> list[int]:
    """Those that run in a folder, as processes of clusters do."""
    found = []
    for pid in processes:
        try:
            place = Path(os.readlink(f"/proc/{pid}/cwd"))
        except OSError:
            continue
        if folder in place.parents:
            found.append(pid)
    return found
