"""Reports for machines and for the browser: all made of the same outcomes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from notebook_tools import notebook
from page import Page
from schemas import errors, sarif

from migrator.cli import cli
from migrator.engine import runner
from migrator.engine.registry import Registry
from migrator.parity.formats import to_json
from migrator.parity.judge.report import CaseReport, LossRow, SideReport
from migrator.report import FORMATS, formats
from migrator.report.html.html_diff import coloured
from migrator.vocabulary.diagnostics import Diagnostic, Location, Outcome, ProgramUnit, Severity
from migrator.vocabulary.settings import Settings

HEAD = "import tensorflow as tf\n"
HOSTILE = "x = tf.old  # <script>alert('é')</script> %0A | `a` \\ $\n"
FOR_MACHINES = [name for name in FORMATS if name != "text"]


@pytest.fixture
def outcomes(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """A tree with all that a report may have to say."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_bytes((HEAD + HOSTILE + "tf.lines\nä, tf.risky\ntf.gone.x\ntf.note").encode())
    Path("crlf.py").write_bytes(b"# coding: latin-1\r\nimport tensorflow as tf\r\ns = '\xe9', tf.old\r\n")
    Path("bad.py").write_text(HEAD + "print 'x'\n")
    Path("fine.py").write_text("x = 1\n")
    for name, body in (("p/model.py", "def program(): 1\n"), ("q/model.py", "def stuck_program(): 1\n")):
        Path(name).parent.mkdir()
        Path(name).write_text(HEAD + body)
    Path("n b.ipynb").write_bytes(notebook(HEAD, "#md x", "tf.old\ntf.gone.x"))
    return list(runner.migrate(["."], Settings(select=("TST",))).outcomes)


@pytest.mark.parametrize("tier", ["manual", "bridge"])
def test_programs_that_stay_for_the_same_reasons_are_one_card(tier: str) -> None:
    made = [ProgramUnit(f"m{n}", Location(f"{n}.py", n), tier, "it is <hard>", others=("old",)) for n in range(1, 5)]
    own = ProgramUnit("own", Location("a.py", 5), "manual", "it is <hard>")
    page = Page(formats.render("html", [Outcome("a.py", "unchanged", units=(*made, own))]).decode())
    assert page.found.count("4 programs") == page.found.count("old") == 1 and page.found.count("it is <hard>") == 2
    assert {"m1", "m4", "own"} <= set(page.found)


@pytest.mark.parametrize("name", FOR_MACHINES)
@pytest.mark.parametrize("written", [None, ["a.py"]])
def test_every_format_takes_everything(outcomes: Sequence[Outcome], name: str, written: list[str] | None) -> None:
    assert formats.render(name, outcomes, written) == formats.render(name, outcomes, written)
    assert formats.render(name, [], written) is not None


def test_the_patch_can_be_applied(outcomes: Sequence[Outcome]) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=formats.render("diff", outcomes), check=True)
    for outcome in outcomes:
        if outcome.status != "failed":
            assert Path(outcome.path).read_bytes() == (
                outcome.after or outcome.before or Path(outcome.path).read_bytes()
            )
    assert Path("crlf.py").read_bytes().endswith(b"s = '\xe9', tf.new\r\n")
    assert b"tf.new" in Path("n b.ipynb").read_bytes() and Path("p/tf2_training.py").exists()


