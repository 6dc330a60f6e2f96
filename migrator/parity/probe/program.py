"""Runs the unedited program inside the child process, and keeps what it writes inside the sandbox."""

from __future__ import annotations

import importlib
import os
import random
import runpy
import shutil
import sys
from typing import Any, Callable

import numpy as np


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

    def inside(self, path: str) -> bool:
        return (os.path.realpath(path) + os.sep).startswith(self.sandbox + os.sep)

    def claim(self, path: Any) -> Any:
        """The place for a model_dir: as it is when relative, else inside the sandbox from now on."""
        if not isinstance(path, str) or not os.path.isabs(path) or self.inside(path):
            return path
        if os.path.normpath(path) not in self.prefixes:
            self.prefixes.append(os.path.normpath(path))
        return self.map(path)

    def map(self, path: Any) -> Any:
        """The place for any path: moved if it lies in a folder that was claimed."""
        text = os.fspath(path) if hasattr(path, "__fspath__") else path
        if not isinstance(text, str):
            return path
        scheme = "file://" if text.startswith("file://") else ""
        plain = os.path.normpath(text[len(scheme) :]) if text else text
        for prefix in self.prefixes:
            if plain == prefix or plain.startswith(prefix + os.sep):
                return scheme + os.path.join(self.sandbox, "redirected", plain.lstrip(os.sep))
        return path


# Where TensorFlow takes paths: (module, attribute, which positional argument or keyword holds the path).
_PATHS = (
    ("tensorflow.train", "latest_checkpoint", 0, "checkpoint_dir"),
    ("tensorflow.train", "list_variables", 0, "ckpt_dir_or_file"),
    ("tensorflow.train", "load_checkpoint", 0, "ckpt_dir_or_file"),
    ("tensorflow.train", "load_variable", 0, "ckpt_dir_or_file"),
    ("tensorflow.train.CheckpointManager", "__init__", 2, "directory"),
    ("tensorflow.train.Checkpoint", "save", 1, "file_prefix"),
    ("tensorflow.train.Checkpoint", "write", 1, "file_prefix"),
    ("tensorflow.train.Checkpoint", "read", 1, "save_path"),
    ("tensorflow.train.Checkpoint", "restore", 1, "save_path"),
    ("tensorflow.summary", "create_file_writer", 0, "logdir"),
    ("tensorflow.saved_model", "save", 1, "export_dir"),
    ("tensorflow.keras.callbacks.TensorBoard", "__init__", 1, "log_dir"),
    ("tensorflow.keras.callbacks.ModelCheckpoint", "__init__", 1, "filepath"),
    ("tensorflow.keras.callbacks.BackupAndRestore", "__init__", 1, "backup_dir"),
    ("tensorflow.keras.Model", "save", 1, "filepath"),
    ("tensorflow.keras.Model", "save_weights", 1, "filepath"),
    ("tensorflow.keras.Model", "load_weights", 1, "filepath"),
    ("tensorflow.keras.Model", "export", 1, "filepath"),
    ("tensorflow.io.gfile.GFile", "__init__", 1, "name"),
) + tuple(
    ("tensorflow.io.gfile", name, 0, "path")
    for name in ("exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rmtree", "stat", "walk")
)


def redirect_tensorflow(redirect: Redirect) -> None:
    """Pass every path that TensorFlow 2 is given through `redirect.map`."""
    import tensorflow as tf

    for owner_name, name, position, keyword in _PATHS:
        owner: Any = tf
        for part in owner_name.split(".")[1:]:
            owner = getattr(owner, part, None)
        if owner is not None and hasattr(owner, name):
            setattr(owner, name, _with_path(getattr(owner, name), redirect, position, keyword))


def _with_path(function: Callable[..., Any], redirect: Redirect, position: int, keyword: str) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        if len(args) > position:
            args = args[:position] + (redirect.map(args[position]),) + args[position + 1 :]
        elif keyword in named:
            named[keyword] = redirect.map(named[keyword])
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


def run(entry: str, module: str, args: list[str], folder: str) -> None:
    """Run `entry` (a file) or `module` as ``__main__`` with `args`; returns when the program ends without error.

    Raises what the program raises; `SystemExit` with a code that means failure becomes `RuntimeError`.
    """
    os.chdir(folder)
    start = os.path.dirname(os.path.abspath(entry)) if entry else folder
    sys.path[:] = [start] + [path for path in sys.path if os.path.realpath(path or ".") != os.path.dirname(_HERE)]
    if folder not in sys.path:
        sys.path.insert(1, folder)
    sys.argv[:] = [entry or module] + list(args)
    importlib.invalidate_caches()
    random.seed(0)
    np.random.seed(0)
    try:
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(entry, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise RuntimeError(f"the program ended with exit status {stop.code!r}") from stop


_HERE = os.path.dirname(os.path.abspath(__file__))
