from __future__ import annotations

import io
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from schemas import errors

from migrator.parity import formats
from migrator.parity.formats import from_json, to_json, to_junit, to_markdown
from migrator.parity.judge.report import ArrayRow, CaseReport, Difference, LossRow, SideReport, ValueRow, exit_code
from migrator.parity.terminal import show
from migrator.report.html.parity_charts import MAX_POINTS, difference_chart, loss_chart, round_numbers
from migrator.report.html.parity_html import to_html


def losses(count: int) -> list[LossRow]:
    rows = [LossRow(0, step, 1 / step, 1 / step, 0.0 if step % 2 else 2e-7, True) for step in range(1, count + 1)]
    rows[-1] = LossRow(0, count, 1.0, math.nan, math.inf, False)
    return rows


@pytest.fixture
def reports() -> list[CaseReport]:
    different = CaseReport(
        "a <b>",
        "different",
        differences=[Difference("losses", "step 40", "the loss | is <wrong>")],
        losses=losses(40),
        metrics=[ValueRow(1, "auc", "0.5", "0.6", 0.2, False)],
        weights=[ArrayRow("", "dense/kernel", "m/dense/kernel", (2, 3), 1e-3, 1e-2, False, "name")],
        predictions=[ArrayRow("predict call 1", "p", "p", (4,), 0.0, 0.0, True)],
        notes=["dropout masks are equal"],
        old=SideReport("before.py", {"tensorflow": "2.15.1"}, 3.0, "/logs/old", ["line <1>"]),
    )
    failed = CaseReport("c", problem="the new program ended with 1\n\x1b[31m| Traceback")
    return [different, failed, CaseReport("d", "equal")]


def test_exit_codes(reports: list[CaseReport]) -> None:
    different, failed, equal = reports
    assert exit_code([equal]) == 0
    assert exit_code([equal, different]) == 1
    assert exit_code([equal, different, failed]) == 2
    assert exit_code([]) == 2


def test_json_is_versioned_and_strict(reports: list[CaseReport]) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads(to_json(reports), parse_constant=refuse)
    assert (document["version"], document["exit_code"]) == (1, 2)
    assert document["cases"][0]["losses"][-1]["new"] == "nan"
    assert document["cases"][0]["differences"][0]["where"] == "step 40"
    schema = json.loads((Path(formats.__file__).parent / "parity.schema.json").read_text())
    assert errors(document, schema) == []


def test_json_can_be_read_again(reports: list[CaseReport]) -> None:
    again = from_json(to_json(reports))
    assert again[1:] == reports[1:] and math.isnan(again[0].losses[-1].new)
    assert again[0].losses[:-1] == reports[0].losses[:-1] and again[0].weights == reports[0].weights
    assert to_json(again) == to_json(reports) and to_html(again) == to_html(reports)


def test_junit_tells_failure_from_error(reports: list[CaseReport]) -> None:
    suite = ElementTree.fromstring(to_junit(reports)).find("testsuite")
    assert suite is not None and suite.attrib["failures"] == suite.attrib["errors"] == "1"
    cases = suite.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [
        ["failure", "system-out"],
        ["error", "system-out"],
        ["system-out"],
    ]
    assert "step 40" in cases[0][0].attrib["message"]


def test_markdown_has_a_row_for_each_case(reports: list[CaseReport]) -> None:
    text = to_markdown(reports)
    assert text.count("**different**") == text.count("**equal**") == text.count("**could not run**") == 1
    assert "the loss \\| is &lt;wrong>" in text


class Page(HTMLParser):
    """Checks that tags are closed in order."""

    VOID = {"meta", "link", "br", "hr", "img", "polyline", "line", "rect"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in self.VOID or tag == "rect":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "li", "td", "th", "tr") and self.open[-1] != tag:
            return
        assert self.open.pop() == tag


def test_html_is_one_well_formed_page_without_anything_from_elsewhere(reports: list[CaseReport]) -> None:
    html = to_html(reports)
    page = Page()
    page.feed(html)
    assert page.open == []
    assert page.seen.count("svg") == 2 and page.seen.count("section") == 3 and "script" not in page.seen
    assert not re.search(r"(src|href)=|url\(|https?://", html)
    assert "a &lt;b&gt;" in html and "line &lt;1&gt;" in html and "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html


