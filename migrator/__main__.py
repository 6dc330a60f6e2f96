"""`python -m migrator` is the same as the `migrate` command."""

from __future__ import annotations

import contextlib
import os
import sys

if __name__ == "__main__":
    # `python -m` looks into the current folder before all others: a module there, which is code to migrate, must not run.
    with contextlib.suppress(OSError):  # the folder is gone, which `main` says
        if sys.path[:1] == [os.getcwd()]:
            del sys.path[0]
    from migrator.cli.cli import main

    main()
