"""`migrate parity`: train the program before and after migration, and compare."""

from __future__ import annotations

import math
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from migrator.cli.terminal import ReportFile

MISSING = "migrate parity needs numpy in this interpreter, and TensorFlow in the ones that run the programs: {}"


class ProgramCommand(click.Command):
    """Takes what stands behind ``--`` as the arguments of the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["program_args"] = ()
        if "--" in args:
            place = args.index("--")
            ctx.meta["program_args"] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)


def _tolerance(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """NaN would make everything different, infinity everything equal."""
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{value:g} is not a finite number of at least 0.")
    return value


@click.command("parity", cls=ProgramCommand, options_metavar="[OPTIONS] [-- ARGS]")
@click.argument("paths", nargs=-1, metavar="PROGRAM | OLD NEW | PARITY.TOML...")
@click.option("--entry", default="", metavar="FILE", help="The file that starts the program, where a folder is given.")
@click.option("-m", "--module", default="", metavar="MODULE", help="Start this module of the folder instead of a file.")
@click.option("--cwd", default="", metavar="DIR",
              help="The folder of the program that it runs in, below the folder that is given.")  # fmt: skip
@click.option("--old-python", default="", metavar="PATH", help="Interpreter of the old side, such as one with TF 1.15.")
@click.option("--new-python", default="", metavar="PATH", help="Interpreter of the new side.")
@click.option("--old-dialect", type=click.Choice(["auto", "v1", "v2"]), default="auto", show_default=True,
              help="What `import tensorflow` means in the old program on TensorFlow 2.")  # fmt: skip
@click.option("--since", default="", metavar="REVISION",
              help="The old program is what git has of PROGRAM in this revision, such as HEAD.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="GLOBS", help="Leave out files or folders of the migration.")
@click.option("--from-python2", is_flag=True,
              help="Convert what is Python 2 first: the old side is the conversion.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=0), default=0, metavar="N",
              help="Stop each training after N steps, on both sides [default: as the program does].")  # fmt: skip
@click.option("--resume", type=click.IntRange(min=1), default=None, metavar="N",
              help="Stop each training after N steps, start both programs again, and compare how they go on.")  # fmt: skip
@click.option("--rtol", type=float, default=1e-5, show_default=True, callback=_tolerance,
              help="Relative tolerance of losses and metrics.")  # fmt: skip
@click.option("--atol", type=float, default=1e-7, show_default=True, callback=_tolerance, help="Absolute tolerance.")
@click.option("--mode", type=click.Choice(["replay", "live", "free"]), default="replay", show_default=True,
              help="live: compare the batches of the new input pipeline as well. free: no replay, many trainings.")  # fmt: skip
@click.option("--cluster", default="", metavar="SPEC",
              help="Train on a cluster of processes: mwms:2, ps:1w2ps, either with ,evaluator.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Of first weights and all else that is drawn by chance, on both sides.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=2), default=None, metavar="N",
              help="Trainings of each side: 20 with --mode free, 5 where trainers of a cluster race each other.")  # fmt: skip
@click.option("--timeout", type=float, default=600.0, show_default=True, metavar="SECONDS", help="Limit for each side.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), default=None, metavar="DIR",
              help="Keep logs, working copies and recordings here.")  # fmt: skip
@click.option("--recordings", type=click.Path(path_type=Path, file_okay=False), default=None, metavar="DIR",
              help="Run an old program only if DIR holds no recording of it in its present state; record it there.")  # fmt: skip
@click.option("--json", "json_file", type=ReportFile(Path), default=None, metavar="FILE", help="Write JSON.")
@click.option("--junit-xml", type=ReportFile(Path), default=None, metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", type=ReportFile(Path), default=None, metavar="FILE", help="Write Markdown.")
@click.option("--html", type=ReportFile(Path), default=None, metavar="FILE", help="Write one HTML page.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing while the programs run.")
@click.pass_context
def parity(ctx: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Train a program before and after migration, and compare losses, metrics, weights and predictions.

    Given one program, a copy of it is migrated first. Given two, they are compared. Given a parity.toml, or a folder
    that holds some, all their cases are run; given nothing, those of migrate.toml or pyproject.toml. No program is
    edited; each runs in a process and a working copy of its own, with the initial weights, batches and dropout masks of
    the old one replayed to the new one.

    Exits with 0 if everything is equal, 1 if something differs, 2 if something could not be run.
    """
    try:
        from migrator.parity.judge.case import CaseError
        from migrator.parity.judge.recordings import Recordings
        from migrator.parity.judge.report import CaseReport, exit_code
        from migrator.parity.run.progress import Progress
        from migrator.parity.run.runner import run_case
        from migrator.parity.terminal import show
    except ImportError as error:
        click.echo(MISSING.format(error), err=True)
        ctx.exit(2)
    try:
        paths = paths or _configured()
        if not paths:
            click.echo(ctx.get_help())
            ctx.exit(2)
        cases = _cases(paths, ctx.meta["program_args"], options)
    except CaseError as error:
        click.echo(f"Error: {error}", err=True)
        ctx.exit(2)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends this ends its processes too
    reports: list[CaseReport] = []
    recordings = Recordings(options["recordings"]) if options["recordings"] else None
    progress = Progress(quiet=options["quiet"])
    try:
        for case in cases:
            reports.append(run_case(case, progress, options["keep"], recordings))
    except KeyboardInterrupt:
        click.echo("interrupted; both programs were ended", err=True)
        ctx.exit(130)
    written = _write(reports, options)  # first: who reads the terminal's part may stop reading
    show(reports)
    ctx.exit(exit_code(reports) if written else 2)


