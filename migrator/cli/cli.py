"""The `migrate` command. Nothing heavy is imported before it is known what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from migrator import __version__
from migrator.cli.choices import FEATURES, STRATEGIES, STYLES, TARGETS
from migrator.cli.terminal import (
    EXIT_ABNORMAL,
    EXIT_INTERRUPTED,
    ReportFile,
    check_folder,
    colours,
    fail,
    full_disks_told,
    open_streams,
    print_styled,
)
from migrator.engine.garbage import no_collection_at_the_end
from migrator.report import FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from migrator.vocabulary.settings import Settings

_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_EXAMPLES = [
    ("migrate trainer/", "Show what would change."),
    ("migrate parity trainer/task.py", "Migrate a copy, train both versions, compare the losses."),
    ("migrate trainer/ --apply", "Write it; `migrate --undo` takes it back."),
    ("migrate . --assess", "How much there is to do."),
    ("migrate . --format html -o report.html", "A page to read and to send."),
    ("migrate . -q --format github", "Annotations for a pull request, in CI."),
]


_LATE = {"parity": "migrator.parity.command", "checkpoint": "migrator.parity.checkpoints.checkpoint_command"}


class _Migrate(click.Group):
    """A group whose default command migrates paths; only a first argument that is exactly a command's name is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that have none."""
        if args and args[0] not in {*self.commands, *_LATE, "-h", "--help", "--version"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C has an exit status of its own, however early it comes."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nInterrupted. No file was left half written.", err=True)
            sys.exit(EXIT_INTERRUPTED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Commands that bring their own dependencies are imported when they are called."""
        if cmd_name in _LATE:
            from importlib import import_module

            command: click.Command = getattr(import_module(_LATE[cmd_name]), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Those that are named, sorted."""
        return sorted({*super().list_commands(ctx), *_LATE} - {"run"})

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and what the default command takes, as its name is not typed."""
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete) + run.shell_complete(click.Context(run), incomplete)
        return found if incomplete.startswith("-") else [*found, CompletionItem(incomplete, type="file")]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help of the default command, and the other commands."""
        context = click.Context(run, info_name=ctx.info_name, **_CONTEXT)
        run.format_help(context, formatter)
        with formatter.section("Examples"):
            formatter.write_dl(_EXAMPLES)
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    ("migrate PATH...", "Show what would change (./rules for a path named like a command)."),
                    ("migrate parity", "Train a program before and after, and compare the losses."),
                    ("migrate checkpoint", "Go on from a checkpoint of the Estimator."),
                    ("migrate explain CODE", "Explain a diagnostic."),
                    ("migrate rules", "List all rules."),
                ]
            )


def _codes(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...] | None:
    if not value:
        return None
    return tuple(part.strip().upper() for item in value for part in item.split(",") if part.strip())


def _patterns(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for item in value for part in item.split(",") if part.strip())


