"""A rule pack for the tests of the machinery: rules about names that TensorFlow never had."""

from __future__ import annotations

import ast
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from migrator.engine.rule import ProgramRule, Rule
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.vendor import vendoring
from migrator.vocabulary.diagnostics import Applicability, Diagnostic, Location, NewFile, ProgramUnit, Severity


class Rename(Rule):
    """Rename `tf.old` to `tf.new`.

    ## What it does
    Renames.
    """

    code = "TST001"
    name = "rename"
    symbols = ("tensorflow.old",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        start, end = module.span(node)
        yield self.diagnostic(module, node, "old is new now", [module.edit((end - 3, end), "new")])


class Unsafe(Rule):
    """Rename `tf.risky`, which may change results."""

    code = "TST002"
    name = "risky"
    symbols = ("tensorflow.risky",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        edits = [module.edit(node, "tf.bold")]
        yield self.diagnostic(module, node, "risky is bold now", edits, applicability=Applicability.UNSAFE)


class Manual(Rule):
    """Point out `tf.gone.*`."""

    code = "TST003"
    name = "gone"
    symbols = ("tensorflow.gone.*",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield self.diagnostic(module, node, f"{name} is gone")


class Note(Rule):
    """Mention `tf.note`."""

    code = "TST004"
    name = "note"
    symbols = ("tensorflow.note",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield self.diagnostic(module, node, "worth knowing", severity=Severity.INFO)


class Crash(Rule):
    """Fail at `tf.crash`."""

    code = "TST101"
    name = "crash"
    symbols = ("tensorflow.crash",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield self.diagnostic(module, node, "never seen, as the rule fails later")
        raise ValueError("sample failure")


class Broken(Rule):
    """Write nonsense for `tf.broken`."""

    code = "TST102"
    name = "broken"
    symbols = ("tensorflow.broken",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield self.diagnostic(module, node, "broken", [module.edit(node, "tf.(")])


class Endless(Rule):
    """Rename `tf.ping` to `tf.pong` and back."""

    code = "TST103"
    name = "endless"
    symbols = ("tensorflow.ping", "tensorflow.pong")

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        other = "tf.pong" if name.endswith("ping") else "tf.ping"
        yield self.diagnostic(module, node, "endless", [module.edit(node, other)])


class Kill(Rule):
    """Kill the process at `tf.kill`."""

    code = "TST104"
    name = "kill"
    symbols = ("tensorflow.kill",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


class Hang(Rule):
    """Never return at `tf.hang`, which waits, and `tf.spin`, which works."""

    code = "TST105"
    name = "hang"
    symbols = ("tensorflow.hang", "tensorflow.spin")

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        if "SAMPLE_HANGS" in os.environ:  # a file that says so
            open(os.environ["SAMPLE_HANGS"], "w").close()
        while True:
            time.sleep(0.05 if name == "tensorflow.hang" else 0)
            yield from ()


class Deep(Rule):
    """Recurse for ever at `tf.deep`."""

    code = "TST106"
    name = "deep"
    symbols = ("tensorflow.deep",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield from self.check(node, name, module)


class Accent(Rule):
    """Write a letter that latin-1 lacks for `tf.accent`."""

    code = "TST107"
    name = "accent"
    symbols = ("tensorflow.accent",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        yield self.diagnostic(module, node, "accent", [module.edit(node, "tf.ł")])


class Wrap(Rule):
    """Insert lines before `tf.lines`."""

    code = "TST005"
    name = "lines"
    symbols = ("tensorflow.lines",)

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        start, _ = module.line_span(module.statement(node))
        edits = [module.insert(start, "# one\n# two\n"), module.edit(node, "tf.placed")]
        yield self.diagnostic(module, node, "lines", edits)


class Program(ProgramRule):
    """Rewrite ``def program`` in every module at once, with the helper file beside the first."""

    code = "TST200"
    name = "program"

    def check_program(self, project: Project, settings: Any) -> Iterator[Diagnostic]:
        found = [
            (module, node)
            for module in project.modules.values()
            for node in module.tree.body
            if isinstance(node, ast.FunctionDef) and node.name in ("program", "stuck_program")
        ]
        if not found:
            return
        module, node = found[0]
        location = Location(module.path, node.lineno)
        if node.name == "stuck_program":
            yield ProgramUnit("stuck", location, "manual", "line 1 is too hard")  # type: ignore[misc]
            return
        yield ProgramUnit("sample", location, "native", files=tuple(m.path for m, _ in found))  # type: ignore[misc]
        edits = [
            inner.edit((inner.span(part)[0], inner.span(part)[0] + len("def program")), "def migrated")
            for inner, part in found
        ]
        helper = os.path.join(os.path.dirname(module.path), vendoring.FILE_NAME)
        text = vendoring.vendor(["ModeKeys"])[vendoring.FILE_NAME]
        yield self.diagnostic(module, node, "program", edits, new_files=[NewFile(helper, text)])
        yield self.diagnostic(module, node, "look at the rewritten program", severity=Severity.INFO)
