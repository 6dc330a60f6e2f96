"""`python -m migrator` is the same as the `migrate` command."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # `python -m` looks into the current folder before all others: a module there, which is code to migrate, must not run.
    if sys.path[:1] == [os.getcwd()]:
        del sys.path[0]
    from migrator.cli import main

    main()
