"""What `migrate` makes of public packages that hold Estimator code: a table, one row for each package.

    python benchmarks/corpus.py [NAME...] [--packages FOLDER] [--reasons] [--names] [--json FILE] [--readme]

pip downloads the packages as wheels, which are unpacked and never installed or run; `--packages` names a folder that holds
an unpacked one in a directory of its name instead. Each tree is copied, migrated with `--apply`, and looked at:

- crashes: codes of bugs (E005 to E009), and processes that died. Must be 0.
- broken: files that were Python and no longer are. Must be 0.
- again: files that a second run would change. Must be 0.
- native, bridge, manual: programs by tier; `--reasons` lists what stands in the way of the better tiers.
- names: places that use a TensorFlow name that 2.21 with tf_keras lacks, before and after; `--names` counts them by name.
  A file that imports plain `tensorflow` is read as what it says, so that `tf.layers` of TensorFlow 1 counts.

`--readme` writes the table into README.md. Exit status 1 where something that must be 0 is not.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from migrator.discover.sources import Unusable, decode
from migrator.resolve.module import Module

PACKAGES = {
    "tensor2tensor": "1.15.7",
    "OpenNMT-tf": "1.25.3",
    "deepctr": "0.9.3",
    "adanet": "0.9.0",
    "tensorflow-ranking": "0.1.6",
    "bert-tensorflow": "1.0.4",
    "magenta": "1.3.1",
}
TIERS = ("native", "bridge", "manual")
BUGS = frozenset({"E005", "E006", "E007", "E008", "E009"})
HEADER = (
    "| package | files | crashes | broken | again | native | bridge | manual | names before | after | seconds |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
)
START, END = "<!-- benchmarks/corpus.py --readme -->\n", "<!-- end -->\n"
_PLACE = re.compile(r" \([^()]*\)$")


@dataclass
class Row:
    """What became of one package."""

    package: str
    files: int = 0
    crashes: int = 0
    broken: int = 0
    again: int = 0
    tiers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    before: int = 0
    after: int = 0
    seconds: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    """Tier and reason, without the place."""
    names: dict[str, int] = field(default_factory=dict)
    """What TensorFlow 2.21 lacks of what the migrated tree uses."""

    @property
    def cells(self) -> list[str]:
        """The columns of the table."""
        tiers = (str(self.tiers[tier]) for tier in TIERS)
        numbers = [str(self.files), str(self.crashes), str(self.broken), str(self.again), *tiers]
        return [self.package, *numbers, str(self.before), str(self.after), f"{self.seconds:.1f}"]


def total(rows: Sequence[Row]) -> Row:
    """The sum of all rows."""
    row = Row("all")
    for other in rows:
        for name in ("files", "crashes", "broken", "again", "before", "after", "seconds"):
            setattr(row, name, getattr(row, name) + getattr(other, name))
        row.tiers = {tier: row.tiers[tier] + other.tiers[tier] for tier in TIERS}
        row.reasons = dict(Counter(row.reasons) + Counter(other.reasons))
        row.names = dict(Counter(row.names) + Counter(other.names))
    return row


def table(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    return HEADER + "".join(f"| {' | '.join(row.cells)} |\n" for row in [*rows, total(rows)])


def with_table(text: str, shown: str) -> str:
    """`text` with the part between the two marks replaced. Raises ValueError where the marks are missing."""
    head, start, rest = text.partition(START)
    _, end, tail = rest.partition(END)
    if not (start and end):
        raise ValueError(f"no lines {START.strip()} and {END.strip()}")
    return head + start + shown + end + tail


# -- what a tree holds --------------------------------------------------------------------------------------------------


def lacks(name: str) -> bool:
    """Whether TensorFlow 2.21 with tf_keras has no such name; `name` as the imports of a file spell it."""
    return bool(importlib.import_module("migrator.rules.symbols.absent_names").lacks(name))


def names_lacking(tree: Path) -> Counter[str]:
    """How often the files of a tree use names that TensorFlow 2.21 lacks."""
    found: Counter[str] = Counter()
    for path in sorted(tree.rglob("*.py")):
        raw = path.read_bytes()
        if b"tensorflow" not in raw:
            continue
        try:
            module = Module(str(path), decode(str(path), raw).text, lenient=True)
            for node, _ in module.references():
                spelled = sorted(module.raw_names(node))
                if spelled and all(lacks(name) for name in spelled):
                    found[re.sub(r"^tensorflow\b", "tf", spelled[0])] += 1
        except (Unusable, SyntaxError, ValueError, RecursionError):
            continue  # counted where the file is parsed
    return found


def parseable(tree: Path) -> set[str]:
    """The files of a tree that are Python 3, by their path in it."""
    found = set()
    for path in tree.rglob("*.py"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue
        found.add(path.relative_to(tree).as_posix())
    return found


def crashes(report: dict[str, Any]) -> int:
    """Bugs that a report in JSON tells of."""
    return sum(item["code"] in BUGS for file in report["files"] for item in file["remaining"])


def reasons(programs: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Why programs are in the tier that they are in."""
    for program in programs:
        if program["tier"] != "native":
            for reason in (program["reason"], *program.get("others", ())):
                yield f"{program['tier']}: {_PLACE.sub('', reason)}"


