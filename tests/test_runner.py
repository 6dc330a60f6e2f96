"""Trees of files: which belong together, workers that die or hang, and results that do not depend on chance."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from migrator.discover.components import Component, components, imported_names
from migrator.discover.discovery import Discovery
from migrator.engine import runner
from migrator.engine.pool import Died, TimedOut, TimeLimit, run_tasks, time_limit
from migrator.engine.registry import Registry
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.problems import MEANINGS
from migrator.vocabulary.settings import Settings

HEAD = b"import tensorflow as tf\n"
ONLY = Settings(select=("TST",), jobs=2)


def tree(root: Path, **files: str | bytes) -> None:
    """Write files; ``__`` in a name is a slash."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def run(root: Path, settings: Settings = ONLY) -> dict[str, Outcome]:
    """Outcomes by path below `root`."""
    return {os.path.relpath(outcome.path, root): outcome for outcome in runner.run([str(root)], settings)}


def grouped(**files: str) -> list[tuple[str, ...]]:
    """Components of files, by name."""
    contents = {f"/r/{name.replace('__', '/')}.py": text.encode() for name, text in files.items()}
    return [tuple(path[3:-3] for path in component.files) for component in components(contents)]


# -- components -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"import a, b.c as d  # e\n", [("a", ""), ("b.c", "")]),
        (b"  from a.b import (c,  # x\n    d as e)\n", [("a.b", "c"), ("a.b", "d")]),
        (b"from . import a, \\\n    b\n", [(".", "a"), (".", "b")]),
        (b"from ..a import b; import c\nfrom .import d\n", [("..a", "b"), (".", "d")]),
        (b"from a import *\r\nimport b\rimport c", [("a", "*"), ("b", ""), ("c", "")]),
        (b"important = 1\nx = 'import y'\n", []),
        (b"import (\n", []),
        (b"from a import (b\n", [("a", "b")]),
        (b"import \xff\n", [("\ufffd", "")]),
    ],
)
def test_import_statements_are_read_off_the_bytes(text: bytes, names: list[tuple[str, str]]) -> None:
    assert list(imported_names(text)) == names


def test_files_without_tensorflow_are_left_out() -> None:
    assert grouped(a="import os\n", b="import a\n") == []


def test_a_driver_that_never_names_tensorflow_belongs() -> None:
    assert grouped(model="import tensorflow\n", task="import model\n", other="import task\n") == [("model", "task")]


@pytest.mark.parametrize(
    "line",
    [
        "from pkg import model",
        "from pkg.model import f",
        "import pkg.model",
        "from . import model",
        "from .model import f",
        "import model",
    ],
)
def test_import_styles(line: str) -> None:
    assert grouped(pkg__model="import tensorflow\n", pkg__task=f"import tensorflow\n{line}\n") == [
        ("pkg/model", "pkg/task")
    ]


def test_imports_through_packages() -> None:
    assert grouped(pkg____init__="from .model import f\n", pkg__model="import tensorflow\n", main="import pkg\n") != []
    assert grouped(a__pkg__model="import tensorflow\n", a__b__task="import tensorflow\nimport pkg.model\n") == [
        ("a/pkg/model", "a/b/task")
    ]
    assert grouped(pkg__sub__a="import tensorflow\nfrom ..b import x\n", pkg__b="import tensorflow\n") == [
        ("pkg/sub/a", "pkg/b")
    ]


def test_files_that_do_not_import_each_other_stay_apart() -> None:
    texts = dict.fromkeys(("a", "b", "c"), "import tensorflow\nimport numpy\nfrom tensorflow import keras\n")
    assert grouped(**texts) == [("a",), ("b",), ("c",)]


def test_a_package_with_a_module_of_its_own_name() -> None:
    files = dict.fromkeys(("/r/net/net.py", "/r/net/utils.py", "/r/net/data.py"), b"import tensorflow\n")
    files["/r/net/task.py"] = b"import tensorflow\nfrom net import utils\nfrom net.data import read\n"
    scripts = [component.files for component in components(files)]  # the folder of a script comes first
    assert ("/r/net/net.py", "/r/net/data.py", "/r/net/task.py") in scripts
    package = [component.files for component in components({**files, "/r/net/__init__.py": b""})]
    assert package == [("/r/net/net.py",), ("/r/net/utils.py", "/r/net/data.py", "/r/net/task.py")]


def test_helpers_without_tensorflow_are_context_only() -> None:
    files = {"/r/constants.py": b"N = 1\n"}
    files |= {f"/r/m{number}.py": b"import tensorflow\nimport constants\nEstimator\n" for number in range(3)}
    assert components(files) == [Component((f"/r/m{number}.py",), ("/r/constants.py",)) for number in range(3)]


def test_abstract_classes_change_with_those_that_derive_from_them() -> None:
    files = {"/r/base.py": b"import abc\nclass Base(abc.ABC):\n    @abc.abstractmethod\n    def model_fn(self): ...\n"}
    files["/r/m.py"] = b"import tensorflow\nimport base\nestimator = 1\n"
    assert components(files) == [Component(("/r/base.py", "/r/m.py"), ())]


