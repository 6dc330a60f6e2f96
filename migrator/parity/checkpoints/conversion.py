"""Converts a checkpoint of an Estimator into one of the migrated program, by running that until it has its model."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from migrator.parity.judge.case import Program
from migrator.parity.run import process, sandbox
from migrator.parity.run.migrate import MigrationError, migrate_copy
from migrator.parity.run.row_order import lookup_in_turn
from migrator.python2.converting import MISSING, available
from migrator.vendor.vendoring import FILE_NAME
from migrator.vocabulary.settings import SettingsError, load

HERE = Path(__file__).resolve().parent.parent
STATE = "checkpoint"


class ConversionError(Exception):
    """A checkpoint that was not converted; the text says why and what to do."""


@dataclass(frozen=True)
class Order:
    """What to convert, with which program.

    `old` tells how TF1 named the variables; where it is migrated already, names alone pair them. `new` is the program to
    run, None for a migrated copy of `old`. `source` is a checkpoint or a folder of some, `target` a folder to write to.
    """

    old: Program
    source: Path
    target: Path
    new: Program | None = None
    weights_only: bool = False
    rows_by_id: bool = False
    """Whether the rows of all tables are known to be in the order of their ids."""
    timeout: float = 600.0


@dataclass(frozen=True)
class Converted:
    """What was done. `pairs` are the name in the checkpoint, that of the Keras variable, and how they were found."""

    path: Path
    step: int
    pairs: list[list[str]]
    unused: list[str] = field(default_factory=list)
    """Tensors of the checkpoint that nothing took."""


def convert(order: Order) -> Converted:
    """Run the conversion. Raises ConversionError, CaseError."""
    source = _newest(order.source)
    if (order.target / STATE).exists():
        raise ConversionError(f"{order.target} holds checkpoints already; give an empty folder")
    root = Path(tempfile.mkdtemp(prefix="checkpoint-"))
    try:
        program, pairs = _program(order, root / "migrated")
        answer = _run(program, pairs, source, order, root / "run")
        order.target.mkdir(parents=True, exist_ok=True)
        for file in (root / "saved").iterdir():
            shutil.copy2(file, order.target / file.name)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return Converted(order.target / answer["path"], answer["step"], answer["pairs"], answer["unused"])


def _newest(source: Path) -> Path:
    """The checkpoint that a folder names as its newest, or the one that was given."""
    if not source.is_dir():
        if not Path(f"{source}.index").exists():
            raise ConversionError(f"{source}: no such checkpoint or folder")
        return source.resolve()
    try:
        first = (source / STATE).read_text("utf-8").splitlines()[0]
    except (OSError, IndexError) as error:
        raise ConversionError(f"{source} holds no checkpoint") from error
    name = first.partition(":")[2].strip().strip('"')
    for path in (source / name, source / Path(name).name):  # an absolute path may be that of another machine
        if Path(f"{path}.index").exists():
            return path.resolve()
    raise ConversionError(f"{source}: its newest checkpoint, {name}, is not there")


def _program(order: Order, target: Path) -> tuple[Program, list[list[tuple[str, str]]]]:
    """The program to run, and the pairs of a TF1 name and an attribute path that the migration of the old one knows, for each
    of its models."""
    sandbox.copy_program(order.old.folder, target, skip=target)
    start = order.old.start()
    if order.new is None and (order.old.folder / FILE_NAME).exists():
        _check_rows(order)
        return order.old, []
    try:
        settings = load([str(order.old.path)])
        if settings.from_python2 and not available():
            raise ConversionError(MISSING)
        units = migrate_copy(target, start, settings).units
    except (MigrationError, SettingsError) as error:
        raise ConversionError(str(error)) from error
    if any(unit.tier == "native" for unit in units):
        _check_rows(order)
    path, entry = (target / start, "") if start and order.old.path.is_file() else (target, start)
    made = replace(order.old, path=path, entry=entry)
    return order.new or made, [list(unit.variables) for unit in units]


def _check_rows(order: Order) -> None:
    """Refuse tables whose rows the old program may have dealt out to their parts: they would end at other ids."""
    found = None if order.rows_by_id else lookup_in_turn(order.old.folder, order.old.start())
    if found is not None:
        raise ConversionError(
            f"{found}: this lookup takes the rows of a partitioned table in turn (partition_strategy='mod', the default "
            "of TensorFlow 1), so the checkpoint does not hold them in the order of their ids; if the table was not "
            "partitioned when it was saved, say so with --rows-by-id"
        )


def _run(
    program: Program, pairs: list[list[tuple[str, str]]], source: Path, order: Order, root: Path
) -> dict[str, Any]:
    box = sandbox.make(root, program)
    for folder in (order.old.folder.resolve(), program.folder.resolve()):
        if source.is_relative_to(folder):  # the copy of the model_dir, too: the program would refuse to go on from it
            (box.program / source.relative_to(folder)).with_name(STATE).unlink(missing_ok=True)
    start = sandbox.script_of(box, program.start())
    report = root / "report.json"
    config = {
        "sandbox": str(root.parent),
        "folder": str(box.program),
        "entry": str(box.program / start) if start else "",
        "module": program.module,
        "args": list(program.args),
        "variables": pairs,
        "checkpoint": str(source),
        "target": str(root.parent / "saved"),
        "weights_only": order.weights_only,
        "report": str(report),
    }
    file = root / "config.json"
    file.write_text(json.dumps(config), "utf-8")
    command = [program.python, str(HERE / "probe_entry.py"), "convert", str(file)]
    env = process.environment(str(box.temporary))
    try:
        ended = process.run("convert", command, str(box.log), str(box.program), env, order.timeout)
    except OSError as error:
        raise ConversionError(f"the program could not be started: {error}") from error
    answer: dict[str, Any] = json.loads(report.read_text("utf-8")) if report.exists() else {}
    if "error" in answer:
        raise ConversionError(answer["error"])
    if ended.returncode or not answer:
        how = "ran too long" if ended.timed_out else f"ended with {ended.returncode}"
        what, log = process.error(str(box.log), str(box.program))
        lines = "\n".join("  | " + line for line in log)
        raise ConversionError(f"the program {program} {how}; {what} its log:\n{lines}")
    return answer
