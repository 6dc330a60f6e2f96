"""The inventory of a code base as one self-contained HTML page: tiers, what blocks the rest, APIs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from migrator.report.assessment import HEADINGS, TIERS, alone, heads
from migrator.report.html.html_report import page
from migrator.report.text import count

_MEANINGS = {
    "native": "to Keras layers",
    "bridge": "with the model_fn kept, as a graph inside a Keras model",
    "manual": "left alone, with the reason",
}


def page_of(found: dict[str, Any]) -> str:
    """The page about what `assess` found."""
    files, programs = heads(found)
    tools = (
        '<div class="tools"><input type="search" id="search" placeholder="Search (press /)" '
        'aria-label="Search reasons, places and APIs"></div>'
    )
    parts = [*_tiers(found["programs"]), *_reasons(found), *_apis(found["apis"]), *_failed(found["files"])]
    return page(f"migrate: {programs}", "What there is to migrate", files, tools + "".join(parts))


def _tiers(programs: dict[str, int]) -> Iterator[str]:
    total = sum(programs.values())
    yield f"<h2>{count(total, 'program')}</h2>"
    if not total:
        return
    bars = "".join(f'<i class="{tier}" style="flex:{programs[tier]}"></i>' for tier in TIERS if programs[tier])
    rows = "".join(
        f'<li><span class="tier {tier}">{tier}</span> <b>{programs[tier]}</b> <span class="soft">{_MEANINGS[tier]}</span></li>'
        for tier in TIERS
        if programs[tier]
    )
    yield f'<div class="share" role="img" aria-label="Share of the tiers">{bars}</div><ul class="tiers">{rows}</ul>'


def _reasons(found: dict[str, Any]) -> Iterator[str]:
    for title, key in HEADINGS:
        if found[key]:
            yield f"<h2>{title}</h2>"
        for row in found[key]:
            places = "".join(f"<li><code>{escape(place)}</code></li>" for place in row["places"])
            size = f"{count(row['programs'], 'program')}, {count(row['lines'], 'line')}"
            size += alone(row)
            yield (
                f'<details class="rule item" data-level="reason"><summary>{escape(row["reason"])} '
                f'<span class="soft">{size}</span></summary><ul>{places}</ul></details>'
            )


def _apis(apis: list[dict[str, Any]]) -> Iterator[str]:
    if not apis:
        return
    yield (
        f"<h2>{count(len(apis), 'API')}</h2>"
        '<p class="soft">Uses of what needs work, before and after; what stays is grey.</p>'
        '<div class="scroll"><table class="apis"><tr><th>API</th><th class="num">uses</th><th class="num">after</th>'
        '<th class="num">files</th><th></th></tr>'
    )
    most = max(api["uses"] for api in apis)
    for api in apis:
        width, left = 100 * api["uses"] / most, 100 * api["left"] / max(api["uses"], api["left"], 1)
        yield (
            f'<tr class="item" data-level="api"><td><code>{escape(api["name"])}</code></td><td class="num">{api["uses"]}</td>'
            f'<td class="num">{api["left"]}</td><td class="num">{api["files"]}</td>'
            f'<td class="bar"><i style="width:{width:.1f}%"><i style="width:{left:.1f}%"></i></i></td></tr>'
        )
    yield "</table></div>"


def _failed(files: dict[str, Any]) -> Iterator[str]:
    if files["failed"]:
        rows = "".join(f'<li class="item error" data-level="error">{escape(text)}</li>' for text in files["failed"])
        yield f'<h2>Could not be read</h2><ul class="findings">{rows}</ul>'
