"""The pages in a real browser: Chromium without a window, where it is installed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from migrator.engine import runner
from migrator.engine.registry import Registry
from migrator.parity.judge.report import CaseReport, LossRow
from migrator.report import assessment, formats
from migrator.vocabulary.settings import Settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

HEAD = "import tensorflow as tf\n"


def look(page: str, script: str, folder: Path, size: str = "1280,900", settings: str = "") -> Any:
    """What `script`, a function body that is run in the page, returns."""
    run = (
        "<script>addEventListener('load', () => { const pre = document.createElement('pre'); pre.id = 'result';"
        f"pre.textContent = JSON.stringify((() => {{ {script} }})()); document.body.append(pre); }});</script>"
    )
    (folder / "page.html").write_text(page.replace("</body>", run + "</body>"), "utf-8")
    command = [
        str(CHROMIUM),
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={size}"),
        *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=2000", "--dump-dom"),
        *([f"--blink-settings={settings}"] if settings else []),
        (folder / "page.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
    assert found is not None, done.stdout[-500:] + done.stderr[-500:]
    return json.loads(html.unescape(found[1]))


@pytest.fixture
def page(sample_rules: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A report with programs, findings, changes and a comparison."""
    monkeypatch.chdir(tmp_path)
    for name, body in (
        ("p/model.py", "def program(): 1\n"),
        ("a.py", f"x = tf.old, '{'y' * 300}'\ntf.gone.x\ntf.note\n"),
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(HEAD + body)
    rows = [LossRow(0, step, 1 / step, 1 / step + (step == 7), 1.0 * (step == 7), step != 7) for step in range(1, 9)]
    outcomes = runner.migrate(["."], Settings(select=("TST",))).outcomes
    return formats.render("html", outcomes, parity=[CaseReport("wine", "different", losses=rows)]).decode()


def test_the_report_is_searched_and_filtered_from_the_keyboard(page: str, tmp_path: Path) -> None:
    script = """
        const shown = () => [...document.querySelectorAll('.findings .item')].filter(e => e.offsetHeight).length;
        const result = {all: shown(), charts: document.querySelectorAll('svg polyline').length};
        dispatchEvent(new KeyboardEvent('keydown', {key: '/'}));
        result.focus = document.activeElement.id;
        search.value = 'TST003 gone'; search.dispatchEvent(new Event('input'));
        result.found = shown();
        dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
        result.again = shown();
        const box = document.querySelector('#levels input[value="to do"]');
        box.click();
        result.filtered = shown();
        location.hash = '#TST003'; dispatchEvent(new Event('hashchange'));
        result.open = document.getElementById('TST003').open;
        result.ground = getComputedStyle(document.body).backgroundColor;
        const cells = [...document.querySelectorAll('.diff tr:not(.hunk)')[0].cells].map(e => e.offsetWidth);
        result.widths = [cells[2] > 5 * cells[0], cells[0] === cells[1]];
        result.divergence = document.querySelector('svg').textContent.includes('step 7');
        return result;
    """
    result = look(page, script, tmp_path)
    assert result["focus"] == "search" and result["found"] == 1 and result["again"] == result["all"] > 3
    assert result["filtered"] == result["all"] - 1 and result["open"] is True
    assert result["widths"] == [True, True]
    assert result["charts"] == 2 and result["divergence"] is True and result["ground"] == "rgb(251, 250, 248)"


def test_lines_removed_stand_above_those_added(page: str, tmp_path: Path) -> None:
    script = "return [...document.querySelectorAll('.diff td.old, .diff td.new')].map(e => e.className)"
    classes = look(page, script, tmp_path)
    assert classes[:2] == ["old", "new"] and len(set(classes)) == 2


def test_it_is_read_on_a_phone_and_in_the_dark(page: str, tmp_path: Path) -> None:
    script = """
        document.querySelectorAll('details').forEach(e => e.open = true);
        const line = document.querySelector('.diff td.new').offsetWidth;
        const ground = getComputedStyle(document.body).backgroundColor;
        const border = (kind) => getComputedStyle(document.querySelector(`li.${kind}`)).borderLeftColor;
        const inside = [...document.querySelectorAll('svg')].every(e => e.getBoundingClientRect().right <= innerWidth);
        const fits = document.documentElement.scrollWidth <= innerWidth && inside;
        return [fits, line > 0.8 * innerWidth, ground, border('to-do'), border('changed')];
    """
    found = look(page, script, tmp_path, "500,900", "preferredColorScheme=0")
    assert found == [True, True, "rgb(22, 24, 27)", "rgb(250, 204, 21)", "rgb(74, 222, 128)"]


def test_the_inventory_is_searched(page: str, tmp_path: Path) -> None:
    outcomes = runner.migrate(["."], Settings(select=("TST",))).outcomes
    script = """
        search.value = 'gone'; search.dispatchEvent(new Event('input'));
        const shown = [...document.querySelectorAll('tr.item')].filter(e => e.offsetHeight);
        const table = document.querySelector('.scroll');
        return [table.scrollWidth <= table.clientWidth, ...shown.map(e => e.cells[0].textContent)];
    """
    assert look(assessment.render("html", outcomes), script, tmp_path, "500,900") == [True, "tf.gone.x"]
