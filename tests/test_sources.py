"""Bytes to text and back, which files are found, and writing."""

from __future__ import annotations

import codecs
import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrator.discover import discovery, sources
from migrator.discover.discovery import dirty_files, discover
from migrator.discover.sources import Unusable, decode
from migrator.vocabulary.diagnostics import Outcome
from migrator.write import writing
from migrator.write.writing import write_groups


def tree(root: Path, *names: str) -> None:
    """Make empty files."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def found(root: Path, exclude: tuple[str, ...] = ()) -> list[str]:
    """Files below `root`, relative to it."""
    return [os.path.relpath(path, root) for path in discover([str(root)], exclude).files]


def git(root: Path, *arguments: str) -> None:
    """Run git with a user."""
    user = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *user, *arguments], cwd=root, check=True, capture_output=True)


# -- decoding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"x = 1",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1\r\ny = 2\nz = 3\r",
        codecs.BOM_UTF8 + "x = 'é'\r\n".encode(),
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        "# -*- coding: cp1252 -*-\r\nx = '€'\r\n".encode("cp1252"),
        "#!/usr/bin/python\n# vim: set fileencoding=euc-jp :\nx = '日本'\n".encode("euc-jp"),
        codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1\n",
        b"\x0cx = 1\n\t\ny = '\x0b'\n\n\n",
        "x = '\u2028\x85𝔘'\n".encode(),
    ],
)
def test_bytes_survive(raw: bytes) -> None:
    source = decode("a.py", raw)
    assert source.encode() == raw
    assert source.with_data(source.data).raw == raw


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.booleans())
def test_any_utf8_text_survives(text: str, bom: bool) -> None:
    raw = (codecs.BOM_UTF8 if bom else b"") + ("x\n\n" + text).encode()
    assert decode("a.py", raw).encode() == raw


@given(st.lists(st.sampled_from(["x = 1", "", "# é", "\r", "\n", "\r\n", "\f"])))
def test_any_line_ends_survive(parts: list[str]) -> None:
    raw = "".join(parts).encode()
    source = decode("a.py", raw)
    assert source.encode() == raw
    assert source.mixed or "\r" not in source.text


@pytest.mark.parametrize(
    ("raw", "code", "line", "column"),
    [
        (b"x = 1\ny = '\xe9'\n", "E003", 2, 6),
        (b"# coding: ascii\nx = '\xe9'\n", "E003", 2, 6),
        (b"# coding: nonsense\n", "E003", 1, 1),
        (b"# coding: rot13\n", "E003", 1, 1),
        (b"# coding: hex\n00", "E003", 1, 1),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "E003", 1, 1),
        ("x = 1\n".encode("utf-16"), "E003", 1, 1),
        ("x = 1\n".encode("utf-16-le"), "E003", 1, 1),
        ("x = 1\n".encode("utf-16-be"), "E003", 1, 1),
        ("x = 1\n".encode("utf-32"), "E003", 1, 1),
        ("x = 1\n".encode("utf-32-be"), "E003", 1, 1),
        (b"x = 1\n\0\0", "E002", 2, 1),
        (b"x = 1\r\ny = \0\r\n", "E002", 2, 5),
        (b"# coding: utf-7\nx = '+AGE-'\n", "E003", 1, 1),
    ],
)
def test_bytes_that_are_no_text(raw: bytes, code: str, line: int, column: int) -> None:
    with pytest.raises(Unusable) as caught:
        decode("a.py", raw)
    diagnostic = caught.value.diagnostic
    assert (diagnostic.code, diagnostic.location.line, diagnostic.location.column) == (code, line, column)


def test_unencodable_text_is_refused() -> None:
    source = decode("a.py", b"# coding: latin-1\nx = 1\n")
    with pytest.raises(UnicodeEncodeError):
        source.with_data("# coding: latin-1\nx = 'ł'\n".encode())


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="E004 cannot read: No such file"):
        sources.load(str(tmp_path / "none.py"))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(Unusable, match="E004 cannot read: not a regular file"):
        sources.load(str(tmp_path / "pipe.py"))


def test_a_huge_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_BYTES", 10)
    (tmp_path / "a.py").write_text("x = 1234567890\n")
    with pytest.raises(Unusable, match="E010 larger than"):
        sources.load(str(tmp_path / "a.py"))


# -- discovery --------------------------------------------------------------------------------------------------------


def test_walks_a_tree_without_the_code_of_others(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "a.py",
        "pkg/b.py",
        "pkg/data.txt",
        "build/c.py",
        "node_modules/d.py",
        "third_party/e.py",
        "env/pyvenv.cfg",
    )
    tree(tmp_path, "env/lib/f.py", "x/__pycache__/g.py", ".tox/h.py", "lib/site-packages/i.py", "pkg/build/j.py")
    assert found(tmp_path) == ["a.py", "pkg/b.py"]


def test_a_named_directory_is_searched_whatever_its_name(tmp_path: Path) -> None:
    tree(tmp_path, "third_party/a.py", "third_party/vendor/b.py")
    assert found(tmp_path / "third_party") == ["a.py"]


def test_a_named_file_is_always_taken(tmp_path: Path) -> None:
    tree(tmp_path, "build/script", "a.py")
    paths = [str(tmp_path / "build" / "script"), str(tmp_path / "a.py")]
    assert discover(paths, ["a.py", "build"]).files == paths


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("legacy", ["a.py", "pkg/b_pb2.py"]),
        ("*_pb2.py", ["a.py", "legacy/c.py"]),
        ("pkg/*.py", ["a.py", "legacy/c.py"]),
        ("./pkg/", ["a.py", "legacy/c.py"]),
        ("b", ["a.py", "legacy/c.py", "pkg/b_pb2.py"]),
    ],
)
def test_exclude(tmp_path: Path, pattern: str, left: list[str]) -> None:
    tree(tmp_path, "a.py", "legacy/c.py", "pkg/b_pb2.py")
    assert found(tmp_path, (pattern,)) == left


def test_git_decides_inside_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    tree(tmp_path, "tracked.py", "new.py", "ignored.py", "out/deep.py", "vendor/a.py", "ünïcode dir/b.py", "gone.py")
    (tmp_path / ".gitignore").write_text("ignored.py\nout/\n")
    git(tmp_path, "add", "tracked.py", "gone.py")
    (tmp_path / "gone.py").unlink()
    assert found(tmp_path) == ["new.py", "tracked.py", "ünïcode dir/b.py"]
    assert found(tmp_path / "out") == ["deep.py"], "an ignored directory that is named is searched"


def test_repositories_below_a_directory_keep_their_own_rules(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "repo/b.py", "repo/ignored.py")
    git(tmp_path / "repo", "init", "-q")
    (tmp_path / "repo" / ".gitignore").write_text("ignored.py\n")
    assert found(tmp_path) == ["a.py", "repo/b.py"]
    git(tmp_path, "init", "-q")
    assert found(tmp_path) == ["a.py", "repo/b.py"]


def test_a_repository_cannot_run_programs_of_its_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    tree(tmp_path, "a.py")
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))
    assert found(tmp_path) == ["a.py"]
    assert dirty_files([str(tmp_path / "a.py")]) == [str(tmp_path / "a.py")]
    assert not (tmp_path / "ran").exists()


def test_a_hook_of_another_repository_does_not_hide_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        tree(tmp_path / name, "sub/a.py", "sub/b.py")
        (tmp_path / name / ".gitignore").write_text("b.py\n")
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "add", ".")
        git(tmp_path / name, "commit", "-qm", "x")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "one" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "one" / ".git" / "index"))
    for name in ("one", "two"):
        assert found(tmp_path / name / "sub") == ["a.py"]
        assert dirty_files([str(tmp_path / name / "sub" / "a.py")]) == []


def closed_to(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let a folder not be listed, for whoever runs the tests: root may list all."""
    scandir = os.scandir

    def refuse(path: str) -> object:
        if os.path.realpath(path) == os.path.realpath(folder):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a.py", "closed/b.py", "build/c.py", "open/d.py")
    closed_to(monkeypatch, tmp_path / "closed")
    tree_found = discover([str(tmp_path)])
    assert [os.path.relpath(path, tmp_path) for path in tree_found.files] == ["a.py", "open/d.py"]
    assert [(item.code, item.location.path) for item in tree_found.problems] == [("E004", str(tmp_path / "closed"))]
    assert "left out: Permission denied" in tree_found.problems[0].message
    assert not discover([str(tmp_path)], ["closed"]).problems
    closed_to(monkeypatch, tmp_path)
    assert [item.location.path for item in discover([str(tmp_path)]).problems] == [str(tmp_path)]