def test_charts_mark_the_first_step_that_differs_and_stay_small() -> None:
    rows = losses(10_000)
    assert "step 10000" in loss_chart(rows)
    assert difference_chart(rows, 1e-5).count("<rect") <= MAX_POINTS
    assert 'class="bar off"' in difference_chart(rows, 1e-5), "thinning keeps the worst step"
    assert "nan" not in loss_chart(rows) + difference_chart(rows, 1e-5)
    assert "<svg" in loss_chart(rows[:1]) and "<svg" in difference_chart(rows[:1], 1e-5)


def test_ticks_are_round_numbers() -> None:
    assert round_numbers(0.013, 1.07, 5) == [0.5, 1.0]
    assert [round(value, 9) for value in round_numbers(-0.31, 0.42, 5)] == [-0.2, 0.0, 0.2, 0.4]
    rows = [LossRow(0, step, 1 / step, 1 / step, 0.0, True) for step in range(1, 98)]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", loss_chart(rows))
    assert texts[-6:] == ["1", "20", "40", "60", "80", "97"] and "0.2" in texts


@pytest.mark.parametrize("columns", [50, 40])
def test_no_number_is_broken_on_a_narrow_terminal(
    reports: list[CaseReport], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    message = "first loss that differs: old 0.123456789, new 0.234567891, relative 1.2e-05; 3 of 40 steps differ"
    reports[0].differences = [Difference("losses", "step 40", message)]
    reports[0].losses = [LossRow(0, step, 0.123456789, 0.123456788, 8.1e-09, True) for step in (1, 2)]
    reports[0].metrics = [ValueRow(1, "accuracy", "0.765432198", "0.987654321", 0.2, False)]
    out = Terminal()
    show(reports, out)
    lines = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()
    assert max(map(len, lines)) <= columns
    for number in ("0.123456789", "0.234567891", "0.765432198", "0.987654321", "1.2e-05", "8.1e-09"):
        assert any(number in line for line in lines)


def test_no_number_is_cut_on_a_narrow_terminal(reports: list[CaseReport], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    reports[0].metrics = [ValueRow(1, "auc/" + "x" * 60, "0.123456789", "0.987654321", 0.2, False)]
    out = io.StringIO()
    show(reports, out)
    assert "x" * 60 in out.getvalue() and "0.987654321" in out.getvalue() and "\u2026" not in out.getvalue()
    assert re.search(r"^ +step +old loss +new loss +relative", out.getvalue(), re.M)


def test_terminal_is_plain_where_it_is_no_terminal(reports: list[CaseReport]) -> None:
    out = io.StringIO()
    show(reports, out)
    text = out.getvalue()
    assert "\x1b[31mlosses" not in text and "a <b>: different" in text
    assert "- losses: step 40: the loss | is <wrong>" in text
    assert re.search(r"^ +40 +1 +nan", text, re.M) and "..." in text
    assert "3 cases: 1 different, 1 could not run, 1 equal" in text


@pytest.mark.parametrize(
    ("count", "different", "expected"),
    [(12, 0, None), (13, 0, "1 more, all equal"), (16, 1, "4 more, all equal"), (20, 14, "8 more, 2 different")],
)
def test_the_terminal_says_how_many_metrics_it_leaves_out(count: int, different: int, expected: str | None) -> None:
    rows = [ValueRow(call, "auc", "0.5", "0.5", 0.0, call > different) for call in range(1, count + 1)]
    out = io.StringIO()
    show([CaseReport("a", "equal", metrics=rows)], out)
    assert out.getvalue().count("auc") == min(count, 12)
    more = re.findall(r"^ +\.\.\. +(.*more.*?) *$", out.getvalue(), re.M)
    assert more == ([expected] if expected else [])


def test_the_terminal_says_how_many_arrays_it_leaves_out() -> None:
    rows = [ArrayRow("", f"dense_{number}", "m", (2,), 1.0, 1.0, False) for number in range(15)]
    out = io.StringIO()
    show([CaseReport("a", "different", weights=rows)], out)
    assert out.getvalue().count("dense_") == 12 and "... 3 more" in out.getvalue()
