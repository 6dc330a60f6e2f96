"""What a code base holds before anyone changes it: programs, the tier each would get, what blocks the rest, APIs by count."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from migrator.discover.cells import SUFFIX
from migrator.discover.sources import Unusable, decode
from migrator.engine.registry import load
from migrator.report.text import Line, count
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Location, Outcome, ProgramUnit, Severity

VERSION = 1
"""Of the JSON."""

HEADINGS = (
    ("What blocks the rest", "blockers"),
    ("What keeps programs from becoming Keras layers", "bridged"),
    ("What keeps helpers around trainings", "helpers"),
)
TIERS = ("native", "bridge", "manual")
_PLACE = re.compile(r" \([^()]*:\d+\)$| \(could become \w+\)$")
_MOST = 25
"""APIs in the text; JSON has all."""


def assess(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The inventory as plain data, made from a run that wrote nothing."""
    files = [outcome for outcome in outcomes if outcome.status != "created"]
    units = [unit for outcome in outcomes for unit in outcome.units]
    tiers = Counter(unit.tier for unit in units)
    sizes = {outcome.path: outcome.before.count(b"\n") for outcome in files}
    uses, left, where, told = _uses(files)
    rules = load().all
    work = [
        name
        for name in uses
        if name in told or not left[name] or any(rule.outdates(f"tensorflow.{name[3:]}") for rule in rules)
    ]
    return {
        "version": VERSION,
        "files": {
            "all": len(files),
            "notebooks": sum(outcome.path.endswith(SUFFIX) for outcome in files),
            "tensorflow": len({path for paths in where.values() for path in paths}),
            "to_change": sum(outcome.status == "changed" for outcome in files),
            "failed": [str(item) for outcome in files if outcome.status == "failed" for item in outcome.remaining],
        },
        "programs": {tier: tiers[tier] for tier in TIERS},
        "blockers": _reasons((unit for unit in units if unit.tier == "manual"), sizes),
        "bridged": _reasons((unit for unit in units if unit.tier == "bridge"), sizes),
        "helpers": _reasons((replace(u, reason=u.helpers, others=()) for u in units if u.helpers), sizes),
        "apis": [
            {"name": name, "uses": count, "left": left[name], "files": len(where[name])}
            for name, count in sorted(((name, uses[name]) for name in work), key=lambda item: (-item[1], item[0]))
        ],
    }


def _reasons(units: Iterable[ProgramUnit], sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Why programs did not get a better tier, the reasons of most programs first. A program may have several."""
    reasons: dict[str, list[ProgramUnit]] = {}
    for unit in units:
        for reason in dict.fromkeys(_PLACE.sub("", text) for text in unit.reasons or ("",)):
            reasons.setdefault(reason, []).append(unit)
    rows = [
        {
            "reason": reason,
            "programs": len(found),
            "alone": sum(len({_PLACE.sub("", text) for text in unit.reasons}) <= 1 for unit in found),
            "lines": sum(sizes.get(path, 0) for path in {p for u in found for p in u.files or (u.location.path,)}),
            "places": [str(unit.location) for unit in found],
        }
        for reason, found in reasons.items()
    ]
    return sorted(rows, key=lambda row: (-row["programs"], -row["lines"], row["reason"]))


def _uses(files: Sequence[Outcome]) -> tuple[Counter[str], Counter[str], dict[str, set[str]], set[str]]:
    """Of each TensorFlow name: uses before, uses after the migration, and the files that use it; and names in lines
    that are left to the user."""
    uses: Counter[str] = Counter()
    left: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    told: set[str] = set()
    for outcome in files:
        mine = {item.location for item in outcome.remaining if item.severity != Severity.INFO}
        before = list(_names(outcome.path, outcome.start))
        unchanged = outcome.after == outcome.before
        after = before if unchanged else list(_names(outcome.path, outcome.after))
        uses.update(name for name, _ in before)
        left.update(name for name, _ in after)
        told |= {name for name, place in (*before, *after) if place in mine}
        for name, _ in before:
            where.setdefault(name, set()).add(outcome.path)
    return uses, left, where, told


def _names(path: str, raw: bytes) -> Iterator[tuple[str, Location]]:
    if b"tensorflow" not in raw:
        return
    try:
        module = Module(path, decode(path, raw).text, lenient=True)
        for node, name in module.references():
            if name.startswith("tensorflow."):
                yield "tf." + name.partition(".")[2], module.location(node)
    except (Unusable, RecursionError):  # reported as a file that failed
        return


def render(form: str, outcomes: Sequence[Outcome]) -> str:
    """The inventory as ``json``, described in ``assessment.schema.json`` beside this file, or as one ``html`` page."""
    found = assess(outcomes)
    if form == "json":
        return json.dumps(found, indent=2) + "\n"
    from migrator.report.html.assessment_html import page_of

    return page_of(found)


def heads(found: dict[str, Any]) -> tuple[str, str]:
    """The numbers of files, and those of programs."""
    files, programs = found["files"], found["programs"]
    tiers = "".join(f", {programs[tier]} {tier}" for tier in TIERS if programs[tier])
    return (
        f"{count(files['all'], 'file')}, {files['notebooks']} of them notebooks; {files['tensorflow']} use TensorFlow; "
        f"{files['to_change']} would change; {len(files['failed'])} could not be read",
        f"{count(sum(programs.values()), 'program')}{tiers}",
    )


def alone(row: dict[str, Any]) -> str:
    """Of how many programs a reason is the only one, unless it is of all."""
    if row["alone"] == row["programs"]:
        return ""
    return f"; the only reason for {row['alone']}" if row["alone"] else "; never the only reason"


def lines(outcomes: Sequence[Outcome]) -> Iterator[Line]:
    """The inventory for people."""
    found = assess(outcomes)
    files, programs = heads(found)
    yield Line(files)
    yield Line(programs, "bold")
    for title, key in HEADINGS:
        if found[key]:
            yield Line("")
            yield Line(title, "bold")
        for row in found[key]:
            more = f" and {row['programs'] - 1} more" if row["programs"] > 1 else ""
            yield Line(f"{row['programs']:6}  {row['reason']}", "yellow")
            yield Line(f"        {row['places'][0]}{more}; {count(row['lines'], 'line')} of code{alone(row)}")
    if found["apis"]:
        yield Line("")
        yield Line("  uses   left  files  API", "bold", verbatim=True)
        for api in found["apis"][:_MOST]:
            yield Line(f"{api['uses']:6} {api['left']:6} {api['files']:6}  {api['name']}", verbatim=True)
        if len(found["apis"]) > _MOST:
            yield Line(f"{len(found['apis']) - _MOST} more with --format json")
    if found["files"]["failed"]:
        yield Line("")
        yield from (Line(text, "red") for text in found["files"]["failed"])
