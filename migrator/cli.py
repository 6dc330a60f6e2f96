"""The `migrate` command. Nothing heavy is imported before it is known what to do."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click

from migrator import __version__
from migrator.reporting.formats import FORMATS

if TYPE_CHECKING:
    from migrator.diagnostics import Outcome
    from migrator.reporting.text import Line
    from migrator.runner import Progress, Result
    from migrator.settings import Settings

EXIT_DONE, EXIT_LEFT, EXIT_ABNORMAL, EXIT_INTERRUPTED = 0, 1, 2, 130

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Migrate(click.Group):
    """A group whose default command migrates paths; only a first argument that is exactly a command's name is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that have none."""
        if args and args[0] not in {*self.commands, "parity", "-h", "--help", "--version"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """`parity` is imported when it is called: it brings its own dependencies."""
        if cmd_name == "parity":
            from importlib import import_module

            command: click.Command = import_module("migrator.parity.command").parity
            return command
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help of the default command, and the other commands."""
        context = click.Context(run, info_name=ctx.info_name)
        run.format_help(context, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    ("migrate PATH...", "Show what would change (./rules for a path named like a command)."),
                    ("migrate parity", "Train a program before and after, and compare the losses."),
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
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--apply", is_flag=True, help="Write the changes. Without it, nothing is written.")
@click.option("--review", is_flag=True, help="Ask about each change, then write those accepted.")
@click.option("--undo", is_flag=True, help="Take back what the last --apply from this folder wrote.")
@click.option("--assess", is_flag=True, help="Count programs, what blocks them, and APIs; text or JSON.")
@click.option("--unsafe", is_flag=True, help="Also make changes that may alter what the program computes.")
@click.option(
    "--select", multiple=True, callback=_codes, metavar="CODES", help="Only these codes, such as EST1,EST205."
)
@click.option("--ignore", multiple=True, callback=_codes, metavar="CODES", help="Not these codes.")
@click.option("--exclude", multiple=True, callback=_patterns, metavar="GLOBS", help="Leave out files or directories.")
@click.option(
    "--style",
    type=click.Choice(("auto", "native", "bridge")),
    help="What a model_fn becomes: Keras layers (native), the same graph inside a Keras model (bridge), the best (auto).",
)
@click.option("-j", "--jobs", type=click.IntRange(0), help="Processes to use; 0, the default, is one for each core.")
@click.option("--allow-dirty", is_flag=True, help="Write over files with changes that git does not have yet.")
@click.option("--stdin-filename", default="<stdin>", metavar="PATH", help="What to call the input when PATH is -.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the report.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report to a file.")
@click.option("-q", "--quiet", is_flag=True, help="No diff.")
@click.option("-v", "--verbose", is_flag=True, help="List each change with its rule.")
def run(
    paths: tuple[str, ...],
    apply: bool,
    review: bool,
    undo: bool,
    assess: bool,
    unsafe: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    exclude: tuple[str, ...],
    style: str | None,
    jobs: int | None,
    allow_dirty: bool,
    stdin_filename: str,
    form: str,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Migrate TensorFlow 1 Estimator programs to Keras and tf.distribute.

    Shows a diff and what is left to do, and writes nothing without --apply. PATH is a file, a directory, or - for standard
    input. Exit status: 0 nothing is left to do, 1 something is, 2 it could not run.
    """
    from migrator.settings import SettingsError, load

    if undo:
        if paths or apply or review or assess:
            _fail("--undo stands alone: it takes back the last --apply from this folder")
        sys.exit(_undo())
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.")
    if review and (apply or "-" in paths or not _interactive()):
        _fail("--review asks on a terminal, about files, and writes by itself what was accepted")
    if assess and (apply or review or "-" in paths or form not in ("text", "json")):
        _fail("--assess writes nothing to the code, reads files, and reports as text or json")
    try:
        settings = load([path for path in paths if path != "-"])
    except SettingsError as error:
        _fail(str(error))
    settings = settings.merged(
        select=select,
        ignore=None if ignore is None else settings.ignore + ignore,
        exclude=settings.exclude + exclude,
        unsafe=unsafe or None,
        style=style,
        jobs=jobs,
        apply=apply,
    )
    _check_codes(settings)
    shown = _Shown(form, output, verbose - quiet, assess)
    try:
        if "-" in paths:
            if len(paths) > 1:
                _fail("- stands alone: it reads one program from standard input")
            code = _run_stdin(stdin_filename, settings, shown)
        else:
            if review:
                settings = _review(paths, settings)
            code = _run_paths(paths, settings, shown, allow_dirty)
            if review:
                _forget_review()
    except KeyboardInterrupt:
        click.echo("\nInterrupted. No file was left half written.", err=True)
        code = EXIT_INTERRUPTED
    sys.exit(code)


def _run_paths(paths: Sequence[str], settings: Settings, shown: _Shown, allow_dirty: bool) -> int:
    from migrator import runner

    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        _fail(f"no such file or directory: {', '.join(missing)}")
    result = _guarded(lambda: runner.migrate(paths, settings, _progress()))
    written: list[str] | None = None
    outcomes = list(result.outcomes)
    if settings.apply:
        from migrator.writing import write_groups

        if not allow_dirty:
            _refuse_dirty(result)
        _journal(result)
        written, problems = write_groups(outcomes, result.groups, result.roots)
        outcomes = [runner.with_problems(outcome, problems) for outcome in outcomes]
    shown.show(outcomes, written)
    if shown.assess:
        return EXIT_DONE
    return runner.exit_code(outcomes, pending=not settings.apply)


def _run_stdin(name: str, settings: Settings, shown: _Shown) -> int:
    from migrator import runner
    from migrator.reporting import text

    raw = sys.stdin.buffer.read()
    outcomes = list(_guarded(lambda: runner.migrate_text(name, raw, settings)).outcomes)
    if not settings.apply:
        shown.show(outcomes, None)
        return runner.exit_code(outcomes, pending=True)
    sys.stdout.flush()
    sys.stdout.buffer.write(outcomes[0].after)
    sys.stdout.buffer.flush()
    extra = [outcome.path for outcome in outcomes[1:]]
    if extra:
        click.echo(f"migrate: the program also needs {', '.join(extra)}: migrate the file itself to get it", err=True)
    lines = [*text.findings(outcomes, shown.verbosity), *text.units(outcomes)]
    _print(lines, sys.stderr)
    return max(runner.exit_code(outcomes, pending=False), EXIT_LEFT if extra else EXIT_DONE)


@dataclass(frozen=True)
class _Shown:
    """How and where the report is shown."""

    form: str
    output: str | None
    verbosity: int
    assess: bool = False

    def show(self, outcomes: list[Outcome], written: list[str] | None) -> None:
        """Print the report, or write it to the file asked for and print its last line on standard error."""
        from migrator.reporting import text

        if self.form == "text":
            lines = self._lines(outcomes, written)
            if self.output is None:
                _print(lines, sys.stdout)
                return
            content = "".join(line.text + "\n" for line in lines).encode("utf-8", "backslashreplace")
        elif self.assess:
            from migrator.reporting import assessment

            content = assessment.to_json(outcomes).encode()
        else:
            from migrator.reporting.formats import render

            content = render(self.form, outcomes, written)
        if self.output is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        try:
            with open(self.output, "wb") as file:
                file.write(content)
        except OSError as error:
            _fail(f"cannot write {self.output}: {error.strerror}")
        click.echo(f"{text.summary(outcomes, written)} Report: {self.output}", err=True)

    def _lines(self, outcomes: list[Outcome], written: list[str] | None) -> Iterable[Line]:
        if self.assess:
            from migrator.reporting import assessment

            return assessment.lines(outcomes)
        from migrator.reporting import text

        return text.report(outcomes, self.verbosity, written, brief=self.output is None and sys.stdout.isatty())


def _interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _review(paths: Sequence[str], settings: Settings) -> Settings:
    """Ask about each change; the settings that make those accepted. Leaves the program where the user quits."""
    from migrator import review, runner
    from migrator.reporting.review_text import question

    questions = review.items(_guarded(lambda: runner.migrate(paths, settings, _progress())))
    answers = {key: yes for key, yes in review.remembered().items() if key in {item.key for item in questions}}

    def show(item: review.Item, number: int) -> None:
        _print(question(item, number, len(questions)), sys.stdout)

    def read() -> str:
        while True:
            click.echo("Make this change? [y,n,a,A,d,b,q,?] ", nl=False)
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            if line.strip() in tuple("ynaAdbq"):
                return line
            click.echo(review.HELP)

    try:
        complete = review.ask(questions, answers, show, read)
    finally:
        review.remember(answers)
    if not complete:
        click.echo("\nNothing written. The next --review from this folder goes on here.")
        sys.exit(EXIT_LEFT)
    files, places = review.declined(questions, answers)
    return settings.merged(apply=True, declined_files=files, declined=places)


def _forget_review() -> None:
    from migrator import review

    review.remember({})


def _journal(result: Result) -> None:
    from migrator import journal

    try:
        journal.save(result.outcomes)
    except journal.JournalError as error:
        click.echo(f"migrate: {error}", err=True)


def _undo() -> int:
    from migrator import journal

    try:
        restored, problems = journal.undo()
    except journal.JournalError as error:
        _fail(str(error))
    for path in restored:
        click.echo(f"restored {path}")
    for item in problems:
        click.echo(str(item), err=True)
    return EXIT_LEFT if problems else EXIT_DONE


def _guarded(call: Callable[[], Result]) -> Result:
    from migrator.registry import RegistryError

    try:
        return call()
    except RegistryError as error:
        _fail(str(error))


def _refuse_dirty(result: Result) -> None:
    from migrator.discovery import dirty_files

    dirty = dirty_files(outcome.path for outcome in result.outcomes if outcome.status == "changed")
    if dirty:
        listed = "\n".join(f"  {path}" for path in dirty)
        _fail(
            f"git has no copy of these files as they are:\n{listed}\nCommit them, or use --allow-dirty. Nothing written."
        )


def _check_codes(settings: Settings) -> None:
    """A misspelt code would silently select nothing."""
    given = [*settings.select, *settings.ignore, *(code for _, codes in settings.per_file_ignores for code in codes)]
    families = {rule.code.rstrip("0123456789") for rule in _load_rules().all} | {"E"} if given else set()
    for code in given:
        family = code.rstrip("0123456789")
        if not any(known == family or (known.startswith(family) and family == code) for known in families):
            known = ", ".join(sorted(families))
            _fail(f"{code} is no code, or prefix of codes, of any rule: they start with {known}; see `migrate rules`")


@cli.command("rules", context_settings=_CONTEXT)
def list_rules() -> None:
    """List all rules: code, name and what each is about."""
    from migrator.reporting.text import Line

    rules = _load_rules().all
    width = max((len(rule.name) for rule in rules), default=0)
    _print((Line(f"{rule.code}  {rule.name:{width}}  {rule.summary()}") for rule in rules), sys.stdout)


@cli.command(context_settings=_CONTEXT)
@click.argument("code")
def explain(code: str) -> None:
    """Explain the rule or diagnostic CODE."""
    from migrator import explain as explaining

    text = explaining.explanation(code, _load_rules())
    if text is None:
        _fail(explaining.unknown(code, _load_rules()))
    if _colours(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        click.echo(text)


def _load_rules() -> Any:
    from migrator.registry import RegistryError, load

    try:
        return load()
    except RegistryError as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    click.echo(f"migrate: {message}", err=True)
    sys.exit(EXIT_ABNORMAL)


def _print(lines: Any, stream: Any) -> None:
    from migrator.reporting.text import print_lines

    print_lines(lines, stream, _colours(stream))


def _colours(stream: Any) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    return terminal or bool(os.environ.get("FORCE_COLOR"))


def _progress() -> Progress | None:
    """A counter on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        return None
    shown = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown
        if done == total:
            sys.stderr.write("\r\x1b[K")
        elif time.monotonic() - shown > 0.1:
            shown = time.monotonic()
            sys.stderr.write(f"\r{done} of {total} files\x1b[K")
        sys.stderr.flush()

    return show


def main() -> None:
    """Entry point of the `migrate` command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # code may hold what the terminal's encoding lacks
            reconfigure(errors="backslashreplace")
    cli(prog_name="migrate")