def test_a_folder_that_git_cannot_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    tree(tmp_path, "top/a.py", "top/closed/b.py", "top/build/c.py")
    run_git = discovery.run_git

    def refuse(directory: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        done = run_git(directory, *arguments)
        if arguments[0] == "ls-files":
            said = [
                f"warning: could not open directory 'top/{name}/': Permission denied\n" for name in ("closed", "build")
            ]
            listed = done.stdout.replace(b"closed/b.py\0", b"")
            done = subprocess.CompletedProcess(done.args, 0, listed, "".join(said).encode())
        return done

    monkeypatch.setattr(discovery, "run_git", refuse)
    tree_found = discover([str(tmp_path / "top")])
    assert [os.path.relpath(path, tmp_path) for path in tree_found.files] == ["top/a.py"]
    assert [item.location.path for item in tree_found.problems] == [str(tmp_path / "top" / "closed")]


def test_symbolic_link_loops_end(tmp_path: Path) -> None:
    tree(tmp_path, "pkg/a.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    assert found(tmp_path) == ["pkg/a.py"]


def test_a_file_is_found_once_and_by_its_own_name(tmp_path: Path) -> None:
    tree(tmp_path, "real.py")
    (tmp_path / "alias.py").symlink_to("real.py")
    assert found(tmp_path) == ["real.py"]
    paths = [str(tmp_path), str(tmp_path / "real.py"), str(tmp_path / "." / "real.py")]
    assert discover(paths).files == [str(tmp_path / "real.py")]


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "in/a.py", "out/b.py")
    (tmp_path / "in" / "b.py").symlink_to(tmp_path / "out" / "b.py")
    assert found(tmp_path / "in") == ["a.py"]


def test_dirty_files_are_those_git_cannot_bring_back(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    tree(tmp_path, "clean.py", "edited.py", "staged.py", "untracked.py")
    git(tmp_path, "add", "clean.py", "edited.py", "staged.py")
    git(tmp_path, "commit", "-qm", "x")
    for name in ("edited.py", "staged.py"):
        (tmp_path / name).write_text("x = 1\n")
    git(tmp_path, "add", "staged.py")
    names = ["clean.py", "edited.py", "staged.py", "untracked.py"]
    assert dirty_files(str(tmp_path / name) for name in names) == [str(tmp_path / name) for name in names[1:]]


def test_nothing_is_dirty_outside_of_git(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    assert dirty_files([str(tmp_path / "a.py")]) == []


# -- writing ----------------------------------------------------------------------------------------------------------


def changed(path: Path, before: bytes = b"old\n", after: bytes = b"new\n") -> Outcome:
    """An outcome for a file that is made with `before`."""
    path.write_bytes(before)
    return Outcome(str(path), "changed", before, after)


def write(root: Path, *outcomes: Outcome) -> tuple[list[str], list[str]]:
    """Write as one group; relative names written, and messages."""
    paths = [outcome.path for outcome in outcomes]
    written, problems = write_groups(outcomes, [paths], [os.path.realpath(root)])
    return [os.path.relpath(path, root) for path in written], [problem.message for problem in problems]


def test_writing_keeps_the_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    outcome = changed(tmp_path / "a.py")
    (tmp_path / "a.py").chmod(0o754)
    created = Outcome(str(tmp_path / "b.py"), "created", b"", b"made\n")
    assert write(tmp_path, outcome, created) == (["a.py", "b.py"], [])
    assert (tmp_path / "a.py").read_bytes() == b"new\n"
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o754
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def test_all_files_of_a_group_or_none(tmp_path: Path) -> None:
    good, locked = changed(tmp_path / "a.py"), changed(tmp_path / "b.py")
    (tmp_path / "b.py").chmod(0o444)
    written, messages = write(tmp_path, good, locked)
    assert written == [] and messages == [f"not written: it is read-only; nor was {tmp_path}/a.py"]
    assert (tmp_path / "a.py").read_bytes() == b"old\n"
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def test_other_groups_are_written(tmp_path: Path) -> None:
    outcomes = [changed(tmp_path / "a.py"), changed(tmp_path / "b.py")]
    (tmp_path / "b.py").write_bytes(b"edited meanwhile\n")
    groups = [[outcome.path] for outcome in outcomes]
    written, problems = write_groups(outcomes, groups, [str(tmp_path)])
    assert written == [str(tmp_path / "a.py")]
    assert [problem.message for problem in problems] == ["not written: it has changed meanwhile; run again"]
    assert (tmp_path / "b.py").read_bytes() == b"edited meanwhile\n"


def test_a_failure_in_the_middle_is_rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [
        changed(tmp_path / "a.py"),
        Outcome(str(tmp_path / "n.py"), "created", b"", b"n"),
        changed(tmp_path / "z.py"),
    ]
    replace = os.replace

    def fail(source: str, target: str) -> None:
        if target.endswith("z.py"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(writing.os, "replace", fail)
    assert write(tmp_path, *outcomes) == ([], ["not written: No space left on device"])
    assert sorted(os.listdir(tmp_path)) == ["a.py", "z.py"]
    assert (tmp_path / "a.py").read_bytes() == b"old\n"


def test_a_link_is_written_through_only_inside_the_roots(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    inside, outside = changed(tmp_path / "in" / "real.py"), changed(tmp_path / "far.py")
    (tmp_path / "in" / "near.py").symlink_to("real.py")
    (tmp_path / "in" / "far.py").symlink_to(tmp_path / "far.py")
    near = Outcome(str(tmp_path / "in" / "near.py"), "changed", inside.before, inside.after)
    far = Outcome(str(tmp_path / "in" / "far.py"), "changed", outside.before, outside.after)
    assert write(tmp_path / "in", near) == (["near.py"], [])
    assert (tmp_path / "in" / "near.py").is_symlink()
    assert (tmp_path / "in" / "real.py").read_bytes() == b"new\n"
    written, messages = write(tmp_path / "in", far)
    assert written == [] and "outside of the given paths" in messages[0]
    assert (tmp_path / "far.py").read_bytes() == b"old\n"


def test_a_file_that_appeared_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_bytes(b"mine\n")
    written, messages = write(tmp_path, Outcome(str(tmp_path / "b.py"), "created", b"", b"made\n"))
    assert written == [] and "appeared meanwhile" in messages[0]
    assert (tmp_path / "b.py").read_bytes() == b"mine\n"


def test_ctrl_c_waits_until_all_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [changed(tmp_path / "a.py"), changed(tmp_path / "b.py")]
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr(writing.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, *outcomes)
    assert [(tmp_path / name).read_bytes() for name in ("a.py", "b.py")] == [b"new\n", b"new\n"]