# -- running ------------------------------------------------------------------------------------------------------------


def migrate(tree: Path, *options: str) -> tuple[dict[str, Any], float]:
    """The report of a run in JSON, and its seconds. Raises CalledProcessError where it could not run."""
    command = [sys.executable, "-m", "migrator", tree.name, "-q", "--format", "json", *options]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=tree.parent, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report, seconds


def examine(package: str, source: Path, folder: Path) -> Row:
    """Migrate a copy of a package in `folder`."""
    tree = folder / source.name
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", "*.dist-info", "*.data"))
    row = Row(package)
    before = parseable(tree)
    row.before = sum(names_lacking(tree).values())
    report, row.seconds = migrate(tree, "--apply")
    row.files, row.crashes = report["files_looked_at"], crashes(report)
    row.broken = len(before - parseable(tree))
    row.tiers.update(Counter(program["tier"] for program in report["programs"]))
    row.reasons = dict(Counter(reasons(report["programs"])))
    row.names = dict(names_lacking(tree))
    row.after = sum(row.names.values())
    again, _ = migrate(tree)
    row.again = sum(file["status"] in ("changed", "created") for file in again["files"])
    row.crashes += crashes(again)
    return row


def directory(package: str) -> str:
    """The name of the folder that a package is unpacked in."""
    return package.replace("-", "_")


def download(package: str, version: str, folder: Path) -> Path:
    """Download a wheel with pip and unpack it. Nothing of it is run."""
    wheels = folder / "wheels" / package
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--only-binary", ":all:", "-d", str(wheels), f"{package}=={version}"], check=True)
    target = folder / "packages" / directory(package)
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as archive:
        archive.extractall(target)
    return target


def show(title: str, counts: dict[str, int], most: int = 40) -> None:
    """The most frequent of some things."""
    print(f"\n{title}")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]:
        print(f"{count:6}  {name}")


def main() -> int:
    """Migrate the packages, and print the table."""
    parser = argparse.ArgumentParser(description="what migrate makes of public packages")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PACKAGES)}; all by default")
    parser.add_argument(
        "--packages", type=Path, metavar="FOLDER", help="unpacked ones, each in a directory of its name"
    )
    parser.add_argument("--reasons", action="store_true", help="list what stands in the way of the better tiers")
    parser.add_argument("--names", dest="list_names", action="store_true", help="count the names that are left")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PACKAGES]
    if unknown:
        parser.error(f"not in the corpus: {', '.join(unknown)}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package in options.names or PACKAGES:
            unpacked = options.packages / directory(package) if options.packages else None
            source = unpacked.resolve() if unpacked else download(package, PACKAGES[package], folder)
            rows.append(examine(package, source, folder / "copies"))
            print(f"{package}: {rows[-1].seconds:.1f} s", file=sys.stderr)
    print(table(rows), end="")
    if options.reasons:
        show("What stands in the way", total(rows).reasons)
    if options.list_names:
        show("Names that are left", total(rows).names)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if options.readme:
        readme = Path(__file__).resolve().parent.parent / "README.md"
        readme.write_text(with_table(readme.read_text(), table(rows)))
    return int(any(row.crashes or row.broken or row.again for row in rows))


if __name__ == "__main__":
    sys.exit(main())
