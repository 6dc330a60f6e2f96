"""`migrate checkpoint`: go on in the migrated program from a checkpoint of the Estimator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from migrator.parity.command import ProgramCommand


@click.command("checkpoint", cls=ProgramCommand, no_args_is_help=True, options_metavar="[OPTIONS] [-- ARGS]")
@click.argument("program", type=click.Path(path_type=Path, exists=True))
@click.option("--from", "source", type=click.Path(path_type=Path), required=True, metavar="DIR",
              help="The Estimator's model_dir, or one checkpoint in it.")  # fmt: skip
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR",
              help="The new model_dir; must hold no checkpoints.")  # fmt: skip
@click.option("--new", type=click.Path(path_type=Path, exists=True), default=None, metavar="PROGRAM",
              help="The migrated program, if you have edited it; else a migrated copy is run.")  # fmt: skip
@click.option("--weights-only", is_flag=True, help="Leave optimizer and step as new, as warm_start_from does.")
@click.option("--rows-by-id", is_flag=True, help="No table that lookups take rows from in turn was partitioned.")
@click.option("--entry", default="", metavar="FILE", help="The file that starts the program, where a folder is given.")
@click.option("-m", "--module", default="", metavar="MODULE", help="Start this module of the folder instead of a file.")
@click.option("--python", default="", metavar="PATH", help="Interpreter with TensorFlow 2 that runs the program.")
@click.option("--timeout", type=float, default=600.0, show_default=True, metavar="SECONDS", help="Limit for the run.")
@click.option("-v", "--verbose", is_flag=True, help="List which variable became which.")
@click.pass_context
def checkpoint(ctx: click.Context, /, program: Path, **options: Any) -> None:
    """Convert a checkpoint of an Estimator into one that the migrated program goes on from.

    PROGRAM is the program before migration, which says how TensorFlow 1 named the variables. A migrated copy of it is
    started with ARGS, in a folder of its own, and ended before its first training step. Weights, the state of the optimizer
    and the global step become those of the checkpoint; where a variable is not found for certain, nothing is written.

    Exits with 0 if a checkpoint was written, 2 if not.
    """
    from migrator.parity.checkpoints.conversion import ConversionError, Order, convert
    from migrator.parity.judge.case import CaseError, Program, entry_below

    start = {"module": options["module"], "args": ctx.meta["program_args"]}
    start["python"] = options["python"] or sys.executable
    folders = [program] if options["new"] is None else [program, options["new"]]
    try:
        start["entry"] = entry_below(options["entry"], folders)
        new = None if options["new"] is None else Program(options["new"], **start)
        order = Order(
            Program(program, **start),
            options["source"],
            options["target"],
            new,
            options["weights_only"],
            options["rows_by_id"],
            options["timeout"],
        )
        done = convert(order)
    except (ConversionError, CaseError) as error:
        click.echo(f"Error: {error}", err=True)
        ctx.exit(2)
    if options["verbose"]:
        width = max((len(pair[0]) for pair in done.pairs), default=0)
        for old, variable, how in done.pairs:
            click.echo(f"{old:{width}}  {variable}  ({how})")
    if done.unused:
        click.echo(f"not used: {', '.join(done.unused)}")
    click.echo(f"wrote {done.path}: step {done.step}, {len(done.pairs)} variables")
