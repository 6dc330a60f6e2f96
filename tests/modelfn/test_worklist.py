"""What is looked at again in the functions of a program, and which changes are made together."""

from __future__ import annotations

import ast

import pytest

from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.roots import calls_below
from migrator.normalise.draft.worklist import Worklist
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.vocabulary.diagnostics import Edit

TEXT = "def f(x):\n    return g(x)\n\n\ndef h(x):\n    y = g(x)\n    return k(y)\n"


def functions(module: Module) -> list[Definition]:
    return [Definition(module, node) for node in module.nodes(ast.FunctionDef)]


def asked(worklist: Worklist, module: Module) -> list[str]:
    return [module.segment(call) for _, call in worklist.waiting("calls", functions(module), calls_below)]


def change(module: Module, old: str, new: str) -> list[Change]:
    start = module.text.index(old)
    return [Change(Edit(module.path, start, start + len(old), new))]


def test_what_had_nothing_to_do_is_asked_once() -> None:
    worklist, module = Worklist(), Module("a.py", TEXT)
    assert asked(worklist, module) == ["g(x)", "g(x)", "k(y)"]
    assert asked(worklist, module) == []
    assert asked(worklist, Module("a.py", TEXT + "\n")) == []
    assert asked(worklist, Module("a.py", TEXT.replace("k(y)", "k(y + 1)"))) == ["k(y + 1)"]
    assert asked(worklist, Module("b.py", TEXT)) == ["g(x)", "g(x)", "k(y)"]


def test_another_question_is_asked() -> None:
    worklist, module = Worklist(), Module("a.py", TEXT)
    asked(worklist, module)
    assert list(worklist.functions("idioms", functions(module))) == functions(module)
    assert list(worklist.functions("idioms", functions(module))) == []


def test_all_is_asked_again_at_the_end() -> None:
    worklist, module = Worklist(), Module("a.py", TEXT)
    assert not worklist.again()
    asked(worklist, module)
    assert worklist.again()
    assert asked(worklist, module) == ["g(x)", "g(x)", "k(y)"]


def test_a_function_that_changes_is_left_for_the_next_step() -> None:
    worklist, module = Worklist(), Module("a.py", TEXT)
    found = []
    for definition, call in worklist.waiting("calls", functions(module), calls_below):
        found.append(module.segment(call))
        if definition.name == "h":
            assert worklist.take(change(module, "y = g(x)", "y = x"), definition)
    assert found == ["g(x)", "g(x)"]
    worklist.changed.clear()
    assert asked(worklist, module) == ["g(x)", "k(y)"]  # nobody said that there was nothing to do


@pytest.mark.parametrize(
    ("old", "new", "inside"),
    [
        ("k(y)", "k(y + 1)", True),
        ("    y = g(x)\n", "", True),
        ("    return k(y)\n", "    return y\n", True),
        ("def h(x)", "def h(x, *, name)", False),
        ("return g(x)", "return x", False),  # of another function
        ("\n\ndef h", "\nimport a\n\n\ndef h", False),
    ],
)
def test_changes_of_a_body_alone_are_made_with_others(old: str, new: str, inside: bool) -> None:
    module = Module("a.py", TEXT)
    h = functions(module)[1]
    assert Worklist().take(change(module, old, new), h) == inside


def test_changes_of_two_files_are_made_alone() -> None:
    module, other = Module("a.py", TEXT), Module("b.py", TEXT)
    both = change(module, "k(y)", "y") + change(other, "k(y)", "y")
    assert not Worklist().take(both, functions(module)[1])
    assert not Worklist().take(change(other, "k(y)", "y"), functions(module)[1])


def test_a_function_of_one_line() -> None:
    module = Module("a.py", "def f(x): return g(x)\n")
    assert not Worklist().take(change(module, "g(x)", "x"), functions(module)[0])
