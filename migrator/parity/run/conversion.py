"""Programs in Python 2, which no TensorFlow of today runs: their conversions run in their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from migrator.parity.judge.case import Case, CaseError, Program, given_program
from migrator.parity.run import sandbox

NOTE = (
    "the old program is Python 2 as 2to3 converts it: what Python 2 itself computed otherwise, as by `/` of integers, "
    "`migrate --from-python2` names where it may be"
)


def converted_case(case: Case, root: Path) -> Case:
    """`case` with conversions of its programs below `root`. Raises CaseError."""
    old, changed = _converted(case.old, root / "python3")
    new = case.new
    if new is not None:
        new, _ = _converted(new, root / "python3-new")
    return replace(case, old=old, new=new, remarks=(*case.remarks, NOTE) if changed else case.remarks)


def _converted(program: Program, target: Path) -> tuple[Program, bool]:
    from migrator.engine.runner import conversions
    from migrator.python2.converting import MISSING, available

    if not available():
        raise CaseError(MISSING)
    sandbox.copy_program(program.folder, target, skip=target)
    texts = conversions([str(target)])
    for path, raw in texts.items():
        Path(path).write_bytes(raw)
    if not texts:
        return program, False
    start = target / program.start()
    if program.path.is_file():
        # Its imports may be relative now, which run in a package only.
        return given_program(start, args=program.args, python=program.python), True
    return replace(program, path=target), True