NAMES = [
    "a b.py",
    "é.py",
    "-rf.py",
    "new\nline.py",
    "tab\t.py",
    'quo"te.py',
    "back\\slash.py",
    "\x1b[31m.py",
    "[red].py",
]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_any_file_name_is_reported(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [*NAMES, os.fsdecode(b"bytes\xff.py")]:
        Path(name).write_text(HEAD + "tf.old\ntf.gone.x\n")
    found = list(runner.migrate(["."], Settings(select=("TST",))).outcomes)
    assert len(found) == len(NAMES) + 1
    reports = {name: formats.render(name, found) for name in FOR_MACHINES}
    sarif = json.loads(reports["sarif"])["runs"][0]["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in sarif}
    assert {"bytes%FF.py", "new%0Aline.py", "back%5Cslash.py"} <= uris
    assert len(json.loads(reports["json"])["files"]) == len(found)
    assert all(line.startswith(b"::") for line in reports["github"].splitlines())
    subprocess.run(["git", "apply", "-"], input=reports["diff"], check=True)
    assert all("tf.new" in Path(outcome.path).read_text() for outcome in found)


def test_json_is_as_its_schema_says(outcomes: Sequence[Outcome]) -> None:
    schema = json.loads((Path(formats.__file__).parent / "report.schema.json").read_text())
    for written in (None, ["a.py"]):
        report = json.loads(formats.render("json", outcomes, written))
        assert errors(report, schema) == []
        assert report["applied"] is (written is not None)
    assert [unit["tier"] for unit in report["programs"]] == ["native", "manual"]
    cells = [item["location"] for file in report["files"] if "ipynb" in file["path"] for item in file["remaining"]]
    assert cells == [{"path": "n b.ipynb", "cell": 3, "line": 2, "column": 1}]
    assert errors({**report, "version": 2, "more": 1}, schema) == [
        "$.version: 1 was expected",
        "$: Additional properties are not allowed ('more' was unexpected)",
    ]


def test_edits_in_json_are_places_in_the_original(outcomes: Sequence[Outcome]) -> None:
    report = json.loads(formats.render("json", outcomes))
    file = next(file for file in report["files"] if file["path"] == "a.py")
    (unsafe,) = [item for item in file["remaining"] if item["code"] == "TST002"]
    assert unsafe["fix"]["applicability"] == "unsafe"
    assert unsafe["fix"]["edits"] == [
        {"path": "a.py", "start": {"line": 4, "column": 4}, "end": {"line": 4, "column": 12}, "text": "tf.bold"}
    ]


def test_sarif_has_rules_results_and_fixes(outcomes: Sequence[Outcome]) -> None:
    log = json.loads(formats.render("sarif", outcomes))
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0" and [rule["id"] for rule in rules] == sorted(rule["id"] for rule in rules)
    texts = {path: Path(path).read_text(encoding="utf-8").split("\n") for path in ("a.py", "bad.py")}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in ("note", "warning", "error")
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                for replacement in change["replacements"]:
                    region = replacement["deletedRegion"]
                    lines = texts.get(change["artifactLocation"]["uri"])
                    if lines and region["startLine"] == region["endLine"]:
                        old = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
                        assert old in ("", "old", "tf.risky", "tf.lines"), region
    named = {result["ruleId"]: result for result in run["results"]}
    assert "fixes" in named["TST002"] and "fixes" not in named["TST003"]
    uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert "n%20b.ipynb" in uris
    applied = json.loads(formats.render("sarif", outcomes, ["a.py"]))["runs"][0]["results"]
    assert "TST001" not in {result["ruleId"] for result in applied} and not any("fixes" in result for result in applied)


def test_sarif_is_as_the_standard_says(outcomes: Sequence[Outcome]) -> None:
    schema = sarif()
    for written in (None, ["a.py"]):
        log = json.loads(formats.render("sarif", outcomes, written))
        assert errors(log, schema) == []
        (run,) = log["runs"]
        for change in (c for r in run["results"] for fix in r.get("fixes", ()) for c in fix["artifactChanges"]):
            assert change["replacements"]  # 3.56.3: one at least
        assert all(re.fullmatch(r"[!-~]+", uri) for uri in set(re.findall(r'"uri": "(.*)"', json.dumps(log, indent=1))))
    wrong = {**log, "runs": [{**run, "results": [{"level": "bad"}], "more": 1}]}
    assert len(errors(wrong, schema)) == 3


def test_absolute_paths_in_sarif_are_uris() -> None:
    outcome = Outcome("/r/é.py", "failed", remaining=(Diagnostic("E001", "m", Location("/r/é.py")),))
    assert b'"uri": "file:///r/%C3%A9.py"' in formats.render("sarif", [outcome])


def test_github_annotations_are_single_escaped_lines() -> None:
    found = Diagnostic("EST1", "50%\nof a::b, c", Location("a,b:c.py", 3, 2), severity=Severity.ERROR)
    line = formats.render("github", [Outcome("a", "failed", remaining=(found,))]).decode()
    assert line == "::error title=migrate (EST1),file=a%2Cb%3Ac.py,line=3,col=2::50%25%0Aof a::b, c\n"


def test_github_annotations_name_what_is_not_written_yet(outcomes: Sequence[Outcome]) -> None:
    lines = formats.render("github", outcomes).decode().splitlines()
    assert (
        "::warning title=migrate (TST001),file=a.py,line=2,col=5::migrate --apply changes this: old is new now" in lines
    )
    assert any("file=n b.ipynb,line=1,col=1::cell 3, line 2: tensorflow.gone.x is gone" in line for line in lines)
    assert not any("--apply" in line for line in formats.render("github", outcomes, []).decode().splitlines())


def test_markdown_escapes_what_would_be_read_as_markup() -> None:
    unit = ProgramUnit("a|`b", Location("a.py"), "manual", "no <b> *x* | [y]\nz")
    text = formats.render("markdown", [Outcome("a.py", "unchanged", units=(unit,))]).decode()
    assert "| `` a\\|`b `` | `a.py:1:1` | manual | no \\<b\\> \\*x\\* \\| \\[y\\] z |" in text


def test_the_page_is_whole_and_stands_alone(outcomes: Sequence[Outcome]) -> None:
    text = formats.render("html", outcomes).decode()
    page = Page(text)
    assert text.count("<script>") == 1 and "<script>alert('é')</script>" in "".join(page.found)
    assert len(set(page.ids)) == len(page.ids)
    assert {link for link in page.links if link.startswith("#")} <= {"#" + name for name in page.ids}
    assert all(link.startswith(("#", "https://")) for link in page.links) and "@import" not in text
    assert {"TST001 rename", "cell 3", "native", "manual"} <= set(page.found)


def test_the_page_shows_the_comparison(outcomes: Sequence[Outcome], tmp_path: Path) -> None:
    rows = [LossRow(0, step, 1 / step, 1 / step, 0.0, True) for step in range(1, 9)]
    comparison = CaseReport("<wine>", "equal", losses=rows)
    (tmp_path / "parity.json").write_text(to_json([comparison]))
    arguments = [".", "--select", "TST", "--format", "html", "--parity", str(tmp_path / "parity.json")]
    text = CliRunner().invoke(cli.cli, arguments, prog_name="migrate").output
    page = Page(text)
    assert {"Trained before and after", "<wine>", "equal"} <= set(page.found) and text.count("<svg") == 2
    assert text == formats.render("html", outcomes, parity=[comparison]).decode()
    assert "svg" not in formats.render("html", outcomes).decode().partition("</style>")[2]


def test_a_comparison_of_another_program_is_refused(outcomes: Sequence[Outcome], tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    for program, code in (
        (str(tmp_path / "other.py"), 2),
        ("/ci/build/wine.py", 2),
        ("/ci/build/a.py", 1),
        ("a.py", 1),
    ):
        comparison = CaseReport("wine", "equal", old=SideReport(program), new=SideReport("/none/there.py"))
        (tmp_path / "parity.json").write_text(to_json([comparison]))
        arguments = ["a.py", "--select", "TST", "--format", "html", "--parity", str(tmp_path / "parity.json")]
        result = CliRunner().invoke(cli.cli, arguments, prog_name="migrate")
        assert result.exit_code == code and (code == 1 or f"is about {program}, not about a.py" in result.output)


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"version": 9, "cases": []}', '{"version": 1, "cases": [1]}', None]
)
def test_a_comparison_that_cannot_be_read_is_an_error(outcomes: Sequence[Outcome], content: str | None) -> None:
    if content is not None:
        Path("parity.json").write_text(content)
    arguments = [".", "--select", "TST", "--format", "html", "--parity", "parity.json"]
    assert CliRunner().invoke(cli.cli, arguments, prog_name="migrate").exit_code == 2


def test_code_is_coloured_and_escaped() -> None:
    assert coloured("def f(x=1):  # <a>") == ("<i class=k>def</i> f(x=<i class=n>1</i>):  <i class=c># &lt;a&gt;</i>")
    assert coloured("s = '#' + \"<\"") == "s = <i class=s>&#x27;#&#x27;</i> + <i class=s>&quot;&lt;&quot;</i>"


def test_reports_go_to_files(outcomes: Sequence[Outcome]) -> None:
    options = ["--select", "TST"]
    for name in FORMATS:
        done = CliRunner().invoke(cli.cli, [".", "--format", name, *options], prog_name="migrate")
        filed = CliRunner().invoke(cli.cli, [".", "--format", name, *options, "-o", f"{name}.out"], prog_name="migrate")
        assert done.exit_code == filed.exit_code == 1
        assert Path(f"{name}.out").read_bytes() == done.stdout_bytes
    failed = CliRunner().invoke(cli.cli, [".", *options, "-o", "no/such/place"], prog_name="migrate")
    assert failed.exit_code == 2
