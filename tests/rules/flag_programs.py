"""Runs programs with several command lines, each in a process of its own that has TensorFlow loaded already.

``flag_programs.py FOLDER``: the programs are those of ``FOLDER/before/*`` and ``FOLDER/after/*``. Prints what each of them
printed, and how it ended, as JSON.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

import tensorflow as tf

LINES = ([], ["--steps=7"], ["--unknown=1", "--steps=8", "rest"])
MODULES = ("config.py", "model.py")


def ends(program: Path, arguments: list[str], out: Path) -> str:
    """The exit code of a program, whose output goes to `out`."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.path[0], sys.argv = str(program.parent), [program.name, *arguments]
            if program.parent.parent.name == "before":
                tf.app, tf.flags = tf.compat.v1.app, tf.compat.v1.flags
            runpy.run_path(str(program), run_name="__main__")
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(code)
    return str(os.waitpid(child, 0)[1] >> 8)


def main(folder: Path) -> None:
    """Run all, and print what happened."""
    found: dict[str, dict[str, tuple[str, str]]] = {"before": {}, "after": {}}
    out = folder / "out.txt"
    for side, results in found.items():
        for program in sorted((folder / side).glob("*/*.py")):
            for arguments in LINES if program.name not in MODULES else ():
                code = ends(program, arguments, out)
                name = f"{program.relative_to(folder / side)} {' '.join(arguments)}"
                results[name] = code, out.read_text()
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
