"""What becomes of public Estimator programs: a page with one row for each.

    python -m benchmarks.strangers MIRRORS [NAME...] [--work FOLDER] [--limit SECONDS] [--page]

MIRRORS is a folder with git clones of the repositories of programs.toml, as `owner+name`, `owner/name` or `name`; programs
of which there is none are passed over. The Python that runs this needs TensorFlow 2.15, pandas, and whatever else they import.
Results are kept in the work folder, so that a run of a few programs, given by name, renews their rows alone; `--page` writes
docs/strangers.md from all that are there, and keeps its rows of other programs. The programs are code of strangers: they run
as they are, with the rights of whoever starts this. Exit status 1 where `migrate --apply` ended with 0, and the program does
not run or differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from . import page
from .manifest import programs
from .mirrors import Missing
from .trial import Row, attempt

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "strangers.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strangers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("names", nargs="*", help="of programs in programs.toml; all by default")
    parser.add_argument("--work", type=Path, default=Path("strangers-out"), help="where programs, logs and results go")
    parser.add_argument("--limit", type=float, default=90, help="seconds that a migrated program may run by itself")
    parser.add_argument("--page", action="store_true", help="write docs/strangers.md")
    options = parser.parse_intermixed_args(arguments)
    known = programs()
    unknown = set(options.names) - {program.name for program in known}
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    work = options.work.resolve()
    for program in known:
        if options.names and program.name not in options.names:
            continue
        start = time.perf_counter()
        try:
            row = attempt(program, options.mirrors.resolve(), work, options.limit)
        except Missing as error:
            print(f"{program.name}: passed over, {error}", file=sys.stderr)
            continue
        (work / program.name / "row.json").write_text(json.dumps(asdict(row), indent=1), "utf-8")
        print(
            f"{row.program}: {row.tier}, {row.result or 'as it was'} ({time.perf_counter() - start:.0f} s)", flush=True
        )
        for reason in row.reasons:
            print(f"    {reason}", flush=True)
    files = [work / program.name / "row.json" for program in known]
    rows = [Row(**json.loads(file.read_text("utf-8"))) for file in files if file.is_file()]
    if options.page:
        measured = {row.program.partition(" ")[0] for row in rows}
        kept = {row.program.partition(" ")[0]: row for row in page.rows_of(PAGE.read_text("utf-8"), measured)}
        kept.update({row.program.partition(" ")[0]: row for row in rows})
        page.write([kept[program.name] for program in known if program.name in kept], PAGE)
    return 1 if any(row.broken for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
