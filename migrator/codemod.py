"""The migration as a codemod of libcst: ``python -m libcst.tool codemod --no-format -x migrator.codemod.EstimatorToKeras FILE``.

It writes what ``migrate FILE --apply`` writes. The rules are the same; libcst finds the files, shows them and writes them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import libcst as cst
from libcst.codemod import CodemodContext, SkipFile, VisitorBasedCodemodCommand

from migrator.engine.runner import migrate_text
from migrator.vocabulary.diagnostics import Outcome, Severity
from migrator.vocabulary.settings import SettingsError, load
from migrator.write.writing import write_groups


class EstimatorToKeras(VisitorBasedCodemodCommand):
    """Moves one file from TensorFlow 1 Estimators to Keras; what is left to do are warnings."""

    DESCRIPTION = "Move a TensorFlow 1 Estimator program to Keras and tf.distribute on TensorFlow 2."

    def __init__(self, context: CodemodContext, unsafe: bool = False, helpers: bool = True) -> None:
        super().__init__(context)
        self._unsafe = unsafe
        self._helpers = helpers

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Options of the command line."""
        arg_parser.add_argument(
            "--unsafe",
            action="store_true",
            help="Also make changes after which the program may compute something else.",
        )
        arg_parser.add_argument(
            "--no-helpers",
            dest="helpers",
            action="store_false",
            help="Do not write the files of helpers that the program then needs; for a look with --unified-diff.",
        )

    def visit_Module(self, node: cst.Module) -> bool:
        """The rules read the file by themselves, in their own order: this walk ends here."""
        return False

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """The file as it is migrated. Raises SkipFile where it stays as it is, with the reason."""
        path = _short(self.context.filename or "stdin.py")
        try:
            settings = load([path]).merged(unsafe=self._unsafe or None, apply=True)
        except SettingsError as error:
            raise SkipFile(str(error)) from error
        outcome, *others = migrate_text(path, original_node.bytes, settings).outcomes
        if outcome.status == "failed":
            raise SkipFile("; ".join(map(str, outcome.remaining)))
        new = cst.parse_module(outcome.after)
        if new.bytes != outcome.after:
            raise SkipFile(f"libcst cannot print {path} as it is to be: `migrate {path} --apply` writes it")
        self._write(path, others)
        for left in outcome.remaining:
            if left.severity > Severity.INFO:
                self.warn(str(left))
        return new

    def _write(self, path: str, helpers: Sequence[Outcome]) -> None:
        """The files that the program needs besides."""
        names = [outcome.path for outcome in helpers if outcome.status in ("changed", "created")]
        if not names:
            return
        if not self._helpers or self.context.filename is None:
            self.warn(f"the program also needs {', '.join(names)}, which `migrate {path} --apply` writes")
            return
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
        _, problems = write_groups(helpers, [names], [folder])
        if problems:
            raise SkipFile("; ".join(map(str, problems)))


def _short(path: str) -> str:
    """A path as one would type it: libcst makes it absolute."""
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir) else short