def _complete_code(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Codes of rules and file problems; after a comma, the next one."""
    from migrator.vocabulary.problems import MEANINGS

    before, comma, start = incomplete.rpartition(",")
    codes = sorted({*(rule.code for rule in _load_rules().all), *MEANINGS})
    return [before + comma + code for code in codes if code.startswith(start.upper())]


@click.group(cls=_Migrate, invoke_without_command=True, context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="migrate")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Migrate TensorFlow 1 Estimator programs to Keras."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(EXIT_ABNORMAL)


class _Unnamed(click.Context):
    """The default command bears no name of its own in usage and error texts."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent is not None else super().command_path


class _Default(click.Command):
    context_class = _Unnamed


@cli.command(cls=_Default, hidden=True, context_settings=_CONTEXT)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@click.option("--apply", is_flag=True, help="Write the changes. Without it, nothing is written.")
@click.option("--review", is_flag=True, help="Ask about each change, then write those accepted.")
@click.option(
    "--resume/--no-resume",
    default=None,
    help="With --review: go on where the last one was quit, as it does by itself, or start anew.",
)
@click.option(
    "--undo",
    is_flag=True,
    help="Take back what the last --apply from this folder, or from PATH, wrote; then the one before.",
)
@click.option("--force", is_flag=True, help="With --undo: also in files that were edited since.")
@click.option("--assess", is_flag=True, help="Count programs, what blocks them, and APIs; text, json or html.")
@click.option("--unsafe", is_flag=True, help="Also make changes that may alter what the program computes.")
@click.option(
    "--select",
    multiple=True,
    callback=_codes,
    metavar="CODES",
    shell_complete=_complete_code,
    help="Only these codes, such as EST1,EST003.",
)
@click.option(
    "--ignore", multiple=True, callback=_codes, metavar="CODES", shell_complete=_complete_code, help="Not these codes."
)
@click.option("--exclude", multiple=True, callback=_patterns, metavar="GLOBS", help="Leave out files or directories.")
@click.option(
    "--style",
    type=click.Choice(STYLES),
    help="What a model_fn becomes: Keras layers (native), the same graph inside a Keras model (bridge), the best (auto).",
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="What programs train on, whatever they say themselves (auto, the default, follows them).",
)
@click.option(
    "--features",
    type=click.Choice(FEATURES),
    help="What feature columns become: they stay (columns, the default), or work on Keras preprocessing layers.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Optimizers that run the kernels of TensorFlow 1, also where those of Keras differ by rounding alone.",
)
@click.option("--from-python2", is_flag=True, help="Convert what is Python 2 first, by a fork of 2to3.")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="The TensorFlow to run on: up to 2.15, or 2.16 and newer with tf_keras; notes say what does not ask for that.",
)
@click.option("-j", "--jobs", type=click.IntRange(0), help="Processes to use; 0, the default, is one for each core.")
@click.option("--commit-per-rule", is_flag=True, help="With --apply or --review: a git commit for each rule.")
@click.option("--allow-dirty", is_flag=True, help="In a git repository: write over what is not committed, too.")
@click.option("--stdin-filename", default="<stdin>", metavar="PATH", help="What to call the input when PATH is -.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the report.")
@click.option("-o", "--output", type=ReportFile(), metavar="FILE", help="Write the report to a file.")
@click.option(
    "--parity", metavar="FILE", type=click.Path(), help="Show in the html page what `migrate parity --json FILE` found."
)
@click.option("-q", "--quiet", is_flag=True, help="No diff.")
@click.option("-v", "--verbose", is_flag=True, help="List each change with its rule.")
def run(
    paths: tuple[str, ...],
    apply: bool,
    review: bool,
    resume: bool | None,
    undo: bool,
    force: bool,
    assess: bool,
    unsafe: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    exclude: tuple[str, ...],
    style: str | None,
    strategy: str | None,
    features: str | None,
    exact: bool,
    from_python2: bool,
    target: str | None,
    jobs: int | None,
    commit_per_rule: bool,
    allow_dirty: bool,
    stdin_filename: str,
    form: str,
    output: str | None,
    parity: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Migrate TensorFlow 1 Estimator programs to Keras and tf.distribute.

    Shows a diff and what is left to do, and writes nothing without --apply. PATH is a file, a directory, or - for standard
    input. Exit status: 0 nothing is left to do, 1 something is, 2 it could not run.
    """
    from migrator.cli import running, showing, undoing
    from migrator.vocabulary.settings import SettingsError, load

    if undo:
        if apply or review or assess or len(paths) > 1 or not all(os.path.isdir(path) for path in paths):
            fail("--undo stands alone, or with the folder that the last --apply was run from")
        sys.exit(undoing.undo(paths[0] if paths else None, force))
    if force:
        fail("--force goes with --undo")
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.")
    if review and (apply or "-" in paths or not running.interactive()):
        fail("--review asks on a terminal, about files, and writes by itself what was accepted")
    if resume is not None and not review:
        fail("--resume and --no-resume go with --review")
    if commit_per_rule and (not (apply or review) or allow_dirty or "-" in paths):
        fail("--commit-per-rule goes with --apply or --review, without --allow-dirty")
    if assess and (apply or review or "-" in paths or form not in ("text", "json", "html")):
        fail("--assess writes nothing to the code, reads files, and reports as text, json or html")
    if parity is not None and (form != "html" or assess):
        fail("--parity goes with --format html: the comparison is shown in that page")
    try:
        settings = load([path for path in paths if path != "-"])
    except SettingsError as error:
        fail(str(error))
    settings = settings.merged(
        select=select,
        ignore=None if ignore is None else settings.ignore + ignore,
        exclude=settings.exclude + exclude,
        unsafe=unsafe or None,
        style=style,
        strategy=strategy,
        features=features,
        exact=exact or None,
        from_python2=from_python2 or None,
        target=target,
        jobs=jobs,
        apply=apply,
    )
    _check_codes(settings)
    if settings.from_python2:
        running.require_fissix()
    shown = showing.Shown(form, output, verbose - quiet, assess, commit_per_rule, parity)
    shown.compared(paths)  # says now what is wrong with the file
    if "-" in paths:
        if len(paths) > 1:
            fail("- stands alone: it reads one program from standard input")
        code = running.run_stdin(stdin_filename, settings, shown)
    else:
        writing = running.Writing(allow_dirty, commit_per_rule)
        if review:
            if resume is False:
                running.forget_review()
            settings, writing = running.review_paths(paths, settings, writing)
        code = running.run_paths(paths, settings, shown, writing)
        if review:
            running.forget_review()
    sys.exit(code)


def _check_codes(settings: Settings) -> None:
    """A misspelt code would silently select nothing."""
    given = [*settings.select, *settings.ignore, *(code for _, codes in settings.per_file_ignores for code in codes)]
    if given:
        from migrator.cli import explain

        rules = _load_rules()
        for code in given:
            if not explain.is_prefix(code, rules):
                fail(f"{code} is no code, or prefix of codes, of any rule; {explain.meant(code, rules)}")


@cli.command("rules", context_settings=_CONTEXT)
@click.argument("prefix", default="", shell_complete=_complete_code)
@click.option("--markdown", is_flag=True, help="All that `migrate explain` says, as one page.")
def list_rules(prefix: str, markdown: bool) -> None:
    """List all rules, or those whose codes begin with PREFIX: code, name and what each is about."""
    from migrator.cli import explain as explaining
    from migrator.report.text import Line

    if markdown:
        click.echo(explaining.reference(_load_rules()), nl=False)
        return
    rows = explaining.listing(_load_rules(), prefix)
    if prefix and not rows:
        fail(explaining.unknown(prefix, _load_rules()))
    print_styled(map(Line, rows), sys.stdout)


@cli.command(context_settings=_CONTEXT)
@click.argument("code", shell_complete=_complete_code)
def explain(code: str) -> None:
    """Explain the rule or diagnostic CODE, or list those whose codes begin with it."""
    from migrator.cli import explain as explaining
    from migrator.report.text import Line

    text = explaining.explanation(code, _load_rules())
    if text is None:
        rows = explaining.listing(_load_rules(), code)
        if not rows or not code:
            fail(explaining.unknown(code, _load_rules()))
        print_styled(
            (Line(row) for row in [*rows, "", f"`migrate explain {rows[0].split()[0]}` explains one."]), sys.stdout
        )
    elif colours(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        click.echo(text)


def _load_rules() -> Any:
    from migrator.engine.registry import RegistryError, load

    try:
        return load()
    except RegistryError as error:
        fail(str(error))


def main() -> None:
    """Entry point of the `migrate` command."""
    open_streams()
    check_folder()
    with no_collection_at_the_end(), full_disks_told():
        cli(prog_name="migrate")