def test_a_hub_does_not_join_a_whole_tree() -> None:
    files = {"/r/utils.py": b"import tensorflow\n"}
    for number in range(300):
        files[f"/r/p{number}/model.py"] = b"import tensorflow\nimport utils\nEstimator = 1\n"
        files[f"/r/p{number}/task.py"] = b"import model\n"
    found = components(files)
    assert Component(("/r/utils.py",)) in found and len(found) == 301
    assert Component(("/r/p7/model.py", "/r/p7/task.py"), ("/r/utils.py",)) in found


def test_one_importer_of_everything_does_not_join_it() -> None:
    files = {f"/r/m{number}.py": b"import tensorflow\n" for number in range(100)}
    files["/r/all.py"] = b"".join(b"import m%d\n" % number for number in range(100))
    found = components(files)
    assert len(found) == 101 and max(len(component.context) for component in found) <= 24


# -- trees ------------------------------------------------------------------------------------------------------------


def test_the_result_is_one_outcome_for_each_file_in_order(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, b=HEAD + b"tf.old\n", a="x = 1\n", c=HEAD + b"def (\n", d=HEAD)
    found = run(tmp_path)
    assert [(name, outcome.status) for name, outcome in found.items()] == [
        ("a.py", "unchanged"),
        ("b.py", "changed"),
        ("c.py", "failed"),
        ("d.py", "unchanged"),
    ]
    assert (tmp_path / "b.py").read_bytes() == HEAD + b"tf.old\n"


def test_irrelevant_files_are_not_even_decoded(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, a=b"print '\xff'\n", b=b"\0")
    assert {outcome.status for outcome in run(tmp_path).values()} == {"unchanged"}


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("a.py", "x = 1\n".encode("utf-16"), "E003"),
        ("a.py", b"x = '\xff'\n", "E003"),
        ("a.bin", bytes(range(256)), "E002"),
        ("a.ipynb", b"{", "E012"),
        ("a.py", "import os\nx = 'é'\n".encode(), None),
    ],
)
def test_a_named_file_is_decoded_whatever_is_in_it(
    sample_rules: Registry, tmp_path: Path, name: str, raw: bytes, code: str | None
) -> None:
    (tmp_path / name).write_bytes(raw)
    named = runner.run([str(tmp_path / name)], ONLY)
    assert [item.code for outcome in named for item in outcome.remaining] == ([code] if code else [])
    assert all(not outcome.remaining for outcome in runner.run([str(tmp_path)], ONLY))


def test_tensorflow_in_utf_16_is_seen_by_a_search(sample_rules: Registry, tmp_path: Path) -> None:
    text = HEAD.decode()
    tree(
        tmp_path,
        a=text.encode("utf-16"),
        b=text.encode("utf-16-be"),
        c=text.encode("utf-32"),
        d="x = 1\n".encode("utf-16"),
    )
    codes = {name: [item.code for item in outcome.remaining] for name, outcome in run(tmp_path).items()}
    assert codes == {"a.py": ["E003"], "b.py": ["E003"], "c.py": ["E003"], "d.py": []}


def test_bad_files_do_not_stop_others(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, a=HEAD + b"\xff\n", b=HEAD + b"\0", c=HEAD + b"print 'x'\n", d=HEAD + b"tf.old\n", e=b"")
    found = run(tmp_path)
    codes = {name: [item.code for item in outcome.remaining] for name, outcome in found.items()}
    assert codes == {"a.py": ["E003"], "b.py": ["E002"], "c.py": ["E001"], "d.py": [], "e.py": []}
    assert found["d.py"].status == "changed"


def test_an_unreadable_file_is_reported(
    sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, a=HEAD + b"tf.old\n", b=HEAD + b"tf.old\n")
    discover = runner.discover

    def discover_and_lose(paths: Iterable[str], exclude: Iterable[str]) -> Discovery:
        found = discover(paths, exclude)
        (tmp_path / "a.py").unlink()
        return found

    monkeypatch.setattr(runner, "discover", discover_and_lose)
    found = run(tmp_path)
    assert [item.code for item in found["a.py"].remaining] == ["E004"] and found["b.py"].status == "changed"


def test_a_missing_path_is_reported(sample_rules: Registry, tmp_path: Path) -> None:
    outcomes = runner.run([str(tmp_path / "none"), str(tmp_path)], ONLY)
    assert [item.code for outcome in outcomes for item in outcome.remaining] == ["E004"]


