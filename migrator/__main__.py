"""`python -m migrator` is the same as the `migrate` command."""

from __future__ import annotations

from migrator.cli import main

if __name__ == "__main__":
    main()
