"""Reports for machines and for pull requests: JSON, JUnit XML, Markdown."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any
from xml.etree import ElementTree

from migrator.parity.judge.report import (
    COULD_NOT_RUN,
    DIFFERENT,
    EQUAL,
    ArrayRow,
    CaseReport,
    Difference,
    LossRow,
    SideReport,
    Tolerance,
    ValueRow,
    exit_code,
)

JSON_VERSION = 1
"""Raised when a field changes its meaning or goes away."""


def to_json(reports: list[CaseReport]) -> str:
    """All that is known. Numbers that are not finite are written as strings: ``"nan"``, ``"inf"``."""
    cases = []
    for report in reports:
        data = dataclasses.asdict(report)
        data["worst_loss"] = report.worst_loss
        cases.append(data)
    document = {"version": JSON_VERSION, "exit_code": exit_code(reports), "cases": cases}
    return json.dumps(_finite(document), indent=2) + "\n"


def from_json(text: str) -> list[CaseReport]:
    """What `to_json` wrote. Raises ValueError for anything else."""
    try:
        document = json.loads(text)
        if document["version"] != JSON_VERSION:
            raise ValueError(f"version {document['version']}, not {JSON_VERSION}")
        return [_case(case) for case in document["cases"]]
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError("not a report of `migrate parity --json`") from error


def _case(case: dict[str, Any]) -> CaseReport:
    case = {key: value for key, value in case.items() if key != "worst_loss"}
    for key, row in (("differences", Difference), ("losses", LossRow), ("metrics", ValueRow)):
        case[key] = [_row(row, item) for item in case[key]]
    for key in ("weights", "predictions", "exports"):
        case[key] = [_row(ArrayRow, {**item, "shape": tuple(item["shape"])}) for item in case[key]]
    sides = {key: SideReport(**case[key]) for key in ("old", "new")}
    return CaseReport(**{**case, **sides, "tolerance": Tolerance(**case["tolerance"])})


def _row(kind: type[Any], item: dict[str, Any]) -> Any:
    numbers = {field.name for field in dataclasses.fields(kind) if field.type == "float"}
    return kind(**{key: float(value) if key in numbers else value for key, value in item.items()})


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def to_junit(reports: list[CaseReport]) -> str:
    """One test case each; different is a failure, could not run is an error."""
    suite = ElementTree.Element(
        "testsuite",
        name="migrate parity",
        tests=str(len(reports)),
        failures=str(sum(report.verdict == DIFFERENT for report in reports)),
        errors=str(sum(report.verdict == COULD_NOT_RUN for report in reports)),
        time=f"{sum(report.old.seconds + report.new.seconds for report in reports):.1f}",
    )
    for report in reports:
        seconds = report.old.seconds + report.new.seconds
        case = ElementTree.SubElement(suite, "testcase", classname="parity", name=report.name, time=f"{seconds:.1f}")
        if report.verdict == DIFFERENT:
            message = "; ".join(filter(None, (report.diagnosis, str(report.differences[0]))))
            child = ElementTree.SubElement(case, "failure", message=_xml(message))
            child.text = _xml("\n".join(map(str, report.differences)))
        elif report.verdict == COULD_NOT_RUN:
            child = ElementTree.SubElement(case, "error", message=_xml(report.problem.split("\n")[0]))
            child.text = _xml(report.problem)
        ElementTree.SubElement(case, "system-out").text = _xml(summary(report))
    tree = ElementTree.Element("testsuites")
    tree.append(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(tree, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]", "?", text)


def summary(report: CaseReport) -> str:
    """One line on what was compared and how far apart it was."""
    parts = []
    if report.losses:
        parts.append(f"{len(report.losses)} losses (worst relative difference {report.worst_loss:.1e})")
    if report.weights:
        worst = max(row.max_abs for row in report.weights)
        parts.append(f"{len(report.weights)} variables (at most {worst:.1e} apart)")
    if report.metrics:
        parts.append(f"{len(report.metrics)} metrics")
    if report.predictions:
        parts.append(f"{len(report.predictions)} prediction arrays")
    if report.exports:
        parts.append(f"{len(report.exports)} outputs of SavedModels")
    if report.batches_compared:
        parts.append(f"{report.batches_compared} batches")
    line = "compared " + ", ".join(parts) if parts else "nothing was compared"
    if report.rounding and report.verdict == EQUAL:
        line += f"; apart by rounding, up to {report.rounding:.2g} times as far as the old program from itself"
    return line


def to_markdown(reports: list[CaseReport]) -> str:
    """For a pull request: a table of the cases, and a section for each that is not equal."""
    lines = [
        "## Parity",
        "",
        "| case | verdict | losses | worst loss difference | weights | metrics | predictions |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for report in reports:
        cells = [f"`{report.name}`", f"**{report.verdict}**", str(len(report.losses))]
        cells += [f"{report.worst_loss:.1e}" if report.losses else "", str(len(report.weights))]
        cells += [str(len(report.metrics)), str(len(report.predictions))]
        lines.append("| " + " | ".join(cells) + " |")
    for report in reports:
        if report.differences or report.problem:
            lines += ["", f"### `{report.name}`: {report.verdict}", ""]
            lines += [_escape(report.diagnosis), ""] if report.diagnosis else []
            lines += [f"- {_escape(str(difference))}" for difference in report.differences]
            if report.problem:
                lines += ["```text", report.problem.replace("```", "'''"), "```"]
    notes = sorted({note for report in reports for note in report.notes})
    if notes:
        lines += ["", "Notes", ""] + [f"- {_escape(note)}" for note in notes]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