def test_the_number_of_processes_does_not_matter(
    sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        tree(tmp_path, **{f"m{number}": HEAD + b"tf.old, tf.gone.x\n" * number, f"t{number}": f"import m{number}\n"})
    alone = run(tmp_path)
    monkeypatch.setattr(runner, "_SMALL", 0)
    calls: list[tuple[int, int]] = []
    for jobs in (1, 2, 4):
        found = runner.run([str(tmp_path)], ONLY.merged(jobs=jobs), lambda done, total: calls.append((done, total)))
        assert found == list(alone.values())
    assert calls[-1] == (24, 24)


def test_programs_side_by_side_share_their_helpers(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, a=HEAD + b"def program(): 1\n", b=HEAD + b"def program(): 2\n", c=HEAD)
    result = runner.migrate([str(tmp_path)], ONLY)
    names = [os.path.basename(outcome.path) for outcome in result.outcomes]
    assert names == ["a.py", "b.py", "c.py", "tf2_training.py"]
    assert [tuple(os.path.basename(path) for path in group) for group in result.groups] == [
        ("a.py", "b.py", "tf2_training.py")
    ]


# -- workers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use workers even for small trees."""
    monkeypatch.setattr(runner, "_SMALL", 0)


@pytest.mark.usefixtures("in_processes")
def test_a_worker_that_dies_takes_only_its_file_with_it(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, a=HEAD + b"tf.old\n", b=HEAD + b"import a\ntf.kill\n", c=HEAD + b"tf.old\n")
    found = run(tmp_path)
    assert {name: outcome.status for name, outcome in found.items()} == {
        "a.py": "changed",
        "b.py": "failed",
        "c.py": "changed",
    }
    assert [(item.code, item.message) for item in found["b.py"].remaining] == [
        ("E008", "the worker process died (signal 9): left alone")
    ]


@pytest.mark.usefixtures("in_processes")
def test_a_rule_that_hangs_is_stopped(sample_rules: Registry, tmp_path: Path) -> None:
    tree(tmp_path, a=HEAD + b"tf.spin\n", b=HEAD + b"tf.old\n")
    found = run(tmp_path, ONLY.merged(timeout=2.0))
    assert [item.code for item in found["a.py"].remaining] == ["E010"]
    assert "took more than 2 seconds of CPU time" in found["a.py"].remaining[0].message
    assert found["b.py"].status == "changed"


@pytest.mark.parametrize("how", ["hang", "spin"])
def test_a_rule_that_hangs_is_stopped_in_this_process_too(sample_rules: Registry, tmp_path: Path, how: str) -> None:
    tree(tmp_path, a=HEAD + f"tf.{how}\n".encode(), b=HEAD + b"tf.old\n")
    found = run(tmp_path, ONLY.merged(timeout=0.3))
    assert [item.code for item in found["a.py"].remaining] == ["E010"] and found["b.py"].status == "changed"


def test_the_limit_of_the_time_is_that_of_the_cpu() -> None:
    with time_limit(0.5):
        time.sleep(0.8)  # another program has the processor
    with pytest.raises(TimeLimit), time_limit(0.1):
        while True:
            pass


def test_what_ran_out_of_time_names_the_setting() -> None:
    assert "`timeout = 600` in migrate.toml" in MEANINGS["E010"] and Settings().timeout == 120


def square(task: int) -> int:
    """A task; some end their worker, and one waits longer than its CPU time."""
    if task == 3:
        os._exit(7)
    if task == 5:
        multiprocessing.Event().wait()
    while task == 4:
        pass
    if task == 6:
        time.sleep(1.2)
    return task * task


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_tasks_survive_their_workers(method: str) -> None:
    context = multiprocessing.get_context(method)
    results = dict(run_tasks(square, list(range(8)), 3, 0.5 if method == "fork" else 1.0, context))
    assert results.pop(3) == Died(7)
    assert isinstance(results.pop(4), TimedOut) and isinstance(results.pop(5), TimedOut)
    assert results == {number: number * number for number in (0, 1, 2, 6, 7)}
    assert not multiprocessing.active_children()


def process(task: int) -> int:
    """The process that does a task."""
    return os.getpid()


def always() -> bool:
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are started anew only where that is cheap")
def test_a_tired_worker_gives_way_to_another() -> None:
    context = multiprocessing.get_context("fork")
    results = dict(run_tasks(process, list(range(5)), 2, 60.0, context, tired=always))
    assert sorted(results) == list(range(5))
    assert len(set(results.values())) == 5
    assert len(set(dict(run_tasks(process, list(range(5)), 2, 60.0, context)).values())) <= 2


def test_leaving_early_ends_the_workers() -> None:
    results = run_tasks(square, [1, 5], 2, 60.0)
    assert next(results) == (0, 1)
    results.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


STUCK = """
import os, sys, time
from migrator.engine.pool import run_tasks

def wait(path):
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)
    time.sleep(60)

if __name__ == "__main__":
    list(run_tasks(wait, [sys.argv[1]], 1, 60.0))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no SIGKILL")
def test_a_worker_ends_with_its_parent_in_the_midst_of_a_task(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "stuck.py"), str(tmp_path / "pid")])
    wait_until((tmp_path / "pid").exists)
    worker = int((tmp_path / "pid").read_text())
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_running(worker))


def is_running(worker: int) -> bool:
    """Whether a process is there, and is no zombie that nobody has waited for."""
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{worker}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns once something holds, within half a minute."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
