"""Which files to look at: those named, and the Python files and notebooks below the directories named."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from migrator.discover.cells import SUFFIX
from migrator.vocabulary.diagnostics import Diagnostic
from migrator.vocabulary.patterns import excluded
from migrator.vocabulary.problems import UNREADABLE, problem

SUFFIXES = (".py", SUFFIX)
"""Of the files that a search finds: modules and notebooks."""

_REQUIREMENTS = re.compile(
    r"(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|setup\.(?:py|cfg)|pyproject\.toml|Pipfile|(?:environment|conda)\.ya?ml|Dockerfile[\w.-]*)"
)

IGNORED_DIRECTORIES = frozenset(
    # fmt: off
    [
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".tox",
        ".nox",
        ".eggs",
        ".venv",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".ipynb_checkpoints",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
        "dist-packages",
        "build",
        "dist",
        "third_party",
        "third-party",
        "thirdparty",
        "vendor",
        "_vendor",
        "vendored",
    ]
    # fmt: on
)
"""Directories whose code is not the user's own. They are searched only when they are named."""


@dataclass
class Discovery:
    """The files found, in a stable order, and what could not be found."""

    files: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    roots: tuple[str, ...] = ()
    """Real paths of the directories below which files may be written."""
    requirements: list[str] = field(default_factory=list)
    """Files that name the packages a project needs; `setup.py` is among the others too."""
    named: frozenset[str] = frozenset()
    """Those of `files` that were not found by a search."""


def discover(paths: Iterable[str], exclude: Iterable[str] = ()) -> Discovery:
    """Find the Python files and notebooks of `paths`: files as they are, directories searched.

    Inside a git repository a search finds what git tracks and what it does not ignore; elsewhere it walks the tree.
    Symbolic links to directories are not followed. A file that is reached twice is listed once. A directory that cannot be
    read is a problem (E004), as nobody knows what is in it.

    Args:
      paths: files and directories.
      exclude: glob patterns for names (``*_pb2.py``, ``legacy``) or for paths below a given directory (``gen/*.py``).
    """
    found = Discovery()
    patterns = tuple(exclude)
    roots: list[str] = []
    seen: dict[str, str] = {}
    requirements: dict[str, str] = {}
    named: list[str] = []
    for path in paths:
        path = os.path.normpath(path)
        if os.path.isdir(path):
            root = os.path.realpath(path)
            roots.append(root)
            closed: dict[str, str] = {}
            for name in sorted(_search(path, closed)):
                if excluded(name, patterns) or not _readable_link(path, name, root):
                    continue
                reached = os.path.normpath(os.path.join(path, name))
                if name.endswith(SUFFIXES):
                    _add(reached, seen)
                if _names_packages(name):
                    _add(reached, requirements)
            for name, reason in sorted(closed.items()):
                if not excluded(name, patterns):
                    reached = os.path.normpath(os.path.join(path, name))
                    found.problems.append(
                        problem(UNREADABLE, reached, f"what is in this folder was left out: {reason}")
                    )
        elif os.path.exists(path):
            roots.append(os.path.dirname(os.path.realpath(path) if not os.path.islink(path) else os.path.abspath(path)))
            _add(path, seen)
            named.append(path)
        else:
            found.problems.append(problem(UNREADABLE, path, "no such file or directory"))
    found.files = list(seen.values())
    found.named = frozenset(seen[os.path.realpath(path)] for path in named)
    found.roots = tuple(roots)
    found.requirements = list(requirements.values())
    return found


def _add(path: str, seen: dict[str, str]) -> None:
    real = os.path.realpath(path)
    # Prefer the file itself to a link to it, so that what is shown is what is written.
    if real not in seen or (os.path.islink(seen[real]) and not os.path.islink(path)):
        seen[real] = path


def _readable_link(root: str, name: str, real_root: str) -> bool:
    path = os.path.join(root, name)
    if not os.path.islink(path):
        return True
    return os.path.isfile(path) and within(os.path.realpath(path), (real_root,))


def within(path: str, roots: Iterable[str]) -> bool:
    """Whether the real path `path` lies in one of `roots`."""
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _search(root: str, closed: dict[str, str]) -> Iterator[str]:
    """Python files, notebooks and files of requirements below `root`, relative to it.

    Directories that cannot be read are put into `closed`, with the reason.
    """
    listed = _git_files(root, closed) if in_repository(root) else None
    if not listed:  # Not a repository, or a directory that git ignores but the user named.
        yield from _walk(root, closed)
        return
    environments: dict[str, bool] = {}
    for name in [name for name in closed if _skipped(name + "/x", root, environments)]:
        del closed[name]
    for name in listed:
        if name.endswith("/"):  # A repository of its own inside this one, not a submodule.
            if not _skipped(name.rstrip("/") + "/x", root, environments):
                yield from _search_inner(root, name, closed)
        elif not _wanted(name) or _skipped(name, root, environments):
            continue
        elif _is_file(os.path.join(root, name)):
            yield name


