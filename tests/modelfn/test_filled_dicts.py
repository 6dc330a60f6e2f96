"""Dicts that get their entries in the statements right below them."""

from __future__ import annotations

import ast
import importlib
import textwrap

import pytest
from modelfn.programs import manual_reason, method
from modelfn.test_spec_hooks import HOOK, migrate, program

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

filled_dicts = importlib.import_module("migrator.normalise.names.filled_dicts")


def filled(body: str) -> str:
    """The body of a function after one step."""
    source = "def f(a, b, use):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    module = Module("program.py", source)
    function = module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edits = [change.edit for change in filled_dicts.expand.expand(Drafts(Project({})), module, function)]
    return textwrap.dedent(splice(module.source, edits).decode().partition(":\n")[2]).strip()


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("d = {}\nd['x'] = a\nd['y'] = b(a)\nuse(d)", "d = {'x': a, 'y': b(a)}\nuse(d)"),
        ("d = dict()\nd['x'] = a\nuse(d)", "d = {'x': a}\nuse(d)"),
        ("d = {'x': a}\nd[1] = b\nuse(d)", "d = {'x': a, 1: b}\nuse(d)"),
        ("d = {\n    'x': a,  # first\n}\nd['y'] = b", "d = {\n    'x': a, 'y': b  # first\n}"),
        ("d = {a: 1}\nd['y'] = b\nuse(d)", "d = {a: 1, 'y': b}\nuse(d)"),
        ("if a:\n    d = {}\n    d['x'] = a\n    use(d)", "if a:\n    d = {'x': a}\n    use(d)"),
        ("d = {}\nd['x'] = a\nuse(d)\nd['y'] = b", "d = {'x': a}\nuse(d)\nd['y'] = b"),
        ("d = {}\nd['x'] = a\nd['x'] = b", "d = {'x': a}\nd['x'] = b"),
        ("d = {}\nd['x'] = a\nd['y'] = d['x']", "d = {'x': a}\nd['y'] = d['x']"),
    ],
)
def test_entries_of_the_statements_below(body: str, wanted: str) -> None:
    assert filled(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "d = {}\nuse(d)\nd['x'] = a",
        "d = {}\nd[a] = b",
        "d = {}\nd['x'] = lambda: d",
        "d = {}\nd['x'] += a",
        "d = {}\nd['x'] = e = a",
        "d = {}\ne['x'] = a",
        "d = {**a}\nd['x'] = b",
        "d = {'x': a}\nd['x'] = b",
        "d = dict(a)\nd['x'] = b",
        "d = e = {}\nd['x'] = a",
        "d = {}\nif a:\n    d['x'] = a",
        "dict = use\nd = dict()\nd['x'] = a",
    ],
)
def test_other_statements_stay(body: str) -> None:
    assert filled(body) == body


def test_a_hook_logs_what_a_dict_gets() -> None:
    between = "logged = {}\nlogged['loss'] = loss\nlogged['double'] = loss * 2"
    text = migrate(program(f"[{HOOK.format('logged')}]", between=between))
    assert 'watch(self, "double", loss * 2)' in method(text, "compute_loss")


@pytest.mark.parametrize("more", ["if params:\n    logged['x'] = loss", "logged.update(x=loss)", "fill(logged)"])
def test_a_hook_whose_dict_is_filled_otherwise_is_left(more: str) -> None:
    manual_reason(program(f"[{HOOK.format('logged')}]", between=f"logged = {{'loss': loss}}\n{more}"))
