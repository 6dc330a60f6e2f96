"""Runs the unedited program inside the child process, and keeps what it writes inside the sandbox."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import shutil
import sys
import time
import traceback
from typing import Any, Callable

from . import seeds
from .recorded.store import FAILURE


class Progress:
    """The file the parent polls to say how far this side is: ``step total activity``."""

    def __init__(self, path: str) -> None:
        self.path = path

    def say(self, step: int, total: int = 0, activity: str = "training") -> None:
        temporary = self.path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(f"{step} {total or 0} {activity}")
        os.replace(temporary, self.path)


class Redirect:
    """Moves absolute folders that a program writes to, such as a hard-coded ``/tmp/model``, into the sandbox.

    A folder inside the sandbox (the working copy of the program) stays where it is.
    """

    def __init__(self, sandbox: str) -> None:
        self.sandbox = os.path.realpath(sandbox)
        self.prefixes: list[str] = []
        self.started = time.time()

    def inside(self, path: str) -> bool:
        return (os.path.realpath(path) + os.sep).startswith(self.sandbox + os.sep)

    def place(self, path: str) -> str:
        """How to name a file or checkpoint: from the sandbox on, if it is in there."""
        there = any(os.path.exists(path + end) for end in ("", ".index", ".meta"))
        return os.path.relpath(os.path.realpath(path), self.sandbox) if there and self.inside(path) else path

    def claim(self, path: Any) -> Any:
        """The place for a model_dir: as it is when relative, else inside the sandbox from now on."""
        if not isinstance(path, str) or not os.path.isabs(path) or self.inside(path):
            return path
        if os.path.normpath(path) not in self.prefixes:
            place = os.path.join(self.sandbox, "redirected", os.path.normpath(path).lstrip(os.sep))
            self._bring(path, place)
            self.prefixes.append(os.path.normpath(path))
        return self.map(path)

    def _bring(self, path: str, place: str) -> None:
        """Make the folder, if there is one, with the files that the program has written there until now, such as a vocabulary."""
        if not os.path.isdir(path):
            return
        os.makedirs(place, exist_ok=True)
        for entry in os.scandir(path):
            if entry.is_file() and entry.stat().st_mtime >= self.started:
                shutil.copy(entry.path, os.path.join(place, entry.name))

    def map(self, path: Any) -> Any:
        """The place for any path: moved if it lies in a folder that was claimed."""
        text = os.fspath(path) if hasattr(path, "__fspath__") else path
        if not isinstance(text, str):
            return path
        scheme = "file://" if text.startswith("file://") else ""
        plain = os.path.normpath(text[len(scheme) :]) if text else text
        if plain.startswith(self.sandbox + os.sep):
            return path
        for prefix in self.prefixes:
            if plain == prefix or plain.startswith(prefix + os.sep):
                return scheme + os.path.join(self.sandbox, "redirected", plain.lstrip(os.sep))
        return path

    def arguments(self, args: list[str]) -> list[str]:
        """The places for the paths among the arguments of a program, also in ``--model_dir=/tmp/x``."""
        places = []
        for arg in args:
            name, equals, value = arg.partition("=")
            option = equals and name.startswith("-")
            places.append(name + equals + str(self.map(value)) if option else str(self.map(arg)))
        return places


# Where TensorFlow takes paths: (owner below `tensorflow`, attribute, position and name of the argument with the path).
_PATHS = (
    ("train", "latest_checkpoint", 0, "checkpoint_dir"),
    ("train", "checkpoint_exists", 0, "checkpoint_prefix"),
    ("train", "list_variables", 0, "ckpt_dir_or_file"),
    ("train", "load_checkpoint", 0, "ckpt_dir_or_file"),
    ("train", "load_variable", 0, "ckpt_dir_or_file"),
    ("train", "NewCheckpointReader", 0, "filepattern"),
    ("train", "init_from_checkpoint", 0, "ckpt_dir_or_file"),
    ("train.CheckpointManager", "__init__", 2, "directory"),
    ("train.Checkpoint", "save", 1, "file_prefix"),
    ("train.Checkpoint", "write", 1, "file_prefix"),
    ("train.Checkpoint", "read", 1, "save_path"),
    ("train.Checkpoint", "restore", 1, "save_path"),
    ("train.Saver", "save", 2, "save_path"),
    ("train.Saver", "restore", 2, "save_path"),
    ("summary", "create_file_writer", 0, "logdir"),
    ("summary.FileWriter", "__init__", 1, "logdir"),
    ("saved_model", "save", 1, "export_dir"),
    ("saved_model", "load", 0, "export_dir"),
    ("compat.v1.saved_model.signature_def_utils.MethodNameUpdater", "__init__", 1, "export_dir"),
    ("keras.callbacks.TensorBoard", "__init__", 1, "log_dir"),
    ("keras.callbacks.ModelCheckpoint", "__init__", 1, "filepath"),
    ("keras.callbacks.BackupAndRestore", "__init__", 1, "backup_dir"),
    ("keras.Model", "save", 1, "filepath"),
    ("keras.Model", "save_weights", 1, "filepath"),
    ("keras.Model", "load_weights", 1, "filepath"),
    ("keras.Model", "export", 1, "filepath"),
    ("keras.export.ExportArchive", "write_out", 1, "filepath"),
    ("io.gfile.GFile", "__init__", 1, "name"),
    *(
        ("io.gfile", name, 0, "path")
        for name in ("exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rmtree", "stat", "walk")
    ),
    *(
        ("io.gfile", name, place, argument)
        for name in ("copy", "rename")
        for place, argument in ((0, "src"), (1, "dst"))
    ),
    *(("gfile", "Copy", place, argument) for place, argument in ((0, "oldpath"), (1, "newpath"))),
    *(("gfile", "Rename", place, argument) for place, argument in ((0, "oldname"), (1, "newname"))),
    ("gfile", "DeleteRecursively", 0, "dirname"),
    *(
        ("gfile", name, 0, "filename" if name in ("Exists", "Glob", "Remove", "Stat") else "dirname")
        for name in ("Exists", "Glob", "IsDirectory", "ListDirectory", "MakeDirs", "MkDir", "Remove", "Stat", "Walk")
    ),
)
_OWNED = ("train.CheckpointManager", "keras.callbacks.BackupAndRestore")
"""Who writes checkpoints: their folder is moved into the sandbox even if the old program had none of that name."""


def redirect_tensorflow(redirect: Redirect) -> None:
    """Pass every path that TensorFlow is given by the program through `redirect`."""
    import tensorflow as tf

    done: set[int] = set()
    places: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for owner_name, name, position, keyword in _PATHS:
        places.setdefault((owner_name, name), []).append((position, keyword))
    for root in (tf, getattr(tf.compat, "v1", None)):
        for (owner_name, name), arguments in places.items():
            owner: Any = root
            for part in owner_name.split("."):
                owner = getattr(owner, part, None)
            function = None if owner is None else getattr(owner, name, None)
            if function is None or id(function) in done:
                continue
            change = redirect.claim if owner_name in _OWNED else redirect.map
            changed = function
            for position, keyword in arguments:
                changed = _with_path(changed, change, position, keyword)
            done.add(id(changed))
            _KEPT.append(changed)
            setattr(owner, name, changed)

    _redirect_python(redirect)


def redirect_exports(redirect: Redirect, base: Any) -> None:
    """Pass the folders that an Estimator exports to through `redirect`: the files in them are written in many ways."""
    for name in ("export_saved_model", "export_savedmodel", "experimental_export_all_saved_models"):
        if hasattr(base, name):
            setattr(base, name, _with_path(getattr(base, name), redirect.map, 1, "export_dir_base"))


def _redirect_python(redirect: Redirect) -> None:
    """The same for Python's own files: what a program writes beside its checkpoints must not land beside the user's."""
    import builtins
    import io

    opened = _with_path(builtins.open, redirect.map, 0, "file")
    setattr(builtins, "open", opened)  # noqa: B010
    setattr(io, "open", opened)  # noqa: B010
    for owner, names in (
        (os, ("listdir", "makedirs", "mkdir", "remove", "unlink", "rmdir", "scandir", "walk")),
        (os.path, ("exists", "isdir", "isfile", "getsize", "getmtime")),
    ):
        for name in names:
            setattr(owner, name, _with_path(getattr(owner, name), redirect.map, 0, "path"))


_KEPT: list[Any] = []  # so that no id is given twice


def _with_path(
    function: Callable[..., Any], change: Callable[[Any], Any], position: int, keyword: str
) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        if len(args) > position:
            args = (*args[:position], change(args[position]), *args[position + 1 :])
        elif keyword in named:
            named[keyword] = change(named[keyword])
        return function(*args, **named)

    call.__name__ = getattr(function, "__name__", "call")
    call.__doc__ = function.__doc__
    return call


def guard_deletions(redirect: Redirect, note: Callable[[str], None]) -> None:
    """Refuse to delete folders outside of the sandbox: a program that clears its old model_dir must not clear yours."""
    from tensorflow.python.lib.io import file_io

    temporary = os.path.realpath(os.environ.get("TMPDIR", "/tmp"))

    def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
        def remove(path: Any, *args: Any, **named: Any) -> Any:
            place = redirect.map(path)
            text = place.decode() if isinstance(place, bytes) else str(place)
            real = os.path.realpath(text)
            if not redirect.inside(text) and not (real + os.sep).startswith(temporary + os.sep):
                note(f"the program asked to delete {text}, which is outside of its sandbox: not done")
                return None
            return original(place, *args, **named)

        return remove

    setattr(shutil, "rmtree", guarded(shutil.rmtree))  # noqa: B010
    for name in ("delete_recursively", "delete_recursively_v2"):
        if hasattr(file_io, name):
            setattr(file_io, name, guarded(getattr(file_io, name)))
    import tensorflow as tf

    for owner in (getattr(getattr(tf, "io", None), "gfile", None), getattr(tf, "gfile", None)):
        for name in ("rmtree", "DeleteRecursively"):
            if owner is not None and hasattr(owner, name):
                setattr(owner, name, guarded(getattr(owner, name)))
    compat = getattr(getattr(tf, "compat", None), "v1", None)
    if compat is not None:
        compat.gfile.DeleteRecursively = guarded(compat.gfile.DeleteRecursively)


def run(entry: str, module: str, args: list[str], folder: str, seed: int = 0, output: str = "", cwd: str = "") -> None:
    """Run `entry` (a file) or `module` as ``__main__`` with `args`; returns when the program ends without error.

    It runs in `folder`, or in the folder `cwd` of that.

    Raises what the program raises, once it is written to `output`, if that is given.
    """
    os.chdir(os.path.join(folder, cwd))
    start = os.path.dirname(os.path.abspath(entry)) if entry else os.getcwd()
    sys.path[:] = [start] + [path for path in sys.path if os.path.realpath(path or ".") != os.path.dirname(_HERE)]
    if folder not in sys.path:
        sys.path.insert(1, folder)
    sys.argv[:] = [entry or module] + list(args)
    importlib.invalidate_caches()
    seeds.python(seed)
    try:
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(entry, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            traceback.print_exc()
            _tell(stop, folder, output)
            raise
    except Exception as error:
        _tell(error, folder, output)
        raise


def _tell(error: BaseException, folder: str, output: str) -> None:
    """Write what a program ended with, and the last line of its own that was at work."""
    inside = os.path.join(os.path.realpath(folder), "")
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.realpath(frame.filename).startswith(inside)
    ]
    place = f"{os.path.relpath(os.path.realpath(own[-1].filename), inside)}:{own[-1].lineno}" if own else ""
    if isinstance(error, SystemExit):
        number = isinstance(error.code, int)
        found = {"status": error.code if number else 1, "text": "" if number else str(error.code)}
    else:
        found = {"status": 1, "text": f"{type(error).__name__}: {error}"}
    if output and os.path.isdir(output):
        with open(os.path.join(output, FAILURE), "w", encoding="utf-8") as file:
            json.dump({**found, "place": place}, file)


_HERE = os.path.dirname(os.path.abspath(__file__))