def _search_inner(root: str, name: str, closed: dict[str, str]) -> Iterator[str]:
    """What a search finds in the directory `name` of `root`, relative to `root`."""
    inner_closed: dict[str, str] = {}
    yield from (os.path.join(name, inner) for inner in _search(os.path.join(root, name), inner_closed))
    closed.update((os.path.join(name, inner), reason) for inner, reason in inner_closed.items())


def _is_file(path: str) -> bool:
    """Whether a file is there; also where that cannot be told for want of permission, so that reading it says so."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EPERM)


def _wanted(name: str) -> bool:
    return name.endswith(SUFFIXES) or _names_packages(name)


def _names_packages(name: str) -> bool:
    """Whether a file of this name says which packages a project needs."""
    return _REQUIREMENTS.fullmatch(os.path.basename(name)) is not None


def _skipped(name: str, root: str, environments: dict[str, bool]) -> bool:
    directory = os.path.dirname(name)
    if directory in environments:
        return environments[directory]
    if not directory:
        result = False
    elif os.path.basename(directory) in IGNORED_DIRECTORIES:
        result = True
    else:
        result = os.path.exists(os.path.join(root, directory, "pyvenv.cfg")) or _skipped(directory, root, environments)
    environments[directory] = result
    return result


def _walk(root: str, closed: dict[str, str]) -> Iterator[str]:
    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # gone meanwhile
            closed[os.path.relpath(error.filename, root)] = error.strerror or str(error)

    for directory, directories, files in os.walk(root, onerror=unreadable):
        relative = os.path.relpath(directory, root)
        prefix = "" if relative == os.curdir else relative
        if prefix and ".git" in directories + files:
            directories.clear()
            yield from _search_inner(root, prefix, closed)
            continue
        directories[:] = [
            name
            for name in directories
            if name not in IGNORED_DIRECTORIES and not os.path.exists(os.path.join(directory, name, "pyvenv.cfg"))
        ]
        for name in files:
            if _wanted(name) and _is_file(os.path.join(directory, name)):
                yield os.path.join(prefix, name)


def in_repository(path: str) -> bool:
    """Whether a directory lies in a git work tree; looks, does not run git."""
    directory = os.path.realpath(path)
    while True:
        if os.path.exists(os.path.join(directory, ".git")):
            return True
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent


_OF_ONE_REPOSITORY = frozenset(
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
    ]
)
"""What git tells its hooks: the folder that is asked about may be in another repository, or deeper in this one."""


_CLOSED = re.compile(rb"^warning: could not open directory '(.*)/?': (.*)$", re.MULTILINE)
"""What git says of a directory whose files it cannot list, before it goes on."""


def git(directory: str, *arguments: str) -> bytes | None:
    """Output of a git command that only reads, or None when it fails."""
    done = _checked(directory, *arguments)
    return done.stdout if done is not None else None


def _checked(directory: str, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    try:
        done = run_git(directory, *arguments)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done if done.returncode == 0 else None


def run_git(directory: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A git command that only reads. Raises OSError without git, subprocess.TimeoutExpired after two minutes."""
    # A hostile repository must not run a program of its own through its configuration.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ONE_REPOSITORY}
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, timeout=120, check=False)


def _git_files(root: str, closed: dict[str, str]) -> list[str] | None:
    done = _checked(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done is None:
        return None
    for name, reason in _CLOSED.findall(done.stderr):  # from the top of the repository, unlike what it lists
        top = git(root, "rev-parse", "--show-toplevel") or b""
        path = os.path.join(os.fsdecode(top.rstrip(b"\n")), os.fsdecode(name))
        closed[os.path.relpath(path, os.path.realpath(root))] = os.fsdecode(reason)
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})


def without_copy(paths: Iterable[str]) -> list[str]:
    """Those of `paths` that git cannot bring back as they are: outside of repositories, ignored, or not committed."""
    paths = list(paths)
    lost = set(dirty_files(paths))
    for directory, members in _by_directory(paths).items():
        tracked = git(directory, "ls-files", "-z") if in_repository(directory) else None
        names = {os.fsdecode(name) for name in (tracked or b"").split(b"\0")}
        lost.update(path for path in members if os.path.basename(os.path.realpath(path)) not in names)
    return sorted(lost)


def _by_directory(paths: Iterable[str]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for path in paths:
        table.setdefault(os.path.dirname(os.path.realpath(path)), []).append(path)
    return table


def dirty_files(paths: Iterable[str]) -> list[str]:
    """Those of `paths` that git knows to differ from the last commit, or not to be in it."""
    dirty: list[str] = []
    states: dict[str, frozenset[str]] = {}
    for directory, members in _by_directory(paths).items():
        if not os.path.isdir(directory) or not in_repository(directory):
            continue
        top_output = git(directory, "rev-parse", "--show-toplevel")
        if top_output is None:
            continue
        top = os.path.realpath(os.fsdecode(top_output.rstrip(b"\n")))
        if top not in states:
            states[top] = _dirty_in(top)
        dirty += [path for path in members if os.path.relpath(os.path.realpath(path), top) in states[top]]
    return sorted(dirty)


def _dirty_in(top: str) -> frozenset[str]:
    output = git(top, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=no")
    return frozenset(os.fsdecode(entry[3:]) for entry in (output or b"").split(b"\0") if len(entry) > 3)