def _configured() -> tuple[str, ...]:
    """The nearest file of options, if it lists cases."""
    from migrator.parity.judge.casefile import holds_cases
    from migrator.vocabulary.settings import candidates

    here = Path.cwd()
    files = [file for file in candidates(here) if holds_cases(file)][:1]
    return tuple(str(file.relative_to(here) if here in file.parents else file) for file in files)


def _cases(paths: tuple[str, ...], args: tuple[str, ...], options: dict[str, Any]) -> list[Any]:
    from migrator.cli.suggesting import suggestion, unreachable
    from migrator.parity.judge.case import Case, CaseError, entry_below, given_program
    from migrator.parity.judge.casefile import load_cases
    from migrator.parity.judge.report import Tolerance

    for path in paths:
        if not os.path.exists(path):
            raise CaseError(unreachable(path) or f"{path}: no such file or folder{suggestion(path)}")
        if not Path(path).is_file() and not Path(path).is_dir():
            raise CaseError(f"{path}: neither a regular file nor a folder")
    entry = entry_below(options["entry"], [Path(path) for path in paths])
    start = {"entry": entry, "module": options["module"], "args": args}
    old = given_program(Path(paths[0]), cwd=options["cwd"], python=_interpreter(options["old_python"]), **start)
    defaults = Case(
        name=Path(paths[0]).resolve().stem,
        old=old,
        steps=options["steps"],
        resume=options["resume"] or 0,
        tolerance=Tolerance(options["rtol"], options["atol"]),
        mode=options["mode"],
        dialect=options["old_dialect"],
        timeout=options["timeout"],
        cluster=options["cluster"],
        seed=options["seed"],
        seeds=options["seeds"] or 0,
        new_python=_interpreter(options["new_python"]),
        from_python2=options["from_python2"],
        exclude=tuple(part for given in options["exclude"] for part in given.split(",")),
    )
    started = bool(options["entry"] or options["module"])
    listed = [Path(path).suffix == ".toml" or (not started and _holds_cases(Path(path))) for path in paths]
    if options["since"] and (any(listed) or len(paths) > 1):
        raise CaseError("--since goes with one program: what git has of it is the old one")
    if all(listed):
        return [case for path in paths for case in load_cases(Path(path), defaults)]
    if any(listed) or len(paths) > 2:
        raise CaseError("give one program, two programs, or parity.toml files: " + " ".join(paths))
    if len(paths) == 1 and not options["since"]:
        return [defaults]
    from dataclasses import replace

    new = given_program(Path(paths[-1]), cwd=options["cwd"], python=defaults.new_python, **start)
    return [replace(defaults, new=new, since=options["since"])]


def _interpreter(given: str) -> str:
    """An interpreter by a name of PATH, or by a path that means the same wherever a program runs."""
    return os.path.abspath(given) if os.path.dirname(given) else given or sys.executable


def _holds_cases(path: Path) -> bool:
    return path.is_dir() and next(path.rglob("parity.toml"), None) is not None


def _write(reports: list[Any], options: dict[str, Any]) -> bool:
    """Write the reports asked for. Returns whether all could be written."""
    from migrator.parity import formats
    from migrator.report.html.parity_html import to_html

    complete = True
    for name, render in (
        ("json_file", formats.to_json),
        ("junit_xml", formats.to_junit),
        ("markdown", formats.to_markdown),
        ("html", to_html),
    ):
        if options[name] is None:
            continue
        try:
            options[name].parent.mkdir(parents=True, exist_ok=True)
            options[name].write_text(render(reports), "utf-8")
            click.echo(f"wrote {options[name]}", err=True)
        except OSError as error:
            click.echo(f"Error: cannot write {options[name]}: {error.strerror}", err=True)
            complete = False
    return complete
